"""memory.update: which row is meant, what stays, what is judged."""

from __future__ import annotations

import pytest

from loom_ray.contract.errors import AmbiguousKey, Expired, InvalidRequest
from loom_ray.core.decide.write import Written
from loom_ray.core.row import Status

from .scene import Scene

ROPE, MOVED = "Spare rope lies in locker two.", "Spare rope lies in the forecastle."


def corrected(result: Written | str) -> Written:
    assert isinstance(result, Written), result
    return result


def test_the_one_row_of_a_key_is_corrected_whoever_wrote_it() -> None:
    scene = Scene()
    old = scene.set("rope", ROPE, agent="first", user_id="anna", session_id="s").row
    new = corrected(scene.update("rope", value=MOVED, agent="*")).row
    assert new is not None
    assert (new.memory_id, new.identity, new.value) == (old.memory_id, old.identity, MOVED)
    assert new.actor == "process:-", "who corrected it, not who owns it"


def test_none_and_several_are_told() -> None:
    scene = Scene()
    assert scene.update("rope", value=MOVED) == "not_found"
    scene.set("rope", ROPE, agent="first")
    scene.set("rope", "Pigeons roost in the bell tower.", agent="second")
    with pytest.raises(AmbiguousKey) as refused:
        scene.update("rope", value=MOVED)
    assert {one["agent"] for one in refused.value.extra["candidates"]} == {"first", "second"}
    assert corrected(scene.update("rope", value=MOVED, agent="second")).row


def test_what_is_not_named_stays() -> None:
    scene = Scene()
    said = {
        "tags": ["deck"], "entities": ["Rope"], "confidence": 0.7, "valid_at": "2030-01-01T00:00:00Z",
        "ttl_seconds": 900,
        "sensitivity": "medium", "char_limit": 200, "on_expire": "demote", "source_class": "external",
        "source_resource_id": "log/7", "memory_type": "decision", "files": ["ropes.md"], "run_id": "r1",
    }  # fmt: skip
    old = scene.set("rope", ROPE, **said).row
    new = corrected(scene.update("rope", value=MOVED)).row
    assert old is not None
    assert new is not None
    kept = set(said) - {"ttl_seconds", "files"} | {"expires_at", "created_at", "memory_id"}
    assert {name: getattr(new, name) for name in kept} == {name: getattr(old, name) for name in kept}
    tagged = corrected(scene.update("rope", tags=["new"])).row
    assert tagged is not None
    assert (tagged.tags, tagged.value, tagged.asserted_at) == (("new",), MOVED, new.version)


def test_a_correction_is_judged_and_can_raise_the_sensitivity_only() -> None:
    scene = Scene()
    scene.set("rope", ROPE, sensitivity="medium")
    scene.set("other", "The lease ends in 2025.")
    assert corrected(scene.update("rope", value="The lease ends in 2027.")).outcome.verdict == "conflict"
    row = corrected(scene.update("rope", value="The password is hunter2-Xy9!")).row
    assert row is not None
    assert row.sensitivity == "high"
    assert scene.row("other").status is Status.ACTIVE


def test_an_expired_row_comes_back_only_when_asked() -> None:
    scene = Scene()
    scene.pin("rope", ROPE, ttl_seconds=60)
    scene.end("rope", 61)
    assert scene.row("rope").status is Status.TOMBSTONED
    with pytest.raises(Expired):
        scene.update("rope", value=MOVED)
    row = corrected(scene.update("rope", value=MOVED, revive=True)).row
    assert row is not None
    assert (row.status, row.expires_at, row.pinned) == (Status.ACTIVE, None, True)


def test_a_row_past_its_time_comes_back_without_an_end() -> None:
    scene = Scene()
    scene.set("rope", ROPE, valid_to="2033-06-01T00:00:00Z")
    scene.pass_time(2 * 366 * 86_400)
    with pytest.raises(Expired):
        scene.update("rope", value=MOVED)
    row = corrected(scene.update("rope", value=MOVED, revive=True)).row
    assert row is not None
    assert row.valid_to is None


def test_what_was_deleted_is_not_expired() -> None:
    scene = Scene()
    scene.set("rope", ROPE, ttl_seconds=600)
    scene.delete("rope")
    assert scene.update("rope", value=MOVED) == "not_found"
    scene.set("sail", "The sail is torn.")
    scene.move("sail", "sail/new")
    assert scene.update("sail", value=MOVED) == "moved"


def test_times_out_of_order_are_refused_although_each_alone_is_fine() -> None:
    scene = Scene()
    scene.set("rope", ROPE, valid_at="2035-01-01T00:00:00Z")
    with pytest.raises(InvalidRequest, match="valid_to"):
        scene.update("rope", valid_to="2034-01-01T00:00:00Z")
    with pytest.raises(InvalidRequest, match="value"):
        scene.update("rope")
