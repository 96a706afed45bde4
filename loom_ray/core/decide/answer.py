"""What is a writer told? From a decided write to its receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loom_ray.contract.writing import BulkEntry, BulkSetAnswer, DifferenceView, Judged, SetAnswer, ThresholdView
from loom_ray.contract.writing import Peer as PeerView
from loom_ray.core.decide.outcome import Outcome
from loom_ray.core.decide.peers import Peer
from loom_ray.core.decide.write import Written
from loom_ray.core.draft import Draft
from loom_ray.core.row import Row

EXCERPT_CHARS = 200


def set_answer(written: Written, namespace: str, dry_run: bool) -> SetAnswer:
    judged = _judged(written, dry_run)
    return SetAnswer(**judged.model_dump(), namespace=namespace, dry_run=dry_run)


def bulk_answer(written: Sequence[Written], draft: Draft, dry_run: bool) -> BulkSetAnswer:
    """Each entry with its row as the whole batch leaves it: a later entry may have flagged it."""
    written = [replace(one, row=draft.row(one.row.memory_id) or one.row) for one in written]
    entries = [
        BulkEntry(**_judged(one, dry_run).model_dump(), index=index) for index, one in enumerate(written)
    ]  # fmt: skip
    stored = [entry for entry, one in zip(entries, written, strict=True) if one.outcome.held_by is None]
    return BulkSetAnswer(
        written=stored,
        merged=[entry for entry, one in zip(entries, written, strict=True) if one.outcome.held_by is not None],
        duplicates=[entry.memory_key for entry in stored if entry.conflict_verdict == "duplicate"],
        conflicted=[entry.memory_key for entry in stored if entry.conflict_verdict == "conflict"],
        unchecked=0,
        dry_run=dry_run,
    )


def _judged(written: Written, dry_run: bool) -> Judged:
    settled, outcome, row = written.settled, written.outcome, written.row
    held = outcome.held_by is not None
    threshold = outcome.threshold
    return Judged(
        memory_id=row.memory_id,
        memory_key=settled.address.memory_key,
        version=row.version,
        version_text=str(row.version),
        content_sha256=row.content_sha256,
        status=row.status.value,
        conflict_verdict=outcome.verdict,
        rule=outcome.rule,
        threshold=ThresholdView(value=threshold.value, source=threshold.source) if threshold else None,
        peers=peer_views(outcome),
        next=_hint(outcome),
        noop=held or dry_run,
        merged_into_key=row.memory_key if held and outcome.verdict == "merge" else "",
        duplicate_of=row.duplicate_of,
        retyped_from=settled.retyped_from,
        sensitivity=row.sensitivity,
        chunks_written=0 if held or dry_run else row.chunks,
        advisories=list(settled.advisories),
    )


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
        excerpt=row.text[:EXCERPT_CHARS],
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
        "clear": f"memory.update({key}, ...) if yours only says more about the same thing",
    }
    return hints.get(outcome.verdict, "")
