"""What does it change that a person settles a conflict? The losers leave, or both stay and are never flagged again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from loom_ray.contract.changing import RefusedRow
from loom_ray.contract.conflicts import (
    AllowlistRemoveAnswer,
    AllowlistRemoveRequest,
    ResolveAnswer,
    ResolveRequest,
    SettledRow,
)
from loom_ray.contract.errors import LoomError
from loom_ray.core.decide.guards import refuse_deletion
from loom_ray.core.decide.links import unflag
from loom_ray.core.decide.many import refused_row
from loom_ray.core.decide.remove import bury, of
from loom_ray.core.draft import Draft, Note
from loom_ray.core.records import RowWritten
from loom_ray.core.row import NOBODY, Row, Status, share_a_user

Pair = tuple[str, str]  # memory ids: the row that the decision is about, and its peer


def decide_resolve(draft: Draft, request: ResolveRequest) -> ResolveAnswer:
    """One row against its peers, or against one of them."""
    assert request.memory_id is not None
    row = draft.row(request.memory_id)
    reason = _why_not(row, request)
    peers = row.conflict_with if row is not None and not reason else ()
    wanted = [peer for peer in peers if request.peer_id in (None, peer)]
    return _resolved(draft, request, [(request.memory_id, peer) for peer in wanted], len(wanted), reason)


def decide_resolve_group(draft: Draft, request: ResolveRequest, pairs: Sequence[Pair], pairs_max: int) -> ResolveAnswer:
    """Every pair of a cause, up to the bound."""
    return _resolved(draft, request, pairs, pairs_max, "" if pairs else "not_found")


def _why_not(row: Row | None, request: ResolveRequest) -> str:
    """Empty where there is something to settle."""
    if row is None:
        return "not_found"
    if row.status is not Status.CONFLICTED:
        return "not_conflicted"
    return "not_a_peer" if request.peer_id is not None and request.peer_id not in row.conflict_with else ""


def _resolved(
    draft: Draft, request: ResolveRequest, pairs: Sequence[Pair], pairs_max: int, reason: str
) -> ResolveAnswer:
    """The bound counts decisions: what is refused does not use it up, or the next call would get no farther."""
    refused: dict[str, RefusedRow] = {}
    decided = 0
    for row, peer in _flagged(draft, pairs):
        loser = row if request.decision == "contract" else peer
        if decided == pairs_max:
            break
        try:
            _settle(draft, row, peer, request)
            decided += 1
        except LoomError as refusal:
            refused[loser.memory_id] = refused_row(loser.memory_key, refusal, loser.memory_id)
    left = list(_flagged(draft, pairs))
    settled = len(pairs) - len(left)
    return ResolveAnswer(
        resolved=settled > 0,
        decision=request.decision,
        pairs=settled,
        remaining=sum(refused.keys().isdisjoint((row.memory_id, peer.memory_id)) for row, peer in left),
        rows=settled_rows(draft),
        refused=list(refused.values()),
        reason=reason or ("" if settled else "refused"),
    )


def _flagged(draft: Draft, pairs: Sequence[Pair]) -> Iterator[tuple[Row, Row]]:
    """Those that are still at odds when it is their turn: an earlier one may have settled a later one by the way."""
    for memory_id, peer_id in pairs:
        row, peer = draft.row(memory_id), draft.row(peer_id)
        if row is not None and peer is not None and peer_id in row.conflict_with:
            yield row, peer


def _settle(draft: Draft, row: Row, peer: Row, request: ResolveRequest) -> None:
    """Raises Locked."""
    of_row = Note(verdict=request.decision, reason=request.reason, related_id=peer.memory_id)
    of_peer = replace(of_row, related_id=row.memory_id)
    match request.decision:
        case "revise":
            lose(draft, peer, of_peer)
        case "contract":
            lose(draft, row, of_row)
        case "allow":
            draft.allow(row.memory_key, peer.memory_key, request.reason)
            unflag(draft, row.memory_id, [peer.memory_id], of_peer)
            unflag(draft, peer.memory_id, [row.memory_id], of_row)
            _unflag_others(draft, row.memory_key, peer.memory_key)


def _unflag_others(draft: Draft, key: str, other_key: str) -> None:
    """Rows of the same two keys, whoever's: the pair of keys is what was allowed."""
    for row in draft.rows_of_key(key, NOBODY):
        peers = (draft.row(peer) for peer in row.conflict_with)
        for peer in [peer for peer in peers if peer is not None and peer.memory_key == other_key]:
            unflag(draft, row.memory_id, [peer.memory_id])
            unflag(draft, peer.memory_id, [row.memory_id])


def lose(draft: Draft, row: Row, note: Note) -> None:
    """The row is tombstoned, and with it what repeats it: else its oldest duplicate would contradict in its stead. One
    that is locked does so. Raises Locked."""
    refuse_deletion(row, draft.now)
    for repeat in draft.duplicates_of(row.memory_id):
        if share_a_user(repeat.user_id, row.user_id) and not repeat.is_locked(draft.now):
            bury(draft, repeat, note)
    bury(draft, row, note)


def settled_rows(draft: Draft) -> list[SettledRow]:
    """Every row that the draft changes, as it leaves it."""
    last = {record.row.memory_id: record.row for record in draft.records if isinstance(record, RowWritten)}
    return [SettledRow(status=row.status.value, **of(row)) for row in last.values()]


def decide_allowlist_remove(draft: Draft, request: AllowlistRemoveRequest) -> AllowlistRemoveAnswer:
    if not draft.is_allowed(request.memory_key_a, request.memory_key_b):
        return AllowlistRemoveAnswer(removed=False, reason="not_found")
    draft.disallow(request.memory_key_a, request.memory_key_b)
    return AllowlistRemoveAnswer(removed=True)
