"""Does any op answer a well-formed or a wild request with a fault of the server? Fed from its own schema."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema
from in_process import server

from loom_ray.actors.handlers import READERS, WRITERS
from loom_ray.contract.openapi import openapi_document
from loom_ray.contract.ops import OPS, Op
from loom_ray.contract.settings import Settings

DOCUMENT = openapi_document(Settings())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def test_every_op_has_one_handler_and_every_handler_an_op() -> None:
    assert READERS.keys() | WRITERS.keys() == OPS.keys()
    assert not READERS.keys() & WRITERS.keys()
    assert WRITERS.keys() == {op.name for op in OPS.values() if op.writes}


def schema_of(op: Op) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{op.request.__name__}", "components": DOCUMENT["components"]}


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_what_fits_the_schema_is_answered_in_the_answer_s_shape(op: Op) -> None:
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(from_schema(schema_of(op)))
    def feed(arguments: dict[str, Any]) -> None:
        status, body = ask(op, orjson.dumps(arguments, default=str))
        assert status < 500, body
        if status == 200:
            op.answer.model_validate(body)

    feed()


@pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
def test_what_is_wild_is_refused_and_never_a_fault(op: Op) -> None:
    names = sorted(op.request.model_fields)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.dictionaries(st.sampled_from(names) | st.text(max_size=12), JSON, max_size=6))
    def feed(arguments: dict[str, Any]) -> None:
        import json

        status, body = ask(op, json.dumps(arguments).encode())
        assert status < 500, body
        if status >= 400:
            assert body["detail"]["code"]

    feed()


def ask(op: Op, body: bytes) -> tuple[int, Any]:
    async def once() -> httpx.Response:
        with tempfile.TemporaryDirectory() as folder:
            async with server(Path(folder)) as (client, _):
                return await client.post(f"/v1/{op.name}", content=body)

    answer = asyncio.run(once())
    return answer.status_code, answer.json()
