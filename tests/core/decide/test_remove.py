"""What do a deletion and its undoing change?"""

from __future__ import annotations

import pytest

from loom_ray.contract.errors import AmbiguousKey
from loom_ray.core.decide.rules import DAY_NS

from .scene import SECOND, Scene

LEASE, LATER = "The office lease ends in 2025.", "The office lease ends in 2027."


def test_a_deleted_row_frees_those_it_contradicted() -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    scene.set("lease/new", LATER)
    assert scene.delete("lease/new").tombstoned
    assert scene.row("lease").status == "active"
    assert not scene.delete("lease/new").found


def test_a_restored_row_is_judged_against_what_is_there_now() -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    scene.delete("lease")
    scene.set("lease/new", LATER)
    answer = scene.restore("lease")
    assert (answer.restored, answer.status, answer.conflict_verdict) == (True, "conflicted", "conflict")
    assert scene.row("lease/new").status == "conflicted"


def test_a_restored_row_that_was_written_anew_elsewhere_is_a_duplicate() -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    scene.delete("lease")
    scene.set("lease/again", LEASE)
    assert scene.restore("lease").status == "duplicate"


def test_a_deleted_canonical_leaves_its_duplicates_served() -> None:
    scene = Scene()
    scene.set("one", LEASE, run_id="r1")
    scene.set("two", LEASE, run_id="r2")
    scene.delete("one")
    assert scene.row("two").status == "active"
    assert scene.restore("one").status == "duplicate"


def test_restoring_what_is_not_deleted_changes_nothing() -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    version = scene.row("lease").version
    assert (scene.restore("lease").restored, scene.restore("lease").reason) == (False, "not_deleted")
    assert scene.restore("never").reason == "not_found"
    assert scene.row("lease").version == version


@pytest.mark.parametrize(("days", "restored"), [(14, True), (15, False)])
def test_the_window_to_come_back_is_fourteen_days(days: int, restored: bool) -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    scene.delete("lease")
    scene.now += days * DAY_NS - 2_000_000_000
    answer = scene.restore("lease")
    assert answer.restored is restored
    assert answer.reason == ("" if restored else "window_passed")


def test_a_write_over_a_tombstone_is_a_new_life_of_the_same_row() -> None:
    scene = Scene()
    first = scene.set("lease", LEASE).row
    scene.delete("lease")
    second = scene.set("lease", LATER).row
    assert second.memory_id == first.memory_id
    assert second.created_at > first.created_at
    assert second.tombstoned_at is None


def test_delete_looks_past_the_agent_but_never_past_the_user() -> None:
    scene = Scene()
    scene.set("rope", "Spare rope lies in locker two.", agent="first")
    scene.set("rope", "Amy keeps a rope.", user_id="u-amy")
    assert scene.delete("rope", agent="second").found
    assert not scene.delete("rope", agent="second").found
    assert [row.user_id for row in scene.state.rows.values() if row.is_live] == ["u-amy"]


def test_a_key_of_several_agents_is_not_deleted_by_a_stranger() -> None:
    scene = Scene()
    scene.set("rope", "Spare rope lies in locker two.", agent="first")
    scene.set("rope", "Pigeons roost in the bell tower.", agent="second")
    with pytest.raises(AmbiguousKey) as refusal:
        scene.delete("rope", agent="third")
    assert len(refusal.value.extra["candidates"]) == 2
    assert scene.delete("rope", agent="second").found


def test_a_retry_of_a_delete_does_not_go_on_to_another_agent_s_row() -> None:
    scene = Scene()
    scene.set("rope", "Spare rope lies in locker two.", agent="first")
    scene.set("rope", "Pigeons roost in the bell tower.", agent="second")
    assert scene.delete("rope", agent="first").found
    assert not scene.delete("rope", agent="first").found
    assert scene.restore("rope", agent="second").reason == "not_deleted"


def test_an_expired_row_is_neither_deleted_nor_brought_back() -> None:
    scene = Scene()
    scene.set("pass", "The pass is green.", ttl_seconds=10)
    scene.delete("pass")
    scene.now += 20 * SECOND
    assert scene.restore("pass").reason == "expired"
    scene.set("other", "The pass is blue.", ttl_seconds=1)
    scene.now += 20 * SECOND
    assert not scene.delete("other").found


@pytest.mark.parametrize("condition", [{"only_if_superseded": True}, {"if_superseded_by": "id-9"}])
def test_a_condition_on_a_retirement_never_undoes_a_deletion(condition: dict[str, object]) -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    scene.delete("lease")
    assert scene.restore("lease", **condition).reason == "not_superseded"
    assert scene.restore("lease").restored
