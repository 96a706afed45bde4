"""Which stored row does a request mean by its key?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loom_ray.contract.changing import Keyed
from loom_ray.contract.errors import AmbiguousKey
from loom_ray.core.draft import Draft
from loom_ray.core.row import Address, Identity, Row

CANDIDATES_MAX = 20


def addressed(draft: Draft, request: Keyed, fits: Callable[[Row], bool]) -> Row | None:
    """The caller's own row, else the only one of the key whoever wrote it; another named user's is never meant. Where
    the caller has a row that does not fit, none is meant: a retry must not go on to somebody else's.

    Raises AmbiguousKey.
    """
    own = own_row(draft, request)
    if own is not None:
        return own if fits(own) else None
    rows = draft.rows_of_key(request.memory_key, request.user_id)
    return only_one([row for row in rows if fits(row) and row.user_id == request.user_id], "agent and session")


def own_row(draft: Draft, request: Keyed) -> Row | None:
    """The row at exactly the caller's address."""
    return draft.row_at(Address(request.memory_key, Identity(request.agent, request.user_id, request.session_id)))


def readable(draft: Draft, request: Keyed) -> Row | None:
    """As `addressed`, of the rows that a read of the key would serve."""
    return addressed(draft, request, lambda row: row.is_readable(draft.now))


def only_one(rows: Sequence[Row], tell_apart_by: str) -> Row | None:
    """None for none. Raises AmbiguousKey, with the candidates, for several."""
    if len(rows) > 1:
        candidates = [
            {"memory_id": row.memory_id, "agent": row.agent, "user_id": row.user_id, "session_id": row.session_id}
            for row in rows[:CANDIDATES_MAX]
        ]
        raise AmbiguousKey(f"memory_key: {len(rows)} rows hold it: name {tell_apart_by}", {"candidates": candidates})
    return rows[0] if rows else None
