"""A namespace without anything that waits: writes are decided on vectors made up by the scene."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from loom_ray.contract.arguments import read_request
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings
from loom_ray.core.decide.arrive import decide_move, decide_restore, movable, not_restored, restorable
from loom_ray.core.decide.claim import Settled, settle
from loom_ray.core.decide.correct import corrected, row_to_correct
from loom_ray.core.decide.mark import decide_lock
from loom_ray.core.decide.remove import carry_out_end, decide_delete
from loom_ray.core.decide.rules import Rules
from loom_ray.core.decide.write import Embedded, NeedsVectors, Written, decide_writes
from loom_ray.core.draft import By, Draft
from loom_ray.core.records import Audited, Vectors
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
        entries = request.entries if op == "memory.bulk_set" else [request]
        places = range(len(entries)) if op == "memory.bulk_set" else [None]
        claims = [settle(entry, request, place, self.rules) for entry, place in zip(entries, places, strict=True)]
        return self.decided(op, lambda draft: claims, dry_run)

    def pin(self, memory_key: str, value: Any, **more: Any) -> Written:
        return self.write("memory.pin", memory_key=memory_key, value=value, **more)[0]

    def update(self, memory_key: str, dry_run: bool = False, **more: Any) -> Written | str:
        """How the correction went, or why there was nothing to correct."""
        request: Any = self.request("memory.update", memory_key=memory_key, **more)
        reason = ""

        def claims_of(draft: Draft) -> list[Settled]:
            nonlocal reason
            row, reason = row_to_correct(draft, request, self.rules)
            return [] if row is None else [corrected(row, request, draft.now, self.rules)]

        written = self.decided("memory.update", claims_of, dry_run)
        return written[0] if written else reason

    def decided(self, op: str, claims_of: Callable[[Draft], list[Settled]], dry_run: bool) -> list[Written]:
        embedded: dict[int, Embedded] = {}
        while True:
            draft = self.draft(op)
            claims = claims_of(draft)
            try:
                written = decide_writes(draft, claims, embedded, self.rules, [next(self._ids) for _ in claims])
            except NeedsVectors as needs:
                embedded |= {place: self.embedded(claims[place]) for place in needs.places}
                continue
            if not dry_run:
                self.apply(draft)
            return written

    def change(self, op: str, decide: Callable[[Draft, Any], Any], **arguments: Any) -> Any:
        """An op that needs nothing but the state."""
        draft = self.draft(op)
        answer = decide(draft, self.request(op, **arguments))
        self.apply(draft)
        return answer

    def delete(self, memory_key: str, **more: Any) -> Any:
        return self.change("memory.delete", decide_delete, memory_key=memory_key, **more)

    def restore(self, memory_key: str, **more: Any) -> Any:
        draft, request = self.draft("memory.restore"), self.request("memory.restore", memory_key=memory_key, **more)
        arriving = restorable(draft, request, self.rules)
        if arriving is None:
            return not_restored(draft, request, self.rules)
        answer = decide_restore(draft, arriving, self.near_row(arriving.row), self.rules)
        self.apply(draft)
        return answer

    def move(self, memory_key: str, new_memory_key: str, **more: Any) -> Any:
        draft = self.draft("memory.move")
        request: Any = self.request("memory.move", memory_key=memory_key, new_memory_key=new_memory_key, **more)
        arriving = movable(draft, request, next(self._ids))
        if arriving is None:
            return None
        vectors = self.vectors.get(arriving.row.memory_id)
        answer = decide_move(draft, request, arriving, self.near_row(arriving.row), vectors, self.rules)
        self.apply(draft)
        return answer

    def end(self, memory_key: str, seconds: float) -> Row:
        """Time passes, and whatever has ended by then is carried out."""
        self.pass_time(seconds)
        draft = self.draft("memory.expire")
        carry_out_end(draft, self.row(memory_key))
        self.apply(draft)
        return self.row(memory_key)

    def lock(self, memory_key: str, **more: Any) -> Any:
        return self.change("memory.lock", decide_lock, memory_key=memory_key, **more)

    def pass_time(self, seconds: float) -> None:
        self.now += int(seconds * SECOND)

    @property
    def audits(self) -> list[Audited]:
        """Of what was done to the rows that the ops were about, oldest first."""
        return [one for one in self.state.audits if not one.effect]

    def keys(self) -> list[str]:
        return list(self.state.by_key)

    def row(self, memory_key: str) -> Row:
        (memory_id,) = self.state.ids_of_key(memory_key, "*")
        return self.state.rows[memory_id]

    def request(self, op: str, **arguments: Any) -> Any:
        import orjson

        return read_request(OPS[op], orjson.dumps(arguments), self.settings).request

    def draft(self, op: str = "memory.set") -> Draft:
        self.now += SECOND
        return Draft(self.state, self.now, By(op, "process:scene"))

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

    def near_row(self, row: Row) -> dict[str, float]:
        return self.near(self.vectors[row.memory_id][0]) if row.memory_id in self.vectors else {}

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
        if row.status == "superseded":
            assert row.superseded_by in state.rows, "a retired row names its successor"
        assert state.by_address[row.address] == row.memory_id, "one row an address"
    assert sum(state.counts.values()) == len(state.rows)
