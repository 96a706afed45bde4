"""What does a correction make of a stored row? The claim that the row would then make, as whole as any other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loom_ray.contract.errors import Expired, InvalidRequest
from loom_ray.contract.writing import DETAILS, Claim, UpdateByIdRequest, UpdateRequest
from loom_ray.core.decide.addressing import only_one
from loom_ray.core.decide.claim import LEVELS, Settled, actor_of, detected_sensitivity, settle_at
from loom_ray.core.decide.rules import DAY_NS, Rules
from loom_ray.core.draft import Draft
from loom_ray.core.row import NOBODY, Row, Status, text_of


def row_to_correct(draft: Draft, request: UpdateRequest | UpdateByIdRequest, rules: Rules) -> tuple[Row | None, str]:
    """The row, or why there is none. Raises AmbiguousKey, and Expired unless the request revives."""
    if isinstance(request, UpdateByIdRequest):
        row = draft.row(request.memory_id)
        rows = [] if row is None else [row]
    else:
        rows = [row for row in draft.rows_of_key(request.memory_key, NOBODY) if _is_named(row, request)]
    live = [row for row in rows if row.is_readable(draft.now)]
    if live:
        return only_one(live, "agent, user_id and session_id"), ""
    expired = [row for row in rows if _has_expired(row, draft.now, rules)]
    if not expired:
        return None, _why_none(rows)
    if not request.revive:
        raise Expired("memory_key: its row has expired; revive=true brings it back with this correction")
    return only_one(expired, "agent, user_id and session_id"), ""


def _is_named(row: Row, request: UpdateRequest) -> bool:
    asked = (request.agent, request.user_id, request.session_id)
    return all(want in (NOBODY, "*", have) for want, have in zip(asked, row.identity, strict=True))


def _has_expired(row: Row, now: int, rules: Rules) -> bool:
    """Whether it left by itself, and not so long ago that it may not come back."""
    if row.is_live or row.status is Status.DUPLICATE:
        return not row.is_current(now)
    return row.has_expired and now - (row.tombstoned_at or 0) <= rules.settings.restore_window_days * DAY_NS


def _why_none(rows: list[Row]) -> str:
    statuses = {row.status for row in rows}
    told = {Status.SUPERSEDED: "superseded", Status.REJECTED: "rejected", Status.REDIRECT: "moved"}
    return next((reason for status, reason in told.items() if status in statuses), "not_found")


def corrected(row: Row, request: UpdateRequest | UpdateByIdRequest, now: int, rules: Rules) -> Settled:
    """The row's claim with what the request names in place of what it said. Raises InvalidRequest."""
    given = {name: getattr(request, name) for name in request.given & DETAILS}
    new_value = "value" in request.given
    value = request.value if new_value else row.value
    stored: dict[str, Any] = {
        "memory_type": row.memory_type.value,
        "tags": list(row.tags),
        "entities": list(row.entities),
        "sensitivity": _sensitivity(row, value, rules) if new_value else row.sensitivity or None,
        "confidence": row.confidence,
        "source_class": row.source_class,
        "source_resource_id": row.source_resource_id,
        "ttl_seconds": None,
        "clear_expiry": False,
        "on_expire": None,
        "char_limit": None,
        "if_match_sha256": None,
        "valid_at": None,
        "valid_to": None,
    }
    files = {} if new_value else {"files": list(row.files)}
    fields = {**stored, **files, **given, "memory_key": row.memory_key, "value": value}
    claim = Claim.model_construct(_fields_set=set(given) | files.keys(), **fields)
    settled = settle_at(claim, row.address, actor_of(_agent(request)), request.run_id or row.run_id, rules)
    return _dated(replace(settled, base=row, overriding=True), row, given, now)


def _agent(request: UpdateRequest | UpdateByIdRequest) -> str:
    return NOBODY if request.agent == "*" else request.agent


def _sensitivity(row: Row, value: Any, rules: Rules) -> str | None:
    """A correction drops no label: what the new value shows can only raise it."""
    return max(row.sensitivity, detected_sensitivity(text_of(value), rules), key=LEVELS.index) or None


def _dated(settled: Settled, row: Row, given: dict[str, Any], now: int) -> Settled:
    """The row's own times, exact, where none are given. One that comes back holds on until further notice."""
    valid_at = settled.valid_at if "valid_at" in given else row.valid_at
    ended = row.valid_to is not None and row.valid_to <= now
    valid_to = settled.valid_to if "valid_to" in given else None if ended else row.valid_to
    if valid_at is not None and valid_to is not None and valid_to <= valid_at:
        raise InvalidRequest("valid_to: must be later than valid_at")
    return replace(settled, valid_at=valid_at, valid_to=valid_to)
