"""A namespace without anything that waits: writes are decided on vectors made up by the scene."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from loom_ray.contract.arguments import read_request
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings
from loom_ray.core.decide.claim import Settled, settle, settled_of
from loom_ray.core.decide.remove import decide_delete, decide_restore, not_restored, restorable
from loom_ray.core.decide.rules import Rules
from loom_ray.core.decide.write import Embedded, NeedsVectors, Written, decide_writes
from loom_ray.core.draft import Draft
from loom_ray.core.records import Vectors
from loom_ray.core.row import Row
from loom_ray.core.similarity import similarities
from loom_ray.core.state import State

SECOND = 1_000_000_000
DIMENSIONS = 64


class Scene:
    """Texts are near when they share words: a bag of hashed words stands in for an embedder."""

    def __init__(self, **registered: Any) -> None:
        self.state = State()
        self.settings = Settings()
        self.now = 2_000_000_000 * SECOND
        self.vectors: dict[str, Vectors] = {}
        self.registered = registered
        self._ids = (f"id-{number}" for number in count(1))

    @property
    def rules(self) -> Rules:
        return Rules(self.settings, self.registered)

    def set(self, memory_key: str, value: Any, **more: Any) -> Written:
        return self.write("memory.set", memory_key=memory_key, value=value, **more)[0]

    def bulk(self, *entries: dict[str, Any], **more: Any) -> list[Written]:
        return self.write("memory.bulk_set", entries=list(entries), **more)

    def write(self, op: str, dry_run: bool = False, **arguments: Any) -> list[Written]:
        request: Any = self.request(op, **arguments)
        entries = [request] if op == "memory.set" else request.entries
        places = [None] if op == "memory.set" else range(len(entries))
        claims = [settle(entry, request, place, self.rules) for entry, place in zip(entries, places, strict=True)]
        ids, embedded = [next(self._ids) for _ in claims], {}
        while True:
            draft = self.draft()
            try:
                written = decide_writes(draft, claims, embedded, self.rules, ids)
            except NeedsVectors as needs:
                embedded |= {place: self.embedded(claims[place]) for place in needs.places}
                continue
            if not dry_run:
                self.apply(draft)
            return written

    def delete(self, memory_key: str, **more: Any) -> Any:
        draft = self.draft()
        answer = decide_delete(draft, self.request("memory.delete", memory_key=memory_key, **more))
        self.apply(draft)
        return answer

    def restore(self, memory_key: str, **more: Any) -> Any:
        draft, request = self.draft(), self.request("memory.restore", memory_key=memory_key, **more)
        row = restorable(draft, request, self.rules)
        if row is None:
            return not_restored(draft, request)
        near = self.near(self.vectors[row.memory_id][0]) if row.memory_id in self.vectors else {}
        answer = decide_restore(draft, row, settled_of(row), near, self.rules)
        self.apply(draft)
        return answer

    def row(self, memory_key: str) -> Row:
        (memory_id,) = self.state.ids_of_key(memory_key, "*")
        return self.state.rows[memory_id]

    def request(self, op: str, **arguments: Any) -> Any:
        import orjson

        return read_request(OPS[op], orjson.dumps(arguments), self.settings).request

    def draft(self) -> Draft:
        self.now += SECOND
        return Draft(self.state, self.now)

    def apply(self, draft: Draft) -> None:
        for record in draft.records:
            self.state.apply(record)
            vectors = getattr(record, "vectors", None)
            if vectors is not None:
                self.vectors[record.row.memory_id] = vectors  # type: ignore[union-attr]
        check_links(self.state)

    def embedded(self, settled: Settled) -> Embedded:
        row = self.state.row_at(settled.address)
        kept = row is not None and row.is_searched and row.content_sha256 == settled.content_sha256
        vectors = np.stack([bag(piece) for piece in settled.pieces])
        return Embedded(vectors, self.near(vectors[0]), kept)

    def near(self, vector: Vectors) -> dict[str, float]:
        stored = {memory_id: vectors for memory_id, vectors in self.vectors.items() if len(vectors)}
        if not stored:
            return {}
        matrix = np.stack([vectors[0] for vectors in stored.values()])
        return dict(zip(stored, similarities(vector[None, :], matrix)[0].tolist(), strict=True))


def bag(text: str) -> Vectors:
    vector = np.full(DIMENSIONS, 0.01, np.float32)
    for word in text.casefold().split():
        vector[sum(word.encode()) % DIMENSIONS] += 1.0
    return (vector / np.linalg.norm(vector)).astype(np.float16)


def check_links(state: State) -> None:
    """What holds after every change, whatever the scene."""
    for row in state.rows.values():
        for peer in row.conflict_with:
            assert row.memory_id in state.rows[peer].conflict_with, "conflict_with is symmetric"
        assert (row.status == "conflicted") == bool(row.conflict_with), "flagged exactly when it contradicts somebody"
        assert all(state.rows[peer].is_live for peer in row.conflict_with), "nobody is flagged against a dead row"
        if row.status == "duplicate":
            assert state.rows[row.duplicate_of].is_live, "a duplicate's canonical is served"
        assert state.by_address[row.address] == row.memory_id, "one row an address"
    assert sum(state.counts.values()) == len(state.rows)
