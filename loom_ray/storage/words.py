"""Which rows share words with a query? The word index of one namespace: BM25 by tantivy, in memory, filtered first."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import tantivy
from tantivy import Occur, Query

from loom_ray.core.ranking import WordHit
from loom_ray.core.text.terms import query_terms, terms
from loom_ray.storage.facets import Facets, Where

KEY_WEIGHT = 0.3  # of a word in the key against the same in the text
WRITER_BYTES = 15_000_000  # the least that tantivy takes
NEVER = 2**63 - 1

_ANALYZER = "words"


@dataclass(frozen=True, slots=True)
class _Entry:
    text: str
    memory_key: str
    facets: Facets


class WordIndex:
    """`put` and `remove` only note what changed, whatever thread; the next search (or `refresh`) indexes it first.

    The writer lives only while it commits: an idle namespace has none of its threads and none of its memory.
    """

    def __init__(self) -> None:
        self._schema = _schema()
        self._index = tantivy.Index(self._schema)
        words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        self._stemmer = words.filter(tantivy.Filter.stemmer("english")).build()
        self._index.register_tokenizer(_ANALYZER, self._stemmer)
        self._index.config_reader("manual")  # the watcher takes tantivy's lock, and who then meets it sleeps 100 ms
        self._numbers: dict[str, int] = {}
        self._known: dict[int, tuple[str, str]] = {}  # number → memory id and key
        self._next = 0
        self._pending: dict[str, _Entry | None] = {}
        self._pending_lock = threading.Lock()
        self._commit_lock = threading.Lock()

    def put(self, memory_id: str, text: str, memory_key: str, facets: Facets) -> None:
        """Add a row, or replace all that is held of it: tantivy updates no field alone, so new facets need the text."""
        with self._pending_lock:
            self._pending[memory_id] = _Entry(text, memory_key, facets)

    def remove(self, memory_id: str) -> None:
        """Forget a row; nothing happens when it is not held."""
        with self._pending_lock:
            self._pending[memory_id] = None

    def refresh(self) -> None:
        """Index what was put and removed until now. About 25 µs a short row; call it in a thread after a wake-up."""
        with self._commit_lock:
            with self._pending_lock:
                pending, self._pending = self._pending, {}
            try:
                self._commit(pending)
            except BaseException:
                with self._pending_lock:
                    self._pending = pending | self._pending
                raise

    def search(self, query: str, k: int, where: Where) -> list[WordHit]:
        """The k best rows that the filter admits, best first; [] for a query without words. Safe in any thread."""
        self.refresh()
        asked = self._stems(query_terms(query))
        if not asked or k <= 0:
            return []
        searcher = self._index.searcher()
        found = searcher.search(self._query(asked, where), k, count=False).hits
        numbers = cast(list[int], searcher.fast_field_values("number", [address for _, address in found]))
        hits = [self._hit(number, score, asked) for number, (score, _) in zip(numbers, found, strict=True)]
        return sorted((hit for hit in hits if hit is not None), key=lambda hit: (-hit.score, hit.memory_id))

    def _stems(self, words: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(self._stemmer.analyze(" ".join(words))))

    def _hit(self, number: int, score: float, asked: list[str]) -> WordHit | None:
        known = self._known.get(number)
        if known is None:  # removed since the search began
            return None
        memory_id, memory_key = known
        key_words = len(set(asked).intersection(self._stems(terms(memory_key))))
        return WordHit(memory_id, score, key_words)

    def _commit(self, pending: dict[str, _Entry | None]) -> None:
        if not pending:
            return
        writer = self._index.writer(WRITER_BYTES, 1)
        for memory_id, entry in pending.items():
            if memory_id in self._numbers:
                writer.delete_documents_by_term("number", self._numbers[memory_id])
            if entry is not None:
                writer.add_document(self._document(memory_id, entry))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        for memory_id, entry in pending.items():
            if entry is None and memory_id in self._numbers:
                del self._known[self._numbers.pop(memory_id)]

    def _document(self, memory_id: str, entry: _Entry) -> tantivy.Document:
        number = self._numbers.setdefault(memory_id, self._next)
        self._next = max(self._next, number + 1)
        self._known[number] = (memory_id, entry.memory_key)
        document = tantivy.Document()
        document.add_integer("number", number)
        document.add_text("text", " ".join(terms(entry.text)))
        document.add_text("key", " ".join(terms(entry.memory_key)))
        _add_facets(document, entry.facets)
        return document

    def _query(self, asked: list[str], where: Where) -> Query:
        words = [(Occur.Should, self._word(word)) for word in asked]
        filters = [(Occur.Must, Query.const_score_query(each, 0.0)) for each in self._filters(where)]
        return Query.boolean_query([(Occur.Must, Query.boolean_query(words)), *filters])

    def _word(self, word: str) -> Query:
        in_text = Query.term_query(self._schema, "text", word, "freq")
        in_key = Query.term_query(self._schema, "key", word, "freq")
        return Query.boolean_query(
            [(Occur.Should, in_text), (Occur.Should, Query.boost_query(in_key, KEY_WEIGHT))],
        )

    def _filters(self, where: Where) -> Iterable[Query]:
        if where.memory_types is not None:
            yield Query.term_set_query(self._schema, "memory_type", sorted(where.memory_types))
        if where.user_ids is not None:
            yield Query.term_set_query(self._schema, "user_id", sorted(where.user_ids))
        if where.statuses is not None:
            yield Query.term_set_query(self._schema, "status", sorted(where.statuses))
        if where.tags:
            yield Query.term_set_query(self._schema, "tags", sorted(where.tags))
        if where.at is not None:
            integer = tantivy.FieldType.Integer
            yield Query.range_query(self._schema, "until", integer, lower_bound=where.at, include_lower=False)


def _add_facets(document: tantivy.Document, facets: Facets) -> None:
    document.add_text("memory_type", facets.memory_type)
    document.add_text("user_id", facets.user_id)
    document.add_text("status", facets.status)
    for tag in facets.tags:
        document.add_text("tags", tag)
    document.add_integer("until", NEVER if facets.until is None else facets.until)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", indexed=True, fast=True)  # signed: deleting by an unsigned term deletes nothing
    for name in ("text", "key"):
        builder.add_text_field(name, tokenizer_name=_ANALYZER, index_option="freq")
    for name in ("memory_type", "user_id", "status", "tags"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("until", fast=True)
    return builder.build()
