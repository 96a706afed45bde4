"""Is there ever more than one writer, or damage passed over in silence? The scenes behind log.py's argument."""

from __future__ import annotations

import pytest
from faulty import Faults
from hypothesis import given
from hypothesis import strategies as st
from scenes import PREFIX, STAMP, image, log_of, memory, numbers_of, opened, written

from loom_ray.core.records import EmbedderStamp
from loom_ray.storage.errors import CommitFailed, DamagedLog, DamagedSnapshot, EmbedderChanged, Fenced, LogClosed
from loom_ray.storage.log import Log
from loom_ray.storage.paths import SEGMENT_CHARS_MAX, manifest_path, namespace_prefix, segment_path


async def test_a_successor_fences_its_predecessor_for_ever() -> None:
    _, blobs = memory()
    old, _ = await opened(blobs, "old")
    await old.commit.submit([written(1)])
    new, recovered = await opened(blobs, "new")
    assert numbers_of(recovered) == ["m1"]
    for _ in range(2):
        with pytest.raises(Fenced, match="belongs to incarnation new"):
            await old.commit.submit([written(2)])
    await new.commit.submit([written(3)])
    assert numbers_of((await opened(blobs, "last"))[1]) == ["m1", "m3"]


async def test_a_paused_writer_is_fenced_though_the_log_around_its_number_is_gone() -> None:
    disk, blobs = memory()
    old, _ = await opened(blobs, "old")  # 1; its next number is 2
    new, _ = await opened(blobs, "new")  # 2
    await new.commit.submit([written(1)])  # 3
    await new.snapshot(image(1))  # 4, and 1, 3 and 4 go
    assert log_of(disk) == [2]
    with pytest.raises(Fenced):
        await old.commit.submit([written(2)])


async def test_an_opening_over_a_closed_log_is_no_fence() -> None:
    disk, blobs = memory()
    first, _ = await opened(blobs, "first")
    await first.close()
    second, _ = await opened(blobs, "second")
    await second.commit.submit([written(1)])
    await second.snapshot(image(1))
    assert log_of(disk) == []
    with pytest.raises(LogClosed):
        await first.commit.submit([written(2)])


async def test_an_opener_that_wins_a_swept_number_starts_again() -> None:
    """It read up to 2, slept while another wrote 3 to 5 and swept them, and finds 3 free."""
    disk, blobs = memory()
    owner, _ = await opened(blobs, "owner")
    await owner.commit.submit([written(1)])
    slow = disk.blobs()
    real = slow.put_new

    async def late(path: str, data: bytes) -> None:
        if path == segment_path(PREFIX, 3):
            await owner.commit.submit([written(2)])
            await owner.snapshot(image(1, 2))
            assert path not in disk.visible
        await real(path, data)

    slow.put_new = late  # type: ignore[method-assign]
    store, recovered = await opened(slow, "slow")
    assert numbers_of(recovered) == ["m1", "m2"]
    await store.commit.submit([written(3)])
    assert numbers_of((await opened(blobs, "last"))[1]) == ["m1", "m2", "m3"]


async def test_two_openers_at_once_both_open_and_one_owns() -> None:
    disk, blobs = memory()
    other = disk.blobs()
    real = blobs.put_new

    async def overtaken(path: str, data: bytes) -> None:
        if path == segment_path(PREFIX, 1):
            await opened(other, "faster")
        await real(path, data)

    blobs.put_new = overtaken  # type: ignore[method-assign]
    store, _ = await opened(blobs, "slower")
    await store.commit.submit([written(1)])
    assert log_of(disk) == [1, 2, 3]


async def test_the_echo_of_an_append_is_its_success() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    disk.faults = Faults(echo=1)
    assert await store.commit.submit([written(1)]) == 2
    disk.faults = Faults()
    assert numbers_of((await opened(blobs, "two"))[1]) == ["m1"]


@pytest.mark.parametrize("fault", ["full", "ambiguous", "sync_fails", "late"])
async def test_a_failed_append_ends_the_log(fault: str) -> None:
    disk, blobs = memory()
    log = Log(blobs, PREFIX, "one", 1)
    disk.faults = Faults(**{fault: 1})
    with pytest.raises(CommitFailed, match=f"1.jsonl.zst: .*{fault}"):
        await log.append([written(1)])
    disk.faults = Faults()
    with pytest.raises(CommitFailed):
        await log.append([written(2)])


