"""What comes back, and what moves: judged on arrival, with everything that belongs to it."""

from __future__ import annotations

from typing import Any

import pytest

from loom_ray.contract.errors import AmbiguousKey, KeyHoldsFact, PreconditionFailed
from loom_ray.core.decide.remove import decide_delete_version, decide_reject
from loom_ray.core.row import Status

from .scene import Scene

PIER, RIVAL = "The old pier holds 40 boats.", "The old pier holds 55 boats."


def test_a_moved_row_takes_everything_along() -> None:
    scene = Scene()
    old = scene.pin("pier", PIER, tags=["pier"], entities=["Pier"], valid_at="2030-01-01T00:00:00Z", user_id="anna").row
    answer = scene.move("pier", "pier/new", user_id="anna")
    new = scene.row("pier/new")
    assert (answer.moved, answer.memory_id, answer.moved_from_id) == (True, new.memory_id, old.memory_id)
    assert new.memory_id != old.memory_id
    kept = ("value", "tags", "entities", "valid_at", "user_id", "pinned", "asserted_at", "created_at", "source_class")
    assert [getattr(new, name) for name in kept] == [getattr(old, name) for name in kept]
    assert (scene.vectors[new.memory_id] == scene.vectors[old.memory_id]).all()
    assert (scene.row("pier").status, scene.row("pier").redirects_to) == (Status.REDIRECT, new.memory_id)
    assert not scene.row("pier").pinned


def test_without_a_redirect_a_tombstone_stays() -> None:
    scene = Scene()
    scene.set("pier", PIER)
    scene.move("pier", "pier/new", keep_redirect=False)
    assert scene.row("pier").status is Status.TOMBSTONED


def test_contradictions_and_repeats_follow_a_move() -> None:
    scene = Scene()
    scene.set("pier", PIER)
    scene.set("run/pier", PIER, run_id="r1")
    rival = scene.set("rival", RIVAL).row
    answer = scene.move("pier", "pier/new")
    new = scene.row("pier/new")
    assert (answer.conflict_verdict, new.conflict_with) == ("conflict", (rival.memory_id,))
    assert scene.row("rival").conflict_with == (new.memory_id,)
    assert scene.row("run/pier").duplicate_of == new.memory_id


def test_a_key_that_holds_a_fact_is_not_overwritten() -> None:
    scene = Scene()
    scene.set("pier", PIER)
    scene.set("taken", "Gulls nest there.")
    with pytest.raises(KeyHoldsFact):
        scene.move("pier", "taken")
    scene.delete("taken")
    taken = scene.row("taken").memory_id
    scene.move("pier", "taken")
    assert (scene.row("taken").value, scene.row("taken").memory_id) == (PIER, taken)


def test_a_move_back_takes_the_redirects_place() -> None:
    scene = Scene()
    first = scene.set("pier", PIER).row
    scene.move("pier", "pier/new")
    scene.move("pier/new", "pier")
    assert (scene.row("pier").status, scene.row("pier").memory_id) == (Status.ACTIVE, first.memory_id)
    assert scene.row("pier/new").redirects_to == first.memory_id


def test_a_move_over_other_content_is_refused() -> None:
    scene = Scene()
    scene.set("pier", PIER)
    with pytest.raises(PreconditionFailed) as refused:
        scene.move("pier", "pier/new", if_match_sha256="0" * 64)
    assert refused.value.extra["current_sha256"] == scene.row("pier").content_sha256
    assert scene.move("nowhere", "pier/new") is None


def test_several_rows_of_a_key_are_told_apart_first() -> None:
    scene = Scene()
    scene.set("pier", PIER, agent="first")
    scene.set("pier", "Gulls nest there.", agent="second")
    with pytest.raises(AmbiguousKey) as refused:
        scene.move("pier", "pier/new", agent="third")
    assert len(refused.value.extra["candidates"]) == 2
    assert scene.move("pier", "pier/new", agent="second").moved


def test_what_was_rejected_is_read_no_more_and_can_come_back() -> None:
    scene = Scene()
    scene.set("pier", PIER)
    scene.set("rival", RIVAL)
    assert scene.change("memory.reject", decide_reject, memory_key="pier", reason="hearsay").rejected
    assert scene.row("pier").status is Status.REJECTED
    assert scene.row("rival").status is Status.ACTIVE, "nothing contradicts it any more"
    assert scene.audits[-1].reason == "hearsay"
    back = scene.restore("pier")
    assert (back.restored, back.conflict_verdict) == (True, "conflict")


@pytest.mark.parametrize(("version", "reason"), [(0, ""), (1, "version_changed")])
def test_delete_version_deletes_only_what_it_names(version: int, reason: str) -> None:
    scene = Scene()
    row: Any = scene.set("pier", PIER).row
    named = str(row.version + version)
    answer = scene.change("memory.delete_version", decide_delete_version, memory_key="pier", version=named)
    assert (answer.tombstoned, answer.reason) == (not reason, reason)
    assert scene.row("pier").is_live == bool(reason)


def test_delete_version_is_for_exactly_ones_own_row() -> None:
    scene = Scene()
    row: Any = scene.set("pier", PIER, agent="first").row
    asked = {"memory_key": "pier", "version": row.version, "agent": "second"}
    assert scene.change("memory.delete_version", decide_delete_version, **asked).reason == "not_found"
