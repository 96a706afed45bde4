"""Which rows contradict each other, in which order are they shown, and what have their conflicts in common?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from loom_ray.contract.conflicts import (
    ConflictGroup,
    ConflictPeer,
    ConflictRow,
    ConflictsListAnswer,
    ConflictsListRequest,
)
from loom_ray.contract.fields import to_rfc3339
from loom_ray.contract.writing import DifferenceView
from loom_ray.core.judging.contrast import Contrast, contrast
from loom_ray.core.read.cursor import read_cursor, write_cursor
from loom_ray.core.read.listing import ANYBODY, order
from loom_ray.core.read.view import listed_view
from loom_ray.core.row import SHOWN_CHARS, Row
from loom_ray.core.state import KeyOrder, State

SAMPLES = 3


class Pair(NamedTuple):
    """Two rows that contradict each other; `row` is the one that was said later."""

    row: Row
    peer: Row


class Cause(NamedTuple):
    group_id: str
    template: str


class Causes:
    """What each pair's conflict comes from, worked out once a wording: about 0.2 ms each."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Cause] = {}  # by the digests of both texts, in their order

    def unknown(self, pairs: Iterable[Pair]) -> list[Pair]:
        return [pair for pair in pairs if _digests(pair) not in self._known]

    def learn(self, pairs: Iterable[Pair]) -> None:
        """Safe in a thread: what is learnt is only added."""
        for pair in pairs:
            found = contrast(pair.row.text, pair.peer.text)
            self._known[_digests(pair)] = Cause(found.group_id, found.template)

    def by_group(self, pairs: Sequence[Pair]) -> dict[Cause, list[Pair]]:
        """Every pair under its cause; what no pair needs any longer is forgotten."""
        self.learn(self.unknown(pairs))
        needed = {_digests(pair): pair for pair in pairs}
        self._known = {digests: cause for digests, cause in self._known.items() if digests in needed}
        groups: dict[Cause, list[Pair]] = defaultdict(list)
        for pair in pairs:
            groups[self._known[_digests(pair)]].append(pair)
        return groups


def _digests(pair: Pair) -> tuple[str, str]:
    first, second = sorted((pair.row.content_sha256, pair.peer.content_sha256))
    return first, second


# ---- which ---------------------------------------------------------------------------------------------------------
def conflicted_rows(state: State, user_id: str, now: int) -> list[Row]:
    """The current ones in the order of keys; of one user where one is named."""
    flagged = (state.rows[memory_id] for _, memory_id in state.conflicted)
    return [row for row in flagged if row.is_current(now) and user_id in (*ANYBODY, row.user_id)]


def conflicting_pairs(state: State, rows: Iterable[Row]) -> list[Pair]:
    """Each pair once, in the order of the rows."""
    seen: set[tuple[str, str]] = set()
    pairs: list[Pair] = []
    for row in rows:
        for peer in _peers(state, row):
            first, second = sorted((row, peer), key=_said)
            if (second.memory_id, first.memory_id) not in seen:
                seen.add((second.memory_id, first.memory_id))
                pairs.append(Pair(second, first))
    return pairs


def _said(row: Row) -> tuple[int, int]:
    return row.began, row.version


def _peers(state: State, row: Row) -> Iterator[Row]:
    return (peer for peer in map(state.rows.get, row.conflict_with) if peer is not None)


