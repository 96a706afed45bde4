"""Is what a run, an actor or a source did taken back whole, and nothing of what others did?"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from promises import check_state
from scene import Scene, until

from loom_ray.contract.errors import InvalidRequest, PayloadTooLarge
from loom_ray.core.row import Row

LEASE, LATER, LATEST = (f"the office lease ends in {year}" for year in (2025, 2027, 2029))
COFFEE = "Ida drinks her coffee black"


def held(scene: Scene) -> dict[str, Row]:
    """Every memory without what a rollback may not and need not bring back: stamps and counts."""
    rows = scene.namespace.home.state.rows.values()
    return {row.memory_id: _plain(row) for row in rows}


def _plain(row: Row) -> Row:
    links = tuple(sorted(row.conflict_with))
    stamps = {"version": 0, "tombstoned_at": None, "reinforcements": 0, "reinforced_at": None}
    return replace(row, conflict_with=links, **stamps)


def differing(before: dict[str, Row], after: dict[str, Row]) -> dict[str, tuple[Row | None, Row | None]]:
    """Only what differs: a failure then shows it."""
    return {name: (before.get(name), row) for name, row in after.items() if before.get(name) != row}


async def roll_back(scene: Scene, **cause: Any) -> dict[str, Any]:
    return await scene.ask("memory.rollback", dry_run=False, **cause)


async def assert_taken_back(scene: Scene, before: dict[str, Row], **cause: Any) -> None:
    """Each memory is as it was, new ones are tombstones; undoing it, and undoing that, are exact."""
    done = held(scene)
    dry = await scene.ask("memory.rollback", **cause)
    assert not differing(done, held(scene))
    answer = await roll_back(scene, **cause)
    assert {row["memory_id"]: row for row in dry["rows"]} == {row["memory_id"]: row for row in answer["rows"]}
    undone = held(scene)
    born = undone.keys() - before.keys()
    assert {undone[name].status for name in born} <= {"tombstoned"}
    assert not differing(before, {name: row for name, row in undone.items() if name not in born})
    again = await roll_back(scene, commit_id=answer["commit_id"])
    assert not differing(done, held(scene))
    await roll_back(scene, commit_id=again["commit_id"])
    assert not differing(undone, held(scene))


def rows_of(answer: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {row["memory_key"]: (row["becomes"], row["reason"]) for row in answer["rows"]}


# ---- what a cause did ------------------------------------------------------------------------------------------------
async def test_new_rows_and_the_flags_that_they_raised_go(scene: Scene) -> None:
    await scene.set("lease", LEASE)
    before = held(scene)
    told = await scene.set("lease/2", LATER, run_id="r1")
    assert told["conflict_verdict"] == "conflict"
    await scene.set("coffee", COFFEE, run_id="r1")
    dry = await scene.ask("memory.rollback", run_id="r1")
    assert (dry["dry_run"], dry["removed"], dry["restored"], dry["kept"], dry["commit_id"]) == (True, 2, 0, 0, "")
    did = {row["memory_key"]: (row["did"], row["becomes"], row["status"]) for row in dry["rows"]}
    assert did == {
        "lease/2": (["written"], "removed", "tombstoned"),
        "lease": (["flagged"], "relinked", "active"),
        "coffee": (["written"], "removed", "tombstoned"),
    }
    await assert_taken_back(scene, before, run_id="r1")


async def test_a_changed_value_returns_and_is_found_again(scene: Scene) -> None:
    await scene.set("coffee", COFFEE, tags=["drinks"])
    before = held(scene)
    await scene.set("coffee", "Ida has given up all of it", run_id="r1")
    await scene.ask("memory.update", memory_key="coffee", value="Ida only drinks tea", run_id="r1")
    await assert_taken_back(scene, before, run_id="r1")
    assert await scene.value("coffee") == COFFEE
    found = await scene.ask("memory.search", query=COFFEE)
    assert found["results"][0]["memory_key"] == "coffee"
    assert found["results"][0]["content_excerpt"] == COFFEE
    read = await scene.ask("memory.get", memory_key="coffee", as_of="2033-05-18T04:00:00Z")
    assert read["value"] == COFFEE


async def test_what_it_retired_is_served_again(scene: Scene) -> None:
    await scene.ask("namespace.register", default_conflict_policy="newest_wins")
    await scene.set("lease", LEASE)
    await scene.set("terms/lease", LEASE, run_id="r0")
    before = held(scene)
    told = await scene.set("lease/2", LATER, run_id="r1")
    assert told["conflict_verdict"] == "refines"
    dry = await scene.ask("memory.rollback", run_id="r1")
    assert "superseded" in {word for row in dry["rows"] for word in row["did"]}
    await assert_taken_back(scene, before, run_id="r1")
    assert await scene.value("lease") == LEASE


@pytest.mark.parametrize(
    ("newer", "path"),
    [
        ({"memory_key": "lease", "value": COFFEE, "agent": "ida"}, "same_key_newest_wins"),
        ({"memory_key": "lease/2", "value": LATER}, "newest_wins_contradiction"),
        ({"memory_key": "lease/2", "value": "the office lease was extended and now ends in 2027"}, "value_update"),
    ],
)
async def test_an_undo_is_undone(scene: Scene, newer: dict[str, Any], path: str) -> None:
    await scene.ask("namespace.register", default_conflict_policy="newest_wins")
    await scene.set("lease", LEASE)
    await scene.set(**newer)
    (retired,) = (await scene.ask("memory.auto_retirements"))["rows"]
    assert retired["reason"] == path
    before = held(scene)
    scene.clock.advance(1)
    successor = retired["superseded_by"]
    restored = await scene.ask("memory.restore", memory_key="lease", if_superseded_by=successor)
    assert restored["restored"]
    (undo,) = (await scene.ask("audit.list", action="memory.unsupersede"))["rows"]
    await assert_taken_back(scene, before, commit_id=undo["commit_id"])


async def test_deletions_locks_pins_labels_and_moves_are_taken_back(scene: Scene) -> None:
    for key, value in {"a": LEASE, "b": COFFEE, "c": "the cat sleeps", "d": "rain in May", "e": "blue paint"}.items():
        await scene.set(key, value)
    await scene.set("a/copy", LEASE + "!", session_id="s", run_id="r0")
    before = held(scene)
    await scene.ask("memory.delete", memory_key="a", run_id="r1")
    await scene.ask("memory.lock", memory_key="b", mode="read_only", run_id="r1")
    await scene.ask("memory.reject", memory_key="c", reason="no", run_id="r1")
    await scene.ask("memory.move", memory_key="d", new_memory_key="weather/d", run_id="r1")
    await scene.ask("memory.pin", memory_key="e", value="blue paint", run_id="r1")
    await scene.ask("memory.touch", memory_key="e", ttl_seconds=60, run_id="r1")
    await assert_taken_back(scene, before, run_id="r1")


async def test_a_deleted_canonical_takes_its_place_again(scene: Scene) -> None:
    await scene.set("a", "the red bus stops here")
    copy = await scene.set("b", "here stops the red bus", run_id="r0")
    assert copy["conflict_verdict"] == "duplicate"
    before = held(scene)
    await scene.ask("memory.delete", memory_key="a", run_id="r1")
    assert (await scene.ask("memory.get", memory_key="b"))["status"] == "active"
    await assert_taken_back(scene, before, run_id="r1")
    assert (await scene.ask("memory.get", memory_key="b"))["status"] == "duplicate"


async def test_a_restatement_is_listed_and_stays_counted(scene: Scene) -> None:
    await scene.set("coffee", COFFEE)
    await scene.set("coffee", COFFEE, run_id="r1")
    answer = await roll_back(scene, run_id="r1")
    assert [(row["did"], row["becomes"]) for row in answer["rows"]] == [(["merged"], "counted")]
    assert (answer["commit_id"], answer["removed"], answer["restored"]) == ("", 0, 0)


# ---- by which cause --------------------------------------------------------------------------------------------------
async def test_an_actor_a_source_and_a_time_are_causes_too(scene: Scene) -> None:
    await scene.set("kept", COFFEE)
    scene.clock.advance(60)
    entries = [
        {"memory_key": "x", "value": LEASE, "source_resource_id": "wiki/lease"},
        {"memory_key": "y", "value": "rain in May", "source_resource_id": "wiki/rain"},
    ]
    await scene.ask("memory.bulk_set", agent="crawler", entries=entries)
    for cause in (
        {"actor": "process:crawler"},
        {"since": "2033-05-18T03:34:00Z"},
        {"since": "2033-05-18T03:34:00Z", "until": "2033-05-18T03:35:00Z", "actor": "process:crawler"},
    ):
        dry = await scene.ask("memory.rollback", **cause)
        assert sorted(row["memory_key"] for row in dry["rows"]) == ["x", "y"], cause
    assert not (await scene.ask("memory.rollback", until="2033-05-18T03:33:20Z"))["rows"]
    assert not (await scene.ask("memory.rollback", actor="process:crawler", run_id="r1"))["rows"]
    answer = await roll_back(scene, source_resource_id="wiki/lease")
    assert [row["memory_key"] for row in answer["rows"]] == ["x"]
    assert (await scene.value("x"), await scene.value("y")) == (None, "rain in May")


async def test_a_source_answers_for_the_flags_of_its_own_rows_alone(scene: Scene) -> None:
    await scene.set("lease", LEASE, source_resource_id="mail/7")
    await scene.set("lease/2", LATER, source_resource_id="wiki/lease")
    dry = await scene.ask("memory.rollback", source_resource_id="wiki/lease")
    assert {row["memory_key"]: row["becomes"] for row in dry["rows"]} == {"lease/2": "removed", "lease": "relinked"}
    dry = await scene.ask("memory.rollback", source_resource_id="mail/7")
    assert {row["memory_key"]: row["becomes"] for row in dry["rows"]} == {"lease": "removed"}


@pytest.mark.parametrize(
    ("cause", "field"),
    [
        ({}, "run_id"),
        ({"run_id": ""}, "run_id"),
        ({"since": "2033-05-18T03:34:00Z", "until": "2033-05-18T03:34:00Z"}, "until"),
        ({"commit_id": "seven"}, "commit_id"),
    ],
)
async def test_a_cause_must_be_named(scene: Scene, cause: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidRequest, match=field):
        await scene.ask("memory.rollback", **cause)


# ---- what others did since -------------------------------------------------------------------------------------------
async def test_what_others_changed_since_is_left(scene: Scene) -> None:
    await scene.set("coffee", COFFEE)
    await scene.set("coffee", "Ida only drinks tea", run_id="r1")
    await scene.set("rain", "rain in May", run_id="r1")
    await scene.set("coffee", "Ida drinks water", agent="-", run_id="r2")
    answer = await roll_back(scene, run_id="r1")
    assert rows_of(answer) == {"coffee": ("kept", "changed_since"), "rain": ("removed", "")}
    assert await scene.value("coffee") == "Ida drinks water"


async def test_only_the_newest_changes_of_the_cause_are_taken_back(scene: Scene) -> None:
    for run, value in (("r1", COFFEE), ("r2", "Ida only drinks tea"), ("r1", "Ida drinks water")):
        await scene.set("coffee", value, run_id=run)
    await roll_back(scene, run_id="r1")
    assert await scene.value("coffee") == "Ida only drinks tea"


async def test_what_was_retired_behind_a_changed_row_stays_retired(scene: Scene) -> None:
    await scene.ask("namespace.register", default_conflict_policy="newest_wins")
    await scene.set("lease", LEASE)
    await scene.set("lease/2", LATER, run_id="r1")
    await scene.set("lease/2", LATEST, run_id="r2")
    answer = await roll_back(scene, run_id="r1")
    assert rows_of(answer) == {
        "lease": ("kept", "changed_since"),
        "lease/2": ("kept", "changed_since"),
    }
    assert await scene.value("lease") is None


async def test_a_value_that_returns_is_judged_against_what_was_said_since(scene: Scene) -> None:
    await scene.set("lease", LEASE)
    await scene.ask("memory.delete", memory_key="lease", run_id="r1")
    assert (await scene.set("lease/2", LATER))["conflict_verdict"] == "clear"
    await roll_back(scene, run_id="r1")
    one, other = [await scene.ask("memory.get", memory_key=key) for key in ("lease", "lease/2")]
    assert (one["status"], other["status"]) == ("conflicted", "conflicted")
    assert [peer["memory_id"] for peer in one["conflict_with"]] == [other["memory_id"]]


async def test_a_pinned_fact_keeps_a_contradiction_from_returning(scene: Scene) -> None:
    await scene.set("lease", LEASE)
    await scene.ask("memory.delete", memory_key="lease", run_id="r1")
    await scene.ask("memory.pin", memory_key="lease/2", value=LATER)
    answer = await roll_back(scene, run_id="r1")
    assert rows_of(answer) == {"lease": ("kept", "contradicts_a_pinned_fact")}
    assert await scene.value("lease") is None


async def test_duplicates_of_a_removed_row_speak_for_themselves(scene: Scene) -> None:
    await scene.set("a", "the red bus stops here", run_id="r1")
    assert (await scene.set("b", "here stops the red bus", run_id="r2"))["conflict_verdict"] == "duplicate"
    await roll_back(scene, run_id="r1")
    assert (await scene.ask("memory.get", memory_key="b"))["status"] == "active"


async def test_a_cluster_that_returns_repeats_what_was_said_since(scene: Scene) -> None:
    await scene.set("a", "the red bus stops here")
    await scene.set("b", "here stops the red bus", run_id="r0")
    for key in ("b", "a"):
        await scene.ask("memory.delete", memory_key=key, run_id="r1")
    newer = await scene.set("c", "the red bus stops here")
    await roll_back(scene, run_id="r1")
    for key in ("a", "b"):
        read = await scene.ask("memory.get", memory_key=key)
        assert (read["status"], read["duplicate_of"]) == ("duplicate", newer["memory_id"])


async def test_a_second_rollback_of_the_same_cause_does_nothing(scene: Scene) -> None:
    await scene.set("coffee", COFFEE, run_id="r1")
    await roll_back(scene, run_id="r1")
    before = held(scene)
    answer = await roll_back(scene, run_id="r1")
    assert rows_of(answer) == {"coffee": ("kept", "changed_since")}
    assert not differing(before, held(scene))


async def test_a_pair_that_a_person_allowed_is_not_flagged_again(scene: Scene) -> None:
    first = (await scene.set("lease", LEASE))["memory_id"]
    await scene.set("lease/2", LATER)
    await scene.ask("conflicts.resolve", memory_id=first, decision="allow", run_id="r1")
    await roll_back(scene, run_id="r1")
    assert (await scene.ask("memory.get", memory_key="lease"))["status"] == "active"


# ---- bounds, history and crashes -------------------------------------------------------------------------------------
async def test_the_bound_counts_changes(disk: Any) -> None:
    scene = await Scene(disk.blobs(), rollback_changes_max=3).open()
    for number in range(3):
        await scene.set(f"k/{number}", f"word{number} alone", run_id="r1")
    assert (await scene.ask("memory.rollback", run_id="r1"))["removed"] == 3
    await scene.set("k/3", "word3 alone", run_id="r1")
    with pytest.raises(PayloadTooLarge, match="rollback_changes_max"):
        await scene.ask("memory.rollback", run_id="r1")


@pytest.mark.parametrize("folds", [1, 3])
async def test_what_was_folded_into_history_is_taken_back_as_well(scene: Scene, folds: int) -> None:
    await scene.set("coffee", COFFEE)
    await scene.set("lease", LEASE)
    before = held(scene)
    for number in range(folds):
        await scene.set("coffee", f"Ida drinks {number} cups", run_id="r1", source_resource_id="wiki")
        await scene.set("lease/2", LATER, run_id="r1", source_resource_id="wiki")
        await scene.namespace.home.write_down()
    await scene.open()
    for cause in ({"run_id": "r1"}, {"source_resource_id": "wiki"}):
        dry = await scene.ask("memory.rollback", **cause)
        assert (dry["removed"], dry["restored"]) == (1, 1), cause
    await assert_taken_back(scene, before, run_id="r1")
    done = held(scene)
    await scene.open()
    assert not differing(done, held(scene))


async def test_a_row_that_changes_meanwhile_is_planned_anew(scene: Scene) -> None:
    await scene.set("coffee", COFFEE)
    await scene.set("coffee", "Ida only drinks tea", run_id="r1")
    scene.embedder.answers.clear()
    scene.embedder.asked.clear()
    rolling_back = asyncio.create_task(roll_back(scene, run_id="r1"))
    await until(lambda: COFFEE in scene.embedder.asked)
    await scene.ask("memory.delete", memory_key="coffee")
    scene.embedder.answers.set()
    assert rows_of(await rolling_back) == {"coffee": ("kept", "changed_since")}


async def thirty_crawled(scene: Scene) -> dict[str, Row]:
    """Facts that a run has overwritten; what was held before."""
    for number in range(30):
        await scene.set(f"k{number}", f"the lease of office {number} ends in 2025")
    before = held(scene)
    for number in range(30):
        await scene.set(f"k{number}", f"nothing is known of number {number}", run_id="r1")
    return before


async def test_others_have_their_turns_while_a_rollback_judges(scene: Scene) -> None:
    before = await thirty_crawled(scene)
    rolling_back = asyncio.create_task(roll_back(scene, run_id="r1"))
    turns = 0
    while not rolling_back.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 30
    assert not differing(before, held(scene))


@pytest.mark.parametrize("pause", range(0, 40, 3))
async def test_what_is_said_while_a_rollback_judges_is_held_against_what_returns(scene: Scene, pause: int) -> None:
    await thirty_crawled(scene)
    rolling_back = asyncio.create_task(roll_back(scene, run_id="r1"))
    for _ in range(pause):
        await asyncio.sleep(0)
    await scene.set("other", "the lease of office 7 ends in 2029", user_id="u1")
    await rolling_back
    check_state(scene.namespace.home.state)
    rows = {row.memory_key: row for row in scene.namespace.home.state.rows.values()}
    assert rows["other"].memory_id in rows["k7"].conflict_with


async def test_a_row_that_was_forgotten_since_is_left(scene: Scene) -> None:
    await scene.set("coffee", COFFEE)
    await scene.ask("memory.delete", memory_key="coffee", run_id="r1")
    scene.clock.advance(15 * 86_400)
    await scene.namespace.home.write_down()
    answer = await roll_back(scene, run_id="r1")
    assert rows_of(answer) == {"coffee": ("kept", "forgotten")}


async def test_what_was_anonymised_stays_so_whatever_names_it(scene: Scene) -> None:
    await scene.set("k", "write to ida.quist@example.org", ttl_seconds=60, on_expire="anonymize", run_id="r1")
    scene.clock.advance(61)
    assert "quist" not in str(await scene.value("k"))
    audits = (await scene.ask("audit.list", memory_key="k"))["rows"]
    (expired,) = [row for row in audits if row["action"] == "memory.expire"]
    assert not (await roll_back(scene, commit_id=expired["commit_id"]))["rows"]
    assert rows_of(await roll_back(scene, run_id="r1")) == {"k": ("kept", "changed_since")}
    assert not (await roll_back(scene, actor="worker:expiry"))["rows"]
    assert "quist" not in str(await scene.value("k"))
