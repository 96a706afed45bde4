"""Which rows are nearest in meaning? The vector index of one namespace: exact, filtered first, safe beside writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from loom_ray.core.ranking import Hit
from loom_ray.core.similarity import Matrix, similarities
from loom_ray.storage.facets import Facets, Where
from loom_ray.storage.facts import Codebook, Facts, Mask
from loom_ray.storage.pile import Pile
from loom_ray.storage.vector_block import FrozenBlock

MARGIN = 8  # candidates beyond k, so that rounding inside FAISS cannot displace one of the k
ROUNDING = 1e-5  # far above the 3e-8 by which FAISS was seen to differ from the exact similarity

_Masked = list[tuple[FrozenBlock, Mask]]
_Candidates = tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], npt.NDArray[np.int64]]


class VectorIndex:
    """One thread (the actor's loop) changes it; any thread may search a view taken by that thread.

    Vectors are float16, (1 + chunks, dimensions) a memory, each row normalised; the first is the excerpt's.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self._codebook = Codebook()
        self._excerpts = Pile(dimensions)
        self._chunks = Pile(dimensions)
        self._sum = np.zeros(dimensions)  # of the excerpts' vectors: multiples of 2**-24, so no order rounds it
        self._changed: dict[str, int] = {}  # memory id → mark of its last put, in the order of the marks
        self._mark = 0

    def __len__(self) -> int:
        return len(self._excerpts.spans)

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._excerpts.spans

    def put(self, memory_id: str, vectors: Matrix | None, facets: Facets) -> None:
        """Add a memory or replace what is held of it; with None for the vectors only its facets change.

        Raises ValueError on another dimension or kind of number, KeyError when there are no vectors to keep.
        """
        facts = self._codebook.facts([facets])
        if vectors is None:
            if memory_id not in self:
                raise KeyError(memory_id)
            self._excerpts.change(memory_id, facts)
            self._chunks.change(memory_id, facts)
        else:
            self._check(vectors)
            self._replace(memory_id, vectors, facts)
        self._touch(memory_id)

    def _check(self, vectors: Matrix) -> None:
        if vectors.ndim != 2 or not len(vectors) or vectors.shape[1] != self.dimensions or vectors.dtype != np.float16:
            raise ValueError(f"expected float16 (1 + chunks, {self.dimensions}), got {vectors.dtype} {vectors.shape}")
        _check_finite(vectors)

    def _replace(self, memory_id: str, vectors: Matrix, facts: Facts) -> None:
        self._drop(memory_id)
        pieces = np.arange(len(vectors), dtype=np.int32)
        self._excerpts.add(memory_id, pieces[:1], vectors[:1], facts)
        self._sum += vectors[0]
        if len(vectors) > 1:
            self._chunks.add(memory_id, pieces[1:], vectors[1:], facts)

    def _touch(self, memory_id: str) -> None:
        self._mark += 1
        self._changed.pop(memory_id, None)
        self._changed[memory_id] = self._mark

    def remove(self, memory_id: str) -> None:
        """Forget a memory; nothing happens when it is not held."""
        self._drop(memory_id)
        self._changed.pop(memory_id, None)

    def _drop(self, memory_id: str) -> None:
        self._sum -= self._excerpts.vectors(memory_id).sum(axis=0, dtype=np.float64)
        self._excerpts.drop(memory_id)
        self._chunks.drop(memory_id)

    def vectors_of(self, memory_id: str) -> Matrix:
        """(1 + chunks, dimensions), a copy; raises KeyError when the memory is not held."""
        if memory_id not in self:
            raise KeyError(memory_id)
        return np.concatenate((self._excerpts.vectors(memory_id), self._chunks.vectors(memory_id)))

    def reader(self) -> Callable[[str], Matrix | None]:
        """Reads the vectors that are held now, later and in any thread: (1 + chunks, dimensions), None where none were.

        Rows never move within their block, so the places of this moment keep their vectors.
        """
        excerpts, chunks = dict(self._excerpts.spans), dict(self._chunks.spans)

        def read(memory_id: str) -> Matrix | None:
            spans = [piles[memory_id] for piles in (excerpts, chunks) if memory_id in piles]
            parts = [span.block.vectors[span.first : span.first + span.rows] for span in spans]
            return np.concatenate(parts) if parts else None

        return read

    def hit(self, memory_id: str, query: Matrix) -> Hit | None:
        """How near a memory is now to a query, (1, dimensions); None when it is not held. Safe in any thread."""
        pieces = [vectors for pile in (self._excerpts, self._chunks) if len(vectors := pile.vectors(memory_id))]
        if not pieces:
            return None
        near = similarities(query, np.concatenate(pieces))[0]
        piece = int(near.argmax())
        return Hit(memory_id, float(near[piece]), piece)

    def load(self, memory_ids: Sequence[str], counts: Sequence[int], vectors: Matrix, facets: Sequence[Facets]) -> None:
        """Fill an empty index at once: memory i has the next counts[i] rows of the stacked vectors, and facets[i].

        Raises ValueError when the index is not empty or the shapes do not fit.
        """
        self._check(vectors)
        if len(self) or not len(memory_ids) == len(counts) == len(facets) or sum(counts) != len(vectors):
            raise ValueError(f"{len(memory_ids)} memories, {sum(counts)} vectors counted, {len(vectors)} given")
        ends = np.cumsum(counts, dtype=np.int64)
        firsts = ends - counts
        facts = self._codebook.facts(facets)
        excerpts = vectors[firsts] if len(vectors) > len(firsts) else vectors
        self._excerpts.load(memory_ids, excerpts, facts)
        self._sum += excerpts.sum(axis=0, dtype=np.float64)
        for at in np.flatnonzero(np.asarray(counts) > 1).tolist():
            chunks = vectors[firsts[at] + 1 : ends[at]]
            pieces = np.arange(1, counts[at], dtype=np.int32)
            self._chunks.add(memory_ids[at], pieces, chunks, facts[at : at + 1])

    def view(self) -> View:
        """What is held now, for a search in another thread."""
        mean = self._sum / max(len(self), 1)
        return View(self._mark, self, self._codebook, mean, self._excerpts.frozen(), self._chunks.frozen())

    def newer_than(self, mark: int) -> tuple[list[str], Matrix]:
        """The memories put since a view with this mark was taken, oldest first, and their excerpts' vectors."""
        ids = list(self._since(mark))[::-1]
        excerpts = [self._excerpts.vectors(memory_id) for memory_id in ids]
        return ids, np.concatenate([np.empty((0, self.dimensions), dtype=np.float16), *excerpts])

    def _since(self, mark: int) -> Iterator[str]:
        for memory_id, put_at in reversed(self._changed.items()):
            if put_at <= mark:
                return
            yield memory_id


@dataclass(frozen=True)
class View:
    """The index as it was at `mark`; it never changes, whatever is put or removed meanwhile."""

    mark: int
    index: VectorIndex
    codebook: Codebook
    mean: npt.NDArray[np.float64]  # (dimensions,), of the excerpts' vectors
    excerpts: list[FrozenBlock]
    chunks: list[FrozenBlock]

    def centred(self, query: Matrix) -> Matrix:
        """A query, (1, dimensions), as the namespace's mean sees it; normalised, float16.

        What all rows have in common tells none of them from another, and sentence embedders give them much in common:
        Mu and Viswanath, "All-but-the-top", ICLR 2018. Subtracting it from the query alone orders the rows as
        subtracting it from both would, their lengths aside.
        """
        seen = query.astype(np.float64) - self.mean
        length = float(np.linalg.norm(seen))
        return (seen / length).astype(np.float16) if length > 0 else query

    def search(self, queries: Matrix, k: int, where: Where, *, excerpts_only: bool) -> list[list[Hit]]:
        """The k nearest memories that the filter admits, for each query: (queries, dimensions), float16.

        Nearest first, one hit a memory (its nearest piece), equal ones in the order of their ids. Similarities are
        those of `core.similarity`: exact, and so independent of how the rows lie in the blocks.
        """
        dimensions = self.index.dimensions
        if queries.ndim != 2 or queries.shape[1] != dimensions or queries.dtype != np.float16:
            raise ValueError(f"expected float16 (queries, {dimensions}), got {queries.dtype} {queries.shape}")
        _check_finite(queries)
        found = _search(self._masked(self.excerpts, where), queries, k)
        if excerpts_only or not self.chunks:
            return found
        deeper = _search(self._masked(self.chunks, where), queries, k)
        return [_best(hits + more, k) for hits, more in zip(found, deeper, strict=True)]

    def _masked(self, blocks: list[FrozenBlock], where: Where) -> _Masked:
        masked = ((block, self.codebook.mask(block.facts, where)) for block in blocks)
        return [(block, mask) for block, mask in masked if mask.any()]


def _check_finite(vectors: Matrix) -> None:
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds a number that is not finite")


def _search(blocks: _Masked, queries: Matrix, k: int) -> list[list[Hit]]:
    """Ask FAISS for candidates, more and more of them until the exact k best memories are certain for every query."""
    found: list[list[Hit]] = [[] for _ in queries]
    open_queries = list(range(len(queries))) if blocks and k > 0 else []
    limit = k + MARGIN
    while open_queries:
        near = _candidates(blocks, queries[open_queries].astype(np.float32), limit)
        unsettled: list[int] = []
        for query, candidates in zip(open_queries, near, strict=True):
            found[query], certain = _settle(blocks, queries[query], candidates, limit, k)
            if not certain:
                unsettled.append(query)
        open_queries, limit = unsettled, limit * 4
    return found


def _candidates(blocks: _Masked, queries: npt.NDArray[np.float32], limit: int) -> Iterator[_Candidates]:
    """For each query: rounded similarities, block numbers and row numbers of the `limit` nearest rows."""
    answers = [block.nearest(queries, limit, mask) for block, mask in blocks]
    near = np.concatenate([similar for similar, _ in answers], axis=1)
    rows = np.concatenate([numbers for _, numbers in answers], axis=1)
    of_block = np.repeat(np.arange(len(blocks)), [numbers.shape[1] for _, numbers in answers])
    for query in range(len(queries)):
        kept = np.argsort(-near[query], kind="stable")[:limit]
        yield near[query][kept], of_block[kept], rows[query][kept]


def _settle(
    blocks: _Masked,
    query: npt.NDArray[np.float16],
    candidates: _Candidates,
    limit: int,
    k: int,
) -> tuple[list[Hit], bool]:
    """The k best memories among the candidates by exact similarity, and whether no row left out can be one of them."""
    near, of_block, rows = candidates
    homes = [(blocks[number][0].block, row) for number, row in zip(of_block.tolist(), rows.tolist(), strict=True)]
    exact = similarities(query[None, :], np.stack([block.vectors[row] for block, row in homes]))[0].tolist()
    hits = [
        Hit(block.memory_ids[row], similarity, int(block.pieces[row]))
        for (block, row), similarity in zip(homes, exact, strict=True)
    ]
    best = _best(hits, k)
    complete = len(rows) < limit
    return best, complete or (len(best) == k and best[-1].similarity > float(near[-1]) + ROUNDING)


def _best(hits: Sequence[Hit], k: int) -> list[Hit]:
    """The k nearest memories, each by its nearest piece (the earliest of equal ones)."""
    ordered = sorted(hits, key=lambda hit: (-hit.similarity, hit.memory_id, hit.piece))
    one_each = {hit.memory_id: hit for hit in reversed(ordered)}
    return [hit for hit in ordered if one_each[hit.memory_id] is hit][:k]
