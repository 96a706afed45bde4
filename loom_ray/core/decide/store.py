"""Which images does an outcome leave? The row itself, and the rows whose links change with it."""

from __future__ import annotations

from dataclasses import replace

from loom_ray.core.decide.claim import SECOND_NS, Settled
from loom_ray.core.decide.links import flag, release_duplicates, unflag
from loom_ray.core.decide.outcome import Outcome
from loom_ray.core.decide.retire import retire
from loom_ray.core.draft import PLAIN, Draft, Note
from loom_ray.core.records import Vectors
from loom_ray.core.row import Row, Status

STATUS_OF = {"conflict": Status.CONFLICTED, "duplicate": Status.DUPLICATE}


def store(draft: Draft, settled: Settled, outcome: Outcome, vectors: Vectors | None, fresh_id: str) -> Row:
    """Carries the outcome out in the draft and returns the row that now holds the fact.

    `vectors`: (1 + chunks, dimensions), or None where the row's stored ones stay; `fresh_id` is used by a new row only.
    """
    if outcome.held_by is not None:
        draft.reinforce(outcome.held_by, Note(verdict=outcome.verdict, reason=outcome.rule), settled.address)
        return outcome.held_by
    before = draft.row_at(settled.address)
    image = _image(draft, settled, before, fresh_id)
    return place(draft, before, image, outcome, vectors)


def place(
    draft: Draft, before: Row | None, image: Row, outcome: Outcome, vectors: Vectors | None, note: Note = PLAIN
) -> Row:
    """Puts the image as the outcome has it, and settles the links of every row that its arrival concerns."""
    related_id = note.related_id or _related(outcome)
    said = replace(note, verdict=outcome.verdict, reason=note.reason or outcome.rule, related_id=related_id)
    row = draft.put(with_links(image, outcome), vectors, said)
    if before is not None:
        unflag(draft, row.memory_id, [peer for peer in before.conflict_with if peer not in row.conflict_with])
        if before.canonical_digest != row.canonical_digest or not row.is_live or not row.is_searched:
            release_duplicates(draft, before)
    flag(draft, row, [current for peer in row.conflict_with if (current := draft.row(peer)) is not None])
    for one in outcome.retiring:
        old = draft.row(one.row.memory_id)
        if old is not None and (old.is_live or old.status is Status.DUPLICATE):  # not gone with an earlier one
            retire(draft, old, row, one.reason)
    return draft.row(row.memory_id) or row


def with_links(image: Row, outcome: Outcome) -> Row:
    """The image with the status that the verdict gives it, linked to the peers that decided."""
    status = STATUS_OF.get(outcome.verdict, Status.ACTIVE)
    leaving = {one.row.memory_id for one in outcome.retiring}
    peers = tuple(peer.row.memory_id for peer in outcome.peers if peer.row.memory_id not in leaving)
    return replace(
        image,
        status=status,
        conflict_with=peers if status is Status.CONFLICTED else (),
        duplicate_of=peers[0] if status is Status.DUPLICATE else "",
    )


def _related(outcome: Outcome) -> str:
    return outcome.peers[0].row.memory_id if outcome.peers and outcome.verdict != "clear" else ""


def _image(draft: Draft, settled: Settled, before: Row | None, fresh_id: str) -> Row:
    """What the claim alone makes of the row: a rewrite says everything anew but its expiry, its char_limit and who
    guards it."""
    claim = settled.claim
    kept = settled.base or (before if before is not None and before.is_readable(draft.now) else None)
    same_value = kept is not None and kept.content_sha256 == settled.content_sha256
    image = Row(
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
        source_class=claim.source_class or settled.actor.partition(":")[0],
        source_resource_id=claim.source_resource_id,
        actor=settled.actor,
        chunks=max(0, len(settled.pieces) - 1),
        asserted_at=kept.asserted_at if kept and same_value else 0,
        pinned=settled.pins,
    )
    return image if kept is None else _guarded_as_before(image, kept, settled, same_value)


def _guarded_as_before(image: Row, kept: Row, settled: Settled, same_value: bool) -> Row:
    return replace(
        image,
        pinned=settled.pins or kept.pinned,
        lock=kept.lock,
        locked_until=kept.locked_until,
        lock_reason=kept.lock_reason,
        demoted=kept.demoted and same_value and settled.base is not None and not settled.returns,
        reinforcements=kept.reinforcements,
        reinforced_at=kept.reinforced_at,
        restored_from=kept.restored_from if same_value else "",
        restored_at=kept.restored_at if same_value else None,
    )


def _expiry(draft: Draft, settled: Settled, kept: Row | None) -> int | None:
    claim = settled.claim
    if claim.ttl_seconds is not None:
        return draft.now + claim.ttl_seconds * SECOND_NS
    if claim.clear_expiry or kept is None or not kept.is_current(draft.now):
        return None
    return kept.expires_at
