"""What was a memory before? Every image that was folded, in `history/`, one row a version, sorted by memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from loom_ray.contract.reading import AsOfBasis
from loom_ray.core.records import RowWritten
from loom_ray.core.row import Row
from loom_ray.storage.columns import TIME, row_columns, rows_of
from loom_ray.storage.folded import FoldedFiles, Kind, Numbered
from loom_ray.storage.manifest import FoldedFile

STATEMENT = ("memory_id", "content_sha256", "valid_at", "asserted_at")  # what all images of one statement share


def _images_table(records: Sequence[Numbered]) -> pa.Table:
    """One row a version written, with its segment's number and the time of the version."""
    images = [(seq, record.row) for seq, record in records if isinstance(record, RowWritten)]
    rows = [row for _, row in images]
    versions = pa.array([row.version for row in rows], pa.int64())
    added = {"log_seq": pa.array([seq for seq, _ in images], pa.int64()), "written_at": versions.cast(TIME)}
    return pa.table(row_columns(rows) | added)


HISTORY = Kind("history", _images_table, ("memory_id", "version"))


def of_key(memory_key: str) -> pc.Expression:
    """The rows of a key, whoever's."""
    return pc.field("memory_key") == memory_key


def of_memories(memory_ids: Collection[str]) -> pc.Expression:
    return pc.field("memory_id").isin(pa.array(sorted(memory_ids), pa.string()))


async def images_in(history: FoldedFiles, file: FoldedFile, through: int) -> list[Row]:
    return _rows(await history.read(file, pc.field("log_seq") <= through))


async def images_of(history: FoldedFiles, rows: pc.Expression, through: int) -> list[Row]:
    """Every version of these rows, written in segments up to `through`, newest first."""
    wanted = rows & (pc.field("log_seq") <= through)
    images = [row for file in history.files for row in _rows(await history.read(file, wanted))]
    return sorted(images, key=lambda row: row.version, reverse=True)


async def images_at(history: FoldedFiles, as_of: int, basis: AsOfBasis, through: int) -> list[Row]:
    """The images that can say what held at `as_of` (ns), of all memories, from segments up to `through`.

    knowledge_time: the newest of each memory recorded by then. valid_time: the newest of each statement, whenever it
    was recorded, and so the newest of each memory. Of each file by itself: a memory may have one in each.
    """
    wanted = pc.field("log_seq") <= through
    if basis == "knowledge_time":
        wanted &= pc.field("version") <= as_of
    images: list[Row] = []
    for file in history.files:
        table = await history.read(file, wanted)
        images += _rows(_newest(table, ("memory_id",) if basis == "knowledge_time" else STATEMENT))
    return images


def _newest(table: pa.Table, by: Sequence[str]) -> pa.Table:
    """The newest row of each group; no two rows of a namespace have one version."""
    present = [name for name in by if name in table.column_names]  # not every release has written every column
    newest = table.select([*present, "version"]).group_by(present).aggregate([("version", "max")])
    return table.filter(pc.field("version").isin(newest.column("version_max").combine_chunks()))


def _rows(table: pa.Table) -> list[Row]:
    return rows_of(table.drop_columns(["log_seq", "written_at"]))
