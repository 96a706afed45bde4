"""What lies in one file of the log? A header and zstd-compressed JSON lines, and how damage is told.

The header is a zstd *skippable frame* (RFC 8878, 3.1.2): `zstdcat` and DuckDB's `read_json` step over it and see lines.

    u32 0x184D2A50 · u32 size of what follows · b"LOOM" · u8 major · u8 minor · u64 sequence number
    · u64 bytes of the payload · 16 bytes BLAKE2b of all before it and the payload · incarnation, UTF-8
    payload: one zstd frame that states its content size
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, field

import zstandard

from loom_ray.storage.codec import StoredRecord, UnreadableRecordError, decode_records
from loom_ray.storage.errors import DamagedSegment, RecordsTooLarge, UnsupportedFormat

MAJOR, MINOR = 1, 0
SKIPPABLE = 0x184D2A50
MAGIC = b"LOOM"
HEADER = struct.Struct("<II4sBBQQ16s")
SEGMENT_BYTES_MAX = 256 * 1024 * 1024  # decompressed; also the bound of a decompression bomb
ZEROS_OF_A_TORN_WRITE = bytes(16)


@dataclass(frozen=True, slots=True)
class Segment:
    seq: int
    incarnation: str
    records: tuple[StoredRecord, ...] = field(repr=False)


def encode_segment(seq: int, incarnation: str, lines: bytes) -> bytes:
    """The file's bytes. `lines` come from `encode_records`. Raises RecordsTooLarge past SEGMENT_BYTES_MAX."""
    if len(lines) > SEGMENT_BYTES_MAX:
        raise RecordsTooLarge(len(lines), SEGMENT_BYTES_MAX)
    payload = zstandard.ZstdCompressor(level=1).compress(lines)
    name = incarnation.encode("utf-8")
    return header(seq, name, payload) + payload


def decode_segment(path: str, seq: int, data: bytes) -> Segment:
    """Raises DamagedSegment (torn, empty, foreign, misplaced, rotten, unreadable) or UnsupportedFormat."""
    cut = data.endswith(ZEROS_OF_A_TORN_WRITE)
    if len(data) < HEADER.size:
        raise DamagedSegment(path, f"{len(data)} bytes are no segment", torn=True)
    skippable, size, magic, major, minor, found_seq, payload_bytes, _ = HEADER.unpack_from(data)
    if skippable != SKIPPABLE or magic != MAGIC:
        raise DamagedSegment(path, "not a segment of a log", torn=cut)
    if major != MAJOR and not cut:
        raise UnsupportedFormat(path, f"format {major}.{minor}, this release reads {MAJOR}.{MINOR}")
    start = size + 8
    whole = start + payload_bytes
    if len(data) != whole:
        raise DamagedSegment(path, f"{len(data)} bytes of {whole}", torn=cut or len(data) < whole)
    name, payload = data[HEADER.size : start], data[start:]
    if header(found_seq, name, payload, major, minor) != data[:start]:
        raise DamagedSegment(path, "its checksum fails", torn=cut)
    if found_seq != seq:
        raise DamagedSegment(path, f"it is number {found_seq}, not {seq}")
    return Segment(seq, name.decode("utf-8"), read_payload(path, minor, payload))


def read_payload(path: str, minor: int, payload: bytes) -> tuple[StoredRecord, ...]:
    """Raises DamagedSegment, or UnsupportedFormat where a newer minor version wrote what this release does not know."""
    try:
        return decode_records(decompress(path, payload))
    except UnreadableRecordError as error:
        if minor > MINOR:
            why = f"format {MAJOR}.{minor}, this release reads {MAJOR}.{MINOR}: {error}"
            raise UnsupportedFormat(path, why) from error
        raise DamagedSegment(path, str(error)) from error


def decompress(path: str, payload: bytes) -> bytes:
    try:
        promised = zstandard.get_frame_parameters(payload).content_size
        if promised > SEGMENT_BYTES_MAX:
            raise DamagedSegment(path, f"{promised} bytes exceed the bound of {SEGMENT_BYTES_MAX}")
        return zstandard.ZstdDecompressor().decompress(payload)
    except zstandard.ZstdError as error:
        raise DamagedSegment(path, str(error)) from error


def header(seq: int, incarnation: bytes, payload: bytes, major: int = MAJOR, minor: int = MINOR) -> bytes:
    """The header with its checksum over everything else in the file."""
    size = HEADER.size - 8 + len(incarnation)
    blank = HEADER.pack(SKIPPABLE, size, MAGIC, major, minor, seq, len(payload), bytes(16))
    digest = hashlib.blake2b(blank + incarnation, digest_size=16)
    digest.update(payload)
    return HEADER.pack(SKIPPABLE, size, MAGIC, major, minor, seq, len(payload), digest.digest()) + incarnation
