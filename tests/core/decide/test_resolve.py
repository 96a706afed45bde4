"""What does it change that a person settles a conflict: who goes, who stays, what is told of it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from loom_ray.contract.conflicts import ResolveAnswer
from loom_ray.contract.errors import Locked
from loom_ray.core.decide.resolve import decide_resolve, decide_resolve_group
from loom_ray.core.draft import PLAIN, Draft
from loom_ray.core.records import Audited
from loom_ray.core.row import Status

from .scene import Scene

LEASE, LATER, LATEST = (f"The office lease ends in {year}." for year in (2025, 2027, 2029))
DECISIONS = ("revise", "contract", "allow")


def contradicting(*values: str, **more: Any) -> Scene:
    """Keys a, b, c …; each contradicts all others."""
    scene = Scene()
    for key, value in zip("abc", values, strict=False):
        scene.set(key, value, **more)
    return scene


def statuses(scene: Scene, keys: str = "abc") -> str:
    """One word a key."""
    return " ".join(str(scene.row(key).status) for key in keys)


def resolve(scene: Scene, key: str, decision: str, peer: str | None = None, **more: Any) -> ResolveAnswer:
    named = {} if peer is None else {"peer_id": scene.row(peer).memory_id}
    memory_id = scene.row(key).memory_id
    return scene.change("conflicts.resolve", decide_resolve, memory_id=memory_id, decision=decision, **named, **more)


def resolve_group(scene: Scene, pairs: Sequence[str], decision: str, pairs_max: int = 100) -> ResolveAnswer:
    """`pairs`: two keys each, the one that was said later first."""
    ids = [(scene.row(later).memory_id, scene.row(earlier).memory_id) for later, earlier in pairs]

    def decide(draft: Draft, request: Any) -> ResolveAnswer:
        return decide_resolve_group(draft, request, ids, pairs_max)

    return scene.change("conflicts.resolve", decide, group_id="g", decision=decision)


def settled(answer: ResolveAnswer) -> dict[str, str]:
    return {row.memory_key: row.status for row in answer.rows}


def audits(scene: Scene) -> list[Audited]:
    """Of the last commit, those of its effects included."""
    last = scene.state.audits[-1].commit_id
    return [one for one in scene.state.audits if one.commit_id == last]


# ---- one row against its peers ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("decision", "left"),
    [
        ("revise", "tombstoned active tombstoned"),
        ("contract", "conflicted tombstoned conflicted"),
        ("allow", "conflicted active conflicted"),
    ],
)
def test_a_decision_settles_the_row_with_every_peer_and_leaves_alone_what_they_have_between_them(
    decision: str, left: str
) -> None:
    scene = contradicting(LEASE, LATER, LATEST)
    answer = resolve(scene, "b", decision)
    assert statuses(scene) == left
    assert (answer.resolved, answer.decision, answer.pairs, answer.remaining) == (True, decision, 2, 0)
    assert settled(answer) == dict(zip("abc", left.split(), strict=True))
    assert (answer.refused, answer.reason) == ([], "")
    assert [row.version for row in answer.rows] == [scene.row(row.memory_key).version for row in answer.rows]


@pytest.mark.parametrize(
    ("decision", "left"),
    [
        ("revise", "tombstoned conflicted conflicted"),
        ("contract", "conflicted tombstoned conflicted"),
        ("allow", "conflicted conflicted conflicted"),
    ],
)
def test_a_decision_about_one_peer_leaves_the_others_at_odds(decision: str, left: str) -> None:
    scene = contradicting(LEASE, LATER, LATEST)
    a, b, c = (scene.row(key).memory_id for key in "abc")
    answer = resolve(scene, "b", decision, peer="a")
    assert statuses(scene) == left
    assert answer.resolved
    expected = {"revise": [(), (c,), (b,)], "contract": [(c,), (), (a,)], "allow": [(c,), (c,), (a, b)]}
    assert [scene.row(key).conflict_with for key in "abc"] == expected[decision]


@pytest.mark.parametrize("decision", DECISIONS)
def test_where_there_is_nothing_to_settle_nothing_changes(decision: str) -> None:
    scene = contradicting(LEASE, LATER)
    scene.set("moat", "Pike swim in the moat.")
    before = dict(scene.state.rows), len(scene.state.audits)
    unknown = scene.change("conflicts.resolve", decide_resolve, memory_id="never", decision=decision)
    answers = [unknown, resolve(scene, "moat", decision), resolve(scene, "a", decision, peer="moat")]
    assert [one.reason for one in answers] == ["not_found", "not_conflicted", "not_a_peer"]
    assert not any(one.resolved or one.rows or one.pairs for one in answers)
    assert (dict(scene.state.rows), len(scene.state.audits)) == before
    assert not scene.state.allowed


def test_settling_once_more_changes_nothing() -> None:
    scene = contradicting(LEASE, LATER)
    resolve(scene, "a", "revise")
    again = resolve(scene, "a", "revise")
    assert (again.resolved, again.reason) == (False, "not_conflicted")


# ---- who goes, who stays ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("decision", "chosen"), [("revise", "a"), ("contract", "b")])
def test_what_repeats_the_loser_goes_with_it(decision: str, chosen: str) -> None:
    scene = contradicting(LEASE, LATER)
    scene.set("b/again", LATER, run_id="r2")
    assert scene.row("b/again").status == "duplicate"
    answer = resolve(scene, chosen, decision)
    assert settled(answer) == {"a": "active", "b": "tombstoned", "b/again": "tombstoned"}


def test_what_repeats_the_winner_stays() -> None:
    scene = contradicting(LEASE, LATER)
    scene.set("a/again", LEASE, run_id="r2")
    resolve(scene, "a", "revise")
    assert scene.row("a/again").status == "duplicate"


def test_another_user_s_repetition_of_the_loser_is_that_user_s_own() -> None:
    scene = Scene()
    canonical = scene.set("b", LATER, user_id="u-amy").row
    for user_id in ("u-amy", "u-ben"):
        scene.set(f"b/{user_id}", LATER, user_id=user_id, run_id="r2")
    draft = scene.draft("memory.forge")
    draft.change(scene.row("b/u-ben"), PLAIN, status=Status.DUPLICATE, duplicate_of=canonical.memory_id)
    scene.apply(draft)
    scene.set("a", LEASE, user_id="u-amy")
    resolve(scene, "a", "revise")
    assert statuses(scene, "ab") == "active tombstoned"
    assert scene.row("b/u-amy").status == "tombstoned"
    assert (scene.row("b/u-ben").status, scene.row("b/u-ben").conflict_with) == ("active", ())


def test_a_locked_repetition_of_the_loser_stands_in_its_stead() -> None:
    scene = contradicting(LEASE, LATER)
    scene.set("b/again", LATER, run_id="r2")
    scene.lock("b/again")
    answer = resolve(scene, "a", "revise")
    assert answer.resolved
    assert settled(answer) == {"a": "conflicted", "b": "tombstoned", "b/again": "conflicted"}


def test_a_locked_loser_is_listed_and_the_other_pairs_are_settled() -> None:
    scene = contradicting(LEASE, LATER, LATEST)
    scene.lock("a", reason="audit")
    answer = resolve(scene, "b", "revise")
    assert statuses(scene) == "conflicted conflicted tombstoned"
    assert [(one.memory_key, one.memory_id, one.code) for one in answer.refused] == [
        ("a", scene.row("a").memory_id, Locked.code)
    ]
    assert "audit" in answer.refused[0].message
    assert (answer.resolved, answer.pairs, answer.reason) == (True, 1, "")


@pytest.mark.parametrize(("decision", "chosen"), [("revise", "b"), ("contract", "a")])
def test_where_every_loser_is_locked_nothing_is_settled(decision: str, chosen: str) -> None:
    scene = contradicting(LEASE, LATER)
    scene.set("a/again", LEASE, run_id="r2")
    scene.lock("a")
    answer = resolve(scene, chosen, decision)
    assert (answer.resolved, answer.pairs, answer.reason, answer.rows) == (False, 0, "refused", [])
    assert [one.memory_key for one in answer.refused] == ["a"]
    assert statuses(scene, "ab") == "conflicted conflicted"
    assert scene.row("a/again").status == "duplicate"


def test_a_locked_row_is_listed_once_however_many_peers_it_loses_to() -> None:
    scene = contradicting(LEASE, LATER, LATEST)
    scene.lock("a")
    assert [one.memory_key for one in resolve(scene, "a", "contract").refused] == ["a"]


def test_a_lock_keeps_nobody_from_saying_that_both_hold() -> None:
    scene = contradicting(LEASE, LATER)
    scene.lock("a", mode="read_only")
    answer = resolve(scene, "b", "allow")
    assert (answer.resolved, answer.refused) == (True, [])
    assert statuses(scene, "ab") == "active active"


def test_a_lock_whose_time_is_up_keeps_nobody_from_anything() -> None:
    scene = contradicting(LEASE, LATER)
    scene.lock("a", ttl_seconds=60)
    scene.pass_time(61)
    assert resolve(scene, "b", "revise").resolved
    assert statuses(scene, "ab") == "tombstoned active"


@pytest.mark.parametrize("key", ["a", "b"])
def test_a_person_s_decision_reaches_a_pinned_row_too(key: str) -> None:
    scene = contradicting(LEASE, LATER)
    scene.pin(key, scene.row(key).value)
    assert scene.row(key).pinned
    assert resolve(scene, key, "contract").resolved
    assert scene.row(key).status == "tombstoned"


# ---- afterwards ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("decision", "chosen"), [("revise", "a"), ("contract", "b")])
def test_a_loser_is_an_ordinary_tombstone_that_can_come_back(decision: str, chosen: str) -> None:
    scene = contradicting(LEASE, LATER)
    resolve(scene, chosen, decision)
    assert scene.row("b").tombstoned_at == scene.now
    back = scene.restore("b")
    assert (back.restored, back.status) == (True, "conflicted")
    assert statuses(scene, "ab") == "conflicted conflicted"


def test_a_loser_comes_back_for_fourteen_days() -> None:
    scene = contradicting(LEASE, LATER)
    resolve(scene, "a", "revise")
    scene.pass_time(14 * 86_400 + 1)
    assert scene.restore("b").reason == "window_passed"


@pytest.mark.parametrize(
    ("decision", "chosen", "about"), [("revise", "a", ["b"]), ("contract", "b", ["b"]), ("allow", "a", ["a", "b"])]
)
def test_the_audit_tells_what_was_decided_about_which_rows_and_why(
    decision: str, chosen: str, about: list[str]
) -> None:
    scene = contradicting(LEASE, LATER)
    resolve(scene, chosen, decision, reason="renewal was cancelled")
    told = audits(scene)
    assert {one.action for one in told} == {"conflicts.resolve"}
    assert sorted(one.memory_key for one in told) == ["a", "b"]
    decided = [one for one in told if not one.effect]
    assert sorted(one.memory_key for one in decided) == about
    assert {(one.verdict, one.reason) for one in decided} == {(decision, "renewal was cancelled")}


@pytest.mark.parametrize(
    ("decision", "chosen"),
    [
        ("revise", "a"),
        ("contract", "b"),
        ("allow", "a"),
    ],
)
def test_each_record_names_the_other_side(decision: str, chosen: str) -> None:
    scene = contradicting(LEASE, LATER)
    resolve(scene, chosen, decision)
    a, b = (scene.row(key).memory_id for key in "ab")
    assert {one.memory_id: one.related_id for one in audits(scene)} == {a: b, b: a}


# ---- a group in one call ---------------------------------------------------------------------------------------------
def two_pairs() -> Scene:
    """a and b contradict each other, and so do c and d."""
    scene = contradicting(LEASE, LATER)
    scene.set("c", "Printer p1 is leased from Nordholt.")
    scene.set("d", "Printer p1 is leased from Sandvik.")
    assert statuses(scene, "abcd") == "conflicted conflicted conflicted conflicted"
    return scene


@pytest.mark.parametrize(
    ("decision", "left"),
    [
        ("revise", "tombstoned active tombstoned active"),
        ("contract", "active tombstoned active tombstoned"),
        ("allow", "active active active active"),
    ],
)
def test_a_group_is_settled_in_one_commit_with_the_later_row_chosen(decision: str, left: str) -> None:
    scene = two_pairs()
    answer = resolve_group(scene, ["ba", "dc"], decision)
    assert statuses(scene, "abcd") == left
    assert (answer.resolved, answer.pairs, answer.remaining) == (True, 2, 0)
    assert settled(answer) == dict(zip("abcd", left.split(), strict=True))
    assert {one.memory_key for one in audits(scene)} == set("abcd")


def test_past_the_bound_pairs_remain_for_the_next_call() -> None:
    scene = two_pairs()
    first = resolve_group(scene, ["ba", "dc"], "revise", pairs_max=1)
    assert (first.pairs, first.remaining) == (1, 1)
    assert statuses(scene, "abcd") == "tombstoned active conflicted conflicted"
    second = resolve_group(scene, ["dc"], "revise", pairs_max=1)
    assert (second.pairs, second.remaining) == (1, 0)
    assert statuses(scene, "abcd") == "tombstoned active tombstoned active"


def test_a_group_without_pairs_is_not_found() -> None:
    answer = resolve_group(two_pairs(), [], "revise")
    assert (answer.resolved, answer.reason, answer.remaining) == (False, "not_found", 0)


def test_in_a_group_a_locked_loser_is_listed_and_the_rest_is_settled() -> None:
    scene = two_pairs()
    scene.lock("a")
    answer = resolve_group(scene, ["ba", "dc"], "revise")
    assert [one.memory_key for one in answer.refused] == ["a"]
    assert (answer.resolved, answer.pairs) == (True, 1)
    assert statuses(scene, "abcd") == "conflicted conflicted tombstoned active"


@pytest.mark.parametrize(("decision", "left"), [("revise", "tombstoned tombstoned active"), ("contract", "active")])
def test_pairs_that_an_earlier_one_settled_by_the_way_are_counted_and_not_settled_twice(
    decision: str, left: str
) -> None:
    scene = contradicting(LEASE, LATER, LATEST)
    answer = resolve_group(scene, ["ba", "ca", "cb"], decision)
    assert (answer.resolved, answer.pairs, answer.refused) == (True, 3, [])
    assert statuses(scene).startswith(left)
    assert sorted(one.memory_key for one in audits(scene) if one.status == "tombstoned") == sorted(
        key for key in "abc" if scene.row(key).status == "tombstoned"
    )


def test_a_call_after_a_call_gets_past_locked_pairs() -> None:
    scene = two_pairs()
    scene.lock("a")
    for _ in range(3):
        pairs = [pair for pair in ("ba", "dc") if scene.row(pair[0]).status == "conflicted"]
        resolve_group(scene, pairs, "revise", pairs_max=1)
    assert statuses(scene, "cd") == "tombstoned active"


def test_what_was_settled_by_the_way_does_not_remain() -> None:
    scene = contradicting(LEASE, LATER, LATEST)
    answer = resolve_group(scene, ["ca", "cb"], "contract", pairs_max=1)
    assert scene.row("c").status == "tombstoned"
    assert answer.remaining == 0
