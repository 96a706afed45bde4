"""What keeps a change from being made? Locks, pins and the blacklist, and the refusals that say so."""

from __future__ import annotations

from loom_ray.contract.errors import Blacklisted, Locked, PinnedConflict
from loom_ray.contract.fields import to_rfc3339
from loom_ray.core.refusal.matching import Refused
from loom_ray.core.row import Row

STRENGTH = {"": 0, "no_delete": 1, "read_only": 2}


def refuse_edit(row: Row, now: int) -> None:
    """Of the value or the expiry. Raises Locked."""
    if row.is_locked(now) and row.lock == "read_only":
        raise locked(row)


def refuse_deletion(row: Row, now: int) -> None:
    """Of the row, in any way. Raises Locked."""
    if row.is_locked(now):
        raise locked(row)


def locked(row: Row) -> Locked:
    why = f": {row.lock_reason}" if row.lock_reason else ""
    return Locked(
        f"memory_key: {row.memory_key!r} is locked ({row.lock}){why}",
        {"lock_mode": row.lock, "lock_reason": row.lock_reason, "locked_until": to_rfc3339(row.locked_until)},
    )


def pinned(blocker: Row, what: str) -> PinnedConflict:
    return PinnedConflict(
        f"{what}; change it with memory.update or memory.pin",
        {"pinned_blocker_id": blocker.memory_id, "pinned_blocker_key": blocker.memory_key},
    )


def blacklisted(refused: Refused, field: str) -> Blacklisted:
    """Says which pattern it was, never what it matched."""
    pattern = refused.pattern
    why = f": {refused.reason}" if refused.reason else ""
    what = "it holds what the blacklist refuses" if pattern else "it was not checked against the blacklist"
    return Blacklisted(
        f"{field}: {what}{why}",
        {
            "pattern_id": pattern.pattern_id if pattern else "",
            "scope": pattern.scope.value if pattern else "",
            "reason": refused.reason,
        },
    )


def gives_way(row: Row, now: int) -> bool:
    """Whether the server may retire the row by itself."""
    return not row.pinned and not row.is_locked(now)
