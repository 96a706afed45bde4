"""What do the scenes of this room have in common? Rows, images, and a namespace on a disk in memory."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from faulty import FaultyBlobs, FaultyDisk

from loom_ray.core.records import Audited, EmbedderStamp, RowWritten, Vectors
from loom_ray.core.row import MemoryType, Row
from loom_ray.storage.blobs import Blobs
from loom_ray.storage.log import namespace_prefix
from loom_ray.storage.paths import segment_path
from loom_ray.storage.snapshot import StateImage
from loom_ray.storage.store import NamespaceStore, Recovered

PREFIX = namespace_prefix("acme", "notes")
STAMP = EmbedderStamp("fake", 4, "none")


def row(number: int, version: int = 0) -> Row:
    return Row(
        memory_id=f"m{number}",
        memory_key=f"k{number}",
        agent="a",
        user_id="-",
        session_id="-",
        run_id="",
        memory_type=MemoryType.SEMANTIC,
        value={"fact": number},
        content_sha256="",
        canonical_digest="",
        version=version or number,
        created_at=number,
        tags=("red", "green"),
    )


def vectors(number: int, count: int = 1) -> Vectors:
    return np.full((count, 4), number, dtype=np.float16)


def written(number: int, version: int = 0) -> RowWritten:
    return RowWritten(row(number, version), vectors(number))


def audited(stamp: int, **told: Any) -> Audited:
    plain: dict[str, Any] = {field.name: "" for field in fields(Audited)}
    return Audited(**plain | {"stamp": stamp, "at": stamp, "commit_id": stamp, "version": stamp} | told)


def image(*numbers: int) -> StateImage:
    return StateImage(
        rows=[row(number) for number in numbers],
        vectors=[vectors(number) for number in numbers],
        embedder=STAMP,
        last_version=max(numbers, default=0),
    )


async def opened(
    blobs: Blobs, incarnation: str, stamp: EmbedderStamp | None = STAMP
) -> tuple[NamespaceStore, Recovered]:
    return await NamespaceStore.open(blobs, PREFIX, incarnation, stamp)


def numbers_of(recovered: Recovered) -> list[str]:
    """The ids of all rows, in the order of replay."""
    later = [record.row.memory_id for record in recovered.records if isinstance(record, RowWritten)]
    return [row.memory_id for row in recovered.image.rows] + later


def memory() -> tuple[FaultyDisk, FaultyBlobs]:
    disk = FaultyDisk(seed=0)
    return disk, disk.blobs()


def log_of(disk: FaultyDisk) -> list[int]:
    return [seq for seq in range(100) if segment_path(PREFIX, seq) in disk.visible]
