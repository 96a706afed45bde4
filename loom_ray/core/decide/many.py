"""What does one change do to many rows? Each goes the way that it would go alone; what is refused is listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from loom_ray.contract.changing import RefusedRow
from loom_ray.contract.errors import LoomError
from loom_ray.contract.fields import to_ns
from loom_ray.contract.many import AppliedRow, ApplyAnswer, ApplyFilter, ApplyRequest, ClearAnswer, ClearRequest
from loom_ray.contract.settings import Settings
from loom_ray.core.decide.addressing import readable
from loom_ray.core.decide.claim import SECOND_NS
from loom_ray.core.decide.mark import keyed, label, lock, touch
from loom_ray.core.decide.remove import bury, demote, of
from loom_ray.core.draft import Draft, Note
from loom_ray.core.row import NOBODY, Row, Status
from loom_ray.core.state import State

Change = Callable[[Draft, Row], Row]


# ---- apply -----------------------------------------------------------------------------------------------------------
def decide_apply(draft: Draft, request: ApplyRequest, targets: Iterable[Row], settings: Settings) -> ApplyAnswer:
    """`targets`: what the filter or the search found; keys are resolved here, each as it would be alone."""
    answer = ApplyAnswer(dry_run=request.dry_run, action=request.action, matched=0, applied=[], refused=[])
    change = _change(request, draft.now, settings)
    if request.memory_keys is not None:
        targets = _rows_of_keys(draft, request, answer)
    for target in targets:
        row = draft.row(target.memory_id) or target  # an earlier one may have changed its links
        answer.matched += 1
        try:
            answer.applied.append(AppliedRow(**of(change(draft, row))))
        except LoomError as refusal:
            answer.refused.append(refused_row(row.memory_key, refusal, row.memory_id))
    return answer


def _change(request: ApplyRequest, now: int, settings: Settings) -> Change:
    note = Note(reason=f"{request.action}: {request.reason}")
    until = None if request.ttl_seconds is None else now + request.ttl_seconds * SECOND_NS
    changes: dict[str, Change] = {
        "delete": lambda draft, row: bury(draft, row, note),
        "expire": lambda draft, row: touch(draft, row, until, note),
        "lock": lambda draft, row: lock(draft, row, request.mode, until, request.reason, note),
        "label": lambda draft, row: label(draft, row, request.add_tags, request.remove_tags, note, settings),
        "demote": lambda draft, row: demote(draft, row, note),
    }
    return changes[request.action]


def _rows_of_keys(draft: Draft, request: ApplyRequest, answer: ApplyAnswer) -> list[Row]:
    rows: list[Row] = []
    for key in request.memory_keys or []:
        try:
            row = readable(draft, keyed(request, key))
        except LoomError as refusal:
            answer.refused.append(refused_row(key, refusal))
            continue
        if row is None:
            answer.refused.append(RefusedRow(memory_key=key, code="NOT_FOUND", message="memory_key: no row holds it"))
        else:
            rows.append(row)
    return rows


def may_apply(row: Row, request: ApplyRequest, now: int) -> bool:
    """Whose rows a filter or a search reaches: those of exactly this agent and user, and session where one is named."""
    sessions = (NOBODY, row.session_id)
    mine = row.agent == request.agent and row.user_id == request.user_id and request.session_id in sessions
    return mine and row.is_readable(now)


def filtered(state: State, request: ApplyRequest, given: ApplyFilter, now: int) -> list[Row]:
    """The first `limit` rows that fit, in the order of keys."""
    before, after = to_ns(given.created_before), to_ns(given.created_after)
    tags, contains = frozenset(given.tags), given.contains.casefold()
    found: list[Row] = []
    for row in state.in_key_order(given.prefix):
        if (
            may_apply(row, request, now)
            and (given.memory_type is None or row.memory_type == given.memory_type)
            and (not tags or not tags.isdisjoint(row.tags))
            and (before is None or row.created_at < before)
            and (after is None or row.created_at > after)
            and (not contains or (row.sensitivity != "high" and contains in row.text.casefold()))
        ):
            found.append(row)
        if len(found) == request.limit:
            break
    return found


# ---- clear -----------------------------------------------------------------------------------------------------------
def decide_clear(draft: Draft, request: ClearRequest, rows: Iterable[Row], rows_max: int) -> ClearAnswer:
    """Tombstones for all rows of the subject, up to the bound; locked ones are listed and stay."""
    answer = ClearAnswer(subject=request.subject, cleared=0, remaining=0, refused=[])
    for target in rows:
        if answer.cleared == rows_max:
            answer.remaining += 1
            continue
        row = draft.row(target.memory_id) or target
        try:
            bury(draft, row, Note(reason=request.reason))
            answer.cleared += 1
        except LoomError as refusal:
            answer.refused.append(refused_row(row.memory_key, refusal, row.memory_id))
    return answer


def rows_of_subject(state: State, request: ClearRequest) -> list[Row]:
    """All that is not deleted yet, whatever reads make of it: nothing of them may be restored by accident."""
    of_user = request.user_id != NOBODY
    return [
        row
        for row in state.rows.values()
        if (row.user_id if of_user else row.agent) == request.subject and row.status is not Status.TOMBSTONED
    ]


def refused_row(memory_key: str, refusal: LoomError, memory_id: str = "") -> RefusedRow:
    return RefusedRow(memory_id=memory_id, memory_key=memory_key, code=refusal.code, message=refusal.message)
