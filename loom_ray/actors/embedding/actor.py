"""Who embeds for everyone on a node? A service that loads once, calibrates once, and batches from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from loom_ray.actors.embedding.batching import Embedded, MicroBatcher
from loom_ray.actors.embedding.fake import FakeEmbedder
from loom_ray.actors.embedding.local import LocalEmbedder
from loom_ray.actors.embedding.port import Embedder, Kind
from loom_ray.contract.settings import Settings
from loom_ray.core.calibration import Calibration, calibrate, parse_probe
from loom_ray.core.records import EmbedderStamp, Vectors
from loom_ray.core.text.preparation import has_meaning, prepare

_OPENAI_LANES = 4  # requests under way to an endpoint: it is waited for, not computed here


@dataclass(frozen=True, slots=True)
class Description:
    """What the service is. `calibration` is known from the first answered `embed` on."""

    stamp: EmbedderStamp
    kind: Kind
    semantic: bool
    loaded: bool
    calibration: Calibration | None
    waiting: int  # texts in the queue


class EmbedderService:
    """Embeds for the namespaces. It never blocks its event loop: loading and encoding are done beside it.

    The first call loads the model and embeds the probe set; `start` does so ahead of it. While that fails (an endpoint
    that is down), each call fails, and a later one tries again: no text is embedded before the thresholds are known.
    """

    def __init__(self, settings: Settings, embedder: Embedder | None = None) -> None:
        self._embedder = embedder or make_embedder(settings)
        self._calibration: Calibration | None = None
        self._loading: asyncio.Task[Calibration] | None = None
        self._batcher = MicroBatcher(
            self._encode,
            self._embedder.stamp.dimensions,
            self._embedder.batch_max,
            settings.embedder_queue_max,
            _OPENAI_LANES if self._embedder.kind == "openai" else 1,
        )

    async def start(self) -> None:
        """Load and calibrate now.

        Raises:
            BackendUnavailable: the model or the endpoint is not there; the next call tries again.
        """
        await self._ready()

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors:
        """(len(texts), dimensions) float16, rows of length 1; texts are prepared here, so give them as they are.

        A text without a letter or digit has no meaning: its row is zero, its similarity with everything 0.

        Raises:
            Overloaded: too many texts wait.
            BackendUnavailable: no answer within the deadline, or the backend does not take one of the texts.
        """
        embedded = await self.embed_each(texts, deadline_s)
        for refusal in embedded.refused.values():
            raise refusal
        return embedded.vectors

    async def embed_each(self, texts: Sequence[str], deadline_s: float) -> Embedded:
        """As `embed`, but a text that the backend does not take fails alone: a zero row, and why, by position."""
        prepared = [prepare(text) for text in texts]
        meant = [position for position, text in enumerate(prepared) if has_meaning(text)]
        embedded = await self._batcher.embed([prepared[position] for position in meant], deadline_s)
        vectors = np.zeros((len(prepared), self._embedder.stamp.dimensions), dtype=np.float16)
        vectors[meant] = embedded.vectors
        return Embedded(vectors, {meant[position]: refusal for position, refusal in embedded.refused.items()})

    def describe(self) -> Description:
        """At once, whatever the backend does."""
        embedder = self._embedder
        return Description(
            stamp=embedder.stamp,
            kind=embedder.kind,
            semantic=embedder.semantic,
            loaded=self._calibration is not None,
            calibration=self._calibration,
            waiting=self._batcher.waiting,
        )

    async def close(self) -> None:
        """Refuse who waits, and free threads and connections."""
        await self._batcher.close()
        if self._loading is not None:
            self._loading.cancel()
            await asyncio.gather(self._loading, return_exceptions=True)
        await self._embedder.close()

    async def _encode(self, texts: Sequence[str]) -> Vectors:
        await self._ready()
        return await self._embedder.embed(texts)

    async def _ready(self) -> None:
        """Load once for all who wait; one who gives up does not stop it for the rest."""
        if self._calibration is not None:
            return
        if self._loading is None or self._loading.done():
            self._loading = asyncio.create_task(self._load())
        self._calibration = await asyncio.shield(self._loading)

    async def _load(self) -> Calibration:
        await self._embedder.load()
        return await calibration_of(self._embedder)


def make_embedder(settings: Settings) -> Embedder:
    """The backend that the settings name."""
    if settings.embedder == "openai":
        from loom_ray.actors.embedding.openai import OpenAIEmbedder  # the package is heavy: only where it is used

        return OpenAIEmbedder(settings)
    if settings.embedder == "fake":
        return FakeEmbedder()
    return LocalEmbedder(settings.embedder_batch_max)


async def calibration_of(embedder: Embedder) -> Calibration:
    """Embed the packaged probe set and measure: about 180 short texts."""
    pairs = parse_probe(files("loom_ray.core").joinpath("probe.jsonl").read_text(encoding="utf-8"))
    texts = list(dict.fromkeys(prepare(text) for pair in pairs for text in (pair.a, pair.b)))
    size = embedder.batch_max
    parts = [await embedder.embed(texts[start : start + size]) for start in range(0, len(texts), size)]
    rows = dict(zip(texts, np.concatenate(parts).astype(np.float32), strict=True))
    similarities = [float(rows[prepare(pair.a)] @ rows[prepare(pair.b)]) for pair in pairs]
    return calibrate([pair.label for pair in pairs], similarities, embedder.stamp, embedder.semantic)
