"""What must hold of a namespace's state and of its indexes at any time? Checked against the rows themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scene import vector_of

from loom_ray.actors.home import Home
from loom_ray.contract.settings import Settings
from loom_ray.contract.writing import SetRequest
from loom_ray.core.decide.claim import settle
from loom_ray.core.decide.write import NO_VECTORS, Embedded, decide_writes
from loom_ray.core.draft import By, Draft
from loom_ray.core.records import Record, RowWritten
from loom_ray.core.row import SEARCHED_TYPES, Row, Status
from loom_ray.core.similarity import similarities
from loom_ray.core.state import State
from loom_ray.core.text.chunks import chunks, excerpt
from loom_ray.core.text.preparation import has_meaning
from loom_ray.core.text.terms import terms
from loom_ray.storage.facets import Where, facets_of

DAY_NS = 86_400 * 1_000_000_000


def clone(state: State) -> State:
    copy = State()
    for row in state.rows.values():
        copy.put(row)
    copy.settings, copy.stamp, copy.last_version = dict(state.settings), state.stamp, state.last_version
    copy.answers.update(state.answers)
    return copy


def contents(state: State, settings: Settings, now: int) -> tuple[object, ...]:
    """All that a state holds, without what may be forgotten by now."""
    deadline = now - settings.restore_window_days * DAY_NS
    rows = {name: row for name, row in state.rows.items() if (row.tombstoned_at or now) >= deadline}
    return rows, state.settings, dict(state.answers), state.stamp, state.last_version


def check_state(state: State) -> None:
    rows = state.rows
    assert len({row.address for row in rows.values()}) == len(rows), "two heads at one address"
    rebuilt = clone(state)
    for name in ("by_address", "by_key", "conflicted", "counts", "_live_by_digest", "_duplicates_of"):
        ours, anew = getattr(state, name), getattr(rebuilt, name)
        assert {k: v for k, v in ours.items() if v} == {k: v for k, v in anew.items() if v} if hasattr(ours, "items") \
            else list(ours) == list(anew), f"{name} is not what the rows say"  # fmt: skip
    for row in rows.values():
        check_links(state, row)


def check_links(state: State, row: Row) -> None:
    assert (row.status is Status.CONFLICTED) == bool(row.conflict_with), f"{row.memory_key}: {row.status} without links"
    for peer in map(state.rows.get, row.conflict_with):
        assert peer is not None, f"{row.memory_key} contradicts a row that is not there"
        assert peer.is_live, f"{row.memory_key} contradicts {peer.memory_key}, which is {peer.status}"
        assert row.memory_id in peer.conflict_with, f"{row.memory_key} contradicts {peer.memory_key} on one side only"
    if row.status is Status.DUPLICATE:
        assert state.rows[row.duplicate_of].is_live, f"{row.memory_key} repeats a row that is not live"
    else:
        assert not row.duplicate_of


def check_verdict(home: Home, request: SetRequest, records: Sequence[Record]) -> None:
    """What a set is about to leave is what it leaves when it is judged against every row there is in this very turn."""
    claim = settle(request, request, None, home.rules)
    own = np.stack([vector_of(piece) for piece in claim.pieces]) if claim.pieces else NO_VECTORS
    others = {name: vector_of(excerpt(row.text)) for name, row in home.state.rows.items() if is_embedded(row)}
    near: dict[str, float] = {}
    if len(own) and others:
        near = dict(zip(others, similarities(own[:1], np.stack(list(others.values())))[0].tolist(), strict=True))
    draft = Draft(home.state, home.now(), By("memory.set", request.agent))
    decide_writes(draft, [claim], {0: Embedded(own, near)}, home.rules, ["anew"])
    assert images_in(draft.records) == images_in(records), f"{claim.text} was judged against another state"


def images_in(records: Sequence[Record]) -> list[object]:
    rows = [record.row for record in records if isinstance(record, RowWritten)]
    return [(row.address, row.status, row.duplicate_of, len(row.conflict_with)) for row in rows]


def check_vectors(home: Home) -> None:
    """Every searched row is there with the vectors of its own text and its own facets, and nothing else is."""
    meant = {name: row for name, row in home.state.rows.items() if is_embedded(row)}
    held = home.indexes.vectors
    assert (len(held) if held is not None else 0) == len(meant), "rows are missing in the vector index, or too many"
    for name, row in meant.items():
        assert held is not None
        pieces = (excerpt(row.text), *chunks(row.value, row.memory_key))
        own = np.stack([vector_of(piece) for piece in pieces])
        assert np.array_equal(held.vectors_of(name), own), f"{row.memory_key} has another text's vector"
    if held is not None and meant:
        check_filter(home, meant)


def check_filter(home: Home, meant: dict[str, Row]) -> None:
    assert home.indexes.vectors is not None
    for status in (Status.ACTIVE, Status.CONFLICTED, Status.TOMBSTONED):
        where = Where(statuses=frozenset({status}))
        query = vector_of("the")[None, :]
        hits = home.indexes.vectors.view().search(query, 1000, where, excerpts_only=True)[0]
        expected = {name for name, row in meant.items() if where.admits(facets_of(row))}
        assert {hit.memory_id for hit in hits} == expected, f"the vector index has another idea of who is {status}"


def check_words(home: Home, word: str) -> None:
    found = {hit.memory_id for hit in home.indexes.words.search(word, 1000, Where())}
    expected = {
        name
        for name, row in home.state.rows.items()
        if is_searched(row) and row.status is not Status.TOMBSTONED
        if word in {*terms(row.text), *terms(row.memory_key)}
    }
    assert found == expected, f"the word index finds {found} for {word!r}"


def is_searched(row: Row) -> bool:
    return row.memory_type in SEARCHED_TYPES and row.sensitivity != "high"


def is_embedded(row: Row) -> bool:
    return is_searched(row) and has_meaning(row.text)
