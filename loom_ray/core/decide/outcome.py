"""How does a claim stand to what is stored? One outcome a claim, with the rule and the peers that decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loom_ray.contract.errors import CharLimitExceeded, PreconditionFailed
from loom_ray.core.decide.claim import Settled
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

    Raises CharLimitExceeded and PreconditionFailed, in the pages' order: restatement, value gates, precondition.
    """
    head = draft.row_at(settled.address)
    if head is not None and not _is_served(head):
        head = None
    if head is not None and _restates(head, settled):
        return Outcome("merge" if settled.is_searched else "", "restatement", held_by=head)
    _guard(draft, settled, head)
    if not settled.is_searched:
        return Outcome("", "not_searched")
    if rules.policy == "append_only":
        return Outcome("clear", "append_only")
    return _already_stored(draft, settled, head)


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
    (PairKind.MERGE, "duplicate"),  # equal text that could not be merged away: see _already_stored
    (PairKind.DUPLICATE, "duplicate"),
    (PairKind.CONFLICT, "conflict"),
    (PairKind.ELABORATION, "clear"),
)


def _is_served(row: Row) -> bool:
    return row.is_live or row.status == "duplicate"


def _restates(head: Row, settled: Settled) -> bool:
    """The same bytes and nothing else said anew: what the request left unset counts as unchanged."""
    claim = settled.claim
    given = claim.model_fields_set
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
    same = head.content_sha256 == settled.content_sha256 and (
        settled.sensitivity == head.sensitivity or (settled.index is not None and "sensitivity" not in given)
    )
    return same and all(holds for name, holds in said.items() if name in given)


def _guard(draft: Draft, settled: Settled, head: Row | None) -> None:
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


def _already_stored(draft: Draft, settled: Settled, head: Row | None) -> Outcome | None:
    """A merge, where a peer holds the canonical form. Two claims never merge away: one made by another run, whose
    reads would miss it, and a new value for a key that holds a row, which would go on serving its old value."""
    if head is not None:
        return None
    for row in _mergeable(draft, settled):
        if not settled.run_id or row.run_id == settled.run_id:
            verdict = PairVerdict(PairKind.MERGE, "canonical_form", (), False, None)
            return Outcome("merge", "canonical_form", (Peer(row, None, verdict),), held_by=row)
    return None


def _mergeable(draft: Draft, settled: Settled) -> list[Row]:
    """Rows that hold the fact. A decision is identified by its key, so only a byte-identical one in a batch folds."""
    rows = same_fact(draft, settled)
    if settled.memory_type is not MemoryType.DECISION:
        return rows
    return [row for row in rows if settled.index is not None and row.content_sha256 == settled.content_sha256]
