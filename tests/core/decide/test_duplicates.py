"""What does it change that rows which say the same are settled: a pair, all, and those whose canonical is gone?"""

from __future__ import annotations

from typing import Any

import pytest

from loom_ray.contract.duplicates import DedupCollapseAnswer, DedupResolveAnswer, ResolveOrphansAnswer
from loom_ray.contract.errors import Locked, PreconditionFailed
from loom_ray.core.decide.duplicates import decide_dedup_collapse, decide_dedup_resolve, decide_orphans
from loom_ray.core.draft import PLAIN, Draft
from loom_ray.core.read.duplicates import duplicates_under, orphans
from loom_ray.core.row import Status

from .scene import SECOND, Scene

GATE, PAINTED_RED = "The gate is painted green.", "The gate is painted red."
MOAT = "Pike swim in the moat."


def repeated(*keys: str, value: str = GATE, scene: Scene | None = None, **more: Any) -> Scene:
    """The first key is the canonical, the others repeat it."""
    scene = scene or Scene()
    for number, key in enumerate(keys):
        scene.set(key, value, run_id=f"r{number}", **more)
    assert statuses(scene, *keys) == ["active", *["duplicate"] * (len(keys) - 1)]
    return scene


def statuses(scene: Scene, *keys: str) -> list[str]:
    return [str(scene.row(key).status) for key in keys]


def resolve(scene: Scene, canonical: str, duplicate: str, decision: str, **more: Any) -> DedupResolveAnswer:
    arguments = {
        "canonical_id": scene.row(canonical).memory_id,
        "duplicate_id": scene.row(duplicate).memory_id,
        "decision": decision,
        "confirm_canonical_key": canonical,
    } | more
    return scene.change("memory.dedup_resolve", decide_dedup_resolve, **arguments)


def collapse(scene: Scene, rows_max: int = 100, **more: Any) -> DedupCollapseAnswer:
    def decide(draft: Draft, request: Any) -> DedupCollapseAnswer:
        return decide_dedup_collapse(draft, request, duplicates_under(scene.state, request.prefix, draft.now), rows_max)

    return scene.change("memory.dedup_collapse", decide, **({"dry_run": False} | more))


def settled(answer: Any) -> dict[str, str]:
    return {row.memory_key: row.status for row in answer.rows}


# ---- one pair --------------------------------------------------------------------------------------------------------
def test_keep_canonical_deletes_the_duplicate_alone() -> None:
    scene = repeated("one", "two", "three")
    answer = resolve(scene, "one", "two", "keep_canonical", reason="the shorter key")
    assert (answer.resolved, answer.reason, settled(answer)) == (True, "", {"two": "tombstoned"})
    assert statuses(scene, "one", "two", "three") == ["active", "tombstoned", "duplicate"]
    told = scene.audits[-1]
    assert (told.action, told.verdict, told.reason) == ("memory.dedup_resolve", "keep_canonical", "the shorter key")
    assert (told.memory_key, told.related_id) == ("two", scene.row("one").memory_id)
    assert scene.restore("two").status == "duplicate"


def test_keep_duplicate_puts_it_in_the_canonical_s_place() -> None:
    scene = repeated("one", "two", "three")
    scene.set("red", PAINTED_RED)
    answer = resolve(scene, "one", "three", "keep_duplicate", reason="the better key")
    assert settled(answer) == {"one": "tombstoned", "two": "duplicate", "three": "conflicted", "red": "conflicted"}
    three, red = scene.row("three"), scene.row("red")
    assert scene.row("two").duplicate_of == three.memory_id
    assert (three.conflict_with, red.conflict_with) == ((red.memory_id,), (three.memory_id,))
    told = scene.audits[-1]
    assert (told.memory_key, told.related_id, told.reason) == ("one", three.memory_id, "the better key")
    assert scene.restore("one").status == "duplicate"


def test_keep_both_only_takes_the_duplicate_s_mark_away() -> None:
    scene = repeated("one", "two", "three")
    before = scene.row("one")
    assert settled(resolve(scene, "one", "two", "keep_both")) == {"two": "active"}
    assert (scene.row("two").duplicate_of, scene.row("one")) == ("", before)
    assert scene.row("three").duplicate_of == before.memory_id
    assert not scene.state.allowed
    assert scene.set("two", GATE, run_id="r7", tags=["iron"]).row.status == "duplicate", "found again by a later write"


