"""Does the HTTP surface keep its shape, for good requests and bad? No Ray; the real app, gateway and namespaces."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from in_process import server

from loom_ray.contract.ops import OPS

FACT = {"memory_key": "gate", "value": "The gate opens at seven."}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with server(tmp_path) as (client, _):
        yield client


async def test_a_write_answers_with_the_request_id_that_came_with_it(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/memory.set", json=FACT, headers={"X-Request-Id": "req-7"})
    assert answer.status_code == 200
    assert answer.headers["x-request-id"] == "req-7"
    assert answer.json()["conflict_verdict"] == "clear"


async def test_a_request_id_that_could_break_a_log_line_is_not_repeated(client: httpx.AsyncClient) -> None:
    answer = await client.post("/v1/memory.set", json=FACT, headers={"X-Request-Id": "a b<script>"})
    assert answer.headers["x-request-id"].startswith("r-")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("POST", "/v1/memory.no_such_op", 404, "OP_NOT_FOUND"),
        ("GET", "/v1/memory.set", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/v1/health", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/", 404, "OP_NOT_FOUND"),
        ("POST", "/v1/memory.set/", 404, "OP_NOT_FOUND"),
        ("POST", "/v1/memory.set", 400, "MALFORMED_BODY"),
    ],
)
async def test_every_refusal_has_the_one_shape(
    client: httpx.AsyncClient, method: str, path: str, status: int, code: str
) -> None:
    answer = await client.request(method, path)
    detail = answer.json()["detail"]
    assert (answer.status_code, detail["code"]) == (status, code)
    assert detail["request_id"] == answer.headers["x-request-id"]
    assert detail["retryable"] is False


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://localhost:3000", 200),
        ("http://127.0.0.1:7777", 200),
        ("https://evil.example", 403),
        ("null", 403),
    ],
)
async def test_a_page_from_elsewhere_may_not_write(client: httpx.AsyncClient, origin: str | None, status: int) -> None:
    headers = {} if origin is None else {"Origin": origin}
    answer = await client.post("/v1/memory.set", json=FACT, headers=headers)
    assert answer.status_code == status


async def test_the_document_lists_every_op_and_the_pages_name_it(client: httpx.AsyncClient) -> None:
    document = (await client.get("/openapi.json")).json()
    assert {f"/v1/{name}" for name in OPS} <= document["paths"].keys()
    page = (await client.get("/docs")).text
    assert all(f"/v1/{name}" in page for name in OPS)


async def test_the_openapi_document_is_valid_openapi(client: httpx.AsyncClient) -> None:
    from openapi_spec_validator import validate

    validate((await client.get("/openapi.json")).json())


@pytest.mark.parametrize("excess", [0, 1])
async def test_a_body_is_taken_at_the_bound_and_refused_one_byte_past_it(tmp_path: Path, excess: int) -> None:
    async with server(tmp_path, max_request_bytes=2048) as (client, _):
        body = b'{"memory_key": "a", "value": "' + b"x" * (2048 - 32 + excess) + b'"}'
        assert len(body) == 2048 + excess
        answer = await client.post("/v1/memory.set", content=body)
        assert answer.status_code == (413 if excess else 200)
        if excess:
            assert answer.json()["detail"]["code"] == "PAYLOAD_TOO_LARGE"


async def test_a_body_without_a_length_is_refused_as_soon_as_it_is_too_long(tmp_path: Path) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 1_000_000:
            sent += 1024
            yield b"x" * 1024

    async with server(tmp_path, max_request_bytes=4096) as (client, _):
        answer = await client.post("/v1/memory.set", content=endless())
    assert answer.status_code == 413
    assert sent < 1_000_000


async def test_a_retry_under_one_key_answers_as_the_first_did(client: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "once"}
    first = (await client.post("/v1/memory.set", json=FACT, headers=headers)).json()
    await client.post("/v1/memory.set", json=FACT | {"value": "The gate was removed."})
    again = await client.post("/v1/memory.set", json=FACT, headers=headers)
    assert again.json() == first
    other = await client.post("/v1/memory.set", json=FACT | {"value": "Another."}, headers=headers)
    assert (other.status_code, other.json()["detail"]["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "tab\there"])
async def test_a_wild_idempotency_key_is_refused_by_name(client: httpx.AsyncClient, key: str) -> None:
    answer = await client.post("/v1/memory.set", json=FACT, headers={"Idempotency-Key": key})
    assert answer.status_code == 422
    assert "Idempotency-Key" in answer.json()["detail"]["message"]


async def test_a_fault_of_ours_says_nothing_of_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with server(tmp_path) as (client, cluster):
        await client.post("/v1/memory.set", json=FACT)

        async def broken(*_: Any) -> None:
            raise RuntimeError("secret path /etc/shadow")

        monkeypatch.setattr(cluster, "serve", broken)
        answer = await client.post("/v1/memory.set", json=FACT)
    assert answer.status_code == 500
    assert "secret" not in answer.text


async def test_history_shows_every_version_newest_first(client: httpx.AsyncClient) -> None:
    for value in ("one bell", "two bells", "no bells at all"):
        await client.post("/v1/memory.set", json=FACT | {"value": value})
    await client.post("/v1/memory.delete", json={"memory_key": "gate"})
    rows = (await client.post("/v1/memory.history", json={"memory_key": "gate"})).json()["rows"]
    assert [(row["value"], row["status"]) for row in rows] == [
        ("no bells at all", "tombstoned"),
        ("no bells at all", "active"),
        ("two bells", "active"),
        ("one bell", "active"),
    ]


async def test_history_is_whole_over_snapshots_and_a_restart(tmp_path: Path) -> None:
    async with server(tmp_path, snapshot_segments=3) as (client, _):
        for number in range(10):
            await client.post("/v1/memory.set", json=FACT | {"value": f"The gate has {number} bells."})
    async with server(tmp_path) as (client, _):
        rows = (await client.post("/v1/memory.history", json={"memory_key": "gate"})).json()["rows"]
    assert [row["value"] for row in rows] == [f"The gate has {number} bells." for number in reversed(range(10))]


async def test_get_reads_some_fields_an_unchanged_version_and_a_past(client: httpx.AsyncClient) -> None:
    first = (await client.post("/v1/memory.set", json=FACT)).json()
    got = (await client.post("/v1/memory.get", json={"memory_key": "gate", "fields": ["value", "status"]})).json()
    assert got.keys() >= {"found", "memory_key", "value", "status"}
    assert "tags" not in got
    same = await client.post("/v1/memory.get", json={"memory_key": "gate", "if_version": first["version"]})
    assert same.json()["unchanged"] is True
    assert "value" not in same.json()
    wrong = await client.post("/v1/memory.get", json={"memory_key": "gate", "fields": ["colour"]})
    assert wrong.status_code == 422
    past = await client.post("/v1/memory.get", json={"memory_key": "gate", "as_of": "2020-01-01T00:00:00Z"})
    assert past.json()["found"] is False


async def test_pages_of_a_list_never_miss_or_repeat_a_row(client: httpx.AsyncClient) -> None:
    entries = [{"memory_key": f"k/{n % 7}/{n}", "value": f"Box {n} holds {n * 3} nails."} for n in range(25)]
    await client.post("/v1/memory.bulk_set", json={"entries": entries})
    seen, cursor = [], ""
    while True:
        page = (await client.post("/v1/memory.list", json={"prefix": "k/", "limit": 4, "cursor": cursor})).json()
        seen += [row["memory_key"] for row in page["rows"]]
        cursor = page["next_cursor"]
        if not cursor:
            break
    assert seen == sorted(entry["memory_key"] for entry in entries)
    assert page["count"] == 25


@pytest.mark.parametrize("cursor", ["x", "é", "bnVsbA==", "WzEsIDJd", "W10=", "W1tb" * 2000, "x" * 9000])
async def test_a_cursor_that_is_none_is_refused(client: httpx.AsyncClient, cursor: str) -> None:
    for op in ("memory.list", "conflicts.list"):
        answer = await client.post(f"/v1/{op}", json={"cursor": cursor})
        assert answer.status_code == 422
        assert "cursor" in answer.json()["detail"]["message"]


async def test_list_filters_by_what_it_says(client: httpx.AsyncClient) -> None:
    for key, value, more in (
        ("a", "Café opens at nine.", {"tags": ["food"]}),
        ("b", "The bell tower is closed.", {"user_id": "u-1"}),
        ("c", "A log entry.", {"memory_type": "episodic"}),
    ):
        await client.post("/v1/memory.set", json={"memory_key": key, "value": value} | more)

    async def keys(**filters: Any) -> list[str]:
        return [row["memory_key"] for row in (await client.post("/v1/memory.list", json=filters)).json()["rows"]]

    assert await keys(contains="CAFÉ") == ["a"]
    assert await keys(tags=["food", "other"]) == ["a"]
    assert await keys(user_id="u-1") == ["b"]
    assert await keys(memory_type="episodic") == ["c"]
    assert await keys(prefix="b") == ["b"]
    assert await keys(conflicted_only=True) == []


async def test_search_finds_by_words_any_part_of_a_long_value(client: httpx.AsyncClient) -> None:
    long = "The inventory of the rope store lists hemp and sisal. " * 60 + "The last shelf holds a brass quadrant."
    await client.post("/v1/memory.set", json={"memory_key": "store", "value": long})
    await client.post("/v1/memory.set", json={"memory_key": "noise", "value": "Bees are kept behind the chapel."})
    results = (await client.post("/v1/memory.search", json={"query": "brass quadrant"})).json()["results"]
    assert results[0]["memory_key"] == "store"
    assert "quadrant" in results[0]["content_excerpt"]


async def test_a_blank_query_reaches_no_embedder(tmp_path: Path) -> None:
    async with server(tmp_path) as (client, cluster):
        answer = await client.post("/v1/memory.search", json={"query": "  \u3000 "})
        assert answer.status_code == 422
        assert cluster.embedders.texts == []


async def test_a_secret_row_reaches_no_embedder_and_no_search(tmp_path: Path) -> None:
    async with server(tmp_path) as (client, cluster):
        await client.post(
            "/v1/memory.set", json=FACT | {"value": "The door opens with thistle.", "sensitivity": "high"}
        )
        assert not any("thistle" in text for text in cluster.embedders.texts)
        found = (await client.post("/v1/memory.search", json={"query": "thistle door"})).json()["results"]
        assert found == []
        (row,) = (await client.post("/v1/memory.list", json={})).json()["rows"]
        assert (row["memory_key"], row["value"]) == ("gate", None)
        assert (await client.post("/v1/memory.list", json={"contains": "thistle"})).json()["count"] == 0
        got = (await client.post("/v1/memory.get", json={"memory_key": "gate"})).json()
        assert got["value"] == "The door opens with thistle."


async def test_another_embedder_is_refused_and_reads_by_key_go_on(tmp_path: Path) -> None:
    async with server(tmp_path) as (client, _):
        await client.post("/v1/memory.set", json=FACT)
    async with server(tmp_path) as (client, cluster):
        changed = cluster.embedders.service._embedder  # stands for a changed setting
        changed.stamp = type(changed.stamp)("another", 512, changed.stamp.preparation)
        refused = await client.post("/v1/memory.set", json=FACT | {"memory_key": "new", "value": "Something else."})
        assert (refused.status_code, refused.json()["detail"]["code"]) == (503, "EMBEDDER_MISMATCH")
        assert "another" in refused.json()["detail"]["message"]
        assert (await client.post("/v1/memory.get", json={"memory_key": "gate"})).json()["found"] is True
