"""Does a whole namespace come back as it was, wherever the writing of its snapshot stopped?"""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest
from faulty import FaultyDisk
from scenes import PREFIX, STAMP, image, memory, numbers_of, opened, row, vectors, written

from loom_ray.core.records import Answered, Registered, Reinforced
from loom_ray.storage import snapshot
from loom_ray.storage.blobs import Blobs
from loom_ray.storage.codec import Folded, encode_records
from loom_ray.storage.errors import BlobsUnavailable, CommitFailed, DamagedSnapshot, Fenced
from loom_ray.storage.file_blobs import FileBlobs
from loom_ray.storage.paths import manifest_path, segment_path, snapshot_folder
from loom_ray.storage.segment import encode_segment
from loom_ray.storage.snapshot import StateImage

FULL = StateImage(
    rows=[row(1), row(2), row(3), row(4)],
    vectors=[vectors(1, 3), None, vectors(3), vectors(4, 2)],
    answers=[Answered("key", "sha", {"big": 2**70, "none": None}, 5), Answered("other", "", {}, 6)],
    registered=Registered({"policy": "flag", "n": 1.5}, 7),
    embedder=STAMP,
    last_version=2**62,
)


def assert_same(found: StateImage, wanted: StateImage) -> None:
    assert list(found.rows) == list(wanted.rows)
    assert list(found.answers) == list(wanted.answers)
    assert (found.registered, found.embedder, found.last_version) == (
        wanted.registered,
        wanted.embedder,
        wanted.last_version,
    )
    for one, two in zip(found.vectors, wanted.vectors, strict=True):
        assert (one is None) == (two is None)
        if one is not None and two is not None:
            assert one.dtype == np.float16
            assert np.array_equal(one, two)


@pytest.mark.parametrize("bounds", [(20_000, 32 * 1024 * 1024), (1, 8), (3, 24)])
async def test_an_image_round_trips(blobs: Blobs, bounds: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "ROWS_A_FILE", bounds[0])
    monkeypatch.setattr(snapshot, "ANSWERS_A_FILE", bounds[0])
    monkeypatch.setattr(snapshot, "VECTOR_BYTES_A_FILE", bounds[1])
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    await store.snapshot(FULL)
    _, recovered = await opened(blobs, "two")
    assert_same(recovered.image, FULL)
    assert recovered.records == ()
    assert recovered.image.matrix is not None
    assert recovered.image.matrix.shape == (6, 4)
    assert all(one is None or np.shares_memory(one, recovered.image.matrix) for one in recovered.image.vectors)


async def test_records_after_the_marker_are_replayed_and_those_before_are_not() -> None:
    """Three submissions in one turn of the loop: the marker alone decides what the image holds."""
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    store.commit.submit([written(1), Reinforced("m1", 1)])
    task = store.snapshot(image(1))
    later = store.commit.submit([written(2), Reinforced("m1", 2)])
    await asyncio.gather(task, later)
    _, recovered = await opened(blobs, "two")
    assert [row.memory_id for row in recovered.image.rows] == ["m1"]
    assert [record for record in recovered.records if isinstance(record, Reinforced)] == [Reinforced("m1", 2)]


async def test_the_image_is_encoded_and_read_off_the_loop() -> None:
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    seen: set[int] = set()

    class Watched(list):  # type: ignore[type-arg]
        def __getitem__(self, place):  # type: ignore[no-untyped-def]
            seen.add(threading.get_ident())
            return super().__getitem__(place)

    await store.snapshot(replace(FULL, rows=Watched(FULL.rows)))
    assert seen
    assert threading.get_ident() not in seen


@pytest.mark.parametrize("stop", range(8))
async def test_a_snapshot_may_stop_after_any_step(stop: int) -> None:
    """The first `stop` changes land, then the process is gone; the next incarnation finds everything, once."""
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    await store.snapshot(image(1))
    await store.commit.submit([written(2)])
    left = stop

    def count(real):  # type: ignore[no-untyped-def]
        async def counted(path, *data):  # type: ignore[no-untyped-def]
            nonlocal left
            left -= 1
            if left < 0:
                raise BlobsUnavailable(str(path), "gone")
            await real(path, *data)

        return counted

    blobs.put, blobs.delete = count(blobs.put), count(blobs.delete)  # type: ignore[method-assign]
    await asyncio.wait([store.snapshot(image(1, 2))])
    disk.crash()
    again, recovered = await opened(disk.blobs(), "two")
    assert sorted(numbers_of(recovered)) == ["m1", "m2"]
    await again.snapshot(image(1, 2))
    assert [len(await again.history(key)) for key in ("k1", "k2")] == [1, 1]
    assert len([path for path in disk.visible if "/manifest/" in path]) == 1
    assert len({path.split("/")[4] for path in disk.visible if "/snapshot/" in path}) == 1


