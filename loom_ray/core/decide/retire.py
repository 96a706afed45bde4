"""When does one memory take the place of another by itself, and what does that leave?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loom_ray.core.decide.claim import Settled
from loom_ray.core.decide.guards import gives_way
from loom_ray.core.decide.links import release_duplicates, unflag
from loom_ray.core.draft import Draft, Note
from loom_ray.core.row import MemoryType, Row, Status, share_a_user

SAME_KEY = "same_key_newest_wins"
CONTRADICTION = "newest_wins_contradiction"
UPDATE = "value_update"


@dataclass(frozen=True, slots=True)
class Retiring:
    """A row that a claim takes the place of, and the page's name of the path that says so."""

    row: Row
    reason: str


def older_of_key(draft: Draft, settled: Settled) -> list[Retiring]:
    """newest_wins: the rows of the claim's key under other identities, whoever wrote them, as far as they give way."""
    rows = draft.rows_of_key(settled.address.memory_key, settled.address.identity.user_id)
    return [
        Retiring(row, SAME_KEY)
        for row in rows
        if row.address != settled.address
        and row.is_readable(draft.now)
        and makes_way_for(draft, row, settled)
        and not stand_together(draft, settled, row)
    ]


def makes_way_for(draft: Draft, row: Row, settled: Settled) -> bool:
    """Neither guarded nor about a later time than the claim. What names no time is true from when it was said: the
    claim from the version that it is about to get."""
    ours = settled.valid_at if settled.valid_at is not None else draft.next_version
    return gives_way(row, draft.now) and row.began <= ours


def may_be_refined(draft: Draft, row: Row, settled: Settled) -> bool:
    """A decision is what its key says: another key never takes its place."""
    return row.memory_type is not MemoryType.DECISION and makes_way_for(draft, row, settled)


def stand_together(draft: Draft, settled: Settled, row: Row) -> bool:
    """Whether a person has said that both hold, of the two keys or by bringing one of the two back beside the other;
    the latter as long as both say what they said then."""
    if draft.is_allowed(settled.address.memory_key, row.memory_key):
        return True
    head = settled.base or draft.row_at(settled.address)
    if head is None or head.content_sha256 != settled.content_sha256:
        return False
    return _undone_behind(row, head) or _undone_behind(head, row)


def _undone_behind(row: Row, other: Row) -> bool:
    return row.restored_from == other.memory_id and other.asserted_at < (row.restored_at or 0)


def retire(draft: Draft, old: Row, successor: Row, reason: str) -> None:
    """`old` is served no longer, and names `successor`. What repeats it says the same old thing and goes with it."""
    note = Note(action="memory.auto_supersede", reason=reason, related_id=successor.memory_id)
    draft.change(
        old,
        note,
        status=Status.SUPERSEDED,
        superseded_by=successor.memory_id,
        ended_at=successor.began,
        conflict_with=(),
        duplicate_of="",
    )
    unflag(draft, old.memory_id, old.conflict_with)
    for repeat in draft.duplicates_of(old.memory_id):
        if gives_way(repeat, draft.now) and share_a_user(repeat.user_id, successor.user_id):
            retire(draft, repeat, successor, reason)
    release_duplicates(draft, replace(old, conflict_with=(*old.conflict_with, successor.memory_id)))
