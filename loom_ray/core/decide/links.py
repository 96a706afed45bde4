"""Who contradicts and who repeats whom? Keeps the links between rows symmetric whatever happens to one of them."""

from __future__ import annotations

from collections.abc import Iterable

from loom_ray.core.draft import Draft
from loom_ray.core.row import Row, Status, share_a_user


def flag(draft: Draft, row: Row, peers: Iterable[Row]) -> None:
    """Each peer now contradicts `row`, whose own image already names them."""
    for peer in peers:
        if row.memory_id not in peer.conflict_with:
            links = (*peer.conflict_with, row.memory_id)
            draft.change(peer, status=Status.CONFLICTED, conflict_with=links)


def unflag(draft: Draft, memory_id: str, former: Iterable[str]) -> None:
    """`memory_id` contradicts these rows no longer; one that contradicts nobody else is active again."""
    for peer_id in former:
        peer = draft.row(peer_id)
        if peer is None or memory_id not in peer.conflict_with:
            continue
        links = tuple(other for other in peer.conflict_with if other != memory_id)
        status = Status.ACTIVE if peer.status is Status.CONFLICTED and not links else peer.status
        draft.change(peer, status=status, conflict_with=links)


def heirs(draft: Draft, canonical: Row) -> list[Row]:
    """Its duplicates, the oldest first: that one takes its place."""
    return sorted(draft.duplicates_of(canonical.memory_id), key=lambda row: (row.created_at, row.memory_id))


def release_duplicates(draft: Draft, canonical: Row) -> None:
    """`canonical` (its last image that said so) no longer says what its duplicates repeat: the oldest of them takes its
    place, contradictions included, so that the fact stays served and flagged; the others repeat that one."""
    heir, *others = heirs(draft, canonical) or (None,)
    if heir is None:
        return
    peers = _rivals(draft, canonical, heir)
    links = tuple(peer.memory_id for peer in peers)
    status = Status.CONFLICTED if links else Status.ACTIVE
    heir = draft.change(heir, status=status, duplicate_of="", conflict_with=links)
    flag(draft, heir, peers)
    for other in others:
        draft.change(other, duplicate_of=heir.memory_id)


def _rivals(draft: Draft, canonical: Row, heir: Row) -> list[Row]:
    """The live rows that contradicted the canonical, and so its heir, as far as their users concern each other."""
    peers = (draft.row(peer_id) for peer_id in canonical.conflict_with if peer_id != heir.memory_id)
    return [peer for peer in peers if peer is not None and peer.is_live and share_a_user(peer.user_id, heir.user_id)]
