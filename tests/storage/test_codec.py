"""Does a record come back exactly as it went? Property tests over everything that a record can hold."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from loom_ray.core.records import Answered, Audited, EmbedderStamp, Registered, Reinforced, RowWritten
from loom_ray.core.row import MemoryType, Row, Status
from loom_ray.storage.codec import (
    Closed,
    Folded,
    Opened,
    StoredRecord,
    UnreadableRecordError,
    decode_records,
    encode_records,
)
from loom_ray.storage.columns import row_columns, rows_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)  # lone surrogates are refused at the door
numbers = st.integers(0, 2**63 - 1)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
BY_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "str": texts,
    "int": numbers,
    "bool": st.booleans(),
    "int | None": st.none() | numbers,
    "float | None": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "tuple[str, ...]": st.lists(texts, max_size=3).map(tuple),
    "JsonValue": values,
    "Status": st.sampled_from(Status),
    "MemoryType": st.sampled_from(MemoryType),
}
rows = st.builds(Row, **{field.name: BY_TYPE[str(field.type)] for field in fields(Row)})
vectors = npst.arrays(
    np.float16, st.tuples(st.integers(1, 3), st.integers(1, 8)), elements=st.floats(-1, 1, width=16, allow_nan=False)
)
settings = st.dictionaries(texts, values, max_size=3)
records: st.SearchStrategy[StoredRecord] = st.one_of(
    st.builds(RowWritten, rows, st.none() | vectors),
    st.builds(Audited, **{field.name: BY_TYPE[str(field.type)] for field in fields(Audited)}),
    st.builds(Reinforced, texts, numbers),
    st.builds(Registered, settings, numbers),
    st.builds(Answered, texts, texts, settings, numbers),
    st.builds(EmbedderStamp, texts, numbers, texts),
    st.builds(Opened, texts, texts, st.booleans(), st.lists(numbers, max_size=3).map(tuple)),
    st.builds(Folded, numbers, numbers),
    st.just(Closed()),
)


def exact(value: Any) -> str:
    """A form in which 1, 1.0 and True differ, and lists from tuples."""
    return repr(value)


@given(st.lists(records, max_size=3))
def test_records_round_trip(given_records: list[StoredRecord]) -> None:
    back = decode_records(encode_records(given_records))
    assert [type(record) for record in back] == [type(record) for record in given_records]
    for record, again in zip(given_records, back, strict=True):
        if isinstance(record, RowWritten) and isinstance(again, RowWritten):
            assert exact(again.row) == exact(record.row)
            assert (again.vectors is None) == (record.vectors is None)
            if record.vectors is not None and again.vectors is not None:
                assert again.vectors.dtype == np.float16
                assert again.vectors.shape == record.vectors.shape
                assert again.vectors.tobytes() == record.vectors.tobytes()
        else:
            assert exact(again) == exact(record)


@given(st.lists(rows, max_size=5))
def test_rows_round_trip_through_columns(given_rows: list[Row]) -> None:
    assert exact(rows_of(pa.table(row_columns(given_rows)))) == exact(given_rows)


@given(st.lists(records, max_size=4))
def test_a_record_is_one_line(given_records: list[StoredRecord]) -> None:
    lines = encode_records(given_records)
    assert lines.count(b"\n") == len(given_records)
    assert all(json.loads(line)["record"] for line in lines.splitlines())


def test_what_an_older_release_left_out_takes_its_default() -> None:
    row = Row(**dict.fromkeys(ROW_TEXTS, "x"), **ROW_OTHERS)
    stored = json.loads(encode_records([RowWritten(row)]))
    del stored["row"]["reinforcements"], stored["row"]["tags"]
    assert decode_records(json.dumps(stored).encode()) == (RowWritten(row),)


@pytest.mark.parametrize(
    "line",
    [
        b'{"record":"unheard_of"}',
        b'{"record":"closed","colour":"red"}',
        b'{"record":"reinforced","memory_id":"m"}',
        b"{",
        b"[]",
        b"7",
        b'{"record":"row","row":{},"vectors":null}',
        b'{"record":"row","row":null,"vectors":null}',
        b'{"record":["x"]}',
    ],
)
def test_what_is_no_record_is_unreadable(line: bytes) -> None:
    with pytest.raises(UnreadableRecordError):
        decode_records(line)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"deep": ["\udfff"]}])
def test_what_json_cannot_hold_is_refused(value: Any) -> None:
    row = Row(**dict.fromkeys(ROW_TEXTS, "x"), **(ROW_OTHERS | {"value": value}))
    with pytest.raises(ValueError, match=r"JSON|surrogates"):
        encode_records([RowWritten(row)])


REQUIRED = [
    field for field in fields(Row) if field.default is not None and str(field.default).startswith("<dataclasses")
]
ROW_TEXTS = [field.name for field in fields(Row) if str(field.type) == "str" and field in REQUIRED]
ROW_OTHERS: dict[str, Any] = {"memory_type": MemoryType.SEMANTIC, "value": "v", "version": 1, "created_at": 1}
