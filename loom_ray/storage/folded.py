"""What becomes of the log below a snapshot? Its segments are folded into Parquet files, readable by any tool.

`<folder>/<first>-<last>.parquet` holds what of its kind was written in the segments `first..last`. A file made of
several smaller ones names their whole range. Which files count is in the manifest; one whose range lies within that of
a file that counts is what a crash left between a merge and its deletions, and `sweep` removes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from loom_ray.storage.blobs import Blobs
from loom_ray.storage.codec import StoredRecord
from loom_ray.storage.errors import BlobMissing, DamagedSnapshot
from loom_ray.storage.manifest import FoldedFile
from loom_ray.storage.paths import folded_path, numbers_in, segment_path
from loom_ray.storage.segment import decode_segment
from loom_ray.storage.snapshot import OffLoop, to_parquet

SMALL_ROWS = 50_000  # a file of so many rows or bytes is never rewritten
SMALL_BYTES = 16 * 1024 * 1024
SMALL_FILES_MAX = 8
SEGMENTS_AT_ONCE = 16

Numbered = tuple[int, StoredRecord]  # a record and the number of its segment


@dataclass(frozen=True, slots=True)
class Kind:
    """What is kept in one folder: how records become its table, which has a `log_seq`, and in which order it lies."""

    folder: str
    table: Callable[[Sequence[Numbered]], pa.Table]
    sorted_by: tuple[str, ...]


class FoldedFiles:
    """The files of one kind, oldest first: how they are written, read and tidied."""

    def __init__(self, blobs: Blobs, prefix: str, kind: Kind, files: tuple[FoldedFile, ...], off_loop: OffLoop) -> None:
        self.kind = kind
        self.files = files
        self._blobs = blobs
        self._prefix = prefix
        self._off_loop = off_loop

    async def read(self, file: FoldedFile, wanted: pc.Expression) -> pa.Table:
        """The rows wanted, in the file's order; only row groups that can hold one are decoded. Raises BlobMissing and
        DamagedSnapshot."""
        path = self._path(file.first, file.last)
        return await self._off_loop(_rows_wanted, path, await self._blobs.get(path), wanted)

    async def is_written(self, first: int, last: int) -> bool:
        """Whether an earlier try got so far; the file counts from then on. It is put again: the try may have failed
        at its fsync."""
        path = self._path(first, last)
        try:
            data = await self._blobs.get(path)
            _rows_in(path, data)
        except (BlobMissing, DamagedSnapshot):
            return False
        await self._keep(data, first, last)
        return True

    async def write(self, tables: Sequence[pa.Table], first: int, last: int) -> None:
        """One file of `tables` and of the files from `first` on; none if that is not a single row."""
        merged = [self._path(file.first, file.last) for file in self.files if file.first >= first]
        datas = [await self._blobs.get(path) for path in merged]
        data = await self._off_loop(_file_of, datas, tables, self.kind.sorted_by)
        if data is not None:
            await self._keep(data, first, last)

    async def _keep(self, data: bytes, first: int, last: int) -> None:
        path = self._path(first, last)
        await self._blobs.put(path, data)
        kept = (file for file in self.files if file.first < first)
        self.files = (*kept, FoldedFile(first, last, _rows_in(path, data), len(data)))

    async def sweep(self) -> None:
        """Remove what lies within one of the files, which are durable, and is not that file itself."""
        folder = f"{self._prefix}{self.kind.folder}/"
        found = [(path, numbers_in(path, folder)) for path in await self._blobs.list(folder)]
        await self._blobs.delete(
            [path for path, numbers in found if len(numbers) == 2 and _is_leftover(self.files, *numbers)]
        )

    def _path(self, first: int, last: int) -> str:
        return folded_path(self._prefix, self.kind.folder, first, last)


async def fold(
    folders: Sequence[FoldedFiles],
    blobs: Blobs,
    prefix: str,
    segments: range,
    merged_from: int,
    skipped: Container[int],
    off_loop: OffLoop,
) -> None:
    """Add what was written in the `segments`, as one file a kind with those of its files from `merged_from` on.

    Doing it again does nothing. Raises BlobMissing if a segment was swept by somebody else, DamagedSegment and
    DamagedSnapshot for a file that cannot be read.
    """
    last = segments[-1]
    missing = [folder for folder in folders if not await folder.is_written(merged_from, last)]
    tables: list[list[pa.Table]] = [[] for _ in missing]
    wanted = [seq for seq in segments if seq not in skipped] if missing else []
    for start in range(0, len(wanted), SEGMENTS_AT_ONCE):  # only so many are in memory whole at a time
        part = wanted[start : start + SEGMENTS_AT_ONCE]
        paths = [segment_path(prefix, seq) for seq in part]
        found = await asyncio.gather(*(blobs.get(path) for path in paths))
        read = await off_loop(_tables, [each.kind for each in missing], list(zip(paths, part, found, strict=True)))
        for of_kind, table in zip(tables, read, strict=True):
            of_kind.append(table)
    for folder, of_kind in zip(missing, tables, strict=True):
        await folder.write(of_kind, merged_from, last)


def merge_from(files: Sequence[FoldedFile], first: int) -> int:
    """From which segment on the next fold, which starts at `first`, should take earlier files in: `first` for none.

    Once SMALL_FILES_MAX small files stand at the end they become one, so a row is rewritten a few times in its life.
    """
    small: list[FoldedFile] = []
    for file in reversed(files):
        if file.rows >= SMALL_ROWS or file.bytes >= SMALL_BYTES:
            break
        small.append(file)
    return small[-1].first if len(small) >= SMALL_FILES_MAX else first


def _tables(kinds: Sequence[Kind], segments: Sequence[tuple[str, int, bytes]]) -> list[pa.Table]:
    """One a kind. Raises DamagedSegment."""
    records = list(_records(segments))
    return [kind.table(records) for kind in kinds]


def _records(segments: Sequence[tuple[str, int, bytes]]) -> Iterator[Numbered]:
    for path, seq, data in segments:
        yield from ((seq, record) for record in decode_segment(path, seq, data).records)


def _file_of(merged: Sequence[bytes], added: Sequence[pa.Table], sorted_by: Sequence[str]) -> bytes | None:
    """The file's bytes: the merged files' rows and the added ones, sorted; None if there are none."""
    tables = [*(pq.read_table(pa.BufferReader(data), use_threads=False) for data in merged), *added]
    table = pa.concat_tables(tables, promote_options="default") if tables else None
    if table is None or not table.num_rows:
        return None
    return to_parquet(table.sort_by([(column, "ascending") for column in sorted_by]))


def _rows_wanted(path: str, data: bytes, wanted: pc.Expression) -> pa.Table:
    return _parquet(path, lambda: pq.read_table(pa.BufferReader(data), filters=wanted, use_threads=False))


def _rows_in(path: str, data: bytes) -> int:
    return _parquet(path, lambda: pq.ParquetFile(pa.BufferReader(data)).metadata.num_rows)


def _parquet(path: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (pa.ArrowException, OSError) as error:
        raise DamagedSnapshot(path, str(error)) from error


def _is_leftover(files: Sequence[FoldedFile], first: int, last: int) -> bool:
    holders = [file for file in files if file.first <= first and last <= file.last]
    return any((file.first, file.last) != (first, last) for file in holders)
