"""What is an embedder? The port that every backend fills, and the rounding that all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from loom_ray.contract.errors import BackendUnavailable
from loom_ray.core.records import EmbedderStamp, Vectors

Kind = Literal["local", "openai", "fake"]


class TextRefused(BackendUnavailable):
    """The backend is well but does not take one of these texts (too long, filtered): others may pass apart from it."""


class Embedder(Protocol):
    """A backend. It is given prepared texts (core/text/preparation.py), each with a meaning, never an empty list."""

    kind: Kind
    semantic: bool  # False: similarity of spelling alone, for tests
    stamp: EmbedderStamp
    batch_max: int  # texts in one call; more in one call would not be faster

    async def load(self) -> None:
        """Make ready to embed, off the event loop.

        Raises:
            BackendUnavailable: the model or its package cannot be loaded.
        """
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), dimensions) float16 in the order of the texts; the same text always gives the same vector.

        Raises:
            BackendUnavailable: no usable answer within the backend's deadline.
            TextRefused: the backend answers, but not for (at least one of) these texts.
        """
        ...

    async def close(self) -> None:
        """Free connections and threads."""
        ...


def rounded(vectors: npt.NDArray[np.float32]) -> Vectors:
    """Each row to length 1 in float32, then to float16: what is judged live is bit for bit what is replayed.

    Raises:
        BackendUnavailable: a row is not finite or has no direction.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or np.any(lengths == 0.0):
        raise BackendUnavailable("the embedder answered a vector that is not finite or is zero")
    return (vectors / lengths).astype(np.float16)
