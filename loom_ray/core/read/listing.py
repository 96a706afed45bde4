"""Which rows does a listing show, in which order, and where does its next page begin?"""

from __future__ import annotations

from collections.abc import Callable

from loom_ray.contract.reading import ListAnswer, ListRequest
from loom_ray.core.read.cursor import read_cursor, write_cursor
from loom_ray.core.read.view import listed_view
from loom_ray.core.row import Row, Status
from loom_ray.core.state import KeyOrder, State

ANYBODY = ("-", "*")


def list_rows(state: State, request: ListRequest, namespace: str, now: int) -> ListAnswer:
    """One page of the rows that match, in the order of keys, and how many match in all."""
    fits = _filter(state, request, now)
    after = read_cursor(request.cursor, str, str)
    matching = [row for row in state.in_key_order(request.prefix) if fits(row)]
    if request.count_only:
        return ListAnswer(rows=[], count=len(matching))
    rest = [row for row in matching if after is None or order(row) > after][request.offset :]
    page = rest[: request.limit]
    more = len(rest) > len(page)
    return ListAnswer(
        rows=[listed_view(row, state, namespace) for row in page],
        count=len(matching),
        next_cursor=write_cursor(order(page[-1])) if page and more else "",
    )


def _filter(state: State, request: ListRequest, now: int) -> Callable[[Row], bool]:
    statuses = _statuses(request)
    tags, contains = frozenset(request.tags), request.contains.casefold()

    def fits(row: Row) -> bool:
        return (
            (row.status in statuses or _stands_in(row, state, request, now))
            and (row.status is Status.TOMBSTONED or row.is_current(now))
            and request.user_id in (*ANYBODY, row.user_id)
            and (not request.run_id or row.run_id == request.run_id)
            and (request.memory_type is None or row.memory_type == request.memory_type)
            and (not tags or not tags.isdisjoint(row.tags))
            and (not contains or (row.sensitivity != "high" and contains in row.text.casefold()))
        )

    return fits


def _stands_in(row: Row, state: State, request: ListRequest, now: int) -> bool:
    """A duplicate is shown where its canonical is not: it has expired, or belongs to another user or run."""
    if row.status is not Status.DUPLICATE or request.conflicted_only:
        return False
    canonical = state.rows.get(row.duplicate_of)
    return (
        canonical is None
        or not canonical.is_readable(now)
        or request.user_id not in (*ANYBODY, canonical.user_id)
        or (bool(request.run_id) and canonical.run_id != request.run_id)
    )


def _statuses(request: ListRequest) -> frozenset[Status]:
    if request.conflicted_only:
        return frozenset({Status.CONFLICTED})
    asked = {
        Status.DUPLICATE: request.include_duplicates,
        Status.SUPERSEDED: request.include_superseded,
        Status.TOMBSTONED: request.include_tombstoned,
    }
    return frozenset({Status.ACTIVE, Status.CONFLICTED} | {status for status, wanted in asked.items() if wanted})


def order(row: Row) -> KeyOrder:
    return row.memory_key, row.memory_id
