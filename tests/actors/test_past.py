"""Is the past told alike wherever it lies: in memory, in what a snapshot folded, or in both?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from faulty import FaultyDisk
from scene import Scene

from loom_ray.contract.fields import to_rfc3339
from loom_ray.storage.errors import BlobsUnavailable

DAY = 86_400
GREEN, RED, BLUE = "the gate is painted green", "the gate is painted red", "the gate is painted blue"
PIKE = "pike swim in the moat"


@pytest.fixture
async def scene(disk: FaultyDisk) -> Scene:
    """One that takes no snapshot by itself, however much time passes."""
    return await Scene(disk.blobs(), snapshot_seconds=1e12).open()


# ---- where it lies ---------------------------------------------------------------------------------------------------
async def fold(scene: Scene) -> None:
    await scene.namespace.home.write_down()


async def sleep(scene: Scene) -> None:
    await scene.namespace.leave()
    await scene.open()


async def crash(scene: Scene) -> None:
    await scene.open()


async def nothing(scene: Scene) -> None:
    pass


async def fail_to_fold(scene: Scene) -> None:
    """A snapshot whose manifest cannot be written: the images stay where they were."""
    disk: FaultyDisk = scene.blobs.disk  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as broken:
        apply = disk.apply

        def refuse(effect: Any) -> None:
            if "/manifest/" in effect.path:
                raise BlobsUnavailable(effect.path, "disk full")
            apply(effect)

        broken.setattr(disk, "apply", refuse)
        with pytest.raises(BlobsUnavailable):
            await scene.namespace.home.write_down()


PLACES = pytest.mark.parametrize("then", [nothing, fold, sleep, crash, fail_to_fold], ids=lambda then: then.__name__)
BASES = pytest.mark.parametrize("basis", ["valid_time", "knowledge_time"])


def time(scene: Scene) -> str:
    return str(to_rfc3339(scene.clock()))


async def said(scene: Scene, then: Callable[[Scene], Any], *values: str, key: str = "gate", **more: Any) -> list[str]:
    """Says one after another, a day apart, and has each put away; a time within each day."""
    times: list[str] = []
    for value in values:
        scene.clock.advance(DAY / 2)
        await scene.set(key, value, **more)
        await then(scene)
        scene.clock.advance(DAY / 4)
        times.append(time(scene))
        scene.clock.advance(DAY / 4)
    return times


async def told(scene: Scene, *times: str, key: str = "gate", **more: Any) -> list[Any]:
    """What memory.get answers for each of these times."""
    return [(await scene.ask("memory.get", memory_key=key, as_of=each, **more)).get("value") for each in times]


async def found(scene: Scene, as_of: str, query: str = "gate painted", **more: Any) -> list[str]:
    """What a search among what held then shows."""
    hits = (await scene.ask("memory.search", query=query, as_of=as_of, **more))["results"]
    return [hit["content_excerpt"] for hit in hits]


# ---- one key ---------------------------------------------------------------------------------------------------------
@PLACES
@BASES
async def test_each_value_is_told_of_its_time(scene: Scene, then: Callable[[Scene], Any], basis: str) -> None:
    before = time(scene)
    times = await said(scene, then, GREEN, RED, BLUE)
    assert await told(scene, before, *times, as_of_basis=basis) == [None, GREEN, RED, BLUE]


@PLACES
async def test_a_deleted_row_is_known_until_then_and_was_never_true(scene: Scene, then: Callable[[Scene], Any]) -> None:
    (known,) = await said(scene, then, GREEN)
    await scene.ask("memory.delete", memory_key="gate")
    await then(scene)
    scene.clock.advance(DAY)
    assert await told(scene, known, time(scene), as_of_basis="knowledge_time") == [GREEN, None]
    assert await told(scene, known, time(scene)) == [None, None]


@PLACES
async def test_a_restored_row_was_true_all_along(scene: Scene, then: Callable[[Scene], Any]) -> None:
    (known,) = await said(scene, then, GREEN)
    await scene.ask("memory.delete", memory_key="gate")
    await then(scene)
    scene.clock.advance(DAY)
    deleted = time(scene)
    scene.clock.advance(DAY)
    await scene.ask("memory.restore", memory_key="gate")
    await then(scene)
    assert await told(scene, known, deleted, time(scene)) == [GREEN] * 3
    assert await told(scene, known, deleted, time(scene), as_of_basis="knowledge_time") == [GREEN, None, GREEN]


@PLACES
async def test_a_retired_row_is_told_of_its_time_and_names_its_successor(
    scene: Scene, then: Callable[[Scene], Any]
) -> None:
    await scene.ask("namespace.register", default_conflict_policy="newest_wins")
    (first,) = await said(scene, then, GREEN, agent="first")
    (second,) = await said(scene, then, RED, agent="second")
    assert await told(scene, first, second) == [GREEN, RED]
    row = await scene.ask("memory.get", memory_key="gate", as_of=first)
    new = await scene.ask("memory.get", memory_key="gate")
    assert (row["status"], row["superseded_by"]) == ("superseded", new["memory_id"])


@PLACES
async def test_a_moved_fact_is_known_under_its_old_key_until_it_moved(
    scene: Scene, then: Callable[[Scene], Any]
) -> None:
    (known,) = await said(scene, then, GREEN)
    await scene.ask("memory.move", memory_key="gate", new_memory_key="door")
    await then(scene)
    scene.clock.advance(DAY)
    assert await told(scene, known, time(scene), as_of_basis="knowledge_time") == [GREEN, None]
    assert await told(scene, time(scene), key="door", as_of_basis="knowledge_time") == [GREEN]


async def test_a_moved_fact_was_true_under_its_old_key_until_it_moved(scene: Scene) -> None:
    (known,) = await said(scene, nothing, GREEN)
    await scene.ask("memory.move", memory_key="gate", new_memory_key="door")
    assert await told(scene, known) == [GREEN]


async def test_a_fact_that_moved_is_found_once_among_what_was_true(scene: Scene) -> None:
    (known,) = await said(scene, nothing, GREEN)
    await scene.ask("memory.move", memory_key="gate", new_memory_key="door")
    assert await found(scene, known) == [GREEN]


@BASES
async def test_a_time_that_the_server_shows_is_one_at_which_the_row_held(scene: Scene, basis: str) -> None:
    scene.clock.ns += 123_456_789  # a clock of nanoseconds, shown in microseconds
    await scene.set("gate", GREEN)
    row = await scene.ask("memory.get", memory_key="gate")
    assert await told(scene, row["created_at"], as_of_basis=basis) == [GREEN]


async def test_what_was_deleted_so_long_ago_that_it_is_forgotten_was_known_all_the_same(scene: Scene) -> None:
    (known,) = await said(scene, nothing, GREEN)
    await scene.ask("memory.delete", memory_key="gate")
    scene.clock.advance(15 * DAY)
    await sleep(scene)
    assert await found(scene, known, as_of_basis="knowledge_time") == [GREEN]
    assert await told(scene, known, as_of_basis="knowledge_time") == [GREEN]


async def test_the_identity_narrows_the_past_too(scene: Scene) -> None:
    await scene.ask("namespace.register", default_conflict_policy="append_only")
    await said(scene, fold, GREEN, user_id="u-amy")
    (both,) = await said(scene, fold, RED, user_id="u-ben")
    assert await told(scene, both, user_id="u-amy") == [GREEN]
    assert await told(scene, both, user_id="u-ben") == [RED]


# ---- search ----------------------------------------------------------------------------------------------------------
@PLACES
@BASES
async def test_a_search_finds_what_held_then_as_it_was_said_then(
    scene: Scene, then: Callable[[Scene], Any], basis: str
) -> None:
    before = time(scene)
    times = await said(scene, then, GREEN, RED, BLUE)
    assert [await found(scene, each, as_of_basis=basis) for each in (before, *times)] == [[], [GREEN], [RED], [BLUE]]


@PLACES
async def test_what_was_deleted_since_is_found_among_what_was_known_only(
    scene: Scene, then: Callable[[Scene], Any]
) -> None:
    (known,) = await said(scene, then, GREEN)
    await scene.ask("memory.delete", memory_key="gate")
    await then(scene)
    assert await found(scene, known, as_of_basis="knowledge_time") == [GREEN]
    assert await found(scene, known) == []


async def test_a_search_in_the_past_ranks_by_meaning_and_words(scene: Scene) -> None:
    await said(scene, fold, PIKE, key="moat")
    (both,) = await said(scene, fold, GREEN)
    await said(scene, fold, "lanterns hang in the hall")
    assert await found(scene, both, query="the gate is painted green") == [GREEN, PIKE]
    assert await found(scene, both, query="which pike swim in the moat") == [PIKE, GREEN]
    assert await found(scene, both, query="pike swim in the moat", top_k=1) == [PIKE]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ({}, {GREEN, PIKE}),
        ({"user_id": "u-amy"}, {GREEN}),
        ({"user_id": "u-ben"}, {PIKE}),
        ({"tags": ["wet"]}, {PIKE}),
        ({"tags": ["dry"]}, set()),
        ({"run_id": "r1"}, {GREEN}),
        ({"memory_type": "decision"}, set()),
    ],
    ids=str,
)
async def test_filters_apply_to_the_row_as_it_was(scene: Scene, asked: dict[str, Any], shown: set[str]) -> None:
    await said(scene, fold, GREEN, user_id="u-amy", run_id="r1")
    (then,) = await said(scene, fold, PIKE, key="moat", user_id="u-ben", tags=["wet"])
    await scene.set("moat", "frogs sit by the moat", user_id="u-ben", tags=["dry"])
    assert set(await found(scene, then, query="gate moat", **asked)) == shown


@pytest.mark.parametrize("more", [{"sensitivity": "high"}, {"memory_type": "episodic"}], ids=str)
async def test_what_is_never_searched_is_not_found_in_the_past_either(scene: Scene, more: dict[str, Any]) -> None:
    (then,) = await said(scene, fold, GREEN, **more)
    assert await found(scene, then) == []
    assert await told(scene, then) == [GREEN]


async def test_what_was_demoted_since_is_found_among_what_was_known_before(scene: Scene) -> None:
    (then,) = await said(scene, fold, GREEN, ttl_seconds=2 * DAY, on_expire="demote")
    scene.clock.advance(2 * DAY)
    assert await found(scene, then, as_of_basis="knowledge_time") == [GREEN]
    assert await found(scene, time(scene), as_of_basis="knowledge_time") == []


# ---- the audit -------------------------------------------------------------------------------------------------------
async def busy(scene: Scene, then: Callable[[Scene], Any]) -> None:
    """Nine changes, put away after every third."""
    for number in range(1, 10):
        who = {"agent": "mason" if number % 3 else "clerk", "user_id": "u-amy" if number % 2 else "u-ben"}
        await scene.set(f"key-{number}", f"seen at {number}", memory_type="episodic", run_id=f"r{number}", **who)
        scene.clock.advance(DAY)
        if number % 3 == 0:
            await then(scene)
    await scene.ask("memory.delete", memory_key="key-1", agent="mason", user_id="u-amy")


async def audited(scene: Scene, **asked: Any) -> list[str]:
    """The keys of all pages, in their order."""
    keys: list[str] = []
    cursor = ""
    while True:
        page = await scene.ask("audit.list", cursor=cursor, **asked)
        keys += [row["memory_key"] for row in page["rows"]]
        cursor = page["next_cursor"]
        if not cursor:
            return keys


ALL = ["key-1", *(f"key-{number}" for number in range(9, 0, -1))]


@PLACES
@pytest.mark.parametrize("limit", [1, 3, 4, 10, 11])
async def test_pages_of_the_audit_show_all_once_the_newest_first(
    scene: Scene, then: Callable[[Scene], Any], limit: int
) -> None:
    await busy(scene, then)
    assert await audited(scene, limit=limit) == ALL


@pytest.mark.parametrize("then", [nothing, fold])
@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ({"memory_key": "key-4"}, ["key-4"]),
        ({"memory_key": "key-1"}, ["key-1", "key-1"]),
        ({"memory_key": "key"}, []),
        ({"action": "memory.delete"}, ["key-1"]),
        ({"actor": "process:clerk"}, ["key-9", "key-6", "key-3"]),
        ({"actor": "clerk"}, []),
        ({"user_id": "u-ben"}, ["key-8", "key-6", "key-4", "key-2"]),
        ({"run_id": "r7"}, ["key-7"]),
        ({"since": "2033-05-20T03:33:20Z", "until": "2033-05-22T03:33:20Z"}, ["key-4", "key-3"]),
        ({"user_id": "u-ben", "actor": "process:clerk"}, ["key-6"]),
    ],
    ids=str,
)
async def test_the_audit_is_filtered_alike_in_memory_and_folded(
    scene: Scene, then: Callable[[Scene], Any], asked: dict[str, Any], keys: list[str]
) -> None:
    await busy(scene, then)
    assert await audited(scene, limit=2, **asked) == keys


@PLACES
async def test_the_audit_of_one_memory_is_found_by_its_id(scene: Scene, then: Callable[[Scene], Any]) -> None:
    await busy(scene, then)
    row = (await scene.ask("memory.list", prefix="key-5"))["rows"][0]
    assert await audited(scene, memory_id=row["memory_id"]) == ["key-5"]


@PLACES
async def test_what_a_change_did_to_others_is_shown_only_if_asked_for(
    scene: Scene, then: Callable[[Scene], Any]
) -> None:
    await scene.set("lease", "The office lease ends in 2025.")
    await then(scene)
    await scene.set("rival", "The office lease ends in 2027.")
    await then(scene)
    assert await audited(scene) == ["rival", "lease"]
    assert sorted(await audited(scene, include_effects=True)) == ["lease", "lease", "rival"]


async def test_no_value_is_in_the_audit(scene: Scene) -> None:
    row = await scene.set("gate", GREEN)
    page = await scene.ask("audit.list", include_effects=True)
    assert GREEN not in str(page)
    assert page["rows"][0]["content_sha256"] == row["content_sha256"]


async def test_a_refused_write_and_a_dry_run_leave_no_audit(scene: Scene) -> None:
    await scene.set("gate", GREEN, dry_run=True)
    assert await audited(scene) == []


@PLACES
async def test_pages_of_retirements_show_all_once_wherever_they_lie(scene: Scene, then: Callable[[Scene], Any]) -> None:
    await scene.ask("namespace.register", default_conflict_policy="newest_wins")
    for number in range(7):
        await scene.set("gate", f"seen at {number}", memory_type="episodic", agent=f"a{number}")
        scene.clock.advance(1)
        if number % 2:
            await then(scene)
    shown: list[str] = []
    cursor = ""
    while True:
        page = await scene.ask("memory.auto_retirements", limit=2, cursor=cursor)
        shown += [row["agent"] for row in page["rows"]]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert shown == [f"a{number}" for number in range(5, -1, -1)]


@pytest.mark.parametrize(("days", "shown"), [(29, 1), (31, 0)])
async def test_retirements_are_shown_for_thirty_days_unless_a_time_is_named(
    scene: Scene, days: int, shown: int
) -> None:
    await scene.ask("namespace.register", default_conflict_policy="newest_wins")
    since = time(scene)
    for agent in ("first", "second"):
        await scene.set("gate", f"seen by {agent}", memory_type="episodic", agent=agent)
        scene.clock.advance(1)
    scene.clock.advance(days * DAY)
    assert len((await scene.ask("memory.auto_retirements"))["rows"]) == shown
    assert len((await scene.ask("memory.auto_retirements", since=since))["rows"]) == 1
