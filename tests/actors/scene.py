"""A namespace in this process: over any blobs, its clock moved by the test, its embedder without a model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any
from zlib import crc32

import numpy as np
from keepers import Patterns

from loom_ray.actors.calls import Call, Reply
from loom_ray.actors.directory import Place
from loom_ray.actors.embedding.actor import Description
from loom_ray.actors.embedding.port import rounded
from loom_ray.actors.namespace import Namespace
from loom_ray.actors.opening import open_namespace
from loom_ray.contract.arguments import read_request
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings
from loom_ray.core.calibration import Calibration
from loom_ray.core.decide.claim import body_sha256
from loom_ray.core.judging.thresholds import ThresholdValues
from loom_ray.core.records import EmbedderStamp, Vectors
from loom_ray.core.text.preparation import has_meaning, prepare
from loom_ray.storage.blobs import Blobs

SECOND = 1_000_000_000
DIMENSIONS = 32
PLACE = Place("dev", "local")
STAMP = EmbedderStamp("bag-of-words", DIMENSIONS, "none")
CALIBRATION = Calibration(STAMP, False, 0, ThresholdValues(0.6, 0.9), 1.0, {}, "")
_numbers = count(1)


class Clock:
    """Nanoseconds since the epoch."""

    def __init__(self, at_s: float = 2_000_000_000) -> None:
        self.ns = int(at_s) * SECOND

    def __call__(self) -> int:
        return self.ns

    def advance(self, seconds: float) -> None:
        self.ns += int(seconds * SECOND)


class BagOfWords:
    """Texts are near when they share words. `answers` is cleared to let every question wait."""

    def __init__(self) -> None:
        self.answers = asyncio.Event()
        self.answers.set()
        self.failure: Exception | None = None
        self.asked: list[str] = []
        self.stamp = STAMP

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors:
        self.asked += texts
        await self.answers.wait()
        if self.failure:
            raise self.failure
        return np.stack([vector_of(text) for text in texts])

    async def describe(self) -> Description:
        return Description(self.stamp, "fake", False, True, CALIBRATION, 0)


def vector_of(text: str) -> Vectors:
    """(DIMENSIONS,); zero for a text without meaning."""
    vector = np.zeros((1, DIMENSIONS), np.float32)
    if not has_meaning(text):
        return vector[0].astype(np.float16)
    for word in prepare(text).split():
        vector[0, crc32(word.encode()) % DIMENSIONS] += 1.0
    return rounded(vector)[0]


def call_of(op: str, settings: Settings, key: str = "", **arguments: Any) -> Call:
    """What the gateway would send for this body and Idempotency-Key."""
    asked = read_request(OPS[op], json.dumps(arguments).encode(), settings)
    body = body_sha256(op, asked.request.model_dump()) if key else ""
    return Call(f"call-{next(_numbers)}", op, asked.request, key, body)


async def answer_to(namespace: Namespace, call: Call) -> Reply:
    """The final reply, fetched as the gateway fetches it."""
    reply = (await namespace.serve([call]))[0]
    return await namespace.finish(call.call_id) if reply.pending else reply


class Scene:
    """One namespace through its incarnations."""

    def __init__(self, blobs: Blobs, **settings: Any) -> None:
        self.blobs = blobs
        self.settings = Settings(**settings)
        self.clock = Clock()
        self.embedder = BagOfWords()
        self.keeper = Patterns()
        self.namespace: Namespace

    async def open(self) -> Scene:
        """The next incarnation takes over; the one before is left as it is, as after a kill."""
        name, now = f"incarnation-{next(_numbers)}", self.clock
        self.namespace = await open_namespace(
            PLACE, self.settings, self.blobs, self.embedder, self.keeper, name, now, inline
        )
        return self

    def call(self, op: str, key: str = "", **arguments: Any) -> Call:
        return call_of(op, self.settings, key, **arguments)

    async def ask(self, op: str, key: str = "", **arguments: Any) -> dict[str, Any]:
        """The answer. Raises the LoomError that the client would see."""
        reply = await answer_to(self.namespace, self.call(op, key, **arguments))
        assert not reply.moved
        if reply.error is not None:
            raise reply.error
        assert reply.answer is not None
        return reply.answer

    async def set(self, memory_key: str, value: Any, **more: Any) -> dict[str, Any]:
        return await self.ask("memory.set", memory_key=memory_key, value=value, **more)

    async def value(self, memory_key: str) -> Any:
        """None where the key serves nothing."""
        return (await self.ask("memory.get", memory_key=memory_key)).get("value")

    async def history(self, memory_key: str) -> list[Any]:
        """The values of all versions, oldest first."""
        rows = (await self.ask("memory.history", memory_key=memory_key, limit=1000))["rows"]
        return [row["value"] for row in rows][::-1]


async def inline(call: Callable[..., Any], *arguments: Any) -> Any:
    """What storage would do in a thread."""
    return call(*arguments)


async def until(condition: Callable[[], bool]) -> None:
    """Lets the others go on until it holds; fails after ten seconds."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - of the code under test, which tells nobody
            await asyncio.sleep(0)
