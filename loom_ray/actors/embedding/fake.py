"""How do tests embed without a model? By hashed character n-grams: similar spelling, no meaning."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from loom_ray.actors.embedding.port import Kind, rounded
from loom_ray.core.records import EmbedderStamp, Vectors
from loom_ray.core.text.preparation import PREPARATION

_DIMENSIONS = 512
_SIZES = (2, 3, 4)  # characters


class FakeEmbedder:
    """Deterministic on every machine; says that it is a fake and models no meaning."""

    kind: Kind = "fake"
    semantic = False
    stamp = EmbedderStamp("fake-ngrams", _DIMENSIONS, PREPARATION)
    batch_max = 64

    async def load(self) -> None:
        """Nothing to load."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return rounded(np.stack([_hashed(text) for text in texts]))

    async def close(self) -> None:
        """Nothing to free."""


def _hashed(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """Counts of the text's n-grams, each in the dimension of its hash; never zero, as the edges count too."""
    edged = f" {text} ".encode("utf-32-le")
    vector = np.zeros(_DIMENSIONS, dtype=np.float32)
    for size in _SIZES:
        for start in range(0, len(edged) - 4 * size + 4, 4):
            vector[crc32(edged[start : start + 4 * size]) % _DIMENSIONS] += 1.0
    return vector
