"""Does what expires leave by itself: on time where nobody asks, and before anybody is served after a sleep?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from clockwork import run
from faulty import FaultyDisk
from scene import SECOND, Scene

from loom_ray.actors.calls import Reply
from loom_ray.contract.errors import Expired
from loom_ray.core.ends import AT_ONCE_MAX
from loom_ray.core.row import Row
from loom_ray.storage.errors import BlobsUnavailable

DAY = 86_400
LEASE, RIVAL = "The office lease ends in 2025.", "The office lease ends in 2027."
MAIL = "Write to anna@example.org about the lease."


def awake(play: Callable[[Scene], Awaitable[None]], **settings: Any) -> None:
    """Plays it in a namespace whose clock is the loop's: time passes where everybody waits for it."""

    async def main() -> None:
        scene, loop = Scene(FaultyDisk(seed=1).blobs(), **settings), asyncio.get_running_loop()
        scene.clock = lambda: 2_000_000_000 * SECOND + round(loop.time() * SECOND)  # type: ignore[assignment]
        await scene.open()
        await play(scene)

    run(1, main)


def stored(scene: Scene, memory_key: str) -> Row:
    """As the namespace holds it, without asking it anything."""
    (memory_id,) = scene.namespace.home.state.ids_of_key(memory_key, "*")
    return scene.namespace.home.state.rows[memory_id]


def expiries(scene: Scene) -> list[Any]:
    return [audit for audit in scene.namespace.home.audits_in_memory() if audit.action == "memory.expire"]


async def sleep_through(scene: Scene, seconds: float) -> None:
    """The namespace leaves, and wakes so much later."""
    await scene.namespace.leave()
    scene.clock.advance(seconds)
    await scene.open()


async def keys_found(scene: Scene, query: str) -> list[str]:
    return [hit["memory_key"] for hit in (await scene.ask("memory.search", query=query))["results"]]


# ---- awake, and nobody asks ------------------------------------------------------------------------------------------
def test_a_row_leaves_on_time_with_nobody_asking() -> None:
    async def play(scene: Scene) -> None:
        await scene.set("lease", LEASE, ttl_seconds=60)
        await asyncio.sleep(59)
        assert stored(scene, "lease").status == "active"
        await asyncio.sleep(2)
        assert stored(scene, "lease").status == "tombstoned"
        await scene.open()  # as after a kill
        assert stored(scene, "lease").status == "tombstoned", "and it is in the log"

    awake(play)


def test_rows_leave_each_at_its_time() -> None:
    async def play(scene: Scene) -> None:
        await scene.set("late", "Pigeons roost in the tower.", ttl_seconds=90)
        await scene.set("early", LEASE, ttl_seconds=30)
        await asyncio.sleep(31)
        assert (stored(scene, "early").status, stored(scene, "late").status) == ("tombstoned", "active")
        await asyncio.sleep(60)
        assert stored(scene, "late").status == "tombstoned"

    awake(play)


def test_a_row_that_lives_longer_than_a_day_leaves_on_time_too() -> None:
    async def play(scene: Scene) -> None:
        await scene.set("lease", LEASE, ttl_seconds=3 * DAY)
        await asyncio.sleep(3 * DAY - 1)
        assert stored(scene, "lease").status == "active"
        await asyncio.sleep(2)
        assert stored(scene, "lease").status == "tombstoned"

    awake(play)


@pytest.mark.parametrize(
    ("touched", "left"),
    [({"ttl_seconds": 10}, [True, True]), ({"ttl_seconds": 100}, [False, True]), ({"clear_expiry": True}, [False] * 2)],
    ids=str,
)
def test_a_touch_moves_the_time(touched: dict[str, Any], left: list[bool]) -> None:
    async def play(scene: Scene) -> None:
        await scene.set("lease", LEASE, ttl_seconds=60)
        await scene.ask("memory.touch", memory_key="lease", **touched)
        for gone in left:
            await asyncio.sleep(61)
            assert (stored(scene, "lease").status == "tombstoned") is gone

    awake(play)


