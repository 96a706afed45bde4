"""What changes when a stored row comes back, or turns up under another key? It is judged again, and retires nobody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from loom_ray.contract.changing import MoveAnswer, MoveRequest, RestoreAnswer, RestoreRequest
from loom_ray.contract.errors import KeyHoldsFact, PreconditionFailed
from loom_ray.core.decide.addressing import addressed, readable
from loom_ray.core.decide.answer import peer_views
from loom_ray.core.decide.claim import Settled, settled_of
from loom_ray.core.decide.guards import refuse_deletion
from loom_ray.core.decide.links import release_duplicates, repoint, unflag
from loom_ray.core.decide.outcome import Outcome, outcome_with_vector
from loom_ray.core.decide.remove import of
from loom_ray.core.decide.rules import DAY_NS, Rules
from loom_ray.core.decide.store import place
from loom_ray.core.draft import PLAIN, Draft, Note
from loom_ray.core.records import Vectors
from loom_ray.core.row import Address, Row, Status, share_a_user

GONE = frozenset({Status.TOMBSTONED, Status.SUPERSEDED, Status.REJECTED})


class Arriving(NamedTuple):
    """The row as it is stored now, and the image that is to be judged and placed."""

    row: Row
    image: Row

    @property
    def settled(self) -> Settled:
        return settled_of(self.image)


# ---- coming back -----------------------------------------------------------------------------------------------------
def restorable(draft: Draft, request: RestoreRequest, rules: Rules) -> Arriving | None:
    """The row that the request means, if it may come back now. Raises AmbiguousKey."""
    row = addressed(draft, request, lambda row: row.status in GONE)
    if row is None or _why_not(draft, request, row, rules):
        return None
    undone = {"restored_from": row.superseded_by, "restored_at": draft.next_version} if row.superseded_by else {}
    back = replace(row, status=Status.ACTIVE, tombstoned_at=None, superseded_by="", ended_at=None, **undone)
    return Arriving(row, back)


def _why_not(draft: Draft, request: RestoreRequest, row: Row, rules: Rules) -> str:
    """Empty where nothing stands against it."""
    wanted = request.if_superseded_by
    if row.status is not Status.SUPERSEDED and (request.only_if_superseded or wanted is not None):
        return "not_superseded"
    if wanted is not None and row.superseded_by != wanted:
        return "changed_since"
    if not row.is_current(draft.now):
        return "expired"
    window = rules.settings.restore_window_days * DAY_NS
    return "window_passed" if row.tombstoned_at is not None and draft.now - row.tombstoned_at > window else ""


def decide_restore(draft: Draft, arriving: Arriving, near: Mapping[str, float], rules: Rules) -> RestoreAnswer:
    """Active, conflicted or a duplicate, as it stands to what is stored now. Raises PinnedConflict."""
    outcome = _judged(draft, arriving.image, near, rules)
    behind = arriving.row.superseded_by
    note = Note(action="memory.unsupersede", related_id=behind) if behind else PLAIN
    back = place(draft, None, arriving.image, outcome, None, note)
    return RestoreAnswer(
        restored=True,
        status=back.status.value,
        conflict_verdict=outcome.verdict,
        peers=peer_views(outcome),
        **of(back),
    )


def not_restored(draft: Draft, request: RestoreRequest, rules: Rules) -> RestoreAnswer:
    """Why not; or that an earlier undo of the same retirement still stands, which is as good."""
    row = addressed(draft, request, lambda row: True)
    if row is None:
        return RestoreAnswer(restored=False, reason="not_found", memory_key=request.memory_key)
    if row.status in GONE:
        return RestoreAnswer(restored=False, reason=_why_not(draft, request, row, rules), **of(row))
    wanted = request.if_superseded_by
    if wanted is not None and row.restored_from == wanted and row.is_readable(draft.now):
        return RestoreAnswer(restored=True, status=row.status.value, **of(row))
    conditional = request.only_if_superseded or wanted is not None
    reason = "changed_since" if conditional else "not_deleted"
    return RestoreAnswer(restored=False, reason=reason, status=row.status.value, **of(row))


# ---- moving ----------------------------------------------------------------------------------------------------------
def movable(draft: Draft, request: MoveRequest, fresh_id: str) -> Arriving | None:
    """The row to move and its image under the new key.

    Raises AmbiguousKey, Locked, PreconditionFailed and KeyHoldsFact.
    """
    row = readable(draft, request)
    if row is None:
        return None
    refuse_deletion(row, draft.now)
    if request.if_match_sha256 not in (None, row.content_sha256):
        raise PreconditionFailed(
            "if_match_sha256: the row's content is another one by now", {"current_sha256": row.content_sha256}
        )
    taken = draft.row_at(Address(request.new_memory_key, row.identity))
    if taken is not None and (taken.is_readable(draft.now) or taken.is_locked(draft.now)):
        raise KeyHoldsFact(f"new_memory_key: {request.new_memory_key!r} holds a fact already")
    memory_id = taken.memory_id if taken else fresh_id
    return Arriving(row, replace(row, memory_id=memory_id, memory_key=request.new_memory_key))


def decide_move(
    draft: Draft,
    request: MoveRequest,
    arriving: Arriving,
    near: Mapping[str, float],
    vectors: Vectors | None,
    rules: Rules,
) -> MoveAnswer:
    """`near` and `vectors` are those of the row as it is stored.

    The old row steps back first, so that the fact does not meet itself. Raises PinnedConflict."""
    row, image = arriving
    repeats = draft.duplicates_of(row.memory_id)
    old = _stepped_back(draft, row, image, request.keep_redirect)
    outcome = _judged(draft, image, {other: one for other, one in near.items() if other != row.memory_id}, rules)
    new = place(draft, None, replace(image, duplicate_of=""), outcome, vectors)
    canonical = draft.row(new.duplicate_of) or new if new.status is Status.DUPLICATE else new
    others = [repeat for repeat in repeats if repeat.memory_id != canonical.memory_id]
    repoint(draft, [each for each in others if share_a_user(each.user_id, canonical.user_id)], canonical)
    release_duplicates(draft, row)
    return MoveAnswer(
        moved=True,
        moved_from_id=old.memory_id,
        status=new.status.value,
        conflict_verdict=outcome.verdict,
        peers=peer_views(outcome),
        **of(new),
    )


def _stepped_back(draft: Draft, row: Row, image: Row, keep_redirect: bool) -> Row:
    gone = {"status": Status.REDIRECT, "redirects_to": image.memory_id}
    if not keep_redirect:
        gone = {"status": Status.TOMBSTONED, "tombstoned_at": draft.now}
    note = Note(related_id=image.memory_id)
    old = draft.change(row, note, conflict_with=(), duplicate_of="", pinned=False, **gone)
    unflag(draft, row.memory_id, row.conflict_with)
    return old


def _judged(draft: Draft, image: Row, near: Mapping[str, float], rules: Rules) -> Outcome:
    if not image.is_searched or rules.policy == "append_only":
        return Outcome("", "not_searched")
    outcome = outcome_with_vector(draft, settled_of(image), near, rules)
    if outcome.refusal is not None:
        raise outcome.refusal.error
    return outcome
