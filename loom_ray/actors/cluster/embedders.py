"""How do namespaces reach the pool of embedders, and who makes it?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import ray

from loom_ray.actors.cluster.calling import ACTOR, ASK_S_MAX, stateless_answer
from loom_ray.actors.coalescing import Coalescer
from loom_ray.contract.errors import LoomError
from loom_ray.contract.settings import Settings
from loom_ray.core.records import Vectors

if TYPE_CHECKING:  # a model and its like are loaded by the actors that use them, not by everyone who speaks to those
    from loom_ray.actors.embedding.actor import Description

_log = logging.getLogger(__name__)

EMBEDDER = "embedder"
TEXTS_A_TRIP = 256  # of one request, in one trip to the embedder
EMBED_LANES = 4  # trips under way from one namespace to the embedder


class EmbedderActor:
    """One of the pool; it begins to load as soon as it is there."""

    def __init__(self, settings: Settings) -> None:
        from loom_ray.actors.embedding.actor import EmbedderService

        self._service = EmbedderService(settings)

    async def prepare(self) -> None:
        try:
            await self._service.start()
        except LoomError as refusal:  # told again to everyone who asks for a vector
            _log.warning("the embedder is not ready: %s", refusal)

    async def embed_each(self, texts: list[str], deadline_s: float) -> Any:
        return await self._service.embed_each(texts, deadline_s)

    async def describe(self) -> Description:
        return self._service.describe()


class RemoteEmbedder:
    """The pool as one namespace sees it: what is asked in one turn of its loop goes in one trip."""

    def __init__(self, settings: Settings) -> None:
        self._pool = start_embedders(settings)
        self._deadline_s = settings.request_deadline_s
        self._trips = 0
        self._ask = Coalescer[Sequence[str], Vectors](
            self._embed_together, settings.gateway_batch_max, settings.namespace_queue_max, EMBED_LANES
        )

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors:
        """Many texts go in several trips, so that one batch never fills the queue that everybody shares."""
        async with asyncio.timeout(deadline_s):
            parts = [
                await self._ask(texts[start : start + TEXTS_A_TRIP]) for start in range(0, len(texts), TEXTS_A_TRIP)
            ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    async def describe(self) -> Description:
        return await stateless_answer(self._pool[0].describe.remote(), ASK_S_MAX)

    async def _embed_together(self, asked: list[Sequence[str]]) -> list[Vectors | BaseException]:
        self._trips += 1
        embedder = self._pool[self._trips % len(self._pool)]
        texts = [text for one in asked for text in one]
        embedded = await stateless_answer(embedder.embed_each.remote(texts, self._deadline_s), self._deadline_s)
        results: list[Vectors | BaseException] = []
        start = 0
        for one in asked:
            end = start + len(one)
            refused = [why for place, why in embedded.refused.items() if start <= place < end]
            results.append(refused[0] if refused else embedded.vectors[start:end])
            start = end
        return results


def start_embedders(settings: Settings) -> list[Any]:
    """The pool, made by whoever comes first; each begins to load at once."""
    actor: Any = ray.remote(EmbedderActor)
    names = [f"{EMBEDDER}-{number}" for number in range(settings.embedder_pool)]
    pool = [actor.options(**ACTOR, name=name).remote(settings) for name in names]
    for embedder in pool:
        embedder.prepare.remote()
    return pool
