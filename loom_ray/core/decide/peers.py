"""Which stored rows is a claim judged against, and how does it stand to each?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heapify, heappop

from loom_ray.core.decide.claim import Compared, Settled
from loom_ray.core.decide.links import heirs
from loom_ray.core.decide.retire import stand_together
from loom_ray.core.decide.rules import Rules
from loom_ray.core.draft import Draft
from loom_ray.core.judging.pair import PairKind, PairVerdict, judge_statements
from loom_ray.core.judging.thresholds import Thresholds
from loom_ray.core.row import MemoryType, Row, share_a_user
from loom_ray.core.text.statement import analyse

PEERS_MAX = 5  # the pages: "closest first, at most five"; these are also the rows that are flagged
NEIGHBOURS = 24  # the nearest rows that are compared: five are shown, others may be about another subject


@dataclass(frozen=True, slots=True)
class Peer:
    """A stored row, how near it is (None: no vector was needed), and how the claim stands to it."""

    row: Row
    similarity: float | None
    verdict: PairVerdict


def same_fact(draft: Draft, settled: Settled) -> list[Row]:
    """Live rows elsewhere that hold the same canonical form, oldest first."""
    user_id = settled.address.identity.user_id
    rows = [
        row
        for row in draft.live_rows_of_digest(settled.canonical_digest, user_id)
        if holds_beside(row, settled, draft.now)
    ]
    return sorted(rows, key=lambda row: (row.created_at, row.memory_id))


def judged_peers(draft: Draft, settled: Settled, near: Mapping[str, float], rules: Rules) -> list[Peer]:
    """Every candidate with its verdict, closest first; ties in the order of keys."""
    thresholds = rules.thresholds(settled.memory_type)
    known = settled.verdicts.setdefault(thresholds, {})
    peers: list[Peer] = []
    for row in _candidates(draft, settled, near):
        same_key = row.memory_key == settled.address.memory_key
        similarity = near.get(row.memory_id)
        if row.canonical_digest == settled.canonical_digest:
            verdict = PairVerdict(PairKind.MERGE, "canonical_form", (), False, None)
        else:
            compared = (row.text, similarity, same_key)
            verdict = known.get(compared)
            if verdict is None:
                verdict = known[compared] = _verdict(settled, compared, thresholds)
        if verdict.kind is not PairKind.CONFLICT or not stand_together(draft, settled, row):
            peers.append(Peer(row, similarity, _told_apart_by_key(verdict, row, same_key)))
    return sorted(peers, key=lambda peer: (-(peer.similarity or 0.0), peer.row.memory_key, peer.row.memory_id))


def _verdict(settled: Settled, compared: Compared, thresholds: Thresholds) -> PairVerdict:
    theirs, similarity, same_key = compared
    return judge_statements(analyse(settled.text), analyse(theirs), similarity, thresholds, same_key=same_key)


def _candidates(draft: Draft, settled: Settled, near: Mapping[str, float]) -> list[Row]:
    """Rows of the same key or the same words, and the nearest of the others."""
    user_id = settled.address.identity.user_id
    rows = {row.memory_id: row for row in draft.rows_of_key(settled.address.memory_key, user_id)}
    rows |= {row.memory_id: row for row in draft.live_rows_of_digest(settled.canonical_digest, user_id)}
    peers = {memory_id: row for memory_id, row in rows.items() if row.is_live and is_peer(row, settled, draft.now)}
    peers |= {row.memory_id: row for row in _heir(draft, settled) if is_peer(row, settled, draft.now)}
    places = NEIGHBOURS
    nearest = [(-similarity, memory_id) for memory_id, similarity in near.items()]
    heapify(nearest)  # in a batch there are hundreds, and few are looked at
    while nearest and places:
        row = draft.row(memory_id := heappop(nearest)[1])
        if row is not None and row.is_live and is_peer(row, settled, draft.now):
            peers[memory_id] = row
            places -= 1
    return list(peers.values())


def _heir(draft: Draft, settled: Settled) -> list[Row]:
    """The duplicate that lives again because this claim takes back what it repeats."""
    head = draft.row_at(settled.address)
    return heirs(draft, head)[:1] if head is not None and head.canonical_digest != settled.canonical_digest else []


def is_peer(row: Row, settled: Settled, now: int) -> bool:
    """A row that the claim is judged against. A secret is nobody's peer: its excerpt would be shown."""
    return row.is_searched and holds_beside(row, settled, now)


def holds_beside(row: Row, settled: Settled, now: int) -> bool:
    """Another address, the same type, the same user or nobody's, no secret, its time not up, and true at a common
    time."""
    return (
        row.address != settled.address
        and row.sensitivity != "high"
        and row.memory_type is settled.memory_type
        and share_a_user(row.user_id, settled.address.identity.user_id)
        and row.is_current(now)
        and _overlap(
            _interval(settled.valid_at, settled.valid_to, now),
            _interval(row.valid_at, row.valid_to, row.asserted_at or row.created_at),
        )
    )


def _interval(valid_at: int | None, valid_to: int | None, asserted_at: int) -> tuple[float, float]:
    """When a statement holds. One without any date holds from when it was said, as reads `as_of` take it too."""
    start = valid_at if valid_at is not None else float("-inf") if valid_to is not None else asserted_at
    return start, float("inf") if valid_to is None else valid_to


def _overlap(ours: tuple[float, float], theirs: tuple[float, float]) -> bool:
    return ours[0] < theirs[1] and theirs[0] < ours[1]


def _told_apart_by_key(verdict: PairVerdict, row: Row, same_key: bool) -> PairVerdict:
    """A decision is identified by its key: under another key it can contradict, but never be the same one."""
    if row.memory_type is not MemoryType.DECISION or same_key or verdict.kind is PairKind.CONFLICT:
        return verdict
    return PairVerdict(PairKind.CLEAR, "decision_of_another_key", (), False, verdict.threshold)
