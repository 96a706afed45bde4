"""What do the ops change that leave a row's value alone: its expiry, its lock, its pin, its tags?"""

from __future__ import annotations

from collections.abc import Sequence

from loom_ray.contract.changing import (
    Keyed,
    LockAnswer,
    LockRequest,
    RefusedRow,
    TouchAnswer,
    TouchRequest,
    UnlockAnswer,
    UnlockRequest,
    UnpinAnswer,
    UnpinRequest,
)
from loom_ray.contract.errors import InvalidRequest, LoomError
from loom_ray.contract.fields import to_ns, to_rfc3339
from loom_ray.contract.scope import Writes
from loom_ray.contract.settings import Settings
from loom_ray.core.decide.addressing import readable
from loom_ray.core.decide.claim import SECOND_NS
from loom_ray.core.decide.guards import STRENGTH, locked, refuse_edit
from loom_ray.core.decide.remove import of
from loom_ray.core.draft import PLAIN, Draft, Note
from loom_ray.core.row import Row

FOREVER = 2**63  # past every time in nanoseconds


def decide_touch(draft: Draft, request: TouchRequest) -> TouchAnswer:
    """One key meets its refusal; of many, those refused are listed and the others are touched. Raises AmbiguousKey and
    Locked, of one key."""
    expires_at = None if request.ttl_seconds is None else draft.now + request.ttl_seconds * SECOND_NS
    answer = TouchAnswer(touched=0, expires_at=to_rfc3339(expires_at), not_found=[], refused=[])
    for key in request.memory_keys or [request.memory_key or ""]:
        try:
            row = readable(draft, keyed(request, key))
            if row is None:
                answer.not_found.append(key)
                continue
            touch(draft, row, expires_at)
            answer.touched += 1
        except LoomError as refusal:
            if request.memory_keys is None:
                raise
            answer.refused.append(RefusedRow(memory_key=key, code=refusal.code, message=refusal.message))
    return answer


def keyed(who: Writes, memory_key: str) -> Keyed:
    """One key of a request for many."""
    return Keyed.model_construct(**who.model_dump(include=set(Writes.model_fields)), memory_key=memory_key)


def touch(draft: Draft, row: Row, expires_at: int | None, note: Note = PLAIN) -> Row:
    """Raises Locked."""
    refuse_edit(row, draft.now)
    return draft.change(row, note, expires_at=expires_at)


def decide_lock(draft: Draft, request: LockRequest) -> LockAnswer:
    """Raises AmbiguousKey, InvalidRequest, and Locked where it would loosen the lock that is there."""
    row = readable(draft, request)
    if row is None:
        return LockAnswer(locked=False, reason="not_found", memory_key=request.memory_key)
    until = to_ns(request.until)
    if request.ttl_seconds is not None:
        until = draft.now + request.ttl_seconds * SECOND_NS
    if until is not None and until <= draft.now:
        raise InvalidRequest("until: must lie in the future")
    held = lock(draft, row, request.mode, until, request.reason, Note(reason=request.reason))
    return LockAnswer(locked=True, mode=held.lock, locked_until=to_rfc3339(held.locked_until), **of(held))


def lock(draft: Draft, row: Row, mode: str, until: int | None, reason: str, note: Note) -> Row:
    """Without a reason that of the lock that is tightened stays. Raises Locked where it would loosen the lock that is
    there: a weaker mode, or an earlier end."""
    looser = STRENGTH[mode] < STRENGTH[row.lock] or (until or FOREVER) < (row.locked_until or FOREVER)
    if row.is_locked(draft.now) and looser:
        raise locked(row)
    kept = row.lock_reason if row.is_locked(draft.now) else ""
    return draft.change(row, note, lock=mode, locked_until=until, lock_reason=reason or kept)


def decide_unlock(draft: Draft, request: UnlockRequest) -> UnlockAnswer:
    """Raises AmbiguousKey."""
    row = readable(draft, request)
    if row is None:
        return UnlockAnswer(unlocked=False, reason="not_found", memory_key=request.memory_key)
    if not row.lock:
        return UnlockAnswer(unlocked=False, reason="not_locked", **of(row))
    free = draft.change(row, Note(reason=request.reason), lock="", locked_until=None, lock_reason="")
    return UnlockAnswer(unlocked=True, **of(free))


def decide_unpin(draft: Draft, request: UnpinRequest) -> UnpinAnswer:
    """Raises AmbiguousKey and Locked."""
    row = readable(draft, request)
    if row is None:
        return UnpinAnswer(pinned=False, unpinned=False, reason="not_found", memory_key=request.memory_key)
    if not row.pinned:
        return UnpinAnswer(pinned=False, unpinned=False, reason="not_pinned", **of(row))
    refuse_edit(row, draft.now)
    free = draft.change(row, PLAIN, pinned=False)
    return UnpinAnswer(pinned=False, unpinned=True, **of(free))


def label(draft: Draft, row: Row, add: Sequence[str], remove: Sequence[str], note: Note, settings: Settings) -> Row:
    """Raises InvalidRequest past the bound of tags. A lock guards value and life, not tags."""
    tags = tuple(dict.fromkeys(tag for tag in (*row.tags, *add) if tag not in remove))
    if len(tags) > settings.tags_max:
        raise InvalidRequest(f"add_tags: the row would hold more than {settings.tags_max} tags (tags_max)")
    return draft.change(row, note, tags=tags)