async def test_a_refused_opener_leaves_the_owner_alone() -> None:
    _, blobs = memory()
    owner, _ = await opened(blobs, "owner")
    with pytest.raises(EmbedderChanged, match=r"fake \(4 dimensions.*other \(8 dimensions") as caught:
        await opened(blobs, "stranger", EmbedderStamp("other", 8, "none"))
    assert caught.value.stored.startswith("fake")
    await owner.commit.submit([written(1)])


async def test_the_stamp_outlives_the_segments_that_held_it() -> None:
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.snapshot(image())
    assert (await opened(blobs, "two", None))[1].image.embedder == STAMP
    with pytest.raises(EmbedderChanged):
        await opened(blobs, "three", EmbedderStamp("fake", 4, "other"))


async def test_a_torn_end_is_skipped_with_a_warning_and_its_number_stays_taken() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    await store.commit.submit([written(2)])
    disk.visible[segment_path(PREFIX, 3)] = disk.visible[segment_path(PREFIX, 3)][:40]
    second, recovered = await opened(blobs, "two")
    assert numbers_of(recovered) == ["m1"]
    assert any(segment_path(PREFIX, 3) in note and "skipped" in note for note in recovered.notes)
    await second.commit.submit([written(4)])
    third, recovered = await opened(blobs, "three")  # now it lies in the middle, and is known
    assert numbers_of(recovered) == ["m1", "m4"]
    await third.snapshot(image(1, 4))
    assert 3 in log_of(disk)
    with pytest.raises(Fenced):
        await Log(blobs, PREFIX, "its writer", 3).append([written(3)])


@pytest.mark.parametrize("data", [b"rubbish" * 100, b"", "flipped"])
async def test_damage_in_the_middle_refuses_and_names_the_file(data: bytes | str) -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    for number in (1, 2, 3):
        await store.commit.submit([written(number)])
    path = segment_path(PREFIX, 3)
    disk.visible[path] = data if isinstance(data, bytes) else flipped(disk.visible[path])
    with pytest.raises(DamagedLog, match=path):
        await opened(blobs, "two")


def flipped(data: bytes) -> bytes:
    return data[:-5] + bytes([data[-5] ^ 1]) + data[-4:]


async def test_rot_at_the_end_is_not_taken_for_a_torn_write() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    disk.visible[segment_path(PREFIX, 2)] = flipped(disk.visible[segment_path(PREFIX, 2)])
    with pytest.raises(DamagedLog, match=segment_path(PREFIX, 2)):
        await opened(blobs, "two")


async def test_a_hole_refuses_and_names_the_file() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    for number in (1, 2, 3):
        await store.commit.submit([written(number)])
    del disk.visible[segment_path(PREFIX, 3)]
    with pytest.raises(DamagedLog, match=f"{segment_path(PREFIX, 3)}: it is missing"):
        await opened(blobs, "two")


async def test_a_lost_manifest_does_not_make_a_namespace_look_new() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    await store.snapshot(image(1))
    disk.visible[manifest_path(PREFIX, 3)] = b"{}"
    with pytest.raises(DamagedSnapshot, match=manifest_path(PREFIX, 3)):
        await opened(blobs, "two")


async def test_a_segment_of_somebody_who_does_not_own_the_log_is_a_fork() -> None:
    _, blobs = memory()
    await opened(blobs, "one")
    await Log(blobs, PREFIX, "stranger", 2).append([written(1)])
    with pytest.raises(DamagedLog, match="written by stranger, but one owns"):
        await opened(blobs, "two")


names = st.text(min_size=1, max_size=128).filter(lambda name: not any("\ud800" <= char <= "\udfff" for char in name))


@given(names, names, names, names)
def test_distinct_names_have_distinct_prefixes(org: str, namespace: str, other_org: str, other: str) -> None:
    one, two = namespace_prefix(org, namespace), namespace_prefix(other_org, other)
    assert (one.lower() == two.lower()) == ((org, namespace) == (other_org, other))
    assert one == one.lower()
    assert all(0 < len(part) <= SEGMENT_CHARS_MAX for part in one.rstrip("/").split("/"))


def test_prefixes_by_example() -> None:
    assert namespace_prefix("dev", "local") == "ns/dev/local/"
    assert namespace_prefix("..", "A/b:c%") == "ns/%2e%2e/%41%2fb%3ac%25/"
    assert namespace_prefix("x" * 200, "y") == f"ns/{'x' * 200}/y/"
    long, longer = namespace_prefix("é" * 128, "y"), namespace_prefix("é" * 127 + "è", "y")
    assert long != longer
    with pytest.raises(ValueError, match="has a name"):
        namespace_prefix("", "y")
