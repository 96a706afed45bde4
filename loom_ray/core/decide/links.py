"""Who contradicts and who repeats whom? Keeps the links between rows symmetric whatever happens to one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from loom_ray.core.draft import Draft, Note
from loom_ray.core.row import NOBODY, Row, Status, share_a_user


def flag(draft: Draft, row: Row, peers: Iterable[Row]) -> None:
    """Each peer now contradicts `row`, whose own image already names them."""
    for peer in peers:
        if row.memory_id not in peer.conflict_with:
            links = (*peer.conflict_with, row.memory_id)
            note = Note("flagged", related_id=row.memory_id)
            draft.change(peer, note, status=Status.CONFLICTED, conflict_with=links)


def unflag(draft: Draft, memory_id: str, former: Iterable[str], note: Note | None = None) -> None:
    """`memory_id` contradicts these rows no longer; one that contradicts nobody else is active again."""
    note = note or Note("unflagged", related_id=memory_id)
    for peer_id in former:
        peer = draft.row(peer_id)
        if peer is None or memory_id not in peer.conflict_with:
            continue
        links = tuple(other for other in peer.conflict_with if other != memory_id)
        status = Status.ACTIVE if peer.status is Status.CONFLICTED and not links else peer.status
        draft.change(peer, note, status=status, conflict_with=links)


def heirs(draft: Draft, canonical: Row) -> list[Row]:
    """Its duplicates; the first takes its place: one that is searched, and one of nobody, who speaks for all users,
    before the oldest of a user."""
    return in_succession(draft.duplicates_of(canonical.memory_id))


def in_succession(duplicates: Iterable[Row]) -> list[Row]:
    return sorted(duplicates, key=lambda row: (row.demoted, row.user_id != NOBODY, row.created_at, row.memory_id))


def release_duplicates(draft: Draft, canonical: Row) -> None:
    """`canonical` (its last image that said so) no longer says what its duplicates repeat: the first of them takes its
    place, contradictions included, so that the fact stays served and flagged; the others repeat that one, and of those
    that are other users' the first of each."""
    hand_on(draft, heirs(draft, canonical), lambda heir: promote(draft, heir, canonical))


def hand_on(draft: Draft, waiting: Sequence[Row], promoted: Callable[[Row], Row]) -> int:
    """Of these duplicates, in the order of their succession, the first stands by itself and the others repeat it; and
    so again among those whose user is another. How many stand by themselves now."""
    count = 0
    while waiting:
        heir = promoted(waiting[0])
        count += 1
        repoint(draft, [row for row in waiting[1:] if share_a_user(row.user_id, heir.user_id)], heir)
        waiting = [row for row in waiting[1:] if not share_a_user(row.user_id, heir.user_id)]
    return count


def promote(draft: Draft, heir: Row, canonical: Row) -> Row:
    """A duplicate stands by itself from now on, and contradicts what its canonical contradicted."""
    peers = _rivals(draft, canonical, heir)
    links = tuple(peer.memory_id for peer in peers)
    status = Status.CONFLICTED if links else Status.ACTIVE
    note = Note("released", related_id=canonical.memory_id)
    heir = draft.change(heir, note, status=status, duplicate_of="", conflict_with=links)
    flag(draft, heir, peers)
    return heir


def repoint(draft: Draft, duplicates: Iterable[Row], canonical: Row) -> None:
    """They now repeat `canonical`."""
    for other in duplicates:
        draft.change(other, Note("repointed", related_id=canonical.memory_id), duplicate_of=canonical.memory_id)


def unlink(draft: Draft, row: Row) -> None:
    """`row` (its last image that was served) has left: nobody is held against it, and what it said is said by its
    oldest duplicate."""
    unflag(draft, row.memory_id, row.conflict_with)
    release_duplicates(draft, row)


def _rivals(draft: Draft, canonical: Row, heir: Row) -> list[Row]:
    """The live rows that contradicted the canonical, and so its heir, as far as their users concern each other."""
    if heir.demoted:
        return []
    peers = (draft.row(peer_id) for peer_id in canonical.conflict_with if peer_id != heir.memory_id)
    return [
        peer
        for peer in peers
        if peer is not None
        and peer.is_live
        and share_a_user(peer.user_id, heir.user_id)
        and not draft.is_allowed(heir.memory_key, peer.memory_key)
    ]
