"""What does a read of one key or one id answer?"""

from __future__ import annotations

from loom_ray.contract.reading import GetAnswer, GetByIdRequest, GetRequest, HistoryRequest
from loom_ray.core.read.view import destination, row_view
from loom_ray.core.row import Row, Status
from loom_ray.core.state import State


def rows_meant(state: State, request: GetRequest | HistoryRequest) -> list[Row]:
    """The rows of the key that fit the identity given, whatever their status, newest first; `*` fits any."""
    rows = (state.rows[memory_id] for memory_id in state.ids_of_key(request.memory_key, request.user_id))
    return sorted((row for row in rows if is_meant(row, request)), key=lambda row: -row.version)


def is_meant(row: Row, request: GetRequest | HistoryRequest) -> bool:
    wanted = (request.agent, request.user_id, request.session_id)
    fits = all(want in ("*", have) for want, have in zip(wanted, row.identity, strict=True))
    return fits and row.memory_key == request.memory_key


def get(state: State, request: GetRequest, namespace: str, now: int) -> GetAnswer:
    """The readable row of the key; of several that fit, the one written last. Where there is none, where the key's fact
    has gone: moved to another key, or, if asked for, retired behind another memory."""
    rows = rows_meant(state, request)
    row = next((row for row in rows if row.is_readable(now)), None)
    row = row or next((row for row in rows if row.status is Status.REDIRECT), None)
    if row is None and request.include_superseded:
        row = next((row for row in rows if row.status is Status.SUPERSEDED and row.is_current(now)), None)
    if row is not None and request.follow:
        row = _followed(state, row, now)
    return found(state, row, request, namespace)


def _followed(state: State, row: Row, now: int) -> Row | None:
    """The row that holds the fact of a duplicate or a redirect now."""
    if row.status is Status.REDIRECT:
        row = destination(state, row)
        if not row.is_readable(now):
            return None
    return state.rows.get(row.duplicate_of, row)


def get_by_id(state: State, request: GetByIdRequest, namespace: str) -> GetAnswer:
    """The row whatever its status: who holds an id may see what became of it."""
    return found(state, state.rows.get(request.memory_id), request, namespace)


def found(state: State, row: Row | None, request: GetRequest | GetByIdRequest, namespace: str) -> GetAnswer:
    if row is None:
        return GetAnswer(found=False, memory_key=request.memory_key if isinstance(request, GetRequest) else "")
    if request.if_version == row.version:
        same = {"memory_id": row.memory_id, "version": row.version, "version_text": str(row.version)}
        return GetAnswer.model_validate({"found": True, "unchanged": True, "memory_key": row.memory_key, **same})
    shown = row_view(row, state, namespace).model_dump()
    if row.status is Status.REDIRECT:  # what it said then may not be what holds now
        shown["value"] = None
    if request.fields is not None:
        shown = {name: shown[name] for name in dict.fromkeys(("memory_key", *request.fields))}
    return GetAnswer.model_validate({"found": True, **shown})
