"""What was a memory before? Folded segments as Parquet files, one row a version, readable by any tool.

`history/<first>-<last>.parquet` holds the images written in the segments `first..last`, sorted by memory. A file made
of several smaller ones names their whole range. Which files count is in the manifest; one whose range lies within that
of a file that counts is what a crash left between a merge and its deletions, and `sweep` removes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Sequence

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
    """The history files of one namespace: how they are written, read and tidied."""

    def __init__(self, blobs: Blobs, prefix: str, off_loop: OffLoop = asyncio.to_thread) -> None:
        self._blobs = blobs
        self._prefix = prefix
        self._folder = f"{prefix}history/"
        self._off_loop = off_loop

    async def images(self, files: Sequence[HistoryFile], memory_id: str, through: int) -> list[Row]:
        """Every version written in segments up to `through`, newest first."""
        rows: list[Row] = []
        for file in files:
            path = history_path(self._prefix, file.first, file.last)
            rows += await self._off_loop(images_in, path, await self._blobs.get(path), memory_id, through)
        return sorted(rows, key=lambda row: row.version, reverse=True)

    async def fold(
        self, files: Sequence[HistoryFile], first: int, last: int, merged_from: int, skipped: Container[int]
    ) -> tuple[HistoryFile, ...]:
        """Write the images of the segments `first..last`, and those of `files` from `merged_from` on, as one file; the
        files that count from then on.

        Doing it again does nothing. Raises BlobMissing if a segment was swept by somebody else, DamagedSegment and
        DamagedSnapshot for a file that cannot be read.
        """
        path = history_path(self._prefix, merged_from, last)
        kept = tuple(file for file in files if file.first < merged_from)
        data = await self._written(path)
        if data is None:
            merged = await self._read([file for file in files if file.first >= merged_from])
            images = await self._tables([seq for seq in range(first, last + 1) if seq not in skipped])
            data = await self._off_loop(file_of, merged, images)
        if data is None:
            return tuple(files)
        await self._blobs.put(path, data)  # also if it was there: the earlier try may have failed at its fsync
        return (*kept, HistoryFile(merged_from, last, rows_in(path, data), len(data)))

    async def _written(self, path: str) -> bytes | None:
        """The file's bytes if an earlier try got so far."""
        try:
            data = await self._blobs.get(path)
            rows_in(path, data)
        except (BlobMissing, DamagedSnapshot):
            return None
        return data

    async def _read(self, files: Sequence[HistoryFile]) -> list[bytes]:
        return [await self._blobs.get(history_path(self._prefix, file.first, file.last)) for file in files]

    async def _tables(self, wanted: Sequence[int]) -> list[pa.Table]:
        """The images in the segments; only so many segments are in memory whole at a time."""
        tables: list[pa.Table] = []
        for start in range(0, len(wanted), SEGMENTS_AT_ONCE):
            part = wanted[start : start + SEGMENTS_AT_ONCE]
            paths = [segment_path(self._prefix, seq) for seq in part]
            found = await asyncio.gather(*(self._blobs.get(path) for path in paths))
            tables.append(await self._off_loop(images_table, list(zip(paths, part, found, strict=True))))
        return tables

    async def sweep(self, files: Sequence[HistoryFile]) -> None:
        """Remove what lies within one of `files`, which are durable, and is not that file itself."""
        found = [(path, numbers_in(path, self._folder)) for path in await self._blobs.list(self._folder)]
        await self._blobs.delete(
            [path for path, numbers in found if len(numbers) == 2 and is_leftover(files, *numbers)]
        )


def is_leftover(files: Sequence[HistoryFile], first: int, last: int) -> bool:
    holders = [file for file in files if file.first <= first and last <= file.last]
    return any((file.first, file.last) != (first, last) for file in holders)


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
    tables = [*(pq.read_table(pa.BufferReader(data), use_threads=False) for data in merged), *images]
    table = pa.concat_tables(tables, promote_options="default") if tables else None
    return to_parquet(table.sort_by(SORTED_BY)) if table is not None and table.num_rows else None


def images_table(segments: Sequence[tuple[str, int, bytes]]) -> pa.Table:
    """One row a version written in the segments (path, number, bytes), with that number and the time of the version.
    Raises DamagedSegment."""
    images = [
        (record.row, seq)
        for path, seq, data in segments
        for record in decode_segment(path, seq, data).records
        if isinstance(record, RowWritten)
    ]
    rows = [row for row, _ in images]
    versions = pa.array([row.version for row in rows], pa.int64())
    added = {"log_seq": pa.array([seq for _, seq in images], pa.int64()), "written_at": versions.cast(TIME)}
    return pa.table(row_columns(rows) | added)


def images_in(path: str, data: bytes, memory_id: str, through: int) -> list[Row]:
    """The memory's images in one file; files are sorted by memory, so only row groups that can hold it are decoded.
    Raises DamagedSnapshot."""
    wanted = (pc.field("memory_id") == memory_id) & (pc.field("log_seq") <= through)
    try:
        table = pq.read_table(pa.BufferReader(data), filters=wanted, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise DamagedSnapshot(path, str(error)) from error
    return rows_of(table.drop_columns(["log_seq", "written_at"]))


def rows_in(path: str, data: bytes) -> int:
    try:
        return pq.ParquetFile(pa.BufferReader(data)).metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise DamagedSnapshot(path, str(error)) from error
