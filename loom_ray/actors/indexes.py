"""What can a namespace find? Its vectors and its words, changed on the loop and searched in threads of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, TypeVar, overload

import numpy as np

from loom_ray.actors.coalescing import Coalescer
from loom_ray.core.ranking import Hit, Ranked
from loom_ray.core.records import Vectors
from loom_ray.core.row import LIVE, Row, Status
from loom_ray.core.similarity import similarities
from loom_ray.storage.facets import Where, facets_of
from loom_ray.storage.retrieval import retrieve
from loom_ray.storage.snapshot import StateImage
from loom_ray.storage.vectors import VectorIndex, View
from loom_ray.storage.words import WordIndex

Result = TypeVar("Result")
SOUGHT = LIVE | {Status.DUPLICATE, Status.SUPERSEDED}  # what a search by words can find
SEARCHES_MAX = 64  # queries in one trip to the index


class Search(NamedTuple):
    """Which excerpts are nearest? One question to the vector index."""

    vector: Vectors  # (dimensions,)
    k: int
    where: Where


@dataclass(frozen=True, slots=True)
class Found:
    """What a search saw; rows put after `mark` are for the caller to compare."""

    hits: list[Hit]
    mark: int


class Indexes:
    """Every method but the searches is called on the loop, in the turn that changes the state."""

    def __init__(self, queue_max: int) -> None:
        self.vectors: VectorIndex | None = None  # until the first vector says how many dimensions there are
        self.words = WordIndex()
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._word_thread = ThreadPoolExecutor(1, thread_name_prefix="words")  # a judged write never waits for words
        self._catching_up: Future[None] | None = None
        self._searches = Coalescer[Search, Found](self._search_together, SEARCHES_MAX, queue_max)

    # ---- changing ----------------------------------------------------------------------------------------------
    def put(self, row: Row, vectors: Vectors | None) -> None:
        """Brings the indexes to the row's new image. What may come back keeps its vectors."""
        if not row.is_searched or row.status is Status.REDIRECT or (vectors is not None and not len(vectors)):
            self._drop_vectors(row.memory_id)
        elif vectors is not None or (self.vectors is not None and row.memory_id in self.vectors):
            if self.vectors is None:
                assert vectors is not None
                self.vectors = VectorIndex(vectors.shape[1])
            self.vectors.put(row.memory_id, vectors, facets_of(row))
        self._put_words(row)

    def remove(self, memory_id: str) -> None:
        self._drop_vectors(memory_id)
        self.words.remove(memory_id)

    def load(self, image: StateImage) -> None:
        """Fills empty indexes from a snapshot."""
        with_vectors = [
            (row, vectors) for row, vectors in zip(image.rows, image.vectors, strict=True) if vectors is not None
        ]
        if with_vectors and image.matrix is not None:
            self.vectors = VectorIndex(image.matrix.shape[1])
            ids = [row.memory_id for row, _ in with_vectors]
            counts = [len(vectors) for _, vectors in with_vectors]
            self.vectors.load(ids, counts, image.matrix, [facets_of(row) for row, _ in with_vectors])
        for row in image.rows:
            self._put_words(row)

    def index_words(self) -> Future[None] | None:
        """Has the words of what was put indexed in their own thread, if a search should not do so by the way."""
        if self.words.is_behind and (self._catching_up is None or self._catching_up.done()):
            self._catching_up = self._word_thread.submit(self.words.catch_up)
        return self._catching_up if self.words.is_behind else None

    def _put_words(self, row: Row) -> None:
        if row.is_searched and row.status in SOUGHT:
            self.words.put(row.memory_id, row.text, row.memory_key, facets_of(row))
        else:
            self.words.remove(row.memory_id)

    def _drop_vectors(self, memory_id: str) -> None:
        if self.vectors is not None:
            self.vectors.remove(memory_id)

    # ---- reading -----------------------------------------------------------------------------------------------
    def vectors_of(self, memory_id: str) -> Vectors | None:
        if self.vectors is None or memory_id not in self.vectors:
            return None
        return self.vectors.vectors_of(memory_id)

    def stored(self, rows: Sequence[Row]) -> Sequence[Vectors | None]:
        """The vectors of these rows, in their order, as they are now."""
        return StoredVectors(rows, self.vectors.reader()) if self.vectors else [None] * len(rows)

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Runs `work` in the namespace's one search thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def search(self, search: Search) -> Found:
        return await self._searches(search)

    def near(self, found: Found, vector: Vectors) -> dict[str, float]:
        """Similarity by memory id: what the search saw, and every row put since, compared in this very turn."""
        near = {hit.memory_id: hit.similarity for hit in found.hits}
        if self.vectors is not None:
            ids, matrix = self.vectors.newer_than(found.mark)
            if ids:
                near |= dict(zip(ids, similarities(vector[None, :], matrix)[0].tolist(), strict=True))
        return near

    async def retrieve(self, query: str, vector: Vectors, k: int, where: Where) -> list[Ranked]:
        """The k best rows by meaning and by words, in the thread; what was put before is indexed first."""
        if self.vectors is None:
            return []
        if (behind := self.index_words()) is not None:
            await asyncio.wrap_future(behind)
        view = self.vectors.view()
        return await self.in_thread(lambda: retrieve(view, self.words, query, vector, k, where))

    async def _search_together(self, searches: list[Search]) -> list[Found]:
        """One trip: the queries with one filter are one matrix. The view is taken in this turn, on the loop."""
        if self.vectors is None:
            return [Found([], 0) for _ in searches]
        view = self.vectors.view()
        return await self.in_thread(lambda: _search_groups(view, searches))

    def close(self) -> None:
        self.words.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._word_thread.shutdown(wait=False, cancel_futures=True)


class StoredVectors(Sequence[Vectors | None]):
    """The vectors of these rows, read one by one by the thread that writes them down."""

    def __init__(self, rows: Sequence[Row], reader: Callable[[str], Vectors | None]) -> None:
        self._rows = rows
        self._reader = reader

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Vectors | None: ...
    @overload
    def __getitem__(self, place: slice) -> list[Vectors | None]: ...
    def __getitem__(self, place: int | slice) -> Vectors | list[Vectors | None] | None:
        if isinstance(place, slice):
            return [self._reader(row.memory_id) for row in self._rows[place]]
        return self._reader(self._rows[place].memory_id)


def _search_groups(view: View, searches: Sequence[Search]) -> list[Found]:
    groups: dict[tuple[Where, int], list[int]] = {}
    for place, search in enumerate(searches):
        groups.setdefault((search.where, search.k), []).append(place)
    hits: Mapping[int, list[Hit]] = {}
    for (where, k), places in groups.items():
        matrix = np.stack([searches[place].vector for place in places])
        answers = view.search(matrix, k, where, excerpts_only=True)
        hits = {**hits, **dict(zip(places, answers, strict=True))}
    return [Found(hits[place], view.mark) for place in range(len(searches))]