# ---- rows ----------------------------------------------------------------------------------------------------------
def list_conflicts(
    state: State, request: ConflictsListRequest, rows: Sequence[Row], namespace: str, page_max: int
) -> ConflictsListAnswer:
    """One page of `rows`. What contradicts each other, over however many links, stays together; only a tangle of more
    than `page_max` rows goes over several pages."""
    after = read_cursor(request.cursor, str, str, str, str)
    if request.count_only:
        return ConflictsListAnswer(rows=[], keys=[], count=len(rows))
    placed = _placed(rows)
    rest = [one for one in placed if after is None or (*one[0], *order(one[1])) > after]
    page: list[tuple[KeyOrder, Row]] = []
    for _, group in groupby(rest, lambda one: one[0]):
        tangle = list(group)
        if page and (len(page) >= request.limit or len(page) + len(tangle) > page_max):
            break
        page += tangle[:page_max]
    more = len(rest) > len(page)
    return ConflictsListAnswer(
        rows=[] if request.keys_only else [conflict_row(row, state, namespace) for _, row in page],
        keys=[row.memory_key for _, row in page] if request.keys_only else [],
        count=len(rows),
        next_cursor=write_cursor((*page[-1][0], *order(page[-1][1]))) if page and more else "",
    )


def _placed(rows: Sequence[Row]) -> list[tuple[KeyOrder, Row]]:
    """Each row behind the place of its tangle, which is its first row's (union-find)."""
    head = {row.memory_id: row.memory_id for row in rows}

    def find(memory_id: str) -> str:
        while head[memory_id] != memory_id:
            head[memory_id] = head[head[memory_id]]
            memory_id = head[memory_id]
        return memory_id

    for row in rows:
        for peer in row.conflict_with:
            if peer in head:
                head[find(peer)] = find(row.memory_id)
    places: dict[str, KeyOrder] = {}
    for row in rows:
        places.setdefault(find(row.memory_id), order(row))
    return sorted(((places[find(row.memory_id)], row) for row in rows), key=lambda one: (one[0], order(one[1])))


def conflict_row(row: Row, state: State, namespace: str) -> ConflictRow:
    told = listed_view(row, state, namespace).model_dump()
    return ConflictRow(**told, peers=[peer_of(row, peer) for peer in _peers(state, row)])


def peer_of(row: Row, peer: Row) -> ConflictPeer:
    """The peer beside `row`, and where they differ."""
    found = contrast(row.text, peer.text)
    return ConflictPeer(
        memory_id=peer.memory_id,
        memory_key=peer.memory_key,
        agent=peer.agent,
        user_id=peer.user_id,
        session_id=peer.session_id,
        excerpt=peer.shown,
        version_text=str(peer.version),
        rule=found.rule,
        differences=differing(row, peer, found),
        group_id=found.group_id,
    )


def differing(row: Row, peer: Row, found: Contrast) -> list[DifferenceView]:
    if "high" in (row.sensitivity, peer.sensitivity):
        return []
    return [DifferenceView(kind=one.kind, ours=one.ours, theirs=one.theirs) for one in found.differences]


# ---- groups --------------------------------------------------------------------------------------------------------
def list_groups(groups: Mapping[Cause, Sequence[Pair]], request: ConflictsListRequest) -> ConflictsListAnswer:
    """The largest first."""
    after = read_cursor(request.cursor, int, str)
    ordered = sorted(groups.items(), key=lambda one: (-len(one[1]), one[0].group_id))
    rest = [one for one in ordered if after is None or (-len(one[1]), one[0].group_id) > after]
    page = rest[: request.limit]
    last = page[-1] if page and len(rest) > len(page) else None
    return ConflictsListAnswer(
        rows=[],
        keys=[],
        groups=[_group(cause, pairs) for cause, pairs in page],
        count=len(ordered),
        next_cursor=write_cursor((-len(last[1]), last[0].group_id)) if last else "",
    )


def _group(cause: Cause, pairs: Sequence[Pair]) -> ConflictGroup:
    rows = {row.memory_id: row for pair in pairs for row in pair}
    hidden = any(row.sensitivity == "high" for row in rows.values())
    return ConflictGroup(
        group_id=cause.group_id,
        template="" if hidden else cause.template[:SHOWN_CHARS],
        pairs=len(pairs),
        rows=len(rows),
        newest_at=to_rfc3339(max(row.version for row in rows.values())),
        samples=[] if hidden else [[row.shown for row in pair] for pair in pairs[:SAMPLES]],
    )
