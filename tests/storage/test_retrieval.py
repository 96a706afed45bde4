"""Does one search find a row by its meaning, by its words, and by any part of a long value?"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from loom_ray.core.row import MemoryType, Status
from loom_ray.core.similarity import Matrix, similarities
from loom_ray.core.text.chunks import chunks, excerpt
from loom_ray.storage.facets import Facets, Where
from loom_ray.storage.retrieval import retrieve
from loom_ray.storage.vectors import VectorIndex
from loom_ray.storage.words import WordIndex

ANYONE = Facets(MemoryType.SEMANTIC, "-", Status.ACTIVE)


def embedded(*texts: str) -> Matrix:
    """Letter pairs, counted: enough of a likeness for a test."""
    counts = np.zeros((len(texts), 64))
    for line, text in zip(counts, texts, strict=True):
        for one, two in pairwise(text):
            line[(ord(one) * 31 + ord(two)) % 64] += 1
    return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float16)


class Rows:
    def __init__(self, **texts: str) -> None:
        self.vectors, self.words = VectorIndex(64), WordIndex()
        for memory_id, text in texts.items():
            self.vectors.put(memory_id, embedded(excerpt(text), *chunks(text, memory_id)), ANYONE)
            self.words.put(memory_id, text, memory_id, ANYONE)

    def retrieve(self, query: str, k: int = 5, where: Where | None = None):
        return retrieve(self.vectors.view(), self.words, query, embedded(query), k, where or Where())


def test_the_very_end_of_a_long_value_is_found_by_meaning_and_by_words() -> None:
    end = "A brass quadrant lies on the topmost shelf."
    rows = Rows(long="The rope store lists hemp lines. " * 1816 + end, short="The cooper repairs barrels.")
    pieces = chunks("The rope store lists hemp lines. " * 1816 + end, "long")
    best = rows.retrieve("brass quadrant topmost shelf")[0]
    assert best.memory_id == "long"
    assert best.piece == len(pieces)
    assert end in pieces[best.piece - 1]


def test_a_hit_that_words_alone_found_has_its_similarity_too() -> None:
    rows = Rows(**{f"near{number}": "zq zq zq zq" for number in range(20)}, worded="lantern oil and wicks")
    hits = {hit.memory_id: hit for hit in rows.retrieve("zq zq lantern", k=3)}
    expected = similarities(embedded("zq zq lantern"), embedded("lantern oil and wicks"))[0, 0]
    assert hits["worded"].similarity == expected


def test_the_filter_holds_for_both_lists() -> None:
    rows = Rows(a="the boat", b="the boat")
    rows.vectors.put("b", None, Facets(MemoryType.SEMANTIC, "-", Status.TOMBSTONED))
    rows.words.put("b", "the boat", "b", Facets(MemoryType.SEMANTIC, "-", Status.TOMBSTONED))
    hits = rows.retrieve("boat", where=Where(statuses=frozenset({Status.ACTIVE})))
    assert [hit.memory_id for hit in hits] == ["a"]
