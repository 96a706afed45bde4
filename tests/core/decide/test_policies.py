"""newest_wins: who takes whose place, and who never gives way."""

from __future__ import annotations

from typing import Any

from loom_ray.core.records import Audited
from loom_ray.core.row import Status

from .scene import Scene

LEASE, LATER_LEASE = "The office lease ends in 2025.", "The office lease ends in 2027."


def newest_wins() -> Scene:
    return Scene(default_conflict_policy="newest_wins")


def retirements(scene: Scene) -> list[tuple[str, str, str]]:
    retired = (one for one in scene.audits if one.action == "memory.auto_supersede")
    return [(one.memory_id, one.related_id, one.reason) for one in retired]


def test_the_same_statement_filled_otherwise_takes_the_older_ones_place() -> None:
    scene = newest_wins()
    old = scene.set("lease", LEASE).row
    new = scene.set("office/lease", LATER_LEASE)
    assert new.outcome.verdict == "refines"
    assert new.row.status is Status.ACTIVE
    assert new.row.conflict_with == ()
    assert scene.row("lease").status is Status.SUPERSEDED
    assert scene.row("lease").superseded_by == new.row.memory_id
    assert retirements(scene) == [(old.memory_id, new.row.memory_id, "newest_wins_contradiction")]


def test_a_dry_run_only_says_so() -> None:
    scene = newest_wins()
    scene.set("lease", LEASE)
    assert scene.set("office/lease", LATER_LEASE, dry_run=True).outcome.verdict == "refines"
    assert scene.row("lease").status is Status.ACTIVE
    assert retirements(scene) == []


def test_a_key_written_again_retires_the_rows_of_every_writer() -> None:
    scene = newest_wins()
    first = scene.set("ferry", "The ferry Petrel carries 40 bicycles.", agent="deck").row
    second = scene.set("ferry", "Pigeons roost on the ferry.", agent="bridge").row
    scene.set("ferry", "The ferry Petrel carries 55 bicycles.", agent="office")
    assert {row.agent: row.status.value for row in scene.state.rows.values()} == {
        "deck": "superseded", "bridge": "superseded", "office": "active"
    }  # fmt: skip
    assert [(gone, reason) for gone, _, reason in retirements(scene)] == [
        (first.memory_id, "same_key_newest_wins"), (second.memory_id, "same_key_newest_wins")
    ]  # fmt: skip


def test_another_users_row_of_the_key_is_none_of_the_writers_business() -> None:
    scene = newest_wins()
    scene.set("tea", "Drinks green tea.", user_id="anna")
    scene.set("tea", "Drinks black tea.", user_id="ben")
    assert {row.user_id: row.status.value for row in scene.state.rows.values()} == {"anna": "active", "ben": "active"}


def test_rows_that_no_embedder_sees_are_retired_by_their_key_too() -> None:
    scene = newest_wins()
    scene.set("day", "Met the mayor.", memory_type="episodic", agent="first")
    written = scene.set("day", "Met the harbour master.", memory_type="episodic", agent="second")
    assert written.outcome.verdict == ""
    assert len(retirements(scene)) == 1


def test_a_fact_about_a_later_time_stays_and_is_flagged() -> None:
    scene = newest_wins()
    scene.set("lease", LATER_LEASE, valid_at="2031-05-01T00:00:00Z")
    earlier = scene.set("office/lease", LEASE, valid_at="2030-01-01T00:00:00Z")
    assert earlier.outcome.verdict == "conflict"
    assert scene.row("lease").status is Status.CONFLICTED
    assert retirements(scene) == []


def test_a_locked_row_stays_and_is_flagged() -> None:
    scene = newest_wins()
    scene.set("ferry", "The ferry Petrel carries 40 bicycles.", agent="deck")
    scene.lock("ferry", agent="deck", mode="no_delete")
    assert scene.set("ferry", "The ferry Petrel carries 55 bicycles.", agent="office").outcome.verdict == "conflict"
    assert retirements(scene) == []


def test_what_repeats_a_retired_row_goes_with_it() -> None:
    scene = newest_wins()
    scene.set("lease", LEASE)
    assert scene.set("run/lease", LEASE, run_id="r1").outcome.verdict == "duplicate"
    scene.set("office/lease", LATER_LEASE)
    assert {row.memory_key: row.status.value for row in scene.state.rows.values()} == {
        "lease": "superseded", "run/lease": "superseded", "office/lease": "active"
    }  # fmt: skip


