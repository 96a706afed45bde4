"""Which rows does a listing show, in which order, and where does its next page begin?"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from itertools import islice

from loom_ray.contract.errors import InvalidRequest
from loom_ray.contract.reading import ConflictsListAnswer, ConflictsListRequest, ListAnswer, ListRequest
from loom_ray.core.read.view import is_current, listed_view, row_view
from loom_ray.core.row import Row, Status
from loom_ray.core.state import KeyOrder, State

ANYBODY = ("-", "*")


def list_rows(state: State, request: ListRequest, namespace: str, now: int) -> ListAnswer:
    """One page of the rows that match, in the order of keys, and how many match in all."""
    fits = _filter(request, now)
    after = read_cursor(request.cursor)
    matching = [row for row in state.in_key_order(request.prefix) if fits(row)]
    if request.count_only:
        return ListAnswer(rows=[], count=len(matching))
    rest = [row for row in matching if after is None or order(row) > after][request.offset :]
    page = rest[: request.limit]
    more = len(rest) > len(page)
    return ListAnswer(
        rows=[listed_view(row, state, namespace) for row in page],
        count=len(matching),
        next_cursor=write_cursor(page[-1]) if page and more else "",
    )


def list_conflicts(state: State, request: ConflictsListRequest, namespace: str) -> ConflictsListAnswer:
    """The conflicted rows in the order of keys."""
    count = len(state.conflicted)
    if request.count_only:
        return ConflictsListAnswer(rows=[], keys=[], count=count)
    after = read_cursor(request.cursor)
    rest = state.conflicted.irange(after, inclusive=(False, True)) if after else iter(state.conflicted)
    page: list[KeyOrder] = list(islice(rest, request.limit + 1))
    rows = [state.rows[memory_id] for _, memory_id in page[: request.limit]]
    return ConflictsListAnswer(
        rows=[] if request.keys_only else [row_view(row, state, namespace) for row in rows],
        keys=[row.memory_key for row in rows] if request.keys_only else [],
        count=count,
        next_cursor=write_cursor(rows[-1]) if len(page) > request.limit else "",
    )


def _filter(request: ListRequest, now: int) -> Callable[[Row], bool]:
    statuses = _statuses(request)
    tags, contains = frozenset(request.tags), request.contains.casefold()

    def fits(row: Row) -> bool:
        return (
            row.status in statuses
            and (row.status is Status.TOMBSTONED or is_current(row, now))
            and (request.user_id in ANYBODY or row.user_id == request.user_id)
            and (request.memory_type is None or row.memory_type == request.memory_type)
            and (not tags or not tags.isdisjoint(row.tags))
            and (not contains or (row.sensitivity != "high" and contains in row.text.casefold()))
        )

    return fits


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


def write_cursor(row: Row) -> str:
    """Where a page ended; opaque to callers, stable while rows come and go."""
    return base64.urlsafe_b64encode(json.dumps(order(row), ensure_ascii=False).encode("utf-8")).decode("ascii")


def read_cursor(cursor: str) -> KeyOrder | None:
    """Raises InvalidRequest for a text that is no cursor of ours."""
    if not cursor:
        return None
    try:
        key, memory_id = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii")))
    except (ValueError, binascii.Error, TypeError):
        raise InvalidRequest("cursor: is not the next_cursor of a page") from None
    if not isinstance(key, str) or not isinstance(memory_id, str):
        raise InvalidRequest("cursor: is not the next_cursor of a page")
    return key, memory_id
