"""Pins and locks: what they refuse, and on which paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from loom_ray.contract.errors import Locked, PinnedConflict
from loom_ray.core.decide.mark import decide_touch, decide_unlock, decide_unpin
from loom_ray.core.decide.remove import decide_delete, decide_delete_version, decide_reject
from loom_ray.core.row import Status

from .scene import Scene

RULE, OTHER = "Helmets are worn on every deck.", "Helmets are worn in the hold only."
LIMIT, RIVAL = "The transfer limit for managers is 5,000 euros.", "The transfer limit for managers is 9,000 euros."


# ---- pins ------------------------------------------------------------------------------------------------------------
def test_a_pinned_key_keeps_its_value_unless_it_is_corrected_or_pinned_again() -> None:
    scene = Scene()
    pin = scene.pin("rule", RULE).row
    refused = scene.set("rule", OTHER, dry_run=True).outcome
    assert refused.verdict == "rejected"
    assert refused.refusal is not None
    assert refused.refusal.error.extra["pinned_blocker_id"] == pin.memory_id
    assert scene.set("rule", RULE).outcome.rule == "restatement"
    scene.update("rule", value=OTHER)
    assert (scene.row("rule").value, scene.row("rule").pinned) == (OTHER, True)
    scene.pin("rule", RULE)
    assert (scene.row("rule").value, scene.row("rule").pinned) == (RULE, True)


def test_what_contradicts_a_pinned_fact_is_refused_and_what_repeats_it_is_not() -> None:
    scene = Scene()
    pin = scene.pin("limit", LIMIT).row
    refusal = scene.set("bank", RIVAL).outcome.refusal
    assert refusal is not None
    assert (refusal.list_name, refusal.error.extra["pinned_blocker_id"]) == ("rejected_pinned", pin.memory_id)
    assert scene.set("bank", LIMIT).outcome.verdict == "merge"
    assert scene.row("limit").status is Status.ACTIVE


def test_a_batch_goes_on_without_the_entries_that_a_guard_refuses() -> None:
    scene = Scene()
    scene.pin("rule", RULE)
    scene.pin("limit", LIMIT)
    scene.set("chart", "The chart was drawn by the navy.")
    scene.lock("chart")
    written = scene.bulk(
        {"memory_key": "rule", "value": OTHER},
        {"memory_key": "bank", "value": RIVAL},
        {"memory_key": "chart", "value": "The chart was lost."},
        {"memory_key": "boots", "value": "Rubber boots stand by the winch."},
        {"memory_key": "rule", "value": OTHER},
    )
    names = [one.outcome.refusal.list_name if one.outcome.refusal else one.outcome.verdict for one in written]
    assert names == ["skipped_pinned", "rejected_pinned", "skipped_locked", "clear", "skipped_pinned"]
    assert scene.keys() == ["boots", "chart", "limit", "rule"]


def test_a_pin_stands_by_itself_although_the_fact_is_stored_elsewhere() -> None:
    scene = Scene()
    scene.set("note", RULE)
    pinned = scene.pin("rule", RULE)
    assert pinned.row is not None
    assert (pinned.row.memory_key, pinned.row.status, pinned.row.pinned) == ("rule", Status.ACTIVE, True)


def test_a_decision_of_another_key_is_flagged_not_refused() -> None:
    scene = Scene()
    scene.pin("adr/1", "The port of the gateway is 8080.", memory_type="decision")
    assert scene.set("adr/2", "The port of the gateway is 9090.", memory_type="decision").outcome.verdict == "conflict"


def test_a_rival_of_a_pinned_fact_cannot_come_back_or_move() -> None:
    scene = Scene()
    scene.set("bank", RIVAL)
    scene.delete("bank")
    scene.pin("limit", LIMIT)
    with pytest.raises(PinnedConflict):
        scene.restore("bank")
    scene.change("memory.unpin", decide_unpin, memory_key="limit")
    scene.restore("bank")
    scene.pin("limit", LIMIT)
    with pytest.raises(PinnedConflict):
        scene.move("bank", "branch")
    assert scene.row("bank").status is Status.CONFLICTED


def test_newest_wins_is_refused_by_a_pin() -> None:
    scene = Scene(default_conflict_policy="newest_wins")
    scene.pin("limit", LIMIT, agent="first")
    assert scene.set("limit", RIVAL, agent="second").outcome.verdict == "rejected"
    assert scene.set("bank", RIVAL).outcome.verdict == "rejected"


def test_a_pin_does_not_keep_a_row_from_being_deleted_and_comes_back_with_it() -> None:
    scene = Scene()
    scene.pin("rule", RULE)
    assert scene.delete("rule").tombstoned
    scene.restore("rule")
    assert scene.row("rule").pinned
    scene.delete("rule")
    assert scene.set("rule", OTHER).outcome.verdict == "clear", "a new row under the key"
    assert not scene.row("rule").pinned


# ---- locks -----------------------------------------------------------------------------------------------------------
Act = Callable[[Scene], Any]
EDITS: dict[str, Act] = {
    "set": lambda scene: raised(scene.set("chart", "Drawn by hand.")),
    "update": lambda scene: raised(scene.update("chart", value="Drawn by hand.")),
    "expiry": lambda scene: raised(scene.set("chart", CHART, ttl_seconds=60)),
    "touch": lambda scene: scene.change("memory.touch", decide_touch, memory_key="chart", ttl_seconds=60),
    "unpin": lambda scene: scene.change("memory.unpin", decide_unpin, memory_key="chart"),
}
DELETIONS: dict[str, Act] = {
    "delete": lambda scene: scene.delete("chart"),
    "delete_version": lambda scene: scene.change(
        "memory.delete_version", decide_delete_version, memory_key="chart", version=scene.row("chart").version
    ),
    "reject": lambda scene: scene.change("memory.reject", decide_reject, memory_key="chart"),
    "move": lambda scene: scene.move("chart", "chart/new"),
}
CHART = "The chart was drawn by the navy."


def raised(written: Any) -> Any:
    """A single write answers its refusal as an error."""
    if written.outcome.refusal is not None:
        raise written.outcome.refusal.error
    return written


@pytest.mark.parametrize("act", [*EDITS.values(), *DELETIONS.values()], ids=[*EDITS, *DELETIONS])
def test_read_only_refuses_every_change(act: Act) -> None:
    scene = Scene()
    scene.pin("chart", CHART)
    scene.lock("chart", reason="under audit")
    before = scene.row("chart")
    with pytest.raises(Locked, match="under audit"):
        act(scene)
    assert scene.row("chart") == before


@pytest.mark.parametrize("act", DELETIONS.values(), ids=DELETIONS)
def test_no_delete_refuses_deletion(act: Act) -> None:
    scene = Scene()
    scene.set("chart", CHART)
    scene.lock("chart", mode="no_delete")
    with pytest.raises(Locked):
        act(scene)


@pytest.mark.parametrize("name", ["set", "update", "expiry", "touch"])
def test_no_delete_allows_edits(name: str) -> None:
    scene = Scene()
    scene.set("chart", CHART)
    scene.lock("chart", mode="no_delete")
    EDITS[name](scene)
    assert scene.row("chart").lock == "no_delete", "and the lock stays"


def test_the_same_bytes_pass_a_lock() -> None:
    scene = Scene()
    scene.set("chart", CHART)
    scene.lock("chart")
    assert scene.set("chart", CHART).outcome.rule == "restatement"


def test_a_lock_can_be_tightened_and_not_loosened() -> None:
    scene = Scene()
    scene.set("chart", CHART)
    assert scene.lock("chart", mode="no_delete", ttl_seconds=100).locked
    assert scene.lock("chart", mode="no_delete", ttl_seconds=200).locked, "longer"
    assert scene.lock("chart", mode="read_only").locked, "stronger, and for ever"
    with pytest.raises(Locked):
        scene.lock("chart", mode="no_delete")
    with pytest.raises(Locked):
        scene.lock("chart", mode="read_only", ttl_seconds=500)
    assert scene.change("memory.unlock", decide_unlock, memory_key="chart").unlocked
    assert scene.lock("chart", mode="no_delete", ttl_seconds=1).locked


def test_a_lock_ends_by_itself() -> None:
    scene = Scene()
    scene.set("chart", CHART)
    scene.lock("chart", ttl_seconds=100)
    scene.pass_time(101)
    assert scene.change("memory.delete", decide_delete, memory_key="chart").tombstoned


def test_a_locked_row_does_not_expire_before_its_lock_ends() -> None:
    scene = Scene()
    scene.set("chart", CHART, ttl_seconds=10)
    scene.lock("chart", mode="no_delete", ttl_seconds=100)
    scene.pass_time(50)
    assert scene.row("chart").is_readable(scene.now)
    scene.pass_time(51)
    assert not scene.row("chart").is_readable(scene.now)
