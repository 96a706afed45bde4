"""Is every kind of damage told? Each byte of a segment matters, and a crash's marks are told from rot."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.records import Reinforced
from loom_ray.storage import segment
from loom_ray.storage.codec import encode_records
from loom_ray.storage.errors import DamagedSegment, RecordsTooLarge, UnsupportedFormat
from loom_ray.storage.segment import decode_segment, encode_segment

RECORDS = tuple(Reinforced(f"memory-{number}", number) for number in range(20))
WHOLE = encode_segment(7, "one", encode_records(RECORDS))


def test_a_segment_round_trips() -> None:
    found = decode_segment("log/7", 7, WHOLE)
    assert (found.seq, found.incarnation, found.records) == (7, "one", RECORDS)


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_no_changed_byte_goes_unseen(place: int, change: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[place] ^= change
    with pytest.raises((DamagedSegment, UnsupportedFormat), match="log/7"):
        decode_segment("log/7", 7, bytes(damaged))


@given(st.integers(0, len(WHOLE) - 1))
def test_a_cut_segment_is_torn(kept: int) -> None:
    with pytest.raises(DamagedSegment) as caught:
        decode_segment("log/7", 7, WHOLE[:kept])
    assert caught.value.torn


@given(st.integers(0, len(WHOLE) - 17))
def test_a_segment_that_ends_in_zeros_is_torn(kept: int) -> None:
    with pytest.raises(DamagedSegment) as caught:
        decode_segment("log/7", 7, WHOLE[:kept] + bytes(len(WHOLE) - kept))
    assert caught.value.torn


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (WHOLE + b"more", "bytes of"),
        (b"PAR1" * 100, "not a segment"),
        (encode_segment(8, "one", b""), "number 8, not 7"),
        (encode_segment(7, "one", b'{"record":"unheard_of"}\n'), "unknown record 'unheard_of'"),
        (encode_segment(7, "one", b"\xff\n"), "log/7"),
    ],
)
def test_foreign_and_misplaced_data_is_refused_and_not_torn(data: bytes, why: str) -> None:
    with pytest.raises(DamagedSegment, match=why) as caught:
        decode_segment("log/7", 7, data)
    assert not caught.value.torn


def test_a_newer_major_version_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    newer = versioned(2, 0, encode_records(RECORDS))
    with pytest.raises(UnsupportedFormat, match=r"log/7: format 2\.0, this release reads 1\.0"):
        decode_segment("log/7", 7, newer)


def test_a_newer_minor_version_is_read_as_far_as_it_is_known() -> None:
    assert decode_segment("log/7", 7, versioned(1, 3, encode_records(RECORDS))).records == RECORDS
    with pytest.raises(UnsupportedFormat, match=r"format 1\.3, this release reads 1\.0: .*'colour'"):
        decode_segment("log/7", 7, versioned(1, 3, b'{"record":"closed","colour":"red"}\n'))


def versioned(major: int, minor: int, lines: bytes) -> bytes:
    payload = zstandard.ZstdCompressor().compress(lines)
    return segment.header(7, b"one", payload, major, minor) + payload


def test_a_segment_past_its_bound_is_refused_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "SEGMENT_BYTES_MAX", len(encode_records(RECORDS)))
    assert decode_segment("log/7", 7, WHOLE).records == RECORDS
    monkeypatch.setattr(segment, "SEGMENT_BYTES_MAX", len(encode_records(RECORDS)) - 1)
    with pytest.raises(RecordsTooLarge):
        encode_segment(7, "one", encode_records(RECORDS))
    with pytest.raises(DamagedSegment, match="exceed the bound"):
        decode_segment("log/7", 7, WHOLE)


def test_any_tool_reads_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "7.jsonl.zst"
    path.write_bytes(WHOLE)
    found = duckdb.sql(f"select memory_id from read_json('{path}', format = 'newline_delimited')")
    assert [name for (name,) in found.fetchall()] == [record.memory_id for record in RECORDS]
