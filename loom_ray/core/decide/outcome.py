"""How does a claim stand to what is stored? One outcome a claim, with the rule and the peers that decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loom_ray.contract.errors import CharLimitExceeded, PreconditionFailed
from loom_ray.core.decide.claim import SECOND_NS, Settled
from loom_ray.core.decide.peers import PEERS_MAX, Peer, judged_peers, same_fact
from loom_ray.core.decide.rules import Rules
from loom_ray.core.draft import Draft
from loom_ray.core.judging.pair import PairKind, PairVerdict
from loom_ray.core.judging.thresholds import Threshold
from loom_ray.core.row import MemoryType, Row


@dataclass(frozen=True, slots=True)
class Outcome:
    """`verdict` is the wire's word; empty where no check ran. `held_by` is the row that already says it (noop)."""

    verdict: str
    rule: str
    peers: tuple[Peer, ...] = ()
    threshold: Threshold | None = None
    held_by: Row | None = None


def outcome_without_vector(draft: Draft, settled: Settled, rules: Rules) -> Outcome | None:
    """What can be settled before any embedding; None where the neighbours have a say.

    Raises CharLimitExceeded and PreconditionFailed, in the pages' order: restatement, value gates, precondition. (A
    restatement does not pass a precondition that names other content: of two writers with one hash, one wins.)
    """
    head = readable_head(draft, settled)
    if rules.policy == "append_only":
        _guard(settled, head)
        return Outcome("clear" if settled.is_searched else "", "append_only")
    if head is not None and _restates(head, settled):
        return Outcome("merge" if settled.is_searched else "", "restatement", held_by=head)
    _guard(settled, head)
    held_by = None if head is not None else _holder(draft, settled)
    if held_by is not None:
        verdict = PairVerdict(PairKind.MERGE, "canonical_form", (), False, None)
        return Outcome("merge", "canonical_form", (Peer(held_by, None, verdict),), held_by=held_by)
    return None if settled.is_searched else Outcome("", "not_searched")


def readable_head(draft: Draft, settled: Settled) -> Row | None:
    """The row that a read of the claim's key would serve; an expired one is none."""
    head = draft.row_at(settled.address)
    return head if head is not None and head.is_readable(draft.now) else None


def outcome_with_vector(draft: Draft, settled: Settled, near: Mapping[str, float], rules: Rules) -> Outcome:
    """The verdict against all peers: a duplicate before a conflict before a mere elaboration.

    `near`: similarity by memory id, of every row that may be close.
    """
    peers = judged_peers(draft, settled, near, rules)
    for kind, verdict in _PRECEDENCE:
        deciding = tuple(peer for peer in peers if peer.verdict.kind is kind)[:PEERS_MAX]
        if deciding:
            first = deciding[0].verdict
            return Outcome(verdict, first.rule, deciding, first.threshold)
    return Outcome("clear", "nothing_close", threshold=rules.thresholds(settled.memory_type).conflict)


_PRECEDENCE = (
    (PairKind.MERGE, "duplicate"),  # equal text that could not be merged away: see _holder
    (PairKind.DUPLICATE, "duplicate"),
    (PairKind.CONFLICT, "conflict"),
    (PairKind.ELABORATION, "clear"),
)


def _restates(head: Row, settled: Settled) -> bool:
    """The same bytes and nothing else said anew: what the request left unset counts as unchanged. In a batch the same
    bytes are enough, whatever stands beside them (the pages), unless the entry names another sensitivity."""
    claim = settled.claim
    given = claim.model_fields_set
    if head.content_sha256 != settled.content_sha256 or claim.if_match_sha256 not in (None, head.content_sha256):
        return False
    if settled.index is not None:
        return "sensitivity" not in given or settled.sensitivity == head.sensitivity
    said = {
        "tags": tuple(claim.tags) == head.tags,
        "entities": tuple(claim.entities) == head.entities,
        "files": settled.files == head.files,
        "memory_type": settled.memory_type is head.memory_type,
        "confidence": claim.confidence == head.confidence,
        "valid_at": settled.valid_at == head.valid_at,
        "valid_to": settled.valid_to == head.valid_to,
        "ttl_seconds": False,
        "clear_expiry": head.expires_at is None or not claim.clear_expiry,
        "on_expire": claim.on_expire == head.on_expire,
        "char_limit": claim.char_limit == head.char_limit,
        "source_class": (claim.source_class or "") == head.source_class,
        "source_resource_id": claim.source_resource_id == head.source_resource_id,
    }
    same = settled.sensitivity == head.sensitivity
    return same and all(holds for name, holds in said.items() if name in given)


def _guard(settled: Settled, head: Row | None) -> None:
    limit = settled.claim.char_limit or (head.char_limit if head else None)
    where = "" if settled.index is None else f"entries[{settled.index}]."
    if limit is not None and len(settled.text) > limit:
        raise CharLimitExceeded(f"{where}value: {len(settled.text)} characters, and the row's char_limit is {limit}")
    expected = settled.claim.if_match_sha256
    current = head.content_sha256 if head else ""
    if expected is not None and expected != current:
        raise PreconditionFailed(
            f"{where}if_match_sha256: the row's content is another one by now", {"current_sha256": current}
        )


def _holder(draft: Draft, settled: Settled) -> Row | None:
    """The row that the claim merges into. Two claims never merge away: one made by another run, whose reads would miss
    it, and one that is to last longer than the row that says it already."""
    fits = _folds_by_bytes if settled.index is not None else _folds_by_form
    rows = same_fact(draft, settled)
    return next((row for row in rows if fits(row, settled) and _lasts(row, settled, draft.now)), None)


def _folds_by_form(row: Row, settled: Settled) -> bool:
    """A decision is identified by its key, and what is not searched is not judged: neither merges."""
    judged = settled.is_searched and settled.memory_type is not MemoryType.DECISION
    return judged and (not settled.run_id or row.run_id == settled.run_id)


def _folds_by_bytes(row: Row, settled: Settled) -> bool:
    """In a batch a byte-identical value folds into the row that holds it, whatever its type (the pages)."""
    same_run = not settled.run_id or row.run_id == settled.run_id
    same_bytes = row.content_sha256 == settled.content_sha256 and settled.sensitivity != "high"
    return _folds_by_form(row, settled) or (same_run and same_bytes)


def _lasts(row: Row, settled: Settled, now: int) -> bool:
    """Whether the row will be served as long as the claim asks to be."""
    holder_ends, ttl_seconds = row.ends_at(), settled.claim.ttl_seconds
    ends = [
        end for end in (settled.valid_to, now + ttl_seconds * SECOND_NS if ttl_seconds else None) if end is not None
    ]
    return holder_ends is None or (bool(ends) and min(ends) <= holder_ends)
