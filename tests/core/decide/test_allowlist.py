"""Which pairs of keys are never flagged again, whoever writes them in whatever way, and until when?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loom_ray.contract.conflicts import ResolveAnswer
from loom_ray.core.decide.remove import decide_delete
from loom_ray.core.decide.resolve import decide_allowlist_remove, decide_resolve

from .scene import Scene

LEASE, LATER, LATEST = (f"The office lease ends in {year}." for year in (2025, 2027, 2029))


def statuses(scene: Scene, keys: str) -> str:
    """One word a key."""
    return " ".join(str(scene.row(key).status) for key in keys)


def allow(scene: Scene, key: str, **more: Any) -> ResolveAnswer:
    memory_id = scene.row(key).memory_id
    return scene.change("conflicts.resolve", decide_resolve, memory_id=memory_id, decision="allow", **more)


def allowed(left: str = "a", right: str = "b") -> Scene:
    scene = Scene()
    scene.set(left, LEASE)
    scene.set(right, LATER)
    assert allow(scene, right, reason="two floors").resolved
    return scene


def test_the_allowlist_keeps_the_keys_in_their_order_with_reason_and_time() -> None:
    scene = allowed("z", "a")
    (pair,) = scene.state.allowed.values()
    assert (pair.key_a, pair.key_b, pair.reason, pair.at) == ("a", "z", "two floors", scene.now)
    assert pair.actor == "process:scene"


@pytest.mark.parametrize("key", ["a", "b"])
@pytest.mark.parametrize("who", [{}, {"agent": "other"}, {"user_id": "u-amy"}, {"session_id": "s-9"}], ids=str)
def test_an_allowed_pair_is_not_flagged_whoever_writes_it_again(key: str, who: dict[str, str]) -> None:
    scene = allowed()
    other = "b" if key == "a" else "a"
    written = scene.set(key, LATEST, **who).row
    assert scene.row(other).memory_id not in written.conflict_with
    assert scene.row(other).status == "active"


def _update(scene: Scene) -> None:
    scene.update("b", value=LATEST)


def _bulk(scene: Scene) -> None:
    scene.bulk({"memory_key": "b", "value": LATEST})


def _pin(scene: Scene) -> None:
    scene.pin("b", LATEST)


def _restore(scene: Scene) -> None:
    scene.delete("b")
    assert scene.restore("b").restored


@pytest.mark.parametrize("again", [_update, _bulk, _pin, _restore], ids=lambda again: again.__name__.strip("_"))
def test_an_allowed_pair_is_not_flagged_however_it_comes_again(again: Callable[[Scene], None]) -> None:
    scene = allowed()
    again(scene)
    assert statuses(scene, "ab") == "active active"


def test_an_allowed_pair_is_not_flagged_by_a_move_to_its_key_and_another_key_is_another_pair() -> None:
    scene = allowed()
    scene.move("b", "elsewhere", keep_redirect=False)
    assert statuses(scene, "a") == "conflicted"
    scene.move("elsewhere", "b", keep_redirect=False)
    held = [row for row in scene.state.rows.values() if row.is_live]
    assert [(row.memory_key, row.status) for row in sorted(held, key=lambda row: row.memory_key)] == [
        ("a", "active"),
        ("b", "active"),
    ]


def test_a_duplicate_that_takes_its_canonical_s_place_inherits_no_conflict_that_its_own_key_is_allowed() -> None:
    scene = allowed()
    scene.delete("b")
    scene.set("first", LATER, run_id="r1")
    assert scene.row("a").status == "conflicted"
    scene.set("b", LATER, run_id="r2")
    assert scene.row("b").status == "duplicate"
    scene.change("memory.delete", decide_delete, memory_key="first")
    assert statuses(scene, "ab") == "active active"


def test_every_pair_of_a_row_is_allowed_and_only_those() -> None:
    scene = Scene()
    for key, value in zip("abc", (LEASE, LATER, LATEST), strict=True):
        scene.set(key, value)
    allow(scene, "b")
    assert list(scene.state.allowed) == [("a", "b"), ("b", "c")]
    scene.set("b", "The office lease ends in 2031.")
    assert [scene.row(key).conflict_with for key in "abc"] == [
        (scene.row("c").memory_id,),
        (),
        (scene.row("a").memory_id,),
    ]


def test_two_sessions_of_one_key_are_a_pair_too() -> None:
    scene = Scene()
    first = scene.set("lease", LEASE, session_id="s-1").row
    second = scene.set("lease", LATER, session_id="s-2").row
    assert second.conflict_with == (first.memory_id,)
    scene.change("conflicts.resolve", decide_resolve, memory_id=second.memory_id, decision="allow")
    assert list(scene.state.allowed) == [("lease", "lease")]
    assert scene.set("lease", LATEST, session_id="s-3").row.status == "active"
    assert scene.set("else", "The office lease ends in 2033.").row.status == "conflicted"


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")], ids=str)
def test_a_removed_pair_is_flagged_by_the_next_write_and_not_before(order: tuple[str, str]) -> None:
    scene = allowed()
    remove = {"memory_key_a": order[0], "memory_key_b": order[1]}
    answer = scene.change("conflicts.allowlist_remove", decide_allowlist_remove, **remove)
    assert (answer.removed, answer.reason) == (True, "")
    assert scene.audits[-1].action == "conflicts.allowlist_remove"
    assert statuses(scene, "ab") == "active active"
    scene.set("b", LATEST)
    assert statuses(scene, "ab") == "conflicted conflicted"
    again = scene.change("conflicts.allowlist_remove", decide_allowlist_remove, **remove)
    assert (again.removed, again.reason) == (False, "not_found")


def test_a_batch_sees_what_its_own_draft_allows_and_disallows() -> None:
    scene = allowed()
    draft = scene.draft()
    draft.disallow("b", "a")
    assert not draft.is_allowed("a", "b")
    draft.allow("b", "a", "")
    assert draft.is_allowed("a", "b")
    assert not scene.draft().is_allowed("a", "c")
