"""In which order are hits shown? Reciprocal rank fusion of the lists by meaning and by words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

RANK_CONSTANT = 60  # Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet …", SIGIR 2009


class Hit(NamedTuple):
    """A memory found by meaning. `piece` is 0 for the excerpt, n for the n-th chunk."""

    memory_id: str
    similarity: float
    piece: int


class WordHit(NamedTuple):
    """A memory found by words. `score` is BM25's; `key_words` counts the query's words that stand in its key."""

    memory_id: str
    score: float
    key_words: int


class Ranked(NamedTuple):
    """A fused hit. `similarity` and `piece` are None and 0 for one that only words found."""

    memory_id: str
    rank_score: float
    similarity: float | None
    piece: int


def fuse(meaning: Sequence[Hit], words: Sequence[WordHit], k: int) -> list[Ranked]:
    """The k best of two lists, each best first and with one hit a memory: by the sum of 1 / (60 + rank).

    Equal sums are told apart by the query's words in the key, then by similarity, then by id.
    """
    similar = {hit.memory_id: hit for hit in meaning}
    worded = {hit.memory_id: hit for hit in words}
    scores: dict[str, float] = {}
    for found in (meaning, words):
        for rank, hit in enumerate(found, start=1):
            scores[hit.memory_id] = scores.get(hit.memory_id, 0.0) + 1.0 / (RANK_CONSTANT + rank)

    def order(memory_id: str) -> tuple[float, int, float, str]:
        hit, word = similar.get(memory_id), worded.get(memory_id)
        return -scores[memory_id], -(word.key_words if word else 0), -(hit.similarity if hit else -1.0), memory_id

    return [_ranked(each, scores[each], similar.get(each)) for each in sorted(scores, key=order)[:k]]


def _ranked(memory_id: str, score: float, hit: Hit | None) -> Ranked:
    return Ranked(memory_id, score, hit.similarity if hit else None, hit.piece if hit else 0)
