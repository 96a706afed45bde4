"""What does it change that rows which say the same are settled? Clusters, one pair, all pairs, and orphans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from loom_ray.contract.changing import RefusedRow
from loom_ray.contract.duplicates import (
    DedupCollapseAnswer,
    DedupCollapseRequest,
    DedupResolveAnswer,
    DedupResolveRequest,
    ResolveOrphansAnswer,
    ResolveOrphansRequest,
)
from loom_ray.contract.errors import LoomError, PreconditionFailed
from loom_ray.core.decide.guards import refuse_deletion
from loom_ray.core.decide.links import hand_on, in_succession, promote, repoint
from loom_ray.core.decide.many import refused_row
from loom_ray.core.decide.remove import bury
from loom_ray.core.decide.resolve import settled_rows
from loom_ray.core.draft import Draft, Note
from loom_ray.core.row import Row, Status, share_a_user

COLLAPSED = "memory.dedup_collapse"


def decide_dedup_resolve(draft: Draft, request: DedupResolveRequest) -> DedupResolveAnswer:
    """Raises PreconditionFailed where the key is not the canonical's, and Locked."""
    canonical, duplicate = draft.row(request.canonical_id), draft.row(request.duplicate_id)
    if canonical is None or duplicate is None:
        return DedupResolveAnswer(resolved=False, rows=[], reason="not_found")
    if request.confirm_canonical_key != canonical.memory_key:
        raise PreconditionFailed(f"confirm_canonical_key: the canonical row's key is {canonical.memory_key!r}")
    if duplicate.status is not Status.DUPLICATE or duplicate.duplicate_of != canonical.memory_id:
        return DedupResolveAnswer(resolved=False, rows=[], reason="not_a_duplicate_of_it")
    note = Note(verdict=request.decision, reason=request.reason, related_id=canonical.memory_id)
    match request.decision:
        case "keep_canonical":
            bury(draft, duplicate, note)
        case "keep_duplicate":
            _take_over(draft, canonical, duplicate, note)
        case "keep_both":
            _by_itself(draft, note, duplicate)
    return DedupResolveAnswer(resolved=True, rows=settled_rows(draft))


def _take_over(draft: Draft, canonical: Row, duplicate: Row, note: Note) -> None:
    """The duplicate stands in the canonical's place, contradictions and other duplicates included. Raises Locked."""
    others = [row for row in draft.duplicates_of(canonical.memory_id) if row.memory_id != duplicate.memory_id]
    promote(draft, duplicate, canonical)
    repoint(draft, [row for row in others if share_a_user(row.user_id, duplicate.user_id)], duplicate)
    bury(draft, draft.row(canonical.memory_id) or canonical, replace(note, related_id=duplicate.memory_id))


def decide_dedup_collapse(
    draft: Draft, request: DedupCollapseRequest, duplicates: Sequence[Row], rows_max: int
) -> DedupCollapseAnswer:
    """Each is retired behind its canonical, up to the bound; `duplicates` have a live one. Locked ones are listed and
    stay."""
    refused: list[RefusedRow] = []
    collapsed = remaining = 0
    for row in duplicates:
        if collapsed == rows_max:
            remaining += 1
            continue
        note = Note(reason=request.reason, related_id=row.duplicate_of)
        try:
            refuse_deletion(row, draft.now)
        except LoomError as refusal:
            refused.append(refused_row(row.memory_key, refusal, row.memory_id))
            continue
        draft.change(row, note, status=Status.SUPERSEDED, superseded_by=row.duplicate_of, duplicate_of="")
        collapsed += 1
    return DedupCollapseAnswer(
        dry_run=request.dry_run,
        collapsed=collapsed,
        remaining=remaining,
        rows=settled_rows(draft),
        refused=refused,
    )


def decide_orphans(draft: Draft, request: ResolveOrphansRequest, orphans: Iterable[Row]) -> ResolveOrphansAnswer:
    """Of those that repeated one row the oldest speaks again, and the others repeat it."""
    clusters: dict[str, list[Row]] = defaultdict(list)
    for row in orphans:
        clusters[row.duplicate_of].append(row)
    reactivated = sum(
        hand_on(draft, in_succession(rows), partial(_by_itself, draft, Note(related_id=gone)))
        for gone, rows in clusters.items()
    )
    return ResolveOrphansAnswer(dry_run=request.dry_run, reactivated=reactivated, rows=settled_rows(draft))


def _by_itself(draft: Draft, note: Note, row: Row) -> Row:
    return draft.change(row, note, status=Status.ACTIVE, duplicate_of="")