def test_keep_duplicate_makes_no_user_s_row_repeat_another_user_s() -> None:
    scene = repeated("shared")
    for user_id in ("u-amy", "u-ben"):
        scene.set(user_id, GATE, user_id=user_id, run_id="r2")
    resolve(scene, "shared", "u-amy", "keep_duplicate")
    assert statuses(scene, "shared", "u-amy") == ["tombstoned", "active"]
    assert (scene.row("u-ben").status, scene.row("u-ben").duplicate_of) == ("active", "")


@pytest.mark.parametrize("decision", ["keep_canonical", "keep_duplicate", "keep_both"])
def test_the_canonical_s_key_must_be_repeated(decision: str) -> None:
    scene = repeated("one", "two")
    with pytest.raises(PreconditionFailed, match="confirm_canonical_key"):
        resolve(scene, "one", "two", decision, confirm_canonical_key="two")
    assert statuses(scene, "one", "two") == ["active", "duplicate"]


@pytest.mark.parametrize("decision", ["keep_canonical", "keep_duplicate", "keep_both"])
def test_only_a_pair_that_is_one_is_settled(decision: str) -> None:
    scene = repeated("one", "two")
    repeated("moat", "fish", value=MOAT, scene=scene)
    before = dict(scene.state.rows)
    for canonical, duplicate in (("one", "fish"), ("one", "moat"), ("two", "one"), ("one", "one")):
        answer = resolve(scene, canonical, duplicate, decision)
        assert (answer.resolved, answer.reason, answer.rows) == (False, "not_a_duplicate_of_it", [])
    for unknown in ("canonical_id", "duplicate_id"):
        assert resolve(scene, "one", "two", decision, **{unknown: "never"}).reason == "not_found"
    assert dict(scene.state.rows) == before


@pytest.mark.parametrize(("decision", "loser"), [("keep_canonical", "two"), ("keep_duplicate", "one")])
def test_the_one_that_would_go_may_be_locked(decision: str, loser: str) -> None:
    scene = repeated("one", "two", "three")
    scene.lock(loser)
    before = dict(scene.state.rows)
    with pytest.raises(Locked):
        resolve(scene, "one", "two", decision)
    assert dict(scene.state.rows) == before
    assert resolve(scene, "one", "two", "keep_both").resolved


# ---- all pairs -------------------------------------------------------------------------------------------------------
def test_collapse_retires_every_duplicate_behind_its_canonical() -> None:
    scene = repeated("one", "two", "three")
    repeated("moat", "fish", value=MOAT, scene=scene)
    one = scene.row("one")
    answer = collapse(scene, reason="tidy")
    assert settled(answer) == dict.fromkeys(("two", "three", "fish"), "superseded")
    assert (answer.collapsed, answer.remaining, answer.refused, answer.dry_run) == (3, 0, [], False)
    assert (scene.row("one"), scene.row("moat").status) == (one, "active")
    assert (scene.row("two").superseded_by, scene.row("two").duplicate_of) == (one.memory_id, "")
    assert {(told.action, told.reason) for told in scene.audits[-3:]} == {("memory.dedup_collapse", "tidy")}
    assert {told.related_id for told in scene.audits[-3:]} == {one.memory_id, scene.row("moat").memory_id}
    assert collapse(scene).collapsed == 0


def test_an_undo_brings_a_collapsed_row_back_as_a_duplicate() -> None:
    scene = repeated("one", "two")
    before = scene.row("two")
    collapse(scene)
    one = scene.row("one").memory_id
    assert scene.restore("two", if_superseded_by=one).status == "duplicate"
    back = scene.row("two")
    assert (back.duplicate_of, back.value, back.superseded_by) == (one, before.value, "")
    assert scene.restore("two", if_superseded_by=one).restored, "undoing once more is as good"
    assert scene.row("two") == back


def test_collapse_reaches_the_canonicals_whose_key_has_the_prefix() -> None:
    scene = repeated("house/gate", "other/gate")
    repeated("castle/moat", "house/moat", value=MOAT, scene=scene)
    assert settled(collapse(scene, prefix="house/")) == {"other/gate": "superseded"}
    assert scene.row("house/moat").status == "duplicate"


def test_past_the_bound_duplicates_remain_for_the_next_call() -> None:
    scene = repeated("one", "two", "three", "four")
    first = collapse(scene, rows_max=2)
    assert (first.collapsed, first.remaining, list(settled(first))) == (2, 1, ["two", "three"])
    second = collapse(scene, rows_max=2)
    assert (second.collapsed, second.remaining, list(settled(second))) == (1, 0, ["four"])


