"""Which images does an outcome leave? The row itself, and the rows whose links change with it."""

from __future__ import annotations

from dataclasses import replace

from loom_ray.core.decide.claim import SECOND_NS, Settled
from loom_ray.core.decide.links import flag, release_duplicates, unflag
from loom_ray.core.decide.outcome import Outcome
from loom_ray.core.draft import Draft
from loom_ray.core.records import Vectors
from loom_ray.core.row import Row, Status

STATUS_OF = {"conflict": Status.CONFLICTED, "duplicate": Status.DUPLICATE}


def store(draft: Draft, settled: Settled, outcome: Outcome, vectors: Vectors | None, fresh_id: str) -> Row:
    """Carries the outcome out in the draft and returns the row that now holds the fact.

    `vectors`: (1 + chunks, dimensions), or None where the row's stored ones stay; `fresh_id` is used by a new row only.
    """
    if outcome.held_by is not None:
        draft.reinforce(outcome.held_by)
        return outcome.held_by
    before = draft.row_at(settled.address)
    image = _image(draft, settled, before, fresh_id)
    return place(draft, before, with_links(image, outcome), vectors)


def place(draft: Draft, before: Row | None, image: Row, vectors: Vectors | None) -> Row:
    """Puts the image and settles the links of every row that its arrival concerns."""
    row = draft.put(image, vectors)
    if before is not None:
        unflag(draft, row.memory_id, [peer for peer in before.conflict_with if peer not in row.conflict_with])
        if before.canonical_digest != row.canonical_digest or not row.is_live or not row.is_searched:
            release_duplicates(draft, before)
    flag(draft, row, [current for peer in row.conflict_with if (current := draft.row(peer)) is not None])
    return row


def with_links(image: Row, outcome: Outcome) -> Row:
    """The image with the status that the verdict gives it, linked to the peers that decided."""
    status = STATUS_OF.get(outcome.verdict, Status.ACTIVE)
    peers = tuple(peer.row.memory_id for peer in outcome.peers)
    return replace(
        image,
        status=status,
        conflict_with=peers if status is Status.CONFLICTED else (),
        duplicate_of=peers[0] if status is Status.DUPLICATE else "",
    )


def _image(draft: Draft, settled: Settled, before: Row | None, fresh_id: str) -> Row:
    """What the claim alone makes of the row: a rewrite says everything anew but its expiry and its char_limit."""
    claim = settled.claim
    kept = before if before is not None and before.is_readable(draft.now) else None
    return Row(
        memory_id=before.memory_id if before else fresh_id,
        memory_key=settled.address.memory_key,
        agent=settled.address.identity.agent,
        user_id=settled.address.identity.user_id,
        session_id=settled.address.identity.session_id,
        run_id=settled.run_id,
        memory_type=settled.memory_type,
        value=claim.value,
        content_sha256=settled.content_sha256,
        canonical_digest=settled.canonical_digest,
        version=0,  # the draft gives it
        created_at=kept.created_at if kept else draft.now,
        tags=tuple(claim.tags),
        entities=tuple(claim.entities),
        files=settled.files,
        sensitivity=settled.sensitivity,
        confidence=claim.confidence,
        valid_at=settled.valid_at,
        valid_to=settled.valid_to,
        expires_at=_expiry(draft, settled, kept),
        on_expire=claim.on_expire or (kept.on_expire if kept else "tombstone"),
        char_limit=claim.char_limit or (kept.char_limit if kept else None),
        source_class=claim.source_class or "",
        source_resource_id=claim.source_resource_id,
        actor=f"process:{settled.address.identity.agent}",
        chunks=max(0, len(settled.pieces) - 1),
        reinforcements=kept.reinforcements if kept else 0,
        reinforced_at=kept.reinforced_at if kept else None,
    )


def _expiry(draft: Draft, settled: Settled, kept: Row | None) -> int | None:
    claim = settled.claim
    if claim.ttl_seconds is not None:
        return draft.now + claim.ttl_seconds * SECOND_NS
    return None if claim.clear_expiry or kept is None else kept.expires_at
