"""Where does each memory lie? The blocks that hold all excerpts, or all chunks, and their places in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from loom_ray.core.similarity import Matrix
from loom_ray.storage.facts import Facts
from loom_ray.storage.vector_block import Block, FrozenBlock

BLOCK_ROWS_MIN = 64
BLOCK_ROWS_MAX = 8192  # bounds what a compaction copies in one go: 8 MB at 512 dimensions
DEAD_SHARE_MAX = 0.5


class Span(NamedTuple):
    """The rows of one memory: they lie side by side in one block."""

    block: Block
    first: int
    rows: int


class Pile:
    """All excerpts, or all chunks: the blocks, and where in them each memory lies."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.blocks: list[Block] = []
        self.spans: dict[str, Span] = {}

    def add(self, memory_id: str, pieces: npt.NDArray[np.int32], vectors: Matrix, facts: Facts) -> None:
        block = self._block_for(len(vectors))
        first = block.add([memory_id] * len(vectors), pieces, vectors, facts)
        self.spans[memory_id] = Span(block, first, len(vectors))

    def load(self, memory_ids: Sequence[str], vectors: Matrix, facts: Facts) -> None:
        """Add one row a memory, in blocks as large as they may be."""
        for start in range(0, len(memory_ids), BLOCK_ROWS_MAX):
            part = slice(start, start + BLOCK_ROWS_MAX)
            ids = memory_ids[part]
            block = Block(len(ids), self.dimensions)
            block.add(ids, np.zeros(len(ids), dtype=np.int32), vectors[part], facts[part])
            self.blocks.append(block)
            self.spans.update((memory_id, Span(block, row, 1)) for row, memory_id in enumerate(ids))

    def _block_for(self, rows: int) -> Block:
        if not self.blocks or self.blocks[-1].room < rows:
            half = sum(block.count for block in self.blocks) // 2
            capacity = max(rows, min(BLOCK_ROWS_MAX, max(BLOCK_ROWS_MIN, half)))
            self.blocks.append(Block(capacity, self.dimensions))
        return self.blocks[-1]

    def drop(self, memory_id: str) -> None:
        span = self.spans.pop(memory_id, None)
        if span is not None:
            span.block.drop(span.first, span.rows)
            if span.block.dead > DEAD_SHARE_MAX * span.block.capacity:
                self._compact(span.block)

    def _compact(self, block: Block) -> None:
        """Move what a mostly dead block still holds to the end; views taken before keep the old block alive."""
        self.blocks.remove(block)
        for memory_id in dict.fromkeys(block.memory_ids):
            span = self.spans.get(memory_id)
            if span is not None and span.block is block:
                end = span.first + span.rows
                pieces, vectors = block.pieces[span.first : end], block.vectors[span.first : end]
                self.add(memory_id, pieces, vectors, block.facts(span.first))

    def change(self, memory_id: str, facts: Facts) -> None:
        span = self.spans.get(memory_id)
        if span is not None:
            span.block.change(span.first, span.rows, facts)

    def vectors(self, memory_id: str) -> Matrix:
        span = self.spans.get(memory_id)
        if span is None:
            return np.empty((0, self.dimensions), dtype=np.float16)
        return span.block.vectors[span.first : span.first + span.rows]

    def frozen(self) -> list[FrozenBlock]:
        return [block.frozen() for block in self.blocks]