def test_a_locked_repeat_stays_and_contradicts() -> None:
    scene = newest_wins()
    scene.set("lease", LEASE)
    scene.set("run/lease", LEASE, run_id="r1")
    scene.lock("run/lease", mode="read_only")
    new = scene.set("office/lease", LATER_LEASE).row
    assert scene.row("run/lease").status is Status.CONFLICTED
    assert scene.row("run/lease").conflict_with == (new.memory_id,)


def test_a_decision_under_another_key_contradicts_and_never_makes_way() -> None:
    scene = newest_wins()
    scene.set("adr/1", "The port of the gateway is 8080.", memory_type="decision")
    assert scene.set("adr/2", "The port of the gateway is 9090.", memory_type="decision").outcome.verdict == "conflict"


def test_an_undone_retirement_stands_while_both_values_do() -> None:
    scene = newest_wins()
    scene.set("lease", LEASE)
    new = scene.set("office/lease", LATER_LEASE).row
    undone: Any = scene.restore("lease", if_superseded_by=new.memory_id)
    assert undone.restored
    assert scene.row("lease").status is Status.ACTIVE
    assert scene.restore("lease", if_superseded_by=new.memory_id).restored, "a repeat finds it done"
    scene.set("office/lease", LATER_LEASE, tags=["again"])
    assert scene.row("lease").status is Status.ACTIVE, "the same value does not retire it again"
    scene.set("office/lease", "The office lease ends in 2029.")
    assert scene.row("lease").status is Status.SUPERSEDED, "a new value is judged afresh"


def test_an_undo_that_came_too_late_says_so() -> None:
    scene = newest_wins()
    scene.set("lease", LEASE)
    new = scene.set("office/lease", LATER_LEASE).row
    assert scene.restore("lease", if_superseded_by="somebody-else").reason == "changed_since"
    scene.restore("lease", if_superseded_by=new.memory_id)
    scene.set("lease", "The lease was sold.")
    late = scene.restore("lease", if_superseded_by=new.memory_id)
    assert (late.restored, late.reason) == (False, "changed_since")


def test_undoing_leaves_its_own_row_in_the_audit() -> None:
    scene = newest_wins()
    scene.set("lease", LEASE)
    new = scene.set("office/lease", LATER_LEASE).row
    scene.restore("lease", only_if_superseded=True)
    undo: Audited = scene.audits[-1]
    assert (undo.action, undo.related_id) == ("memory.unsupersede", new.memory_id)


def test_append_only_keeps_what_contradicts_side_by_side() -> None:
    scene = Scene(default_conflict_policy="append_only")
    scene.set("lease", LEASE, agent="first")
    scene.set("lease", LATER_LEASE, agent="second")
    scene.set("lease", "The lease was sold.", agent="second")
    assert {row.value: row.status.value for row in scene.state.rows.values()} == {
        LEASE: "active", "The lease was sold.": "active"
    }  # fmt: skip


def test_one_batch_retires_as_single_writes_would() -> None:
    scene = newest_wins()
    written = scene.bulk({"memory_key": "lease", "value": LEASE}, {"memory_key": "office/lease", "value": LATER_LEASE})
    assert [one.outcome.verdict for one in written] == ["clear", "refines"]
    assert scene.row("lease").status is Status.SUPERSEDED


MOORING = "The mooring fee of the ketch Sula at the north quay is 400 euros a month."
RAISED = "The mooring fee of the ketch Sula at the north quay was raised to 420 euros a month after the refit."


def test_a_change_that_is_told_retires_the_value_before_it() -> None:
    scene = newest_wins()
    old = scene.set("fee", MOORING).row
    new = scene.set("notes/fee", RAISED)
    assert new.outcome.verdict == "refines"
    assert scene.row("fee").status is Status.SUPERSEDED
    assert retirements(scene) == [(old.memory_id, new.row.memory_id, "value_update")]


def test_what_was_said_before_the_change_retires_nobody() -> None:
    scene = newest_wins()
    scene.set("notes/fee", RAISED)
    assert scene.set("fee", MOORING).outcome.verdict == "conflict"
    assert scene.row("notes/fee").status is Status.CONFLICTED


def test_a_pinned_value_gives_no_way_to_a_change_that_is_told() -> None:
    scene = newest_wins()
    scene.pin("fee", MOORING)
    assert scene.set("notes/fee", RAISED).outcome.verdict == "rejected"
    assert scene.row("fee").status is Status.ACTIVE
