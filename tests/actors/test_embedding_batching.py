"""Do callers of one embedder share it fairly, within bounds, and fail apart?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loom_ray.actors.embedding.batching import MicroBatcher
from loom_ray.actors.embedding.port import TextRefused
from loom_ray.contract.errors import BackendUnavailable, Overloaded


class Backend:
    """Encodes a text as its number; a batch waits for the gate, and a text of `poison` is refused."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.poison: set[str] = set()
        self.failure: Exception | None = None
        self.cancelled = 0

    async def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.batches.append(list(texts))
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.failure:
            raise self.failure
        if self.poison.intersection(texts):
            raise TextRefused("refused")
        return np.asarray([[float(text), 1.0] for text in texts], dtype=np.float16)


def batcher_of(backend: Backend, batch_max: int = 4, queue_max: int = 100, lanes_max: int = 1) -> MicroBatcher:
    return MicroBatcher(backend, 2, batch_max, queue_max, lanes_max)


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_calls_collect_while_a_batch_is_in_flight():
    backend = Backend()
    backend.gate.clear()
    batcher = batcher_of(backend)
    calls = [asyncio.create_task(batcher.embed([str(n)], 10)) for n in range(5)]
    await turns()
    backend.gate.set()
    answers = await asyncio.gather(*calls)
    assert [float(answer.vectors[0, 0]) for answer in answers] == [0, 1, 2, 3, 4]
    assert len(backend.batches) == 2
    assert sum(map(len, backend.batches)) == 5


@given(sizes=st.lists(st.integers(0, 9), min_size=1, max_size=8), batch_max=st.integers(1, 5), lanes=st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_each_call_gets_its_own_vectors_in_order(sizes, batch_max, lanes):
    async def scene() -> None:
        backend = Backend()
        batcher = batcher_of(backend, batch_max, 1000, lanes)
        texts = [[str(100 * call + place) for place in range(size)] for call, size in enumerate(sizes)]
        answers = await asyncio.gather(*(batcher.embed(each, 10) for each in texts))
        for each, answer in zip(texts, answers, strict=True):
            assert answer.vectors[:, 0].tolist() == [float(text) for text in each]
            assert answer.refused == {}
        assert all(len(batch) <= batch_max for batch in backend.batches)
        assert batcher.waiting == 0

    asyncio.run(scene())


async def test_a_call_right_after_another_is_not_forgotten():
    batcher = batcher_of(Backend())
    for n in range(50):
        answer = await batcher.embed([str(n)], 10)
        assert answer.vectors[0, 0] == n


async def test_one_text_does_not_queue_behind_a_thousand():
    backend = Backend()
    backend.gate.clear()
    batcher = batcher_of(backend, batch_max=4, queue_max=2000)
    bulk = asyncio.create_task(batcher.embed([str(n) for n in range(1000)], 10))
    await turns()
    single = asyncio.create_task(batcher.embed(["7"], 10))
    await turns()
    backend.gate.set()
    await single
    assert len(backend.batches) <= 3
    assert not bulk.done()
    assert (await bulk).vectors.shape == (1000, 2)


async def test_a_refused_text_fails_alone():
    backend = Backend()
    backend.poison = {"2"}
    batcher = batcher_of(backend)
    first, second = await asyncio.gather(batcher.embed(["0", "1"], 10), batcher.embed(["2", "3"], 10))
    assert first.refused == {}
    assert first.vectors[:, 0].tolist() == [0, 1]
    assert list(second.refused) == [0]
    assert second.vectors.tolist() == [[0, 0], [3, 1]]


async def test_a_failing_backend_fails_the_batch_and_the_next_is_tried():
    backend = Backend()
    backend.failure = BackendUnavailable("down")
    batcher = batcher_of(backend)
    with pytest.raises(BackendUnavailable, match="down"):
        await batcher.embed(["1", "2"], 10)
    backend.failure = None
    assert (await batcher.embed(["1"], 10)).vectors[0, 0] == 1


async def test_a_fault_of_the_backend_is_no_traceback_to_the_caller():
    backend = Backend()
    backend.failure = RuntimeError("secret detail")
    with pytest.raises(BackendUnavailable) as refusal:
        await batcher_of(backend).embed(["1"], 10)
    assert "secret detail" not in refusal.value.message


async def test_a_full_queue_refuses_and_an_empty_one_takes_any_call():
    backend = Backend()
    backend.gate.clear()
    batcher = batcher_of(backend, batch_max=1, queue_max=3)
    large = asyncio.create_task(batcher.embed([str(n) for n in range(5)], 10))
    await turns()
    with pytest.raises(Overloaded):
        await batcher.embed(["9"], 10)
    assert batcher.waiting == 4
    backend.gate.set()
    assert (await large).vectors.shape == (5, 2)


async def test_a_black_hole_answers_each_caller_at_its_deadline_and_keeps_nothing():
    backend = Backend()
    backend.gate.clear()
    batcher = batcher_of(backend, batch_max=2, queue_max=10)
    calls = [batcher.embed([str(n)], 0.05) for n in range(8)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(answer, BackendUnavailable) for answer in answers)
    assert batcher.waiting == 0
    await turns()
    assert not batcher._in_flight
    backend.gate.set()
    assert (await batcher.embed(["1"], 10)).vectors[0, 0] == 1


async def test_a_caller_that_gave_up_costs_no_work():
    backend = Backend()
    backend.gate.clear()
    batcher = batcher_of(backend, batch_max=1)
    first = asyncio.create_task(batcher.embed(["1"], 10))
    second = asyncio.create_task(batcher.embed(["2"], 10))
    third = asyncio.create_task(batcher.embed(["3"], 10))
    await turns()
    second.cancel()
    first.cancel()
    await turns()
    assert backend.cancelled == 1
    backend.gate.set()
    assert (await third).vectors[0, 0] == 3
    assert ["2"] not in backend.batches


async def test_a_neighbour_who_gives_up_does_not_cancel_the_batch():
    backend = Backend()
    backend.gate.clear()
    batcher = batcher_of(backend, batch_max=2)
    blocker = asyncio.create_task(batcher.embed(["0"], 10))
    await turns()
    stays, leaves = (asyncio.create_task(batcher.embed([text], 10)) for text in ("1", "2"))
    backend.gate.set()
    await blocker
    backend.gate.clear()
    await turns()
    leaves.cancel()
    await turns()
    backend.gate.set()
    assert (await stays).vectors[0, 0] == 1


async def test_closing_refuses_who_waits():
    backend = Backend()
    backend.gate.clear()
    batcher = batcher_of(backend, batch_max=1)
    calls = [asyncio.create_task(batcher.embed([str(n)], 10)) for n in range(3)]
    await turns()
    await batcher.close()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(answer, BackendUnavailable) for answer in answers)
    assert batcher.waiting == 0
