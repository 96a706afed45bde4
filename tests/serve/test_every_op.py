"""Does any op answer a well-formed or a wild request with a fault of the server? Fed from the op's own schema."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from in_process import server
from schemathesis import GenerationMode

from loom_ray.actors.handlers import READERS, WRITERS
from loom_ray.contract.openapi import openapi_document
from loom_ray.contract.ops import OPS, Op
from loom_ray.contract.settings import Settings

SCHEMA = schemathesis.openapi.from_dict(openapi_document(Settings()))
EVERY_OP = pytest.mark.parametrize("op", OPS.values(), ids=lambda op: op.name)
FEED = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
Ask = Callable[[Op, Any], tuple[int, Any]]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """One server for the whole test: what an example stores, the next ones meet."""
    with asyncio.Runner() as runner:
        opened = server(tmp_path)
        client, _ = runner.run(opened.__aenter__())

        def post(op: Op, arguments: Any) -> tuple[int, Any]:
            body = json.dumps(arguments, default=str).encode()
            answer = runner.run(client.request("POST", f"/v1/{op.name}", content=body))
            return answer.status_code, answer.json()

        yield post
        runner.run(opened.__aexit__(None, None, None))


def test_every_op_has_one_handler_and_every_handler_an_op() -> None:
    ours = {op.name: op for op in OPS.values() if op.owner == "namespace"}
    assert not READERS.keys() & WRITERS.keys()
    assert READERS.keys() == {name for name, op in ours.items() if not op.writes}
    ordered = {"blacklist.sweep"}  # by the keeper
    assert WRITERS.keys() == {name for name, op in ours.items() if op.writes} | ordered


@EVERY_OP
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fits", "misfits"])
def test_what_comes_from_the_schema_is_answered_in_shape_or_refused(op: Op, mode: GenerationMode, ask: Ask) -> None:
    operation = SCHEMA[f"/v1/{op.name}"]["POST"]

    @FEED
    @given(operation.as_strategy(generation_mode=mode))
    def feed(case: Any) -> None:
        check(op, *ask(op, case.body if isinstance(case.body, (dict, list, str, int, float)) else None))

    feed()


@EVERY_OP
def test_what_is_wild_is_refused_and_never_a_fault(op: Op, ask: Ask) -> None:
    @FEED
    @given(st.dictionaries(st.sampled_from(sorted(op.request.model_fields)) | st.text(max_size=12), JSON, max_size=6))
    def feed(arguments: dict[str, Any]) -> None:
        check(op, *ask(op, arguments))

    feed()


def check(op: Op, status: int, body: Any) -> None:
    assert status < 500, body
    if status == 200:
        op.answer.model_validate(body)
    else:
        assert body["detail"]["code"]
        assert body["detail"]["message"]
