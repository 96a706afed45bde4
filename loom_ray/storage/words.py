"""Which rows share words with a query? The word index of one namespace: BM25, in memory, filtered first."""

from __future__ import annotations

import heapq
import math
import threading
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from loom_ray.core.ranking import WordHit
from loom_ray.core.text.terms import query_stems, stems, stems_in
from loom_ray.storage.facets import Facets, Where
from loom_ray.storage.facts import ROW, Codebook, Facts
from loom_ray.storage.postings import Postings

K1, B = 0.9, 0.4  # Trotman, Jia and Crane, "Towards an efficient and effective search engine", OSIR 2012
KEY_WEIGHT = 0.3  # of a word in the key against the same in the text: Robertson, Zaragoza and Taylor's BM25F, CIKM 2004
BATCH_ROWS = 64  # between two batches a search may come in
BACKLOG_ROWS_MAX = 256  # about 10 ms of indexing
ROWS_MIN = 64
DEAD_ROWS_MIN = 1024  # fewer are not worth a compaction

_Number = TypeVar("_Number", bound=np.generic)
_Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Entry:
    text: str
    memory_key: str
    facets: Facets


class WordIndex:
    """`put` and `remove` only note what changed, whatever thread; the next search or `catch_up` indexes it in its own.

    Scores are exact: those of an index of the rows held, whatever was put, replaced and removed before.
    """

    def __init__(self) -> None:
        self._pending: dict[str, _Entry | None] = {}
        self._pending_lock = threading.Lock()  # held for a moment only: the actor's loop takes it
        self._lock = threading.Lock()  # of all below
        self._closed = False
        self._postings = Postings()
        self._codebook = Codebook()
        self._rows: dict[str, int] = {}
        self._ids: list[str] = []  # by row number, as all that follow
        self._language: list[str] = []
        self._facts: Facts = np.zeros(ROWS_MIN, dtype=ROW)
        self._lengths = np.zeros(ROWS_MIN)
        self._length = 0  # of all live rows
        self._languages = Counter[str]()  # of the live rows

    def put(self, memory_id: str, text: str, memory_key: str, facets: Facets) -> None:
        """Add a row, or replace all that is held of it."""
        with self._pending_lock:
            self._pending[memory_id] = _Entry(text, memory_key, facets)

    def remove(self, memory_id: str) -> None:
        """Forget a row; nothing happens when it is not held."""
        with self._pending_lock:
            self._pending[memory_id] = None

    @property
    def is_behind(self) -> bool:
        """Whether so much waits to be indexed that a search should not do it by the way."""
        return len(self._pending) > BACKLOG_ROWS_MAX

    def catch_up(self) -> None:
        """Index what was put and removed until now, in a thread of its own; a search that comes meanwhile waits."""
        while self._pending and not self._closed:
            with self._lock:
                self._index_batch()

    def close(self) -> None:
        """Ends a `catch_up` under way."""
        self._closed = True

    def search(self, query: str, k: int, where: Where, also: Collection[str] = ()) -> list[WordHit]:
        """The k best rows that the filter admits, best first, then those of `also` that share a word with the query.

        [] for a query without words. Safe in any thread.
        """
        with self._lock:
            while self._pending:
                self._index_batch()
            scores, key_words = self._scores(query_stems(query, self._languages))
            scores[~self._codebook.mask(self._facts[: len(scores)], where)] = 0.0
            best = self._best(scores, k)
            rows = [self._rows[memory_id] for memory_id in also if memory_id in self._rows]
            more = set(rows).difference(best)
            found = [*best, *(row for row in rows if row in more and scores[row] > 0.0)]
            return [WordHit(self._ids[row], float(scores[row]), int(key_words[row])) for row in found]

    # ---- scoring -----------------------------------------------------------------------------------------------
    def _scores(self, asked: list[str]) -> tuple[_Scores, npt.NDArray[np.int64]]:
        """By row: the BM25 score, and how many of the asked terms stand in the key."""
        count = len(self._ids)
        scores, key_words = np.zeros(count), np.zeros(count, dtype=np.int64)
        usual = self._length / max(len(self._rows), 1) or 1.0
        norms = self._lengths[:count] * (K1 * B / usual) + K1 * (1.0 - B)
        live = self._facts["held"]
        for term in asked:
            rows, in_text, in_key = self._postings.of(term)
            frequency = in_text + KEY_WEIGHT * in_key
            weight = self._rarity(int(np.count_nonzero(live[rows]))) * (K1 + 1.0)
            scores[rows] += weight * frequency / (frequency + norms[rows])
            key_words[rows] += in_key > 0
        return scores, key_words

    def _rarity(self, rows: int) -> float:
        return math.log(1.0 + (len(self._rows) - rows + 0.5) / (rows + 0.5))

    def _best(self, scores: _Scores, k: int) -> list[int]:
        """The rows of the k highest scores above zero, equal ones in the order of their ids."""
        rows = np.flatnonzero(scores > 0.0)
        if 0 < k < len(rows):
            least = np.partition(scores[rows], -k)[-k]
            rows = rows[scores[rows] >= least]
        return heapq.nsmallest(k, rows.tolist(), key=lambda row: (-scores[row], self._ids[row]))

    # ---- indexing ----------------------------------------------------------------------------------------------
    def _index_batch(self) -> None:
        batch = self._take()
        try:
            for memory_id in batch:
                self._drop(memory_id)
            self._add({memory_id: entry for memory_id, entry in batch.items() if entry is not None})
        except BaseException:
            with self._pending_lock:
                self._pending = batch | self._pending
            raise
        dead = len(self._ids) - len(self._rows)
        if dead > max(DEAD_ROWS_MIN, len(self._rows)):
            self._compact()

    def _take(self) -> dict[str, _Entry | None]:
        with self._pending_lock:
            ids = [memory_id for memory_id, _ in zip(self._pending, range(BATCH_ROWS), strict=False)]
            return {memory_id: self._pending.pop(memory_id) for memory_id in ids}

    def _drop(self, memory_id: str) -> None:
        row = self._rows.pop(memory_id, None)
        if row is None:
            return
        self._facts["held"][row] = False
        self._length -= int(self._lengths[row])
        self._languages -= Counter((self._language[row],))

    def _add(self, entries: dict[str, _Entry]) -> None:
        """Rows stay dead until all of them are in: a failure before leaves nothing that could be found."""
        texts = [stems(entry.text) for entry in entries.values()]
        first, end = len(self._ids), len(self._ids) + len(entries)
        while end > len(self._lengths):
            self._facts, self._lengths = _doubled(self._facts), _doubled(self._lengths)
        self._ids.extend(entries)
        self._language.extend(language for language, _ in texts)
        for row, (entry, (language, text)) in enumerate(zip(entries.values(), texts, strict=True), start=first):
            self._postings.add(row, text, stems_in(language, entry.memory_key))
        self._lengths[first:end] = [len(text) for _, text in texts]
        self._facts[first:end] = self._codebook.facts([entry.facets for entry in entries.values()])
        self._length += sum(len(text) for _, text in texts)
        self._languages.update(self._language[first:end])
        self._rows.update(zip(entries, range(first, end), strict=True))

    def _compact(self) -> None:
        """Forget the rows that are dead."""
        rows = np.fromiter(self._rows.values(), dtype=np.int64, count=len(self._rows))
        rows.sort()
        numbers = np.full(len(self._ids), -1, dtype=np.int64)
        numbers[rows] = np.arange(len(rows))
        self._postings.renumber(numbers)
        self._ids = [self._ids[row] for row in rows.tolist()]
        self._language = [self._language[row] for row in rows.tolist()]
        self._rows = {memory_id: row for row, memory_id in enumerate(self._ids)}
        self._facts, self._lengths = _doubled(self._facts[rows]), _doubled(self._lengths[rows])


def _doubled(rows: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    return np.concatenate((rows, np.zeros(max(len(rows), ROWS_MIN), dtype=rows.dtype)))