def test_whoever_contradicted_what_stopped_being_true_is_free_with_nobody_asking() -> None:
    async def play(scene: Scene) -> None:
        await scene.set("lease", LEASE, valid_at="2030-01-01T00:00:00Z", valid_to="2033-05-18T03:34:20Z")
        await scene.set("rival", RIVAL, valid_at="2031-01-01T00:00:00Z")
        assert stored(scene, "rival").status == "conflicted"
        await asyncio.sleep(61)
        assert (stored(scene, "lease").status, stored(scene, "rival").status) == ("active", "active")

    awake(play)


def test_what_has_stopped_being_true_still_expires_at_its_time() -> None:
    async def play(scene: Scene) -> None:
        await scene.set("lease", LEASE, valid_to="2033-05-18T03:34:20Z", ttl_seconds=120)
        await asyncio.sleep(61)
        assert stored(scene, "lease").status == "active"
        await asyncio.sleep(60)
        assert stored(scene, "lease").status == "tombstoned"

    awake(play)


def test_a_namespace_that_has_left_carries_nothing_out_any_more() -> None:
    async def play(scene: Scene) -> None:
        await scene.set("lease", LEASE, ttl_seconds=60)
        await scene.namespace.leave()
        await asyncio.sleep(120)
        assert stored(scene, "lease").status == "active"

    awake(play)


def test_a_namespace_that_broke_waits_to_be_opened_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(scene: Scene) -> None:
        await scene.set("lease", LEASE, ttl_seconds=60)
        await scene.set("pass", "The pass is green.", ttl_seconds=65)
        home, tries = scene.namespace.home, iter(range(10))
        carry_out_ends = home.carry_out_ends

        def counted() -> None:
            assert next(tries, None) is not None, "again and again"
            carry_out_ends()

        def refuse(*_: object) -> None:
            raise BlobsUnavailable("log", "the disk is gone")

        monkeypatch.setattr(home, "carry_out_ends", counted)
        monkeypatch.setattr(FaultyDisk, "apply", refuse)
        await asyncio.sleep(120)
        assert home.broken

    awake(play)


# ---- after a sleep ---------------------------------------------------------------------------------------------------
READS: list[tuple[str, dict[str, Any], Callable[[dict[str, Any]], bool]]] = [
    ("memory.get", {"memory_key": "lease"}, lambda answer: answer["found"]),
    ("memory.list", {}, lambda answer: bool(answer["rows"])),
    ("memory.search", {"query": "office lease"}, lambda answer: bool(answer["results"])),
    ("memory.timeline", {}, lambda answer: bool(answer["rows"])),
]


