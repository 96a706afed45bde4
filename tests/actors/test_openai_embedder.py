"""Does the hosted embedder survive whatever an endpoint answers, and say plainly what was wrong?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from embedding_endpoint import (
    DIMENSIONS,
    BlackHole,
    Endpoint,
    answer,
    garbage,
    good,
    not_json,
    served,
    status,
    vector_of,
)

from loom_ray.actors.embedding.openai import OpenAIEmbedder
from loom_ray.actors.embedding.port import TextRefused
from loom_ray.contract.errors import BackendUnavailable
from loom_ray.contract.settings import Settings

KEY = "sk-secret"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with served() as endpoint:
        yield endpoint


def embedder_at(url: str, deadline_s: float = 10.0, **more: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        Settings(
            embedder="openai",
            embedder_base_url=url,
            embedder_api_key=KEY,
            embedder_model="model-x",
            embedder_dimensions=DIMENSIONS,
            embedder_deadline_s=deadline_s,
            **more,
        )
    )


async def test_vectors_come_in_the_order_of_the_texts_normalised(endpoint):
    embedder = embedder_at(endpoint.url)
    vectors = await embedder.embed(["alpha", "beta", "gamma"])
    assert vectors.dtype == np.float16
    for text, vector in zip(["alpha", "beta", "gamma"], vectors, strict=True):
        expected = np.asarray(vector_of(text), dtype=np.float32)
        np.testing.assert_array_equal(vector, (expected / np.linalg.norm(expected)).astype(np.float16))
    assert endpoint.bodies[0]["dimensions"] == DIMENSIONS
    assert endpoint.authorizations == [f"Bearer {KEY}"]
    await embedder.close()


async def test_a_request_is_bounded_by_characters(endpoint):
    embedder = embedder_at(endpoint.url)
    texts = [f"{place} " + "x" * 60_000 for place in range(3)]
    vectors = await embedder.embed(texts)
    assert [len(body["input"]) for body in endpoint.bodies] == [1, 1, 1]
    assert vectors.shape == (3, DIMENSIONS)


@pytest.mark.parametrize("code", [500, 503, 429, 408])
async def test_a_passing_failure_is_tried_again(endpoint, code):
    endpoint.script = [status(code, {"retry-after": "0"})]
    vectors = await embedder_at(endpoint.url).embed(["alpha"])
    assert vectors.shape == (1, DIMENSIONS)
    assert len(endpoint.bodies) == 2


async def test_attempts_are_bounded(endpoint):
    endpoint.always = status(500)
    with pytest.raises(BackendUnavailable, match="HTTP 500"):
        await embedder_at(endpoint.url).embed(["alpha"])
    assert len(endpoint.bodies) == 3


async def test_a_wait_past_the_deadline_is_handed_to_the_caller(endpoint):
    endpoint.always = status(429, {"retry-after": "120"})
    with pytest.raises(BackendUnavailable) as refusal:
        await embedder_at(endpoint.url).embed(["alpha"])
    assert refusal.value.retry_after_s == 120
    assert len(endpoint.bodies) == 1


@pytest.mark.parametrize("code", [401, 403])
async def test_a_wrong_key_is_named_and_never_shown(endpoint, code):
    endpoint.always = status(code)
    with pytest.raises(BackendUnavailable, match="refused the key") as refusal:
        await embedder_at(endpoint.url).embed(["alpha"])
    assert KEY not in str(refusal.value.detail("r"))
    assert refusal.value.__cause__ is None
    assert len(endpoint.bodies) == 1


@pytest.mark.parametrize("reply", [garbage, not_json, lambda body: answer([], body)])
async def test_an_answer_of_another_form_is_refused(endpoint, reply):
    endpoint.always = reply
    with pytest.raises(BackendUnavailable, match="embedding endpoint"):
        await embedder_at(endpoint.url).embed(["alpha"])


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0] * (DIMENSIONS + 1)] * 2, "9 dimensions, LOOM_EMBEDDER_DIMENSIONS is 8"),
        ([[1.0] * DIMENSIONS], "did not answer 2 vectors"),
        ([[1.0] * DIMENSIONS, [float("nan")] * DIMENSIONS], "not finite"),
        ([[1.0] * DIMENSIONS, [float("inf")] * DIMENSIONS], "not finite"),
        ([[1.0] * DIMENSIONS, [0.0] * DIMENSIONS], "zero"),
    ],
)
async def test_a_wrong_vector_is_refused(endpoint, vectors, message):
    endpoint.always = lambda body: answer(vectors, body)
    with pytest.raises(BackendUnavailable, match=message):
        await embedder_at(endpoint.url).embed(["alpha", "beta"])


async def test_a_refused_text_is_told_apart_from_a_backend_that_is_down(endpoint):
    endpoint.script = [good, status(400)]
    embedder = embedder_at(endpoint.url)
    await embedder.embed(["alpha"])
    with pytest.raises(TextRefused, match="HTTP 400"):
        await embedder.embed(["beta"])


async def test_an_endpoint_that_knows_no_dimensions_is_asked_without(endpoint):
    endpoint.script = [status(400)]
    embedder = embedder_at(endpoint.url)
    await embedder.embed(["alpha"])
    await embedder.embed(["beta"])
    assert ["dimensions" in body for body in endpoint.bodies] == [True, False, False]


async def test_a_black_hole_is_given_up_at_the_deadline():
    async with BlackHole() as hole:
        with pytest.raises(BackendUnavailable, match="in time"):
            await embedder_at(hole.url, deadline_s=0.2).embed(["alpha"])
        assert hole.connections == 1


async def test_nobody_listening_is_said_plainly():
    async with BlackHole() as hole:
        url = hole.url
    with pytest.raises(BackendUnavailable, match="cannot be reached"):
        await embedder_at(url).embed(["alpha"])


def test_the_environment_is_not_read(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-x")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid")
    client = embedder_at("")._client
    assert "OpenAI-Organization" not in client.default_headers or not isinstance(
        client.default_headers["OpenAI-Organization"], str
    )
    assert str(client.base_url) == "https://api.openai.com/v1/"
