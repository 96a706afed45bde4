"""How does a record become a line of JSON, and back, exactly?

Values, settings and answers travel as JSON text of their own (`…_json`), because orjson would turn integers over 64
bits into floats on the way back; a plain string stays one, so that the log can be read by eye and by DuckDB.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
import orjson

from loom_ray.core.records import (
    Allowed,
    Answered,
    Audited,
    Disallowed,
    EmbedderStamp,
    PatternHits,
    PatternRemoved,
    Record,
    Registered,
    Reinforced,
    RowWritten,
    Vectors,
)
from loom_ray.core.refusal.pattern import Pattern, PatternScope, PatternType
from loom_ray.core.row import JsonValue, MemoryType, Row, Status

T = TypeVar("T")
TYPE = "record"  # the field that names a record's type


@dataclass(frozen=True, slots=True)
class Opened:
    """An incarnation took the namespace over. It lies at the number that the superseded one would have written next."""

    incarnation: str
    supersedes: str  # an incarnation, or empty for the first
    clean: bool  # the superseded one had closed (or there was none): it never writes again
    skipped: tuple[int, ...]  # torn segments before this one, never acknowledged


@dataclass(frozen=True, slots=True)
class Folded:
    """Alone in its segment `s`: the rows written in `first..s` go to history, in one file with the earlier files from
    `merged_from` on; and the snapshot `s` holds the state as of here. Being in the log, it is decided by one writer."""

    first: int
    merged_from: int


@dataclass(frozen=True, slots=True)
class Closed:
    """The incarnation's last act: it never writes again."""


StoredRecord = Record | Opened | Folded | Closed


class UnreadableRecordError(ValueError):
    """A line is not a record that this release knows."""


def encode_records(records: Sequence[StoredRecord]) -> bytes:
    """JSON lines in UTF-8, each ended. Raises ValueError for what JSON or UTF-8 cannot hold (NaN, lone surrogates) and
    for integers of a record itself beyond 64 bits."""
    try:
        return b"".join(orjson.dumps(to_json(record), option=orjson.OPT_APPEND_NEWLINE) for record in records)
    except TypeError as error:  # orjson's, whose JSONEncodeError is a TypeError
        raise ValueError(f"a record that JSON cannot hold: {error}") from error


def decode_records(lines: bytes) -> tuple[StoredRecord, ...]:
    """Raises UnreadableRecordError."""
    try:
        return tuple(from_json(orjson.loads(line)) for line in lines.splitlines())
    except UnreadableRecordError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UnreadableRecordError(f"{type(error).__name__}: {error}") from error


def to_json(record: StoredRecord) -> dict[str, Any]:
    """The record as what JSON holds, its type under `record`."""
    name, encode = ENCODERS[type(record)]
    return {TYPE: name, **encode(record)}


def from_json(stored: dict[str, Any]) -> StoredRecord:
    """The inverse of `to_json`. Raises UnreadableRecordError for an unknown type or field."""
    given = dict(stored)
    name = given.pop(TYPE, None)
    if name not in DECODERS:
        raise UnreadableRecordError(f"unknown record {name!r}")
    return DECODERS[name](given)


