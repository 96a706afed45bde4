"""Is every version of every memory kept once, and found by us and by any Parquet reader?"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from faulty import Faults
from scenes import PREFIX, image, memory, opened, row, written

from loom_ray.core.records import Reinforced, RowWritten
from loom_ray.storage import folded
from loom_ray.storage.errors import BlobsUnavailable
from loom_ray.storage.file_blobs import FileBlobs
from loom_ray.storage.folded import merge_from
from loom_ray.storage.manifest import FoldedFile


async def test_images_come_newest_first_from_every_file() -> None:
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    for version in range(10, 16):
        await store.commit.submit([written(1, version), written(2, version + 100)])
        if version % 2:
            await store.snapshot(image(1, 2))
    assert [found.version for found in await store.history("k1")] == [15, 14, 13, 12, 11, 10]
    assert await store.history("k1") == [row(1, version) for version in range(15, 9, -1)]
    assert await store.history("nobody") == []


async def test_what_no_snapshot_has_folded_is_not_history_yet() -> None:
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1, 10)])
    await store.snapshot(image(1))
    await store.commit.submit([written(1, 11)])
    assert [found.version for found in await store.history("k1")] == [10]


async def test_many_small_files_become_one_and_nothing_is_doubled() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    for version in range(1, 41):
        await store.commit.submit([written(1, version)])
        await store.snapshot(image(1))
        files = [path for path in disk.visible if "/history/" in path]
        assert len(files) <= folded.SMALL_FILES_MAX
    assert [found.version for found in await store.history("k1")] == list(range(40, 0, -1))


async def test_big_files_are_left_alone() -> None:
    big, small = FoldedFile(1, 10, folded.SMALL_ROWS, 1), [FoldedFile(n, n, 1, 1) for n in range(11, 19)]
    assert merge_from([big, *small], 19) == 11
    assert merge_from([big, *small[1:]], 19) == 19
    assert merge_from([*small, FoldedFile(19, 19, 1, folded.SMALL_BYTES)], 20) == 20


@pytest.mark.parametrize("stop", range(1, 8))
async def test_a_crash_in_a_merge_leaves_each_version_once(stop: int) -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    for version in range(1, 9):
        await store.commit.submit([written(1, version)])
        await store.snapshot(image(1))
    await store.commit.submit([written(1, 9)])
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
    store.snapshot(image(1)).add_done_callback(lambda task: task.exception())
    await store.close()
    disk.crash()
    again, recovered = await opened(disk.blobs(), "two")
    live = [record.row.version for record in recovered.records if isinstance(record, RowWritten)]
    folded = [found.version for found in await again.history("k1")]
    assert sorted(folded + live) == list(range(1, 10))
    await again.snapshot(image(1))
    assert [found.version for found in await again.history("k1")] == list(range(9, 0, -1))
    assert len([path for path in disk.visible if "/history/" in path]) == 1


async def test_a_file_that_is_there_but_perhaps_not_durable_is_put_again() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1)])
    task = store.snapshot(image(1))
    later = store.commit.submit(
        [Reinforced("m1", 1)]
    )  # no row: the next fold writes no file that would sync the folder
    later.add_done_callback(lambda _: setattr(disk, "faults", Faults(sync_fails=1)))
    with pytest.raises(BlobsUnavailable):
        await task
    files = [path for path in disk.visible if "/history/" in path]
    assert files
    assert not set(files) & set(disk.durable)
    disk.faults = Faults()
    await store.snapshot(image(1))
    assert set(files) <= set(disk.durable)


async def test_duckdb_reads_a_plain_folder(tmp_path: Path) -> None:
    store, _ = await opened(FileBlobs(tmp_path), "one")
    moment = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    nanoseconds = int(moment.timestamp()) * 10**9
    for version in (nanoseconds, nanoseconds + 1):
        await store.commit.submit([written(1, version)])
        await store.snapshot(image(1))
    folder = f"{tmp_path}/{PREFIX}history/*.parquet"
    found = duckdb.sql(
        f"select memory_key, version, status, value ->> 'fact', len(tags), epoch_ns(written_at) from '{folder}'"
        " order by version"
    ).fetchall()
    assert found == [("k1", version, "active", "1", 2, version) for version in (nanoseconds, nanoseconds + 1)]