@pytest.mark.parametrize(("op", "asked", "serves"), READS, ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("asleep", [True, False])
async def test_the_first_who_asks_is_not_served_what_is_over(
    scene: Scene, op: str, asked: dict[str, Any], serves: Callable[[dict[str, Any]], bool], asleep: bool
) -> None:
    await scene.set("lease", LEASE, ttl_seconds=60)
    assert serves(await scene.ask(op, **asked))
    if asleep:
        await sleep_through(scene, 60)
    else:
        scene.clock.advance(60)
    assert not serves(await scene.ask(op, **asked))


async def test_the_first_write_after_a_sleep_is_not_held_against_what_is_over(scene: Scene) -> None:
    await scene.set("lease", LEASE, ttl_seconds=60)
    await sleep_through(scene, 60)
    assert (await scene.set("rival", RIVAL))["conflict_verdict"] == "clear"


async def test_whatever_comes_in_the_first_batch_finds_the_ends_carried_out(scene: Scene) -> None:
    row = await scene.set("lease", LEASE, ttl_seconds=60)
    await sleep_through(scene, 60)
    calls = [
        scene.call("memory.statuses", memory_ids=[row["memory_id"]]),
        scene.call("memory.list", include_tombstoned=True),
    ]
    replies: list[Reply] = await scene.namespace.serve(calls)
    told = [(reply.answer or {})["rows"][0]["status"] for reply in replies]
    assert told == ["tombstoned", "tombstoned"]


async def test_more_ends_than_one_commit_carries_are_all_out_before_anybody_is_served(scene: Scene) -> None:
    entries = [
        {"memory_key": f"key-{number}", "value": f"seen at {number}", "memory_type": "episodic", "ttl_seconds": 60}
        for number in range(AT_ONCE_MAX + 1)
    ]
    for part in (entries[:AT_ONCE_MAX], entries[AT_ONCE_MAX:]):
        await scene.ask("memory.bulk_set", entries=part)
    await sleep_through(scene, 60)
    assert (await scene.ask("memory.list", count_only=True))["count"] == 0
    assert len(expiries(scene)) == AT_ONCE_MAX + 1
    assert len({audit.commit_id for audit in expiries(scene)}) == 2


async def test_an_end_is_carried_out_once(scene: Scene) -> None:
    await scene.set("lease", LEASE, ttl_seconds=60)
    await sleep_through(scene, 60)
    await scene.value("lease")
    version = stored(scene, "lease").version
    await sleep_through(scene, 60)
    await scene.value("lease")
    assert (stored(scene, "lease").version, expiries(scene)) == (version, [])


# ---- what is left ----------------------------------------------------------------------------------------------------
async def test_a_tombstone_is_left_by_default_and_no_restore_brings_it_back(scene: Scene) -> None:
    await scene.set("lease", LEASE, ttl_seconds=60)
    scene.clock.advance(60)
    assert await scene.value("lease") is None
    assert (await scene.ask("memory.restore", memory_key="lease"))["reason"] == "expired"
    assert (await scene.ask("memory.list", include_tombstoned=True))["rows"][0]["status"] == "tombstoned"


@pytest.mark.parametrize("asleep", [True, False])
async def test_what_is_demoted_is_read_and_listed_and_neither_searched_nor_judged(scene: Scene, asleep: bool) -> None:
    await scene.set("lease", LEASE, ttl_seconds=60, on_expire="demote")
    assert await keys_found(scene, "office lease") == ["lease"]
    scene.clock.advance(60)
    assert await scene.value("lease") == LEASE
    if asleep:
        await sleep_through(scene, 60)
    assert await scene.value("lease") == LEASE
    assert (await scene.ask("memory.list", count_only=True))["count"] == 1
    assert await keys_found(scene, "office lease") == []
    assert (await scene.set("rival", RIVAL))["conflict_verdict"] == "clear"


@pytest.mark.parametrize("asleep", [True, False])
async def test_what_is_anonymised_is_read_without_what_names_anybody_and_not_searched(
    scene: Scene, asleep: bool
) -> None:
    given: dict[str, Any] = {"entities": ["anna"], "files": ["a.md"], "source_resource_id": "mail-7"}
    await scene.set("mail", MAIL, ttl_seconds=60, on_expire="anonymize", **given)
    scene.clock.advance(60)
    await scene.value("mail")
    if asleep:
        await sleep_through(scene, 60)
    row = await scene.ask("memory.get", memory_key="mail")
    assert "anna@example.org" not in str(row)
    assert row["value"].startswith("Write to ")
    assert row["value"].endswith(" about the lease.")
    assert (row["entities"], row["files"], row["source_resource_id"], row["demoted"]) == ([], [], "", True)
    assert await keys_found(scene, "anna lease") == []


async def test_said_again_a_demoted_row_is_searched_again(scene: Scene) -> None:
    await scene.set("lease", LEASE, ttl_seconds=60, on_expire="demote")
    scene.clock.advance(60)
    await scene.value("lease")
    await scene.set("lease", LEASE)
    assert await keys_found(scene, "office lease") == ["lease"]


# ---- locks -----------------------------------------------------------------------------------------------------------
def test_a_locked_row_leaves_when_its_lock_ends() -> None:
    async def play(scene: Scene) -> None:
        await scene.set("lease", LEASE, ttl_seconds=60)
        await scene.ask("memory.lock", memory_key="lease", ttl_seconds=120, mode="no_delete")
        await asyncio.sleep(119)
        assert stored(scene, "lease").status == "active"
        assert await scene.value("lease") == LEASE
        await asyncio.sleep(2)
        assert stored(scene, "lease").status == "tombstoned"

    awake(play)


def test_a_locked_row_leaves_at_once_when_it_is_unlocked_after_its_time() -> None:
    async def play(scene: Scene) -> None:
        await scene.set("lease", LEASE, ttl_seconds=60)
        await scene.ask("memory.lock", memory_key="lease")
        await asyncio.sleep(DAY)
        assert await scene.value("lease") == LEASE
        await scene.ask("memory.unlock", memory_key="lease")
        await asyncio.sleep(1)
        assert stored(scene, "lease").status == "tombstoned"

    awake(play)


async def test_a_lock_holds_an_end_up_through_a_sleep(scene: Scene) -> None:
    await scene.set("lease", LEASE, ttl_seconds=60)
    await scene.ask("memory.lock", memory_key="lease", ttl_seconds=120)
    await sleep_through(scene, 100)
    assert await scene.value("lease") == LEASE
    await sleep_through(scene, 100)
    assert await scene.value("lease") is None


# ---- the audit -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("on_expire", ["tombstone", "demote", "anonymize"])
async def test_an_end_is_in_the_audit_as_the_workers_doing(scene: Scene, on_expire: str) -> None:
    row = await scene.set("lease", LEASE, ttl_seconds=60, on_expire=on_expire, agent="clerk")
    await sleep_through(scene, 60)
    (told,) = (await scene.ask("audit.list", action="memory.expire"))["rows"]
    assert (told["actor"], told["reason"], told["memory_id"]) == ("worker:expiry", on_expire, row["memory_id"])
    assert (await scene.ask("audit.list", actor="worker:expiry"))["rows"] == [told]


# ---- revive ----------------------------------------------------------------------------------------------------------
async def expired(scene: Scene) -> None:
    await scene.set("lease", LEASE, ttl_seconds=60)
    await sleep_through(scene, 60)


async def test_a_correction_of_what_has_expired_is_refused(scene: Scene) -> None:
    await expired(scene)
    with pytest.raises(Expired):
        await scene.ask("memory.update", memory_key="lease", value=RIVAL)
    assert await scene.value("lease") is None


async def test_a_reviving_correction_brings_it_back_without_an_end(scene: Scene) -> None:
    await expired(scene)
    assert (await scene.ask("memory.update", memory_key="lease", value=RIVAL, revive=True))["updated"]
    await sleep_through(scene, 10 * DAY)
    row = await scene.ask("memory.get", memory_key="lease")
    assert (row["value"], row["expires_at"]) == (RIVAL, None)
    assert await keys_found(scene, "office lease") == ["lease"]


async def test_revived_under_its_old_value_it_is_searched_again(scene: Scene) -> None:
    await expired(scene)
    await scene.ask("memory.update", memory_key="lease", tags=["again"], revive=True)
    assert await scene.value("lease") == LEASE
    assert await keys_found(scene, "office lease") == ["lease"]


@pytest.mark.parametrize(("days", "back"), [(13, True), (15, False)])
async def test_it_can_be_revived_for_as_long_as_what_was_deleted_comes_back(
    scene: Scene, days: int, back: bool
) -> None:
    await expired(scene)
    await scene.value("lease")
    scene.clock.advance(days * DAY)
    answer = await scene.ask("memory.update", memory_key="lease", value=RIVAL, revive=True)
    assert answer["updated"] is back
