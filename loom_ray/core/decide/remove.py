"""What does it change that a row is deleted, rejected or expires?"""

from __future__ import annotations

from typing import TypedDict

from loom_ray.contract.changing import (
    DeleteAnswer,
    DeleteRequest,
    DeleteVersionAnswer,
    DeleteVersionRequest,
    RejectAnswer,
    RejectRequest,
)
from loom_ray.core.anonymise import anonymised
from loom_ray.core.decide.addressing import own_row, readable
from loom_ray.core.decide.claim import canonical_digest
from loom_ray.core.decide.guards import refuse_deletion
from loom_ray.core.decide.links import unlink
from loom_ray.core.draft import PLAIN, Draft, Note
from loom_ray.core.row import Row, Status, content_sha256


def decide_delete(draft: Draft, request: DeleteRequest) -> DeleteAnswer:
    """A tombstone for the caller's own row of the key, else for the only one. Raises AmbiguousKey and Locked."""
    row = readable(draft, request)
    if row is None:
        return DeleteAnswer(found=False, tombstoned=False, memory_key=request.memory_key, reason="not_found")
    gone = bury(draft, row)
    return DeleteAnswer(found=True, tombstoned=True, **of(gone))


def decide_delete_version(draft: Draft, request: DeleteVersionRequest) -> DeleteVersionAnswer:
    """A tombstone for exactly the caller's own row, if it is still at that version. Raises Locked."""
    row = own_row(draft, request)
    if row is None or not row.is_readable(draft.now):
        return DeleteVersionAnswer(tombstoned=False, memory_key=request.memory_key, reason="not_found")
    if row.version != request.version:
        return DeleteVersionAnswer(tombstoned=False, reason="version_changed", **of(row))
    return DeleteVersionAnswer(tombstoned=True, **of(bury(draft, row)))


def decide_reject(draft: Draft, request: RejectRequest) -> RejectAnswer:
    """Marked as wrong; whatever contradicted or repeated it is settled. Raises AmbiguousKey and Locked."""
    row = readable(draft, request)
    if row is None:
        return RejectAnswer(rejected=False, memory_key=request.memory_key, reason="not_found")
    refuse_deletion(row, draft.now)
    note = Note(reason=request.reason)
    gone = draft.change(row, note, status=Status.REJECTED, conflict_with=(), duplicate_of="")
    unlink(draft, row)
    return RejectAnswer(rejected=True, **of(gone))


def bury(draft: Draft, row: Row, note: Note = PLAIN) -> Row:
    """The row's tombstone. Raises Locked."""
    refuse_deletion(row, draft.now)
    gone = draft.change(row, note, status=Status.TOMBSTONED, tombstoned_at=draft.now, conflict_with=(), duplicate_of="")
    unlink(draft, row)
    return gone


def demote(draft: Draft, row: Row, note: Note = PLAIN) -> Row:
    """Readable by key and listed from now on, but neither searched nor judged. A duplicate stays one. Raises Locked."""
    refuse_deletion(row, draft.now)
    status = row.status if row.status is Status.DUPLICATE else Status.ACTIVE
    kept = draft.change(row, note, demoted=True, expires_at=None, status=status, conflict_with=())
    unlink(draft, row)
    return kept


def carry_out_end(draft: Draft, row: Row) -> None:
    """The row's time is up. One that expires goes as its writer asked; one that only stopped being true stays to be
    read `as_of` its time, and nobody is held against it."""
    leaves_at = row.leaves_at()
    if leaves_at is None or leaves_at > draft.now:
        _lapse(draft, row)
    elif row.on_expire == "demote":
        demote(draft, row, Note(reason="demote", action="memory.expire"))
    elif row.on_expire == "anonymize":
        _anonymise(draft, row)
    else:
        bury(draft, row, Note(reason="tombstone", action="memory.expire"))


def _lapse(draft: Draft, row: Row) -> None:
    if row.conflict_with:
        draft.change(row, Note("lapsed", action="memory.expire"), status=Status.ACTIVE, conflict_with=())
    unlink(draft, row)


def _anonymise(draft: Draft, row: Row) -> None:
    """Demoted as well: what is left of the fact is nobody's, and is not searched by anyone."""
    value = anonymised(row.value)
    draft.change(
        row,
        Note(reason="anonymize", action="memory.expire"),
        value=value,
        content_sha256=content_sha256(value),
        canonical_digest=canonical_digest(row.memory_type, value),
        asserted_at=0,
        status=Status.ACTIVE,
        conflict_with=(),
        duplicate_of="",
        entities=(),
        files=(),
        source_resource_id="",
        expires_at=None,
        demoted=True,
        chunks=0,
    )
    unlink(draft, row)


class Named(TypedDict):
    """The fields of `Changed` that name a row."""

    memory_id: str
    memory_key: str
    version: int
    version_text: str


def of(row: Row) -> Named:
    return Named(memory_id=row.memory_id, memory_key=row.memory_key, version=row.version, version_text=str(row.version))
