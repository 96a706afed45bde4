"""What do a deletion and its undoing change?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from loom_ray.contract.errors import AmbiguousKey
from loom_ray.contract.writing import DeleteAnswer, DeleteRequest, RestoreAnswer, RestoreRequest
from loom_ray.core.decide.answer import peer_views
from loom_ray.core.decide.claim import Settled
from loom_ray.core.decide.links import release_duplicates, unflag
from loom_ray.core.decide.outcome import Outcome, outcome_with_vector
from loom_ray.core.decide.rules import DAY_NS, Rules
from loom_ray.core.decide.store import place, with_links
from loom_ray.core.draft import Draft
from loom_ray.core.row import Address, Identity, Row, Status

CANDIDATES_MAX = 20


def decide_delete(draft: Draft, request: DeleteRequest) -> DeleteAnswer:
    """A tombstone for the caller's own row of the key, else for the only one. Raises AmbiguousKey."""
    row = addressed(draft, request, lambda row: row.is_readable(draft.now))
    if row is None:
        return DeleteAnswer(found=False, tombstoned=False, memory_key=request.memory_key)
    gone = draft.change(
        row, status=Status.TOMBSTONED, tombstoned_at=draft.now, conflict_with=(), duplicate_of="", superseded_by=""
    )
    unflag(draft, row.memory_id, row.conflict_with)
    release_duplicates(draft, row)
    return DeleteAnswer(
        found=True,
        tombstoned=True,
        memory_id=gone.memory_id,
        memory_key=gone.memory_key,
        version=gone.version,
        version_text=str(gone.version),
    )


def restorable(draft: Draft, request: RestoreRequest, rules: Rules) -> Row | None:
    """The deleted row that the request means, if its window to come back is still open."""
    if is_conditional(request):  # no policy of this release retires rows: there is nothing that the condition allows
        return None
    row = addressed(draft, request, _is_gone)
    if row is None or row.tombstoned_at is None or not row.is_current(draft.now):
        return None
    return row if draft.now - row.tombstoned_at <= rules.settings.restore_window_days * DAY_NS else None


def decide_restore(draft: Draft, row: Row, settled: Settled, near: Mapping[str, float], rules: Rules) -> RestoreAnswer:
    """The row returns as it was, judged against what is stored now: active, conflicted or a duplicate."""
    judged = settled.is_searched and rules.policy != "append_only"
    outcome = outcome_with_vector(draft, settled, near, rules) if judged else Outcome("", "not_searched")
    back = place(draft, None, with_links(replace(row, tombstoned_at=None), outcome), None)
    return RestoreAnswer(
        restored=True,
        memory_id=back.memory_id,
        memory_key=back.memory_key,
        status=back.status.value,
        version=back.version,
        version_text=str(back.version),
        conflict_verdict=outcome.verdict,
        peers=peer_views(outcome),
    )


def not_restored(draft: Draft, request: RestoreRequest) -> RestoreAnswer:
    row = addressed(draft, request, lambda row: True)
    reason = "not_found" if row is None else "not_deleted" if not _is_gone(row) else "window_passed"
    if row is not None and _is_gone(row) and not row.is_current(draft.now):
        reason = "expired"
    if row is not None and is_conditional(request):
        reason = "not_superseded"
    return RestoreAnswer(restored=False, reason=reason, memory_key=request.memory_key)


def is_conditional(request: RestoreRequest) -> bool:
    return request.only_if_superseded or request.if_superseded_by is not None


def _is_gone(row: Row) -> bool:
    return row.status is Status.TOMBSTONED


def addressed(draft: Draft, request: DeleteRequest | RestoreRequest, fits: Callable[[Row], bool]) -> Row | None:
    """The caller's own row, else the only one of the key whoever wrote it; another named user's is never meant. Where
    the caller has a row that does not fit, none is meant: a retry must not go on to somebody else's."""
    own = draft.row_at(Address(request.memory_key, Identity(request.agent, request.user_id, request.session_id)))
    if own is not None:
        return own if fits(own) else None
    rows = draft.rows_of_key(request.memory_key, request.user_id)
    others = [row for row in rows if fits(row) and row.user_id == request.user_id]
    if len(others) > 1:
        candidates = [
            {"memory_id": row.memory_id, "agent": row.agent, "user_id": row.user_id, "session_id": row.session_id}
            for row in others[:CANDIDATES_MAX]
        ]
        raise AmbiguousKey(f"{len(others)} rows hold this key: name agent and session", {"candidates": candidates})
    return others[0] if others else None