def json_text(value: JsonValue) -> str:
    """The value's JSON, exact for integers of any size; ValueError for NaN and infinities."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def row_to_json(row: Row) -> dict[str, Any]:
    """Every field, also those at their default: a later release may have other defaults."""
    stored = {name: getattr(row, name) for name in ROW_FIELDS}
    value = stored.pop("value")
    return stored | ({"value": value} if isinstance(value, str) else {"value_json": json_text(value)})


def row_from_json(stored: dict[str, Any]) -> Row:
    """The inverse of `row_to_json`; fields that an older release did not write take their defaults."""
    given = dict(stored)
    if "value_json" in given:
        given["value"] = json.loads(given.pop("value_json"))
    given["status"] = Status(given["status"])
    given["memory_type"] = MemoryType(given["memory_type"])
    for name in ROW_TUPLES & given.keys():
        given[name] = tuple(given[name])
    return build(Row, given)


def vectors_to_json(vectors: Vectors | None) -> dict[str, Any] | None:
    if vectors is None:
        return None
    return {"shape": list(vectors.shape), "float16": b64encode(vectors.astype("<f2").tobytes()).decode("ascii")}


def vectors_from_json(stored: dict[str, Any] | None) -> Vectors | None:
    if stored is None:
        return None
    return np.frombuffer(b64decode(stored["float16"]), dtype="<f2").reshape(stored["shape"])


def build(kind: type[T], given: dict[str, Any]) -> T:
    """Raises UnreadableRecordError naming the first field that this release does not know."""
    unknown = given.keys() - set(NAMES[kind])
    if unknown:
        raise UnreadableRecordError(f"{kind.__name__} has an unknown field {min(unknown)!r}")
    return kind(**given)


def plain(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in NAMES[type(record)]}


def row_written_to_json(record: RowWritten) -> dict[str, Any]:
    return {"row": row_to_json(record.row), "vectors": vectors_to_json(record.vectors)}


def row_written_from_json(given: dict[str, Any]) -> RowWritten:
    given["row"] = row_from_json(given["row"])
    given["vectors"] = vectors_from_json(given["vectors"])
    return build(RowWritten, given)


def opened_from_json(given: dict[str, Any]) -> Opened:
    return build(Opened, given | {"skipped": tuple(given["skipped"])})


def pattern_from_json(given: dict[str, Any]) -> Pattern:
    kinds = {"pattern_type": PatternType(given["pattern_type"]), "scope": PatternScope(given["scope"])}
    return build(Pattern, given | kinds)


def as_text(name: str) -> Callable[[Any], dict[str, Any]]:
    """An encoder that writes the field `name` as JSON text."""

    def encode(record: Any) -> dict[str, Any]:
        stored = plain(record)
        return stored | {f"{name}_json": json_text(stored.pop(name))}

    return encode


def of_text(kind: type[Any], name: str) -> Callable[[dict[str, Any]], Any]:
    """The inverse of `as_text`."""
    return lambda given: build(kind, given | {name: json.loads(given.pop(f"{name}_json"))})


def of_plain(kind: type[Any]) -> Callable[[dict[str, Any]], Any]:
    return lambda given: build(kind, given)


NAMES: dict[type[Any], list[str]] = {
    kind: [field.name for field in fields(kind)]
    for kind in (
        *(Row, RowWritten, Reinforced, Registered, Answered, Allowed, Disallowed, Audited, EmbedderStamp),
        *(Pattern, PatternRemoved, PatternHits),
        *(Opened, Folded, Closed),
    )
}
ROW_FIELDS = NAMES[Row]
ROW_TUPLES = {field.name for field in fields(Row) if field.default == ()}
ENCODERS: dict[type[Any], tuple[str, Callable[[Any], dict[str, Any]]]] = {
    Audited: ("audited", plain),
    RowWritten: ("row", row_written_to_json),
    Reinforced: ("reinforced", plain),
    Registered: ("registered", as_text("settings")),
    Answered: ("answered", as_text("answer")),
    Allowed: ("allowed", plain),
    Disallowed: ("disallowed", plain),
    EmbedderStamp: ("embedder", plain),
    Pattern: ("pattern", plain),
    PatternRemoved: ("pattern_removed", plain),
    PatternHits: ("pattern_hits", as_text("hits")),
    Opened: ("opened", plain),
    Folded: ("folded", plain),
    Closed: ("closed", plain),
}
DECODERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "audited": of_plain(Audited),
    "row": row_written_from_json,
    "reinforced": of_plain(Reinforced),
    "registered": of_text(Registered, "settings"),
    "answered": of_text(Answered, "answer"),
    "allowed": of_plain(Allowed),
    "disallowed": of_plain(Disallowed),
    "embedder": of_plain(EmbedderStamp),
    "pattern": pattern_from_json,
    "pattern_removed": of_plain(PatternRemoved),
    "pattern_hits": of_text(PatternHits, "hits"),
    "opened": opened_from_json,
    "folded": of_plain(Folded),
    "closed": of_plain(Closed),
}
