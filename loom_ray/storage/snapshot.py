"""How is a whole namespace written down and read back? Parquet files of bounded size under `snapshot/<seq>/`.

`rows-*.parquet` hold a row each (columns.py, and how many vectors it has), `vectors-*.parquet` a vector each in the
order of the rows, `answers-*.parquet` the remembered answers, `allowed-*.parquet` the allowlist, `patterns-*.parquet`
what is refused, in the one log that keeps that. The manifest names them with sizes and checksums.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from loom_ray.core.records import Allowed, Answered, EmbedderStamp, Registered, Vectors
from loom_ray.core.refusal.pattern import Pattern
from loom_ray.core.row import Row
from loom_ray.storage.blobs import Blobs
from loom_ray.storage.codec import NAMES, json_text, pattern_from_json
from loom_ray.storage.columns import row_columns, rows_of
from loom_ray.storage.errors import DamagedSnapshot
from loom_ray.storage.manifest import Manifest, SnapshotFile, checksum
from loom_ray.storage.paths import snapshot_folder

T = TypeVar("T")
OffLoop = Callable[..., Awaitable[Any]]  # runs a blocking call elsewhere, as asyncio.to_thread does

ROWS_A_FILE = 20_000
ANSWERS_A_FILE = 20_000
ALLOWED_A_FILE = 20_000
PATTERNS_A_FILE = 5_000  # of at most 4,096 characters
VECTOR_BYTES_A_FILE = 32 * 1024 * 1024
ROWS_A_GROUP = 8_192
FILES_AT_ONCE = 3  # loaded or stored at the same time, so that memory stays near the size of the image


@dataclass(frozen=True, slots=True, kw_only=True)
class StateImage:
    """The state of a namespace at one moment; what it holds is immutable or never changed again.

    `vectors[i]` belongs to `rows[i]`: shape (1 + chunks, dimensions), float16, or None for a row without.
    `matrix` is set where the image was loaded: all vectors one below the other, of which `vectors` are views.
    Its repr shows none of these: asyncio puts the repr of a task's result into messages, which took minutes.
    """

    rows: Sequence[Row] = field(default=(), repr=False)
    vectors: Sequence[Vectors | None] = field(default=(), repr=False)
    answers: Sequence[Answered] = field(default=(), repr=False)  # oldest first
    allowed: Sequence[Allowed] = field(default=(), repr=False)
    patterns: Sequence[tuple[Pattern, int]] = field(default=(), repr=False)  # each with its hits
    registered: Registered | None = None
    embedder: EmbedderStamp | None = None
    last_version: int = 0
    matrix: Vectors | None = field(default=None, repr=False)


async def store_image(
    blobs: Blobs, prefix: str, seq: int, image: StateImage, off_loop: OffLoop = asyncio.to_thread
) -> tuple[SnapshotFile, ...]:
    """Write the files of snapshot `seq`; durable when it returns."""
    if len(image.rows) != len(image.vectors):
        raise ValueError(f"{len(image.rows)} rows, but {len(image.vectors)} entries of vectors")
    folder = snapshot_folder(prefix, seq)
    files: list[SnapshotFile] = []
    async for file, data in encoded(tables_of(image), off_loop):
        await blobs.put(folder + file.name, data)
        files.append(file)
    return tuple(files)


async def encoded(
    tables: Iterator[tuple[str, pa.Table]], off_loop: OffLoop
) -> AsyncIterator[tuple[SnapshotFile, bytes]]:
    """Each table as a file, named by its kind and number; nothing of the image is touched on the loop."""
    numbers: dict[str, int] = {}
    while (following := await off_loop(lambda: encode_next(tables))) is not None:
        kind, rows, data, sum_of_data = following
        number = numbers[kind] = numbers.get(kind, -1) + 1
        yield SnapshotFile(f"{kind}-{number:05d}.parquet", kind, rows, len(data), sum_of_data), data


def encode_next(tables: Iterator[tuple[str, pa.Table]]) -> tuple[str, int, bytes, str] | None:
    following = next(tables, None)
    if following is None:
        return None
    kind, table = following
    data = to_parquet(table, compressed=kind != "vectors")
    return kind, table.num_rows, data, checksum(data)


def to_parquet(table: pa.Table, compressed: bool = True) -> bytes:
    """Vectors are noise to a compressor; all else shrinks well."""
    target = io.BytesIO()
    compression = "zstd" if compressed else "none"
    pq.write_table(table, target, row_group_size=ROWS_A_GROUP, compression=compression, use_dictionary=compressed)
    return target.getvalue()


def tables_of(image: StateImage) -> Iterator[tuple[str, pa.Table]]:
    """The image in tables of bounded size, by kind, made one by one."""
    for start in range(0, len(image.rows), ROWS_A_FILE):
        part = slice(start, start + ROWS_A_FILE)
        counts = [0 if vectors is None else len(vectors) for vectors in image.vectors[part]]
        yield "rows", pa.table({**row_columns(image.rows[part]), "vectors": pa.array(counts, pa.int32())})
    yield from (("vectors", table) for table in vector_tables(image))
    for start in range(0, len(image.answers), ANSWERS_A_FILE):
        yield "answers", answers_table(image.answers[start : start + ANSWERS_A_FILE])
    for start in range(0, len(image.allowed), ALLOWED_A_FILE):
        yield "allowed", allowed_table(image.allowed[start : start + ALLOWED_A_FILE])
    for start in range(0, len(image.patterns), PATTERNS_A_FILE):
        yield "patterns", patterns_table(image.patterns[start : start + PATTERNS_A_FILE])


def dimensions_of(image: StateImage) -> int:
    return next((vectors.shape[1] for vectors in image.vectors if vectors is not None), 0)


def vector_tables(image: StateImage) -> Iterator[pa.Table]:
    """One vector a row as float16 bytes, little-endian, with the memory and the place in it (0: the excerpt)."""
    dimensions = dimensions_of(image)
    pieces = (
        (row.memory_id, place, vector.astype("<f2", copy=False).tobytes())
        for row, vectors in zip(image.rows, image.vectors, strict=True)
        if vectors is not None
        for place, vector in enumerate(vectors)
    )
    while part := list(islice(pieces, max(1, VECTOR_BYTES_A_FILE // max(1, 2 * dimensions)))):
        memory_ids, places, vectors = zip(*part, strict=True)
        yield pa.table(
            {
                "memory_id": pa.array(memory_ids),
                "place": pa.array(places, pa.int32()),
                "vector": pa.array(vectors, pa.binary(2 * dimensions)),
            }
        )


def answers_table(answers: Sequence[Answered]) -> pa.Table:
    return pa.table(
        {
            "key": [answer.key for answer in answers],
            "body_sha256": [answer.body_sha256 for answer in answers],
            "answer": [json_text(answer.answer) for answer in answers],
            "at": pa.array([answer.at for answer in answers], pa.int64()),
        }
    )


def allowed_table(allowed: Sequence[Allowed]) -> pa.Table:
    columns = {name: [getattr(pair, name) for pair in allowed] for name in NAMES[Allowed]}
    return pa.table(columns | {"at": pa.array(columns["at"], pa.int64())})


def patterns_table(patterns: Sequence[tuple[Pattern, int]]) -> pa.Table:
    columns = {name: [getattr(pattern, name) for pattern, _ in patterns] for name in NAMES[Pattern]}
    return pa.table(columns | {"hit_count": pa.array([hits for _, hits in patterns], pa.int64())})


def patterns_of(table: pa.Table) -> list[tuple[Pattern, int]]:
    stored = table.drop_columns(["hit_count"]).to_pylist()
    hits = table.column("hit_count").to_pylist()
    return [(pattern_from_json(one), count) for one, count in zip(stored, hits, strict=True)]


async def load_image(
    blobs: Blobs, prefix: str, manifest: Manifest, off_loop: OffLoop = asyncio.to_thread
) -> StateImage:
    """Read the files that the manifest names. Raises DamagedSnapshot naming the file, BlobMissing if one is gone."""
    matrix = np.empty((total(manifest, "vectors"), manifest.dimensions), dtype=np.float16)
    starts = dict(zip(of_kind(manifest, "vectors"), starts_of(manifest, "vectors"), strict=True))
    gate = asyncio.Semaphore(FILES_AT_ONCE)

    async def load(file: SnapshotFile) -> Any:
        path = snapshot_folder(prefix, manifest.seq) + file.name
        async with gate:
            data = await blobs.get(path)
            return await off_loop(read_file, path, file, data, matrix[starts[file] :] if file in starts else None)

    parts = await asyncio.gather(*(load(file) for file in manifest.files))
    return await off_loop(assemble, manifest, list(zip(manifest.files, parts, strict=True)), matrix)


def of_kind(manifest: Manifest, kind: str) -> list[SnapshotFile]:
    return [file for file in manifest.files if file.kind == kind]


def total(manifest: Manifest, kind: str) -> int:
    return sum(file.rows for file in of_kind(manifest, kind))


def starts_of(manifest: Manifest, kind: str) -> list[int]:
    """At which of all the kind's rows each file starts."""
    return [0, *np.cumsum([file.rows for file in of_kind(manifest, kind)]).tolist()][:-1]


