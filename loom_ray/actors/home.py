"""What does one namespace own, and how does a change become lasting? State, indexes and log, changed in one turn."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar, overload

import numpy as np

from loom_ray.actors.coalescing import Coalescer
from loom_ray.actors.embedding.actor import Description
from loom_ray.contract.errors import BackendUnavailable, EmbedderMismatch, OutcomeUnknown, PayloadTooLarge
from loom_ray.contract.settings import Settings
from loom_ray.core.decide.claim import SECOND_NS
from loom_ray.core.decide.rules import DAY_NS, Rules
from loom_ray.core.draft import Draft
from loom_ray.core.ranking import Hit, Ranked
from loom_ray.core.records import Record, Registered, RowWritten, Vectors
from loom_ray.core.row import Row, Status
from loom_ray.core.similarity import similarities
from loom_ray.core.state import State
from loom_ray.storage.errors import RecordsTooLarge
from loom_ray.storage.facets import Where, facets_of
from loom_ray.storage.retrieval import retrieve
from loom_ray.storage.snapshot import StateImage
from loom_ray.storage.store import NamespaceStore
from loom_ray.storage.vectors import VectorIndex
from loom_ray.storage.words import WordIndex

_log = logging.getLogger(__name__)

Result = TypeVar("Result")
RETRY_SNAPSHOT_NS = 30 * SECOND_NS
SEARCHES_MAX = 64  # queries in one trip to the index


class EmbedderPort(Protocol):
    """The embedder as a namespace sees it (cluster.py reaches the pool over Ray)."""

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors: ...

    async def describe(self) -> Description: ...


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


class Home:
    """Everything between two awaits is one turn: what is decided on the state is applied to it in the same turn."""

    def __init__(
        self,
        place: tuple[str, str],
        settings: Settings,
        embedder: EmbedderPort,
        store: NamespaceStore,
        state: State,
        now: Callable[[], int],
    ) -> None:
        self.org, self.namespace = place
        self.settings = settings
        self.state = state
        self.store = store
        self.now = now
        self.broken = False  # a commit failed: the state is ahead of the log and must be rebuilt from it
        self.vectors: VectorIndex | None = None  # until the first vector says how many dimensions there are
        self.words = WordIndex()
        self.embedder = embedder
        self.description: Description | None = None
        self.folding: list[dict[str, list[Row]]] = []
        self._written_down_at = now()
        self._snapshot_from = 0  # ns; after one failed, the next waits a little
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="search")
        self._word_thread = ThreadPoolExecutor(1, thread_name_prefix="words")  # a judged write never waits for words
        self._catching_up: Future[None] | None = None
        self._searches = Coalescer[Search, Found](self._search_together, SEARCHES_MAX, settings.namespace_queue_max)

    # ---- deciding ----------------------------------------------------------------------------------------------
    @property
    def rules(self) -> Rules:
        calibration = self.description.calibration if self.description else None
        return Rules(self.settings, self.state.settings, calibration.thresholds if calibration else None)

    def draft(self) -> Draft:
        return Draft(self.state, self.now())

    def fresh_ids(self, count: int) -> list[str]:
        return [str(uuid.uuid4()) for _ in range(count)]

    # ---- waiting -----------------------------------------------------------------------------------------------
    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors:
        """(texts, dimensions). Raises BackendUnavailable, Overloaded, and EmbedderMismatch where the namespace's
        vectors are another embedder's."""
        try:
            async with asyncio.timeout(deadline_s):
                description = await self.known_embedder()
                vectors = await self.embedder.embed(texts, deadline_s)
                if description.calibration is None:  # known from the first answered embedding on
                    self.description = await self.embedder.describe()
        except TimeoutError:
            raise BackendUnavailable(
                f"the embedder did not answer within {deadline_s:g} s", retry_after_s=1.0
            ) from None
        return vectors

    async def known_embedder(self) -> Description:
        if self.description is None or self.description.calibration is None:
            self.description = await self.embedder.describe()
        stored, live = self.state.stamp, self.description.stamp
        if stored is not None and stored != live:
            raise EmbedderMismatch(
                f"this namespace was embedded by {stored.name} ({stored.dimensions} dimensions, {stored.preparation}),"
                f" and the server runs {live.name} ({live.dimensions}, {live.preparation}): vectors are never mixed"
            )
        return self.description

    async def search(self, search: Search) -> Found:
        return await self._searches(search)

    async def in_thread(self, work: Callable[[], Result]) -> Result:
        """Runs `work` in the namespace's one search thread."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def near(self, found: Found, vector: Vectors) -> dict[str, float]:
        """Similarity by memory id: what the search saw, and every row put since, compared in this very turn."""
        near = {hit.memory_id: hit.similarity for hit in found.hits}
        if self.vectors is not None:
            ids, matrix = self.vectors.newer_than(found.mark)
            if ids:
                near |= dict(zip(ids, similarities(vector[None, :], matrix)[0].tolist(), strict=True))
        return near

    async def _search_together(self, searches: list[Search]) -> list[Found]:
        """One trip: the queries with one filter are one matrix. The view is taken in this turn, on the loop."""
        if self.vectors is None:
            return [Found([], 0) for _ in searches]
        view = self.vectors.view()
        return await self.in_thread(lambda: _search_groups(view, searches))

    # ---- changing ----------------------------------------------------------------------------------------------
    async def commit(self, records: Sequence[Record]) -> None:
        """Applies the records now, in this turn, and returns when they are durable.

        Raises OutcomeUnknown when they may not be; the home is broken then.
        """
        if self.broken:  # nothing of this request was begun
            raise BackendUnavailable("the namespace is being rebuilt", retry_after_s=1.0)
        if not records:
            await self.durable()
            return
        try:  # encoded now: what cannot be kept is refused before it is applied
            lasting = self.store.commit.submit(records)
        except RecordsTooLarge as refusal:
            raise PayloadTooLarge("this is more than one commit can hold: send less at a time") from refusal
        try:
            self.apply(records)
        except Exception as fault:  # half applied, and on its way to the log: only a replay can tell what holds
            self.broken = True
            _log.exception("records could not be applied")
            raise OutcomeUnknown("the namespace is being rebuilt", retry_after_s=1.0) from fault
        await self._lasting(lasting)

    def apply(self, records: Sequence[Record]) -> None:
        """Brings state and indexes to what the records say; also how a log is replayed."""
        for record in records:
            self.state.apply(record)
            if isinstance(record, RowWritten):
                self.index(record.row, record.vectors)

    async def durable(self) -> None:
        """Returns when everything applied so far can no longer be lost: a read awaits it before it answers. Raises
        BackendUnavailable when that may never be; the home is broken then."""
        try:
            await self.landed()
        except OutcomeUnknown as failure:
            raise BackendUnavailable(failure.message, retry_after_s=failure.retry_after_s) from failure

    async def landed(self) -> None:
        """As `durable`, for a write that was applied before: raises OutcomeUnknown."""
        await self._lasting(self.store.commit.durable())

    async def _lasting(self, commit: Awaitable[object]) -> None:
        try:
            await commit
        except Exception as failure:
            self.broken = True
            raise OutcomeUnknown("the log could not be written", retry_after_s=1.0) from failure

    def index(self, row: Row, vectors: Vectors | None) -> None:
        """Brings both indexes to the row's new image. Tombstones keep their vectors, for their way back."""
        if not row.is_searched or (vectors is not None and not len(vectors)):
            self._drop_vectors(row.memory_id)
        elif vectors is not None or (self.vectors is not None and row.memory_id in self.vectors):
            if self.vectors is None:
                assert vectors is not None
                self.vectors = VectorIndex(vectors.shape[1])
            self.vectors.put(row.memory_id, vectors, facets_of(row))
        self._index_words(row)

    def _index_words(self, row: Row) -> None:
        if row.is_searched and row.status is not Status.TOMBSTONED:
            self.words.put(row.memory_id, row.text, row.memory_key, facets_of(row))
        else:
            self.words.remove(row.memory_id)

    def index_words(self) -> Future[None] | None:
        """Has the words of what was put indexed in their own thread, if a search should not do so by the way."""
        if self.words.is_behind and (self._catching_up is None or self._catching_up.done()):
            self._catching_up = self._word_thread.submit(self.words.catch_up)
        return self._catching_up if self.words.is_behind else None

    def _drop_vectors(self, memory_id: str) -> None:
        if self.vectors is not None:
            self.vectors.remove(memory_id)

    async def retrieve(self, query: str, vector: Vectors, k: int, where: Where) -> list[Ranked]:
        """The k best rows by meaning and by words, in the thread; what was put before is indexed first."""
        if self.vectors is None:
            return []
        if (behind := self.index_words()) is not None:
            await asyncio.wrap_future(behind)
        view = self.vectors.view()
        return await self.in_thread(lambda: retrieve(view, self.words, query, vector, k, where))

    # ---- waking, writing down, leaving -------------------------------------------------------------------------
    def load(self, image: StateImage) -> None:
        """Fills an empty home from a snapshot."""
        self.state = stored_state(image)
        with_vectors = [
            (row, vectors) for row, vectors in zip(image.rows, image.vectors, strict=True) if vectors is not None
        ]
        if with_vectors and image.matrix is not None:
            self.vectors = VectorIndex(image.matrix.shape[1])
            ids = [row.memory_id for row, _ in with_vectors]
            counts = [len(vectors) for _, vectors in with_vectors]
            self.vectors.load(ids, counts, image.matrix, [facets_of(row) for row, _ in with_vectors])
        for row in image.rows:
            self._index_words(row)

    def tidy(self) -> None:
        """Drops what need not be remembered any longer: old answers, and rows deleted longer ago than they may come
        back (history keeps those)."""
        settings, now = self.settings, self.now()
        self.state.forget_answers(now - settings.idempotency_seconds * SECOND_NS, settings.idempotency_keys_max)
        deadline = now - settings.restore_window_days * DAY_NS
        for row in [row for row in self.state.rows.values() if (row.tombstoned_at or now) < deadline]:
            self.state.forget(row.memory_id)
            self._drop_vectors(row.memory_id)
            self.words.remove(row.memory_id)

    @property
    def is_snapshot_due(self) -> bool:
        due = self.store.segments_since_snapshot >= self.settings.snapshot_segments or (
            self.now() - self._written_down_at >= self.settings.snapshot_seconds * SECOND_NS and bool(self.state.recent)
        )
        may = self.now() >= self._snapshot_from and not self.store.snapshotting and not self.broken
        return due and may

    def write_down(self) -> asyncio.Task[int]:
        """Begins a snapshot of the state as it is in this turn. The images that it folds into history stay readable
        here until it is done, and longer where it fails."""
        self.tidy()
        self._written_down_at = self.now()
        folding, self.state.recent = self.state.recent, {}
        self.folding.append(folding)
        snapshot = self.store.snapshot(self.image())
        snapshot.add_done_callback(lambda task: self._folded(folding, task))
        return snapshot

    def image(self) -> StateImage:
        state = self.state
        rows = list(state.rows.values())
        return StateImage(
            rows=rows,
            vectors=StoredVectors(rows, self.vectors.reader()) if self.vectors else [None] * len(rows),
            answers=list(state.answers.values()),
            registered=Registered(state.settings, self.now()) if state.settings else None,
            embedder=state.stamp,
            last_version=state.last_version,
        )

    async def close(self) -> None:
        """Everything durable, a snapshot of what is new, and never a write again. Raises StorageError."""
        try:
            await self.store.close(self.image())
        finally:
            self.words.close()
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._word_thread.shutdown(wait=False, cancel_futures=True)

    def images_in_memory(self, memory_id: str) -> list[Row]:
        """The row's images that history may not hold yet, newest first."""
        kept = [*self.folding, self.state.recent]
        return [image for images in kept for image in images.get(memory_id, ())][::-1]

    def _folded(self, folding: dict[str, list[Row]], task: asyncio.Task[int]) -> None:
        if task.cancelled() or task.exception() is not None:
            _log.warning("a snapshot failed; the log keeps everything until the next: %s", task)
            self._snapshot_from = self.now() + RETRY_SNAPSHOT_NS
            return
        self.folding.remove(folding)


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


def stored_state(image: StateImage) -> State:
    """The state that a snapshot holds."""
    state = State()
    for row in image.rows:
        state.put(row)
    state.last_version = max(state.last_version, image.last_version)
    state.settings = dict(image.registered.settings) if image.registered else {}
    state.answers.update((answer.key, answer) for answer in image.answers)
    state.stamp = image.embedder
    return state


def _search_groups(view: Any, searches: Sequence[Search]) -> list[Found]:
    groups: dict[tuple[Where, int], list[int]] = {}
    for place, search in enumerate(searches):
        groups.setdefault((search.where, search.k), []).append(place)
    hits: Mapping[int, list[Hit]] = {}
    for (where, k), places in groups.items():
        matrix = np.stack([searches[place].vector for place in places])
        answers = view.search(matrix, k, where, excerpts_only=True)
        hits = {**hits, **dict(zip(places, answers, strict=True))}
    return [Found(hits[place], view.mark) for place in range(len(searches))]
