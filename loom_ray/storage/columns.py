"""How does a row lie in Parquet? One column a field, readable by any tool, exact on the way back."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, Field, fields
from itertools import chain, pairwise, repeat
from typing import Any

import orjson
import pyarrow as pa

from loom_ray.core.row import JsonValue, MemoryType, Row, Status
from loom_ray.storage.codec import json_text

TIME = pa.timestamp("ns", tz="UTC")
TEXTS = pa.list_(pa.string())
TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("created_at", "valid_at", "valid_to", "expires_at", "tombstoned_at"), TIME),
    **dict.fromkeys(("reinforced_at", "locked_until", "ended_at"), TIME),
    **dict.fromkeys(("tags", "entities", "files", "conflict_with"), TEXTS),
    **dict.fromkeys(("version", "char_limit", "chunks", "reinforcements", "asserted_at", "restored_at"), pa.int64()),
    **dict.fromkeys(("pinned", "demoted"), pa.bool_()),
    "confidence": pa.float64(),
}
ROW_SCHEMA = pa.schema([(field.name, TYPES.get(field.name, pa.string())) for field in fields(Row)])
ENUMS = {
    "status": {status.value: status for status in Status},
    "memory_type": {kind.value: kind for kind in MemoryType},
}
UNIQUE = frozenset({"memory_id", "memory_key", "content_sha256", "canonical_digest"})  # hardly ever twice


def row_columns(rows: Sequence[Row]) -> dict[str, pa.Array]:
    """The rows by column: `value` as JSON text, times as timestamps in UTC."""
    return {field.name: column_of(field, rows) for field in ROW_SCHEMA}


def column_of(field: pa.Field, rows: Sequence[Row]) -> pa.Array:
    values: list[Any] = [getattr(row, field.name) for row in rows]
    if field.name == "value":
        values = [json_text(value) for value in values]
    if field.type == TIME:
        return pa.array(values, pa.int64()).view(TIME)
    return pa.array(values, field.type)


def rows_of(table: pa.Table) -> list[Row]:
    """The inverse of `row_columns`. Columns that an older release did not write take the row's defaults.

    Filled column by column through the slots: the frozen class's own `__init__` takes ten times as long, and this is
    what waking a large namespace waits for.
    """
    rows = list(map(object.__new__, repeat(Row, table.num_rows)))
    for field in fields(Row):
        present = field.name in table.column_names
        values = values_of(field.name, table.column(field.name)) if present else repeat(default_of(field))
        deque(map(getattr(Row, field.name).__set__, rows, values), maxlen=0)
    return rows


def default_of(field: Field[Any]) -> Any:
    """Raises KeyError for a field that every release has written."""
    if field.default is MISSING:
        raise KeyError(field.name)
    return field.default


def values_of(name: str, column: pa.ChunkedArray) -> Iterable[Any]:
    if name == "value":
        return map(value_of, column.to_pylist())
    if ROW_SCHEMA.field(name).type == TIME:
        return pa.chunked_array([chunk.view(pa.int64()) for chunk in column.chunks], pa.int64()).to_pylist()
    if ROW_SCHEMA.field(name).type == TEXTS:
        return chain.from_iterable(map(tuples_of, column.chunks))
    if name in ENUMS:
        return map(ENUMS[name].__getitem__, shared(column))
    return column.to_pylist() if name in UNIQUE or column.type != pa.string() else shared(column)


def value_of(text: str) -> JsonValue:
    """orjson is quicker, but exact for a plain string only: see codec.py."""
    return orjson.loads(text) if text.startswith('"') else json.loads(text)


def shared(column: pa.ChunkedArray | pa.Array) -> list[str]:
    """The texts, equal ones as one object: agents, tags and statuses repeat in every row."""
    encoded = column.dictionary_encode()
    chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    return [
        text for chunk in chunks for text in map(chunk.dictionary.to_pylist().__getitem__, chunk.indices.to_pylist())
    ]


def tuples_of(chunk: pa.ListArray) -> list[tuple[str, ...]]:
    texts = shared(chunk.values)
    ends = chunk.offsets.to_pylist()
    return [tuple(texts[start:end]) for start, end in pairwise(ends)]
