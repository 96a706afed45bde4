"""Which rows say the same? Clusters of a canonical and its duplicates, and duplicates whose canonical is gone."""

from __future__ import annotations

from loom_ray.contract.duplicates import Cluster, DedupListAnswer, DedupListRequest, Duplicate
from loom_ray.contract.fields import to_rfc3339
from loom_ray.core.read.cursor import read_cursor, write_cursor
from loom_ray.core.read.listing import ANYBODY, order
from loom_ray.core.row import Row
from loom_ray.core.state import State


def list_clusters(state: State, request: DedupListRequest, now: int) -> DedupListAnswer:
    """One page, in the order of the canonicals' keys; of one user's canonicals where one is named."""
    after = read_cursor(request.cursor, str, str)
    canonicals = [row for row in canonical_rows(state, request.prefix, now) if _is_of(row, request)]
    rest = [row for row in canonicals if after is None or order(row) > after]
    page = rest[: request.limit]
    return DedupListAnswer(
        clusters=[_cluster(state, row) for row in page],
        count=len(canonicals),
        next_cursor=write_cursor(order(page[-1])) if len(rest) > len(page) else "",
    )


def canonical_rows(state: State, prefix: str, now: int) -> list[Row]:
    """Live rows that others repeat, in the order of keys."""
    rows = (state.rows.get(memory_id) for memory_id in state.canonical_ids())
    fitting = [row for row in rows if row is not None and row.is_live and row.is_current(now)]
    return sorted((row for row in fitting if row.memory_key.startswith(prefix)), key=order)


def duplicates_under(state: State, prefix: str, now: int) -> list[Row]:
    """Every duplicate of a live canonical whose key has the prefix."""
    return [row for canonical in canonical_rows(state, prefix, now) for row in duplicate_rows(state, canonical)]


def orphans(state: State, prefix: str) -> list[Row]:
    """Duplicates whose own key has the prefix and whose canonical is not live."""
    found: list[Row] = []
    for memory_id in state.canonical_ids():
        canonical = state.rows.get(memory_id)
        if canonical is None or not canonical.is_live:
            found += [state.rows[each] for each in state.duplicate_ids_of(memory_id)]
    return sorted((row for row in found if row.memory_key.startswith(prefix)), key=order)


def duplicate_rows(state: State, canonical: Row) -> list[Row]:
    """The oldest first."""
    rows = [state.rows[memory_id] for memory_id in state.duplicate_ids_of(canonical.memory_id)]
    return sorted(rows, key=lambda row: (row.created_at, row.memory_id))


def _is_of(row: Row, request: DedupListRequest) -> bool:
    return request.user_id in (*ANYBODY, row.user_id)


def _cluster(state: State, canonical: Row) -> Cluster:
    return Cluster(
        canonical_id=canonical.memory_id,
        canonical_key=canonical.memory_key,
        excerpt=canonical.shown,
        duplicates=[_duplicate(row) for row in duplicate_rows(state, canonical)],
    )


def _duplicate(row: Row) -> Duplicate:
    return Duplicate(
        duplicate_id=row.memory_id,
        memory_key=row.memory_key,
        agent=row.agent,
        user_id=row.user_id,
        session_id=row.session_id,
        run_id=row.run_id,
        excerpt=row.shown,
        created_at=to_rfc3339(row.created_at),
    )