def test_a_locked_duplicate_is_listed_and_stays() -> None:
    scene = repeated("one", "two", "three")
    scene.lock("two", reason="audit")
    answer = collapse(scene)
    assert [(row.memory_key, row.memory_id, row.code) for row in answer.refused] == [
        ("two", scene.row("two").memory_id, Locked.code)
    ]
    assert "audit" in answer.refused[0].message
    assert (answer.collapsed, settled(answer)) == (1, {"three": "superseded"})
    assert scene.row("two").status == "duplicate"


def test_a_call_after_a_call_gets_past_locked_duplicates() -> None:
    scene = repeated("one", "two", "three")
    scene.lock("two")
    for _ in range(3):
        collapse(scene, rows_max=1)
    assert scene.row("three").status == "superseded"


def test_a_locked_canonical_keeps_no_duplicate_from_collapsing() -> None:
    scene = repeated("one", "two")
    scene.lock("one", mode="read_only")
    assert settled(collapse(scene)) == {"two": "superseded"}


# ---- whose canonical is gone -----------------------------------------------------------------------------------------
def orphaned(scene: Scene, canonical: str) -> Scene:
    """The canonical is gone and nobody took care of its duplicates, as no op of today leaves it."""
    row = scene.row(canonical)
    draft = scene.draft("memory.forge")
    gone = draft.change(row, PLAIN, status=Status.TOMBSTONED, tombstoned_at=draft.now, conflict_with=())
    scene.state.put(gone)
    return scene


def reactivate(scene: Scene, apply: bool = True, **more: Any) -> ResolveOrphansAnswer:
    draft = scene.draft("memory.resolve_orphan_duplicates")
    request = scene.request("memory.resolve_orphan_duplicates", **more)
    answer = decide_orphans(draft, request, orphans(scene.state, request.prefix))
    if apply:
        scene.apply(draft)
    return answer


def test_of_the_orphans_the_oldest_speaks_again_and_the_others_repeat_it() -> None:
    scene = orphaned(repeated("one", "z-oldest", "b-next", "a-last"), "one")
    answer = reactivate(scene)
    oldest = scene.row("z-oldest")
    assert (answer.reactivated, answer.dry_run) == (1, False)
    assert settled(answer) == {"z-oldest": "active", "b-next": "duplicate", "a-last": "duplicate"}
    assert {scene.row(key).duplicate_of for key in ("b-next", "a-last")} == {oldest.memory_id}
    assert oldest.duplicate_of == ""
    assert reactivate(scene).reactivated == 0


def test_each_canonical_that_is_gone_has_its_own_successor() -> None:
    scene = repeated("one", "two")
    repeated("moat", "fish", "pike", value=MOAT, scene=scene)
    orphaned(orphaned(scene, "one"), "moat")
    answer = reactivate(scene)
    assert answer.reactivated == 2
    assert settled(answer) == {"two": "active", "fish": "active", "pike": "duplicate"}


def test_duplicates_of_a_live_canonical_are_no_orphans() -> None:
    scene = repeated("one", "two")
    scene.set("red", PAINTED_RED)
    assert scene.row("one").status == "conflicted"
    assert (reactivate(scene).reactivated, scene.row("two").status) == (0, "duplicate")


def test_orphans_are_chosen_by_their_own_key() -> None:
    scene = orphaned(repeated("house/one", "house/two"), "house/one")
    assert reactivate(scene, apply=False, prefix="castle/").reactivated == 0
    assert reactivate(scene, prefix="house/t").reactivated == 1


def test_one_that_is_not_searched_speaks_last() -> None:
    scene = orphaned(repeated("one", "two", "three"), "one")
    scene.state.put(scene.draft().change(scene.row("two"), PLAIN, demoted=True))
    assert settled(reactivate(scene)) == {"three": "active", "two": "duplicate"}


def test_no_user_s_orphan_comes_to_repeat_another_user_s() -> None:
    scene = repeated("shared")
    for user_id in ("u-amy", "u-ben"):
        scene.set(user_id, GATE, user_id=user_id, run_id="r2")
    reactivate(orphaned(scene, "shared"))
    assert statuses(scene, "u-amy", "u-ben") == ["active", "active"]


def test_a_duplicate_is_found_by_key_before_and_after_its_canonical_is_deleted() -> None:
    scene = repeated("one", "two", "three")
    scene.delete("one")
    scene.now += SECOND
    assert statuses(scene, "one", "two", "three") == ["tombstoned", "active", "duplicate"]
    assert not orphans(scene.state, "")
