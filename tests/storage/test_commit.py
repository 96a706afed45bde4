"""Does every waiter get the truth? Group commit: order, bounds, one failure for all."""

from __future__ import annotations

import asyncio

import pytest
from faulty import Faults, FaultyBlobs
from scenes import PREFIX, memory, written

from loom_ray.core.records import Registered, Reinforced
from loom_ray.storage import commit
from loom_ray.storage.codec import encode_records
from loom_ray.storage.commit import GroupCommit
from loom_ray.storage.errors import CommitFailed, LogClosed, RecordsTooLarge
from loom_ray.storage.log import Log
from loom_ray.storage.paths import segment_path
from loom_ray.storage.segment import decode_segment


async def records_in(blobs: FaultyBlobs, seq: int) -> list[object]:
    path = segment_path(PREFIX, seq)
    return list(decode_segment(path, seq, await blobs.get(path)).records)


def reinforced(number: int) -> Reinforced:
    return Reinforced(f"m{number}", number)


async def test_what_waits_during_an_append_goes_out_together_and_in_order() -> None:
    _, blobs = memory()
    group = GroupCommit(Log(blobs, PREFIX, "one", 1))
    blobs.pause()
    first = group.submit([reinforced(0)])
    await asyncio.sleep(0)  # its append is in flight now
    later = [group.submit([reinforced(number)]) for number in range(1, 32)]
    blobs.resume()
    assert [await first, *await asyncio.gather(*later)] == [1] + [2] * 31
    assert await records_in(blobs, 2) == [reinforced(number) for number in range(1, 32)]


async def test_a_group_is_bounded_and_a_submission_is_never_split() -> None:
    _, blobs = memory()
    size = len(encode_records([reinforced(1)]))
    group = GroupCommit(Log(blobs, PREFIX, "one", 1), group_bytes_max=3 * size)
    waiting = [group.submit([reinforced(1)]) for _ in range(4)]
    waiting.append(group.submit([reinforced(2)] * 9))
    waiting.append(group.submit([reinforced(3)]))
    assert await asyncio.gather(*waiting) == [1, 1, 1, 2, 3, 4]
    assert await records_in(blobs, 3) == [reinforced(2)] * 9


async def test_alone_is_alone() -> None:
    _, blobs = memory()
    group = GroupCommit(Log(blobs, PREFIX, "one", 1))
    waiting = [group.submit([reinforced(1)], alone=alone) for alone in (False, False, True, False, False)]
    assert await asyncio.gather(*waiting) == [1, 1, 2, 3, 3]


async def test_one_failure_is_everybodys() -> None:
    disk, blobs = memory()
    group = GroupCommit(Log(blobs, PREFIX, "one", 1))
    disk.faults = Faults(full=1)
    blobs.pause()
    waiting = [group.submit([reinforced(0)])]
    await asyncio.sleep(0)
    waiting += [group.submit([reinforced(number)]) for number in range(1, 5)]
    blobs.resume()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(outcome, CommitFailed) for outcome in outcomes)
    disk.faults = Faults()
    with pytest.raises(CommitFailed):
        await group.submit([reinforced(9)])
    with pytest.raises(CommitFailed):
        await group.durable()
    assert isinstance(group.failure, CommitFailed)
    assert disk.visible == {}


async def test_durable_waits_for_what_was_submitted_and_no_more() -> None:
    disk, blobs = memory()
    group = GroupCommit(Log(blobs, PREFIX, "one", 1))
    await group.durable()
    blobs.pause()
    group.submit([reinforced(1)])
    waiting = asyncio.ensure_future(group.durable())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not waiting.done()
    blobs.resume()
    await waiting
    assert list(disk.durable) == [segment_path(PREFIX, 1)]


async def test_a_waiter_that_leaves_takes_nothing_back() -> None:
    _, blobs = memory()
    group = GroupCommit(Log(blobs, PREFIX, "one", 1))
    left = group.submit([reinforced(1)])
    left.cancel()
    assert await group.submit([reinforced(2)]) == 1
    assert await records_in(blobs, 1) == [reinforced(1), reinforced(2)]


async def test_what_is_submitted_is_what_it_was_then() -> None:
    _, blobs = memory()
    group = GroupCommit(Log(blobs, PREFIX, "one", 1))
    settings = {"policy": "flag"}
    waiting = group.submit([Registered(settings, 1)])
    settings["policy"] = "newest_wins"
    await waiting
    assert await records_in(blobs, 1) == [Registered({"policy": "flag"}, 1)]


async def test_a_refused_submission_harms_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    _, blobs = memory()
    group = GroupCommit(Log(blobs, PREFIX, "one", 1))
    waiting = group.submit([reinforced(1)])
    with pytest.raises(ValueError, match="JSON"):
        group.submit([Registered({"limit": float("nan")}, 1)])
    monkeypatch.setattr(commit, "SEGMENT_BYTES_MAX", 10)
    with pytest.raises(RecordsTooLarge):
        group.submit([written(1)])
    assert await waiting == 1


async def test_close_commits_what_waits_and_refuses_the_rest() -> None:
    disk, blobs = memory()
    group = GroupCommit(Log(blobs, PREFIX, "one", 1))
    waiting = group.submit([reinforced(1)])
    await group.close()
    assert await waiting == 1
    await group.durable()
    with pytest.raises(LogClosed):
        await group.submit([reinforced(2)])
    assert len(disk.durable) == 2