def read_file(path: str, file: SnapshotFile, data: bytes, target: Vectors | None) -> Any:
    """Rows with their counts of vectors, or what else there is; vectors are written to the start of `target`."""
    if len(data) != file.bytes or checksum(data) != file.checksum:
        raise DamagedSnapshot(path, f"{len(data)} bytes whose size or checksum is not the manifest's")
    parquet = pq.ParquetFile(pa.BufferReader(data))
    if target is not None:
        return read_vectors(parquet, target)
    table = parquet.read(use_threads=False)
    if file.kind == "rows":
        return rows_of(table.drop_columns(["vectors"])), table.column("vectors").to_pylist()
    if file.kind == "allowed":
        return [Allowed(**pair) for pair in table.to_pylist()]
    if file.kind == "patterns":
        return patterns_of(table)
    return answers_of(table)


def read_vectors(parquet: pq.ParquetFile, target: Vectors) -> None:
    """Row group by row group straight into the matrix: no second copy of all vectors ever exists."""
    filled = 0
    for batch in parquet.iter_batches(batch_size=ROWS_A_GROUP, columns=["vector"], use_threads=False):
        column = batch.column(0)
        width = column.type.byte_width
        flat = np.frombuffer(column.buffers()[1], np.uint8, len(column) * width, column.offset * width)
        target[filled : filled + len(column)] = flat.view("<f2").reshape(len(column), -1)
        filled += len(column)


def answers_of(table: pa.Table) -> list[Answered]:
    columns = [table.column(name).to_pylist() for name in ("key", "body_sha256", "answer", "at")]
    return [Answered(key, body, json.loads(answer), at) for key, body, answer, at in zip(*columns, strict=True)]


def assemble(manifest: Manifest, parts: list[tuple[SnapshotFile, Any]], matrix: Vectors) -> StateImage:
    rows = [row for file, part in parts if file.kind == "rows" for row in part[0]]
    counts = [count for file, part in parts if file.kind == "rows" for count in part[1]]
    ends: npt.NDArray[np.int64] = np.cumsum(counts, dtype=np.int64)
    vectors = [matrix[end - n : end] if n else None for end, n in zip(ends.tolist(), counts, strict=True)]
    return StateImage(
        rows=rows,
        vectors=vectors,
        answers=[answer for file, part in parts if file.kind == "answers" for answer in part],
        allowed=[pair for file, part in parts if file.kind == "allowed" for pair in part],
        patterns=[pattern for file, part in parts if file.kind == "patterns" for pattern in part],
        registered=manifest.registered,
        embedder=manifest.embedder,
        last_version=manifest.last_version,
        matrix=matrix,
    )