async def test_a_failed_snapshot_leaves_the_log_unharmed() -> None:
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    real = blobs.put

    async def full(path: str, data: bytes) -> None:
        raise BlobsUnavailable(path, "full")

    blobs.put = full  # type: ignore[method-assign]
    with pytest.raises(BlobsUnavailable, match="full"):
        await store.snapshot(image())
    await store.commit.submit([written(1)])
    blobs.put = real  # type: ignore[method-assign]
    await store.snapshot(image(1))
    assert [row.version for row in await store.history("k1")] == [1]


async def test_a_fenced_incarnation_writes_no_snapshot() -> None:
    disk, blobs = memory()
    old, _ = await opened(blobs, "old")
    await opened(blobs, "new")
    with pytest.raises(Fenced):
        await old.snapshot(image())
    assert not [path for path in disk.visible if "/log/" not in path]
    with pytest.raises(Fenced):
        await old.close(image())


async def test_what_was_recovered_is_shown_in_a_line() -> None:
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.snapshot(image(*range(1, 300)))
    await store.commit.submit([written(number) for number in range(300, 600)])
    assert len(repr((await opened(blobs, "two"))[1])) < 400


async def test_one_snapshot_at_a_time() -> None:
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    task = store.snapshot(image())
    assert store.snapshotting
    with pytest.raises(RuntimeError, match="under way"):
        store.snapshot(image())
    await task
    assert not store.snapshotting
    assert store.segments_since_snapshot == 0


async def test_a_damaged_snapshot_file_is_named() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    seq = await store.snapshot(image(1))
    path = f"{snapshot_folder(PREFIX, seq)}rows-00000.parquet"
    disk.visible[path] = disk.visible[path][:-1] + b"x"
    with pytest.raises(DamagedSnapshot, match=path):
        await opened(blobs, "two")
    del disk.visible[path]
    with pytest.raises(DamagedSnapshot, match=path):
        await opened(blobs, "two")


async def test_a_snapshot_that_was_cut_short_by_a_crash_falls_back_with_a_note() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    kept = dict(disk.visible)
    seq = await store.snapshot(image(1))
    disk.visible = kept | {manifest_path(PREFIX, seq): b"", **marker_of(disk, kept, seq)}
    _, recovered = await opened(disk.blobs(), "two")
    assert numbers_of(recovered) == ["m1"]
    assert any(manifest_path(PREFIX, seq) in note for note in recovered.notes)


def marker_of(disk: FaultyDisk, kept: dict[str, bytes], seq: int) -> dict[str, bytes]:
    """The marker's segment, which the snapshot has swept."""
    return {segment_path(PREFIX, seq): encode_segment(seq, "one", encode_records([Folded(1, 1)]))}


async def test_closing_an_idle_namespace_writes_no_second_snapshot() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    await store.close(image(1))
    first = [path for path in disk.visible if "/manifest/" in path]
    for name in ("two", "three"):
        store, recovered = await opened(blobs, name)
        assert numbers_of(recovered) == ["m1"]
        await store.close(recovered.image)
    assert [path for path in disk.visible if "/manifest/" in path] == first


async def test_openings_and_closings_do_not_pile_up() -> None:
    disk, blobs = memory()
    for number in range(60):
        store, recovered = await opened(blobs, f"i{number}")
        await store.close(recovered.image)
    assert len([path for path in disk.visible if "/log/" in path]) < 40


async def test_close_commits_snapshots_and_says_so_if_it_cannot() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    store.commit.submit([written(1)])
    store.snapshot(image(1))
    waiting = store.commit.submit([written(2)])
    await store.close(image(1, 2))
    await waiting
    assert sorted(numbers_of((await opened(blobs, "two"))[1])) == ["m1", "m2"]
    third, _ = await opened(blobs, "three")
    blobs.pause()
    disk.faults = replace(disk.faults, full=1)
    blobs.resume()
    with pytest.raises(CommitFailed):
        await third.close()


async def test_an_image_that_writes_have_overtaken_is_not_written() -> None:
    """Close waits for a snapshot under way; what is submitted meanwhile lies before its marker, not in its image."""
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    blobs.pause()
    store.snapshot(image(1))
    store.commit.submit([written(2)])
    closing = store.close(image(1, 2))
    late = store.commit.submit([written(3)])
    blobs.resume()
    await asyncio.gather(closing, late)
    assert sorted(numbers_of((await opened(blobs, "two"))[1])) == ["m1", "m2", "m3"]


async def test_duckdb_reads_a_snapshot(tmp_path: Path) -> None:
    store, _ = await opened(FileBlobs(tmp_path), "one")
    await store.commit.submit([written(1)])
    await store.snapshot(FULL)
    found = duckdb.sql(
        f"select memory_id, value ->> 'fact', tags[1] from '{tmp_path}/ns/*/*/snapshot/*/rows-*.parquet'"
    )
    assert sorted(found.fetchall()) == [(f"m{number}", str(number), "red") for number in (1, 2, 3, 4)]
