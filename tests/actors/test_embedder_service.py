"""Does the service load once, calibrate, and answer for every backend as the port says?"""

from __future__ import annotations

import asyncio
import pickle
import threading

import numpy as np
import pytest
from embedding_endpoint import DIMENSIONS, BlackHole, good, served, status

from loom_ray.actors.embedding.actor import EmbedderService, calibration_of, make_embedder
from loom_ray.actors.embedding.fake import FakeEmbedder
from loom_ray.actors.embedding.local import LocalEmbedder
from loom_ray.actors.embedding.port import rounded
from loom_ray.contract.errors import BackendUnavailable
from loom_ray.contract.settings import Settings

TEXTS = [
    "The kiln is fired on Thursdays.",
    "Der Brennofen läuft donnerstags.",
    "窑炉每周四点火。",
    "печь топят по четвергам",
    "a",
    "The guild meets in the old town hall. " * 30,
]


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder(64)


def openai_settings(url: str) -> Settings:
    return Settings(
        embedder="openai",
        embedder_base_url=url,
        embedder_model="model-x",
        embedder_dimensions=DIMENSIONS,
        embedder_deadline_s=0.3,
    )


async def test_a_text_gets_the_same_vector_in_any_company(local):
    alone = np.concatenate([await local.embed([text]) for text in TEXTS])
    together = await local.embed(TEXTS)
    many = await local.embed(TEXTS * 7)
    np.testing.assert_array_equal(alone, together)
    np.testing.assert_array_equal(np.tile(alone, (7, 1)), many)


async def test_local_models_meaning_across_languages(local):
    english, german, chinese = (await local.embed(TEXTS[:3])).astype(np.float32)
    (other,) = (await local.embed(["the invoice was paid in may"])).astype(np.float32)
    assert min(english @ german, english @ chinese) > english @ other + 0.2


async def test_the_loop_runs_while_the_model_loads(monkeypatch):
    loading, release = threading.Event(), threading.Event()

    def slow_load(self: LocalEmbedder) -> FakeModel:
        loading.set()
        assert release.wait(30)
        return FakeModel()

    monkeypatch.setattr(LocalEmbedder, "_loaded", slow_load)
    service = EmbedderService(Settings(embedder="local"))
    call = asyncio.create_task(service.embed(["a text"], 30))
    await asyncio.to_thread(loading.wait, 30)
    assert service.describe().loaded is False
    release.set()
    assert (await call).shape == (1, 512)
    assert service.describe().loaded is True
    await service.close()


class FakeModel:
    """Each text its own direction."""

    def encode(self, texts: list[str]) -> np.ndarray:
        return np.stack([np.random.default_rng(len(text)).normal(size=512).astype(np.float32) for text in texts])


async def test_the_fake_is_deterministic_and_says_so():
    service = EmbedderService(Settings(embedder="fake"))
    first = await service.embed(["The mill wheel turns.", "the mill wheel turns"], 10)
    np.testing.assert_array_equal(first[0], first[1])
    description = service.describe()
    assert (description.kind, description.semantic) == ("fake", False)
    assert description.calibration is not None
    assert description.calibration.thresholds is not None
    assert "spelling" in description.calibration.note
    assert pickle.loads(pickle.dumps(description)) == description


async def test_a_text_without_meaning_has_a_zero_vector():
    service = EmbedderService(Settings(embedder="fake"))
    vectors = await service.embed(["...", "word", "", "!?"], 10)
    assert [bool(row.any()) for row in vectors] == [False, True, False, False]
    assert (await service.embed([], 10)).shape == (0, 512)


async def test_calibration_is_computed_once():
    embedder = FakeEmbedder()
    counted: list[int] = []
    embed = embedder.embed

    async def counting(texts):
        counted.append(len(texts))
        return await embed(texts)

    embedder.embed = counting
    service = EmbedderService(Settings(embedder="fake"), embedder)
    await asyncio.gather(*(service.embed([f"text {n}"], 10) for n in range(5)))
    await service.embed(["again"], 10)
    assert sum(counted) < 200
    assert counted[-1] == 1


async def test_the_local_calibration_tells_the_probe_apart(local):
    calibration = await calibration_of(local)
    assert calibration.thresholds is not None
    assert calibration.balanced_accuracy >= 0.9
    assert 0.55 <= calibration.thresholds.conflict <= 0.75


async def test_an_endpoint_that_comes_back_is_used_again():
    with served() as endpoint:
        endpoint.always = status(401)
        service = EmbedderService(openai_settings(endpoint.url))
        with pytest.raises(BackendUnavailable, match="refused the key"):
            await service.embed(["alpha"], 10)
        assert service.describe().loaded is False
        endpoint.always = good
        assert (await service.embed(["alpha"], 10)).shape == (1, DIMENSIONS)
        assert service.describe().loaded is True
        await service.close()


async def test_a_refused_text_fails_alone():
    with served() as endpoint:
        service = EmbedderService(openai_settings(endpoint.url))
        await service.start()
        endpoint.always = lambda body: status(400)(body) if "poison" in body["input"] else good(body)
        embedded = await service.embed_each(["...", "fine", "poison", "well"], 10)
        assert list(embedded.refused) == [2]
        assert [bool(row.any()) for row in embedded.vectors] == [False, True, False, True]
        with pytest.raises(BackendUnavailable, match="HTTP 400"):
            await service.embed(["poison"], 10)
        await service.close()


async def test_a_black_hole_leaves_description_and_queue_alone():
    async with BlackHole() as hole:
        service = EmbedderService(openai_settings(hole.url))
        calls = [service.embed([f"text {n}"], 0.1) for n in range(20)]
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(answer, BackendUnavailable) for answer in answers)
        assert service.describe().waiting == 0
        await service.close()


def test_the_settings_choose_the_backend():
    assert make_embedder(Settings(embedder="fake")).kind == "fake"
    assert make_embedder(Settings(embedder="local")).stamp.dimensions == 512
    assert make_embedder(openai_settings("http://127.0.0.1:9/v1")).stamp.name == "openai:model-x"


def test_rounding_refuses_what_has_no_direction():
    with pytest.raises(BackendUnavailable):
        rounded(np.zeros((1, 4), dtype=np.float32))
    assert rounded(np.asarray([[3.0, 4.0]], dtype=np.float32)).tolist() == [[np.float16(0.6), np.float16(0.8)]]
