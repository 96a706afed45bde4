"""In which order are hits shown? By one score from those by meaning and by words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

MEANING_WEIGHT = 0.4  # benchmarks/retrieval.py: the best of 0.3, 0.4 and 0.5 by less than a hundredth


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
    """A fused hit. `rank_score` is between 0 and 1: of the best that the query could find by meaning and by words."""

    memory_id: str
    rank_score: float
    similarity: float | None  # None for a row without vectors, which words found
    piece: int


def fuse(meaning: Mapping[str, float], floor: float, words: Mapping[str, WordHit], k: int) -> list[tuple[str, float]]:
    """The k best memories and their scores: 0.4 of the score by meaning and 0.6 of that by words.

    Each is a share of the query's best: BM25 from 0 on, similarity from `floor` on, that to the average row, with which
    the query has in common what it has with all. A convex combination of such scores beats reciprocal ranks,
    and its one parameter hardly matters: Bruch, Gai and Ingber, "An analysis of fusion functions for hybrid
    retrieval", ACM TOIS 42, 2023. Equal sums are told apart by the query's words in the key, then by similarity, then
    by id.
    """
    near = max(meaning.values(), default=floor) - floor
    rare = max((hit.score for hit in words.values()), default=0.0)

    def score(memory_id: str) -> float:
        by_meaning = max(meaning.get(memory_id, floor) - floor, 0.0) / near if near > 0.0 else 0.0
        by_words = words[memory_id].score / rare if memory_id in words else 0.0
        return MEANING_WEIGHT * by_meaning + (1.0 - MEANING_WEIGHT) * by_words

    def order(scored: tuple[str, float]) -> tuple[float, int, float, str]:
        memory_id, total = scored
        key_words = words[memory_id].key_words if memory_id in words else 0
        return -total, -key_words, -meaning.get(memory_id, -1.0), memory_id

    return sorted(((each, score(each)) for each in {**meaning, **words}), key=order)[:k]
