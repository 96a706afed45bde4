"""How is a row shown? One place turns an image into what the wire carries."""

from __future__ import annotations

from loom_ray.contract.fields import to_rfc3339
from loom_ray.contract.rows import Linked, RowView
from loom_ray.core.row import Row, Status
from loom_ray.core.state import State


def row_view(row: Row, state: State, namespace: str) -> RowView:
    """The row with the keys of the rows that it is linked to, as they are called now."""
    return RowView(
        memory_id=row.memory_id,
        memory_key=row.memory_key,
        namespace=namespace,
        agent=row.agent,
        user_id=row.user_id,
        session_id=row.session_id,
        run_id=row.run_id,
        value=row.value,
        memory_type=row.memory_type.value,
        status=row.status.value,
        version=row.version,
        version_text=str(row.version),
        content_sha256=row.content_sha256,
        tags=list(row.tags),
        entities=list(row.entities),
        files=list(row.files),
        sensitivity=row.sensitivity,
        confidence=row.confidence,
        created_at=to_rfc3339(row.created_at),
        updated_at=to_rfc3339(row.version),
        valid_at=to_rfc3339(row.valid_at),
        valid_to=to_rfc3339(row.valid_to),
        expires_at=to_rfc3339(row.expires_at),
        on_expire=row.on_expire,
        char_limit=row.char_limit,
        conflict_with=[Linked(memory_id=peer, memory_key=_key_of(peer, state)) for peer in row.conflict_with],
        duplicate_of=row.duplicate_of,
        canonical_key=_canonical_key(row, state),
        superseded_by=row.superseded_by,
        tombstoned_at=to_rfc3339(row.tombstoned_at),
        source_class=row.source_class,
        source_resource_id=row.source_resource_id,
        actor=row.actor,
        chunks=row.chunks,
        reinforcements=row.reinforcements,
        pinned=row.pinned,
        lock=row.lock,
        locked_until=to_rfc3339(row.locked_until),
        lock_reason=row.lock_reason,
        demoted=row.demoted,
    )


def listed_view(row: Row, state: State, namespace: str) -> RowView:
    """As `row_view`, for answers over many rows: a row of high sensitivity is readable by key only, so not here."""
    view = row_view(row, state, namespace)
    return view if row.sensitivity != "high" else view.model_copy(update={"value": None})


def destination(state: State, row: Row) -> Row:
    """Where the fact of a redirect has gone in the end, or how far its way can be followed."""
    seen: set[str] = set()
    while row.status is Status.REDIRECT and row.memory_id not in seen:
        seen.add(row.memory_id)
        row = state.rows.get(row.redirects_to, row)
    return row


def _canonical_key(row: Row, state: State) -> str:
    return destination(state, row).memory_key if row.status is Status.REDIRECT else _key_of(row.duplicate_of, state)


def _key_of(memory_id: str, state: State) -> str:
    row = state.rows.get(memory_id)
    return row.memory_key if row else ""
