"""What is a writer told? From a decided write to its receipt."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from loom_ray.contract.errors import Blacklisted, PinnedConflict
from loom_ray.contract.writing import (
    BlacklistedEntry,
    BulkEntry,
    BulkSetAnswer,
    DifferenceView,
    Judged,
    SetAnswer,
    ThresholdView,
    UpdateAnswer,
    UpdateByIdRequest,
    UpdateRequest,
)
from loom_ray.contract.writing import Peer as PeerView
from loom_ray.core.decide.outcome import Outcome
from loom_ray.core.decide.peers import Peer
from loom_ray.core.decide.write import Written
from loom_ray.core.draft import Draft
from loom_ray.core.row import Row


def set_answer(written: Written, namespace: str, dry_run: bool) -> SetAnswer:
    """Raises what the claim was refused with; a dry run is told of a pin by the verdict instead."""
    return SetAnswer(**_receipt(written, dry_run), namespace=namespace, dry_run=dry_run)


def update_answer(written: Written, namespace: str, dry_run: bool) -> UpdateAnswer:
    """As `set_answer`."""
    return UpdateAnswer(**_receipt(written, dry_run), namespace=namespace, dry_run=dry_run, updated=not dry_run)


def not_updated(request: UpdateRequest | UpdateByIdRequest, namespace: str, reason: str) -> UpdateAnswer:
    key = request.memory_key if isinstance(request, UpdateRequest) else ""
    return UpdateAnswer(
        updated=False, reason=reason, memory_key=key, namespace=namespace, noop=True, dry_run=request.dry_run
    )


def _receipt(written: Written, dry_run: bool) -> dict[str, Any]:
    refusal = written.outcome.refusal
    if refusal is not None and not (dry_run and isinstance(refusal.error, PinnedConflict)):
        raise refusal.error
    return dict(_judged(written, dry_run))


def bulk_answer(written: Sequence[Written], draft: Draft, dry_run: bool) -> BulkSetAnswer:
    """Each entry with its row as the whole batch leaves it: a later entry may have flagged it."""
    written = [replace(one, row=one.row and (draft.row(one.row.memory_id) or one.row)) for one in written]
    lists: dict[str, list[Any]] = defaultdict(list)
    for index, one in enumerate(written):
        refusal, held = one.outcome.refusal, one.outcome.held_by
        name = refusal.list_name if refusal else "merged" if held else "written"
        lists[name].append(_entry(one, dry_run, index))
    stored = lists["written"]
    return BulkSetAnswer(
        written=stored,
        merged=lists["merged"],
        duplicates=[entry.memory_key for entry in stored if entry.conflict_verdict == "duplicate"],
        conflicted=[entry.memory_key for entry in stored if entry.conflict_verdict == "conflict"],
        rejected_pinned=lists["rejected_pinned"],
        skipped_pinned=lists["skipped_pinned"],
        skipped_locked=lists["skipped_locked"],
        skipped_blacklisted=lists["skipped_blacklisted"],
        unchecked=0,
        dry_run=dry_run,
    )


def _entry(one: Written, dry_run: bool, index: int) -> BulkEntry:
    told, refusal = dict(_judged(one, dry_run)), one.outcome.refusal
    if refusal is None or not isinstance(refusal.error, Blacklisted):
        return BulkEntry(**told, index=index)
    unchecked = not refusal.error.extra["pattern_id"]
    return BlacklistedEntry(**told, index=index, **refusal.error.extra, blacklist_unchecked=unchecked)


def _judged(written: Written, dry_run: bool) -> Judged:
    settled, outcome = written.settled, written.outcome
    threshold = outcome.threshold
    told = Judged(
        memory_key=settled.address.memory_key,
        conflict_verdict=outcome.verdict,
        rule=outcome.rule,
        threshold=ThresholdView(value=threshold.value, source=threshold.source) if threshold else None,
        peers=peer_views(outcome),
        next=_hint(outcome),
        noop=outcome.held_by is not None or written.row is None or dry_run,
        retyped_from=settled.retyped_from,
        advisories=list(settled.advisories),
    )
    return told if written.row is None else told.model_copy(update=_of_row(written.row, outcome, told.noop))


def _of_row(row: Row, outcome: Outcome, noop: bool) -> dict[str, Any]:
    merged = outcome.held_by is not None and outcome.verdict == "merge"
    return {
        "memory_id": row.memory_id,
        "version": row.version,
        "version_text": str(row.version),
        "content_sha256": row.content_sha256,
        "status": row.status.value,
        "merged_into_key": row.memory_key if merged else "",
        "duplicate_of": row.duplicate_of,
        "sensitivity": row.sensitivity,
        "pinned": row.pinned,
        "chunks_written": 0 if noop else row.chunks,
    }


def peer_views(outcome: Outcome) -> list[PeerView]:
    return [_peer_view(peer) for peer in outcome.peers]


def _peer_view(peer: Peer) -> PeerView:
    row = peer.row
    return PeerView(
        memory_id=row.memory_id,
        memory_key=row.memory_key,
        agent=row.agent,
        user_id=row.user_id,
        session_id=row.session_id,
        excerpt=row.shown,
        similarity=None if peer.similarity is None else round(peer.similarity, 6),
        differences=[
            DifferenceView(kind=one.kind, ours=one.ours, theirs=one.theirs) for one in peer.verdict.differences
        ],
    )


def _hint(outcome: Outcome) -> str:
    if not outcome.peers:
        return ""
    row: Row = outcome.peers[0].row
    key = f"memory_key={row.memory_key!r}"
    hints = {
        "conflict": f"memory.update({key}, ...) if yours replaces it; otherwise the pair waits in conflicts.list",
        "duplicate": f"memory.get({key}): the fact is already held there",
        "rejected": f"memory.update({key}, ...) if the pinned fact itself has changed",
        "refines": f"memory.restore({key}, only_if_superseded=True) if both hold",
        "clear": f"memory.update({key}, ...) if yours only says more about the same thing",
    }
    return hints.get(outcome.verdict, "")
