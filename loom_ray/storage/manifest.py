"""What does a snapshot consist of? Its manifest, the atomic commit point of snapshot, fold and truncation."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from loom_ray.core.records import EmbedderStamp, Registered
from loom_ray.storage.codec import StoredRecord, UnreadableRecordError, from_json, to_json
from loom_ray.storage.errors import DamagedSnapshot, UnsupportedFormat

MAJOR, MINOR = 1, 0


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """One Parquet file of a snapshot; `kind` is rows, vectors, answers or allowed."""

    name: str
    kind: str
    rows: int
    bytes: int
    checksum: str


@dataclass(frozen=True, slots=True)
class FoldedFile:
    """One file of what was written in the segments `first..last` (folded.py)."""

    first: int
    last: int
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The state as of segment `seq`, and what of the log below it must stay."""

    seq: int
    incarnation: str  # who wrote segment `seq`
    fences: tuple[int, ...]  # segments at or below `seq` that are never deleted (see log.py)
    last_version: int
    dimensions: int  # of the vectors; 0 if there are none
    embedder: EmbedderStamp | None
    registered: Registered | None
    files: tuple[SnapshotFile, ...]
    history: tuple[FoldedFile, ...]  # oldest first
    audit: tuple[FoldedFile, ...] = ()  # likewise; absent where an earlier release wrote the manifest


def checksum(data: bytes) -> str:
    """BLAKE2b, 16 bytes, hexadecimal."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def encode_manifest(manifest: Manifest) -> bytes:
    body: dict[str, Any] = asdict(manifest)
    for name in ("embedder", "registered"):
        record = getattr(manifest, name)
        body[name] = None if record is None else to_json(record)
    return orjson.dumps({"format": [MAJOR, MINOR], "checksum": checksum(orjson.dumps(body)), "body": body})


def decode_manifest(path: str, data: bytes) -> Manifest:
    """Raises DamagedSnapshot or UnsupportedFormat, naming the path."""
    try:
        stored = orjson.loads(data)
        major, minor = stored["format"]
        body = stored["body"]
        whole = stored["checksum"] == checksum(orjson.dumps(body))
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedSnapshot(path, f"not a manifest: {error}") from error
    if not whole:
        raise DamagedSnapshot(path, "its checksum fails")
    try:
        return from_body(body)
    except (KeyError, TypeError, UnreadableRecordError) as error:
        if (major, minor) != (MAJOR, MINOR):
            raise UnsupportedFormat(path, f"format {major}.{minor}, this release reads {MAJOR}.{MINOR}") from error
        raise DamagedSnapshot(path, f"not a manifest: {error}") from error


def from_body(body: dict[str, Any]) -> Manifest:
    given = dict(body)
    given["fences"] = tuple(given["fences"])
    given["files"] = tuple(SnapshotFile(**entry) for entry in given["files"])
    for name in ("history", "audit"):
        given[name] = tuple(FoldedFile(**entry) for entry in given.get(name, ()))
    given["embedder"] = record_of(given["embedder"])
    given["registered"] = record_of(given["registered"])
    return Manifest(**given)


def record_of(stored: dict[str, Any] | None) -> Any:
    record: StoredRecord | None = None if stored is None else from_json(stored)
    return record
