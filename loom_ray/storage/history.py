"""What was a memory before? Folded segments as Parquet files, one row a version, readable by any tool.

`history/<first>-<last>.parquet` holds the images written in the segments `first..last`, sorted by memory. A file made of
several smaller ones names their whole range. So where one file's range lies within another's, the wider holds all, and
the narrower is what a crash left: readers skip it and `sweep` removes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from loom_ray.core.records import RowWritten
from loom_ray.core.row import Row
from loom_ray.storage.blobs import Blobs
from loom_ray.storage.columns import TIME, row_columns, rows_of
from loom_ray.storage.errors import BlobMissing, DamagedSnapshot
from loom_ray.storage.manifest import HistoryFile
from loom_ray.storage.paths import history_path, numbers_in, segment_path
from loom_ray.storage.segment import decode_segment
from loom_ray.storage.snapshot import OffLoop, to_parquet

SMALL_ROWS = 50_000  # a file of so many rows or bytes is never rewritten
SMALL_BYTES = 16 * 1024 * 1024
SMALL_FILES_MAX = 8
SEGMENTS_AT_ONCE = 16
SORTED_BY = [("memory_id", "ascending"), ("version", "ascending")]


class HistoryStore:
    """The history files of one namespace, as of the segment `through`."""

    def __init__(self, blobs: Blobs, prefix: str, off_loop: OffLoop = asyncio.to_thread) -> None:
        self._blobs = blobs
        self._prefix = prefix
        self._folder = f"{prefix}history/"
        self._off_loop = off_loop

    async def images(self, memory_id: str, through: int) -> list[Row]:
        """Every version written in segments up to `through`, newest first."""
        while True:
            try:
                return await self._images(memory_id, through)
            except BlobMissing:  # merged meanwhile: the wider file has it
                continue

    async def _images(self, memory_id: str, through: int) -> list[Row]:
        rows: list[Row] = []
        for first, last in widest(await self.ranges()):
            data = await self._blobs.get(history_path(self._prefix, first, last))
            rows += await self._off_loop(images_in, data, memory_id, through)
        return sorted(rows, key=lambda row: row.version, reverse=True)

    async def ranges(self) -> list[tuple[int, int]]:
        """The ranges of all files that are there."""
        found = (numbers_in(path, self._folder) for path in await self._blobs.list(self._folder))
        return sorted((numbers[0], numbers[1]) for numbers in found if len(numbers) == 2)

    async def fold(self, first: int, last: int, merged_from: int, skipped: Container[int]) -> HistoryFile | None:
        """Write the images of the segments `first..last`, and all files from `merged_from` on, as one file.

        Doing it again does nothing. None if there is no image at all. Raises BlobMissing if a segment was swept by
        somebody else, DamagedSegment and DamagedSnapshot for a file that cannot be read.
        """
        path = history_path(self._prefix, merged_from, last)
        try:
            data = await self._blobs.get(path)
        except BlobMissing:
            wanted = [seq for seq in range(first, last + 1) if seq not in skipped]
            data = await self._off_loop(file_of, await self._merged(merged_from, first), await self._tables(wanted))
            if data is None:
                return None
            await self._blobs.put(path, data)
        return HistoryFile(merged_from, last, rows_in(path, data), len(data))

    async def _merged(self, merged_from: int, first: int) -> list[bytes]:
        inside = [part for part in await self.ranges() if merged_from <= part[0] and part[1] < first]
        return [await self._blobs.get(history_path(self._prefix, *part)) for part in widest(inside)]

    async def _tables(self, wanted: Sequence[int]) -> list[pa.Table]:
        """The images in each segment; only so many segments are in memory whole at a time."""
        gate = asyncio.Semaphore(SEGMENTS_AT_ONCE)

        async def read(seq: int) -> pa.Table:
            path = segment_path(self._prefix, seq)
            async with gate:
                return await self._off_loop(images_table, path, seq, await self._blobs.get(path))

        return list(await asyncio.gather(*(read(seq) for seq in wanted)))

    async def sweep(self) -> None:
        """Remove the files that a wider one holds."""
        ranges = await self.ranges()
        leftovers = set(ranges) - set(widest(ranges))
        await self._blobs.delete([history_path(self._prefix, *part) for part in sorted(leftovers)])


def widest(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges that lie within no other, in order."""
    kept: list[tuple[int, int]] = []
    for first, last in sorted(ranges, key=lambda part: (part[0], -part[1])):
        if not kept or last > kept[-1][1]:
            kept.append((first, last))
    return kept


def merge_from(files: Sequence[HistoryFile], first: int) -> int:
    """From which segment on the next fold, which starts at `first`, should take earlier files in: `first` for none.

    Once SMALL_FILES_MAX small files stand at the end they become one, so a row is rewritten a few times in its life.
    """
    small: list[HistoryFile] = []
    for file in reversed(files):
        if file.rows >= SMALL_ROWS or file.bytes >= SMALL_BYTES:
            break
        small.append(file)
    return small[-1].first if len(small) >= SMALL_FILES_MAX else first


def file_of(merged: Sequence[bytes], images: Sequence[pa.Table]) -> bytes | None:
    """The file's bytes: the merged files' rows and the segments' images, sorted; None if there are none."""
    tables = [*(pq.read_table(pa.BufferReader(data)) for data in merged), *images]
    table = pa.concat_tables(tables, promote_options="default") if tables else None
    return to_parquet(table.sort_by(SORTED_BY)) if table is not None and table.num_rows else None


def images_table(path: str, seq: int, data: bytes) -> pa.Table:
    """One row a version written in the segment, with its number and the time of the version. Raises DamagedSegment."""
    records = decode_segment(path, seq, data).records
    rows = [record.row for record in records if isinstance(record, RowWritten)]
    versions = pa.array([row.version for row in rows], pa.int64())
    added = {"log_seq": pa.array([seq] * len(rows), pa.int64()), "written_at": versions.cast(TIME)}
    return pa.table(row_columns(rows) | added)


def images_in(data: bytes, memory_id: str, through: int) -> list[Row]:
    """The memory's images in one file; files are sorted by memory, so only row groups that can hold it are decoded."""
    wanted = (pc.field("memory_id") == memory_id) & (pc.field("log_seq") <= through)
    return rows_of(pq.read_table(pa.BufferReader(data), filters=wanted).drop_columns(["log_seq", "written_at"]))


def rows_in(path: str, data: bytes) -> int:
    try:
        return pq.ParquetFile(pa.BufferReader(data)).metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise DamagedSnapshot(path, str(error)) from error
