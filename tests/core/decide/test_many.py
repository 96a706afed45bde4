"""What does one change do to many rows, which rows does it reach, and what does it leave alone?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from loom_ray.contract.errors import InvalidRequest
from loom_ray.contract.fields import to_rfc3339
from loom_ray.contract.many import ApplyAnswer
from loom_ray.core.decide.many import decide_apply, filtered
from loom_ray.core.decide.mark import decide_lock, decide_touch
from loom_ray.core.decide.remove import decide_delete
from loom_ray.core.row import Row, Status

from .scene import SECOND, Scene

FACTS = {
    "gate": "The gate is painted green.",
    "moat": "Pike swim in the moat.",
    "tower": "Pigeons roost in the tower.",
    "well": "The well is forty feet deep.",
}
LEASE, LATER = "The office lease ends in 2025.", "The office lease ends in 2027."
ACTIONS: list[dict[str, Any]] = [
    {"action": "delete"},
    {"action": "expire", "ttl_seconds": 60},
    {"action": "lock", "mode": "no_delete", "ttl_seconds": 60},
    {"action": "label", "add_tags": ["old"]},
    {"action": "demote"},
]
CHANGE = pytest.mark.parametrize("change", ACTIONS, ids=lambda change: change["action"])
GUARDED = pytest.mark.parametrize("change", [one for one in ACTIONS if one["action"] != "label"], ids=str)


def castle() -> Scene:
    scene = Scene()
    for memory_key, value in FACTS.items():
        scene.set(memory_key, value, tags=["castle"])
    return scene


def apply(scene: Scene, targets: Sequence[Row] = (), **arguments: Any) -> ApplyAnswer:
    """`targets`: what a search found."""

    def decide(draft: Any, request: Any) -> ApplyAnswer:
        given = request.filter
        rows = targets if given is None else filtered(scene.state, request, given, draft.now)
        return decide_apply(draft, request, rows, scene.settings)

    return scene.change("memory.apply", decide, **({"reason": "spring clean", "dry_run": False} | arguments))


def applied(answer: ApplyAnswer) -> list[str]:
    return [row.memory_key for row in answer.applied]


def refused(answer: ApplyAnswer) -> list[tuple[str, str]]:
    return [(row.memory_key, row.code) for row in answer.refused]


def reached(scene: Scene, limit: int = 1000, who: dict[str, Any] | None = None, **given: Any) -> list[str]:
    """The keys that a filter reaches."""
    return applied(apply(scene, action="label", add_tags=["seen"], limit=limit, filter=given, **(who or {})))


# ---- the actions -----------------------------------------------------------------------------------------------------
def test_delete_leaves_tombstones() -> None:
    scene = castle()
    apply(scene, action="delete", memory_keys=["gate", "moat"])
    assert [scene.row(key).status for key in FACTS] == ["tombstoned", "tombstoned", "active", "active"]


def test_expire_counts_from_now() -> None:
    scene = castle()
    apply(scene, action="expire", ttl_seconds=60, memory_keys=["gate"])
    assert scene.row("gate").expires_at == scene.now + 60 * SECOND


def test_lock_guards_with_its_mode_until_its_end() -> None:
    scene = castle()
    apply(scene, action="lock", mode="no_delete", ttl_seconds=60, memory_keys=["gate"])
    row = scene.row("gate")
    assert (row.lock, row.locked_until) == ("no_delete", scene.now + 60 * SECOND)


def test_lock_without_a_time_has_no_end() -> None:
    scene = castle()
    apply(scene, action="lock", memory_keys=["gate"])
    assert (scene.row("gate").lock, scene.row("gate").locked_until) == ("read_only", None)


def test_label_adds_and_takes_tags_and_keeps_the_others() -> None:
    scene = castle()
    scene.set("gate", FACTS["gate"], tags=["castle", "paint"])
    apply(scene, action="label", add_tags=["old", "paint"], remove_tags=["castle"], memory_keys=["gate"])
    assert scene.row("gate").tags == ("paint", "old")


def test_demoted_rows_are_readable_and_judged_no_more() -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    apply(scene, action="demote", memory_keys=["lease"])
    assert scene.row("lease").is_readable(scene.now)
    assert scene.set("other", LATER).outcome.verdict == "clear"


@CHANGE
def test_an_action_changes_neither_value_nor_owner(change: dict[str, Any]) -> None:
    scene = castle()
    before = scene.row("gate")
    apply(scene, memory_keys=["gate"], **change)
    after = scene.row("gate")
    assert after.version > before.version
    assert (after.value, after.content_sha256, after.address) == (before.value, before.content_sha256, before.address)


@CHANGE
def test_each_changed_row_is_in_the_audit_with_action_and_reason(change: dict[str, Any]) -> None:
    scene = castle()
    apply(scene, memory_keys=["gate", "moat"], **change)
    told = [(audit.memory_key, audit.action, audit.reason) for audit in scene.audits[-2:]]
    assert told == [(key, "memory.apply", f"{change['action']}: spring clean") for key in ("gate", "moat")]
    assert len({audit.commit_id for audit in scene.audits[-2:]}) == 1, "one commit"


@CHANGE
def test_the_answer_names_the_row_at_its_new_version(change: dict[str, Any]) -> None:
    scene = castle()
    (one,) = apply(scene, memory_keys=["gate"], **change).applied
    row = scene.row("gate")
    assert (one.memory_id, one.version, one.version_text) == (row.memory_id, row.version, str(row.version))


# ---- the way of a single row -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("op", "decide", "single", "change"),
    [
        ("memory.delete", decide_delete, {}, ACTIONS[0]),
        ("memory.touch", decide_touch, {"ttl_seconds": 60}, ACTIONS[1]),
        ("memory.lock", decide_lock, {"mode": "no_delete", "ttl_seconds": 60, "reason": ""}, ACTIONS[2]),
    ],
)
def test_a_row_is_left_as_the_op_for_one_row_leaves_it(
    op: str, decide: Callable[..., Any], single: dict[str, Any], change: dict[str, Any]
) -> None:
    alone, among_many = contradicting(), contradicting()
    alone.change(op, decide, memory_key="lease", **single)
    apply(among_many, memory_keys=["lease"], **change)
    for key in ("lease", "rival"):
        assert nameless(among_many.row(key)) == nameless(alone.row(key))


def contradicting() -> Scene:
    scene = Scene()
    scene.set("lease", LEASE)
    scene.set("rival", LATER)
    return scene


def nameless(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in Row.__dataclass_fields__ if name != "lock_reason"}


def test_a_lock_keeps_the_reason_that_was_given() -> None:
    scene = castle()
    apply(scene, action="lock", memory_keys=["gate"], reason="under repair")
    assert scene.row("gate").lock_reason == "under repair"


@GUARDED
def test_a_locked_row_is_listed_and_stays_and_the_others_are_changed(change: dict[str, Any]) -> None:
    scene = castle()
    scene.lock("moat", mode="read_only", reason="the carp spawn")
    before = scene.row("moat")
    answer = apply(scene, memory_keys=["gate", "moat", "well"], **change)
    assert (applied(answer), refused(answer), answer.matched) == (["gate", "well"], [("moat", "LOCKED")], 3)
    assert answer.refused[0].memory_id == before.memory_id
    assert "the carp spawn" in answer.refused[0].message
    assert scene.row("moat") == before


def test_a_lock_guards_no_tags() -> None:
    scene = castle()
    scene.lock("moat", mode="read_only")
    assert applied(apply(scene, action="label", add_tags=["old"], memory_keys=["moat"])) == ["moat"]


@pytest.mark.parametrize(("held", "over"), [(63, 0), (64, 1)])
def test_a_row_that_would_hold_too_many_tags_is_listed(held: int, over: int) -> None:
    scene = castle()
    scene.set("moat", FACTS["moat"], tags=[f"t{number}" for number in range(held)])
    answer = apply(scene, action="label", add_tags=["one more"], memory_keys=["gate", "moat"])
    assert refused(answer) == [("moat", "VALIDATION_ERROR")] * over
    assert len(scene.row("moat").tags) == 64


def test_a_pin_keeps_no_row_from_being_deleted() -> None:
    scene = Scene()
    scene.pin("gate", FACTS["gate"])
    assert applied(apply(scene, action="delete", memory_keys=["gate"])) == ["gate"]


def test_whoever_a_deleted_row_contradicted_is_free() -> None:
    scene = contradicting()
    apply(scene, action="delete", memory_keys=["lease"])
    assert scene.row("rival").status is Status.ACTIVE


@pytest.mark.parametrize("action", ["delete", "demote"])
def test_what_one_row_of_the_call_changes_the_next_one_sees(action: str) -> None:
    scene = Scene()
    scene.set("one", LEASE, run_id="r1")
    scene.set("two", LEASE, run_id="r2")
    assert scene.row("two").status is Status.DUPLICATE
    apply(scene, [scene.row("one"), scene.row("two")], action=action, query="lease", limit=2)
    left = Status.TOMBSTONED if action == "delete" else Status.ACTIVE
    assert (scene.row("one").status, scene.row("two").status) == (left, left)


# ---- keys ------------------------------------------------------------------------------------------------------------
def test_a_key_that_nobody_holds_is_listed() -> None:
    scene = castle()
    answer = apply(scene, action="delete", memory_keys=["gate", "drawbridge"])
    assert (applied(answer), refused(answer), answer.matched) == (["gate"], [("drawbridge", "NOT_FOUND")], 1)


def test_a_key_of_several_agents_is_listed_and_ones_own_is_meant_first() -> None:
    scene = castle()
    scene.set("rope", "Spare rope lies in locker two.", agent="first")
    scene.set("rope", "Bats hang from the rafters.", agent="second")
    answer = apply(scene, action="delete", memory_keys=["rope", "gate"], agent="third")
    assert (applied(answer), refused(answer)) == (["gate"], [("rope", "AMBIGUOUS_KEY")])
    (own,) = apply(scene, action="delete", memory_keys=["rope"], agent="second").applied
    assert scene.state.rows[own.memory_id].agent == "second"


def test_a_key_of_another_user_is_not_found() -> None:
    scene = Scene()
    scene.set("rope", "Amy keeps a rope.", user_id="u-amy")
    assert refused(apply(scene, action="delete", memory_keys=["rope"], user_id="u-ben")) == [("rope", "NOT_FOUND")]
    assert refused(apply(scene, action="delete", memory_keys=["rope"])) == [("rope", "NOT_FOUND")]


def test_what_has_expired_or_was_deleted_is_not_found() -> None:
    scene = castle()
    scene.set("gate", FACTS["gate"], ttl_seconds=10)
    scene.delete("moat")
    scene.pass_time(20)
    answer = apply(scene, action="demote", memory_keys=["gate", "moat"])
    assert refused(answer) == [("gate", "NOT_FOUND"), ("moat", "NOT_FOUND")]


# ---- filters ---------------------------------------------------------------------------------------------------------
def test_a_filter_reaches_rows_of_exactly_this_agent_and_user() -> None:
    scene = Scene()
    scene.set("gate", FACTS["gate"])
    scene.set("moat", FACTS["moat"], agent="mason")
    scene.set("tower", FACTS["tower"], user_id="u-amy")
    scene.set("well", FACTS["well"], agent="mason", user_id="u-amy")
    assert reached(scene, contains=".") == ["gate"]
    assert reached(scene, contains=".", who={"agent": "mason"}) == ["moat"]
    assert reached(scene, contains=".", who={"user_id": "u-amy"}) == ["tower"]
    assert reached(scene, contains=".", who={"agent": "mason", "user_id": "u-amy"}) == ["well"]


def test_a_filter_reaches_every_session_unless_one_is_named() -> None:
    scene = Scene()
    scene.set("gate", FACTS["gate"])
    scene.set("moat", FACTS["moat"], session_id="s1")
    assert reached(scene, contains=".") == ["gate", "moat"]
    assert reached(scene, contains=".", who={"session_id": "s1"}) == ["moat"]
    assert reached(scene, contains=".", who={"session_id": "s2"}) == []


def test_a_filter_reaches_duplicates_and_nothing_that_a_read_would_not_serve() -> None:
    scene = castle()
    scene.set("gate/again", FACTS["gate"], run_id="r2")
    scene.set("moat", FACTS["moat"], ttl_seconds=10)
    scene.delete("tower")
    scene.pass_time(20)
    assert scene.row("gate/again").status is Status.DUPLICATE
    assert reached(scene, contains=".") == ["gate", "gate/again", "well"]


@pytest.mark.parametrize(
    ("given", "keys"),
    [
        ({"prefix": "t"}, ["tower"]),
        ({"prefix": "%"}, []),
        ({"contains": "THE MOAT"}, ["moat"]),
        ({"contains": "the"}, ["gate", "moat", "tower", "well"]),
        ({"tags": ["wet", "nobody's"]}, ["moat", "well"]),
        ({"memory_type": "episodic"}, ["tower"]),
        ({"contains": "the", "tags": ["wet"], "prefix": "w"}, ["well"]),
    ],
)
def test_a_filter_reaches_what_fits_everything_given(given: dict[str, Any], keys: list[str]) -> None:
    scene = castle()
    scene.set("moat", FACTS["moat"], tags=["wet"])
    scene.set("tower", FACTS["tower"], memory_type="episodic")
    scene.set("well", FACTS["well"], tags=["wet", "deep"])
    assert reached(scene, **given) == keys


def test_a_filter_by_time_leaves_the_bounds_themselves_out() -> None:
    scene = Scene()
    scene.set("gate", FACTS["gate"])
    scene.set("moat", FACTS["moat"])
    first = to_rfc3339(scene.row("gate").created_at)
    assert (reached(scene, created_before=first), reached(scene, created_after=first)) == ([], ["moat"])
    assert reached(scene, created_before=to_rfc3339(scene.row("moat").created_at)) == ["gate"]


def test_a_filter_never_looks_into_a_secret() -> None:
    scene = Scene()
    scene.set("safe", "The safe opens with a word.", sensitivity="high")
    assert reached(scene, contains="safe") == []
    assert reached(scene, prefix="safe") == ["safe"]


def test_a_filter_stops_at_its_limit_in_the_order_of_keys() -> None:
    scene = castle()
    assert reached(scene, limit=2, contains=".") == ["gate", "moat"]
    assert reached(scene, limit=4, contains=".") == list(FACTS)


# ---- what may be asked -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "asked",
    [
        {"action": "delete"},
        {"action": "delete", "memory_keys": ["gate"], "query": "gate", "limit": 1},
        {"action": "delete", "memory_keys": ["gate"], "filter": {"prefix": "g"}, "limit": 1},
        {"action": "delete", "memory_keys": []},
        {"action": "delete", "filter": {}, "limit": 1},
        {"action": "delete", "filter": {"prefix": "g"}},
        {"action": "delete", "query": "gate"},
        {"action": "delete", "filter": {"prefix": "g"}, "limit": 1001},
        {"action": "delete", "memory_keys": ["gate"], "reason": ""},
        {"action": "delete", "memory_keys": ["gate"], "agent": "*"},
        {"action": "delete", "memory_keys": ["gate"], "add_tags": ["old"]},
        {"action": "expire", "memory_keys": ["gate"]},
        {"action": "label", "memory_keys": ["gate"]},
        {"action": "burn", "memory_keys": ["gate"]},
    ],
    ids=str,
)
def test_half_an_order_is_no_order(asked: dict[str, Any]) -> None:
    scene = castle()
    with pytest.raises(InvalidRequest):
        apply(scene, **asked)


def test_it_is_a_dry_run_unless_told_otherwise() -> None:
    scene = castle()
    asked = {"memory_keys": ["gate"], "action": "delete", "reason": "spring clean"}
    assert scene.request("memory.apply", **asked).dry_run
    assert not scene.request("memory.apply", **asked, dry_run=False).dry_run
