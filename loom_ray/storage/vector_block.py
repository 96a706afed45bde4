"""Where do vectors lie, and how are the nearest of them found? Blocks of half-precision rows in FAISS."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import faiss
import numpy as np
import numpy.typing as npt

from loom_ray.core.similarity import Matrix
from loom_ray.storage.facts import ROW, Facts, Mask

Nearest = tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]  # similarities, row numbers: (queries, rows) each


class Block:
    """Room for `capacity` vectors. Rows are only added, never moved or overwritten, so a reader of those that it knows
    of needs no lock; what changes are the facts, of which readers get copies.
    """

    def __init__(self, capacity: int, dimensions: int) -> None:
        self.capacity = capacity
        self.count = 0
        self.dead = 0
        self.memory_ids: list[str] = []
        self.pieces = np.zeros(capacity, dtype=np.int32)
        self._facts = np.zeros(capacity, dtype=ROW)
        self._frozen: FrozenBlock | None = None
        self.faiss = faiss.IndexScalarQuantizer(dimensions, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
        self.faiss.codes.resize(capacity * dimensions * 2)
        self.faiss.ntotal = capacity  # rows not yet written are masked, as dead ones are
        codes = faiss.rev_swig_ptr(self.faiss.codes.data(), capacity * dimensions * 2)
        self.vectors: Matrix = codes.view(np.float16).reshape(capacity, dimensions)

    @property
    def room(self) -> int:
        return self.capacity - self.count

    def add(self, memory_ids: Sequence[str], pieces: npt.NDArray[np.int32], vectors: Matrix, facts: Facts) -> int:
        """Add rows; the number of the first."""
        first, end = self.count, self.count + len(memory_ids)
        self.vectors[first:end] = vectors
        self.pieces[first:end] = pieces
        self._facts[first:end] = facts
        self.memory_ids.extend(memory_ids)
        self.count, self._frozen = end, None
        return first

    def change(self, first: int, count: int, facts: Facts) -> None:
        self._facts[first : first + count] = facts
        self._frozen = None

    def drop(self, first: int, count: int) -> None:
        self._facts["held"][first : first + count] = False
        self.dead, self._frozen = self.dead + count, None

    def facts(self, first: int) -> Facts:
        return self._facts[first : first + 1]

    def frozen(self) -> FrozenBlock:
        """What the block holds now; made anew only when it changed, so a view of many old blocks costs nothing."""
        if self._frozen is None:
            self._frozen = FrozenBlock(self, self._facts[: self.count].copy())
        return self._frozen


@dataclass(frozen=True)
class FrozenBlock:
    """A block as it was: its rows, and a copy of their facts."""

    block: Block
    facts: Facts

    def nearest(self, queries: npt.NDArray[np.float32], limit: int, mask: Mask) -> Nearest:
        """Similarities, correct to about 1e-7, and row numbers: (queries, at most limit) each, none masked."""
        limit = min(limit, int(np.count_nonzero(mask)))
        if limit == 0:
            return np.empty((len(queries), 0), dtype=np.float32), np.empty((len(queries), 0), dtype=np.int64)
        selector = faiss.IDSelectorBitmap(self._bitmap(mask))  # pyright: ignore[reportCallIssue] - faiss wraps it
        parameters = faiss.SearchParameters(sel=selector)  # pyright: ignore[reportCallIssue] - keeps the selector alive
        near, rows = self.block.faiss.search(queries, limit, params=parameters)
        return near, rows

    def _bitmap(self, mask: Mask) -> npt.NDArray[np.uint8]:
        bitmap = np.zeros((self.block.capacity + 7) // 8, dtype=np.uint8)
        bitmap[: (len(mask) + 7) // 8] = np.packbits(mask, bitorder="little")
        return bitmap
