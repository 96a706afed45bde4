"""In which order are hits shown? Reciprocal rank fusion of the lists by meaning and by words."""

from __future__ import annotations

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
