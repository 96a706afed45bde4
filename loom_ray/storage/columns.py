"""How does a row lie in Parquet? One column a field, readable by any tool, exact on the way back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import pyarrow as pa

from loom_ray.core.row import MemoryType, Row, Status
from loom_ray.storage.codec import json_text

TIME = pa.timestamp("ns", tz="UTC")
TEXTS = pa.list_(pa.string())
TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("created_at", "valid_at", "valid_to", "expires_at", "tombstoned_at", "reinforced_at"), TIME),
    **dict.fromkeys(("tags", "entities", "files", "conflict_with"), TEXTS),
    **{name: pa.int64() for name in ("version", "char_limit", "chunks", "reinforcements")},
    "confidence": pa.float64(),
}
ROW_SCHEMA = pa.schema([(field.name, TYPES.get(field.name, pa.string())) for field in fields(Row)])
ENUMS = {
    "status": {status.value: status for status in Status},
    "memory_type": {kind.value: kind for kind in MemoryType},
}


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
    """The inverse of `row_columns`. Columns that an older release did not write take the row's defaults."""
    names = [name for name in ROW_SCHEMA.names if name in table.column_names]
    columns = [values_of(name, table.column(name)) for name in names]
    return [Row(**dict(zip(names, values, strict=True))) for values in zip(*columns, strict=True)]


def values_of(name: str, column: pa.ChunkedArray) -> list[Any]:
    if name == "value":
        return [json.loads(text) for text in column.to_pylist()]
    if name in ENUMS:
        return list(map(ENUMS[name].__getitem__, column.to_pylist()))
    if ROW_SCHEMA.field(name).type == TIME:
        return pa.chunked_array([chunk.view(pa.int64()) for chunk in column.chunks], pa.int64()).to_pylist()
    if ROW_SCHEMA.field(name).type == TEXTS:
        return [tuple(texts) for texts in column.to_pylist()]
    return column.to_pylist()
