"""In which order did the facts begin? And what became of single memories?"""

from __future__ import annotations

from collections.abc import Callable

from loom_ray.contract.fields import to_ns
from loom_ray.contract.reading import StatusesAnswer, StatusesRequest, StatusRow, TimelineAnswer, TimelineRequest
from loom_ray.core.read.cursor import read_cursor, write_cursor
from loom_ray.core.read.listing import ANYBODY
from loom_ray.core.read.view import listed_view
from loom_ray.core.row import LIVE, Row, Status
from loom_ray.core.state import State


def timeline(state: State, request: TimelineRequest, namespace: str, now: int) -> TimelineAnswer:
    """One page of the rows that match, by `valid_at`, or else when they were first recorded; oldest first."""
    fits = _filter(request, now)
    matching = sorted((row for row in state.in_key_order(request.prefix) if fits(row)), key=_order)
    matching = matching[::-1] if request.newest_first else matching
    after = read_cursor(request.cursor, int, str)
    if after is not None:
        matching = [row for row in matching if (_order(row) < after) == request.newest_first and _order(row) != after]
    page = matching[: request.limit]
    return TimelineAnswer(
        rows=[listed_view(row, state, namespace) for row in page],
        next_cursor=write_cursor(_order(page[-1])) if len(matching) > len(page) else "",
    )


def _filter(request: TimelineRequest, now: int) -> Callable[[Row], bool]:
    since, until, entity = to_ns(request.since), to_ns(request.until), request.entity.lower()
    statuses = LIVE | ({Status.SUPERSEDED} if request.include_superseded else frozenset[Status]())

    def fits(row: Row) -> bool:
        return (
            row.status in statuses
            and (row.status is Status.SUPERSEDED or row.is_current(now))
            and request.user_id in (*ANYBODY, row.user_id)
            and (not request.run_id or row.run_id == request.run_id)
            and (not entity or entity in row.entities)
            and (since is None or _began(row) >= since)
            and (until is None or _began(row) < until)
        )

    return fits


def _began(row: Row) -> int:
    return row.created_at if row.valid_at is None else row.valid_at


def _order(row: Row) -> tuple[int, str]:
    return _began(row), row.memory_id


def statuses(state: State, request: StatusesRequest) -> StatusesAnswer:
    rows = (state.rows.get(memory_id) for memory_id in request.memory_ids)
    return StatusesAnswer(rows=[_status(row) for row in rows if row is not None])


def _status(row: Row) -> StatusRow:
    return StatusRow(
        memory_id=row.memory_id,
        memory_key=row.memory_key,
        status=row.status.value,
        superseded_by=row.superseded_by,
        version=row.version,
        version_text=str(row.version),
    )
