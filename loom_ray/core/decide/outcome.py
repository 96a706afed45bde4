"""How does a claim stand to what is stored? One outcome a claim, with the rule and the peers that decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from loom_ray.contract.errors import CharLimitExceeded, LoomError, PreconditionFailed
from loom_ray.core.decide.claim import SECOND_NS, Settled
from loom_ray.core.decide.guards import blacklisted, locked, pinned
from loom_ray.core.decide.peers import PEERS_MAX, Peer, judged_peers, same_fact
from loom_ray.core.decide.retire import CONTRADICTION, UPDATE, Retiring, may_be_refined, older_of_key
from loom_ray.core.decide.rules import Rules
from loom_ray.core.draft import Draft
from loom_ray.core.judging.pair import PairKind, PairVerdict
from loom_ray.core.judging.thresholds import Threshold
from loom_ray.core.row import MemoryType, Row


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a claim is not stored although it is well formed: `list_name` is where a batch names it, which goes on."""

    list_name: Literal["skipped_locked", "skipped_pinned", "rejected_pinned", "skipped_blacklisted"]
    error: LoomError


@dataclass(frozen=True, slots=True)
class Outcome:
    """`verdict` is the wire's word; empty where no check ran. `held_by` is the row that already says it (noop);
    `retiring` are the rows whose place the claim takes."""

    verdict: str
    rule: str
    peers: tuple[Peer, ...] = ()
    threshold: Threshold | None = None
    held_by: Row | None = None
    retiring: tuple[Retiring, ...] = ()
    refusal: Refusal | None = None


def outcome_without_vector(draft: Draft, settled: Settled, rules: Rules) -> Outcome | None:
    """What can be settled before any embedding; None where the neighbours have a say.

    Raises CharLimitExceeded and PreconditionFailed, in the pages' order: restatement, lock, pin, length, blacklist,
    precondition. (A restatement does not pass a precondition that names other content: of two writers with one hash,
    one wins.)
    """
    head = readable_head(draft, settled)
    if rules.policy != "append_only" and head is not None and _restates(head, settled):
        return Outcome("merge" if settled.is_searched else "", "restatement", held_by=head)
    refusal = _guarded(draft, settled, head)
    if refusal is not None:
        return Outcome("rejected", "pinned_key" if refusal.list_name == "skipped_pinned" else "locked", refusal=refusal)
    _refuse_length(settled, head)
    if settled.refused is not None:
        error = blacklisted(settled.refused, f"{_where(settled)}value")
        return Outcome("rejected", "blacklisted", refusal=Refusal("skipped_blacklisted", error))
    _refuse_stale(settled, head)
    if rules.policy == "append_only":
        return Outcome("clear" if settled.is_searched else "", "append_only")
    older = _older(draft, settled, rules)
    leaves_another = any(one.row.canonical_digest != settled.canonical_digest for one in older)
    held_by = None if head is not None or leaves_another else _holder(draft, settled)
    if held_by is not None:
        verdict = PairVerdict(PairKind.MERGE, "canonical_form", (), False, None)
        return Outcome("merge", "canonical_form", (Peer(held_by, None, verdict),), held_by=held_by)
    if settled.is_searched:
        return None
    return Outcome("", "not_searched", retiring=tuple(older))


def readable_head(draft: Draft, settled: Settled) -> Row | None:
    """The row that a read of the claim's key would serve, or that it corrects; an expired one is none."""
    if settled.base is not None:
        return settled.base
    head = draft.row_at(settled.address)
    return head if head is not None and head.is_readable(draft.now) else None


def outcome_with_vector(draft: Draft, settled: Settled, near: Mapping[str, float], rules: Rules) -> Outcome:
    """The verdict against all peers: a duplicate before a conflict before a mere elaboration.

    `near`: similarity by memory id, of every row that may be close.
    """
    older = _older(draft, settled, rules)
    leaving = {one.row.memory_id for one in older}
    judged = judged_peers(draft, settled, near, rules)
    outcome = against([peer for peer in judged if peer.row.memory_id not in leaving], draft, settled, rules)
    if not older or outcome.refusal is not None:
        return outcome
    replaced = [peer for peer in judged if peer.row.memory_id in leaving]
    verdict, rule = ("refines", "same_key") if outcome.verdict == "clear" else (outcome.verdict, outcome.rule)
    peers = (*outcome.peers, *replaced) if outcome.verdict != "clear" else replaced
    retiring = (*older, *outcome.retiring)
    return replace(outcome, verdict=verdict, rule=rule, peers=tuple(peers[:PEERS_MAX]), retiring=retiring)


def _older(draft: Draft, settled: Settled, rules: Rules) -> list[Retiring]:
    """The rows of the same key that newest_wins retires, whatever they say."""
    return older_of_key(draft, settled) if rules.policy == "newest_wins" and not settled.returns else []


def against(peers: list[Peer], draft: Draft, settled: Settled, rules: Rules) -> Outcome:
    """The verdict on a claim that stands so to these peers, closest first."""
    blocker = next((peer for peer in peers if _blocks(peer, settled)), None)
    if blocker is not None:
        return _refused(blocker, settled)
    for kind, verdict in _PRECEDENCE:
        deciding = [peer for peer in peers if peer.verdict.kind is kind]
        if not deciding or (verdict == "duplicate" and _is_pinned(draft, settled)):  # it stands by itself
            continue
        if kind is PairKind.CONFLICT:
            return _contradicted(deciding, draft, settled, rules)
        first = deciding[0].verdict
        return Outcome(verdict, first.rule, tuple(deciding[:PEERS_MAX]), first.threshold)
    return Outcome("clear", "nothing_close", threshold=rules.thresholds(settled.memory_type).conflict)


def _contradicted(peers: list[Peer], draft: Draft, settled: Settled, rules: Rules) -> Outcome:
    """Under newest_wins a peer that only fills a slot otherwise makes way, and one whose value the claim says has
    changed; the others are flagged."""
    refined = [peer for peer in peers if _refines(peer, draft, settled, rules)]
    flagged = [peer for peer in peers if peer not in refined][:PEERS_MAX]
    deciding = flagged or refined
    retiring = tuple(Retiring(peer.row, CONTRADICTION if peer.verdict.templated else UPDATE) for peer in refined)
    verdict = "conflict" if flagged else "refines"
    first = deciding[0].verdict
    return Outcome(verdict, first.rule, tuple(deciding[:PEERS_MAX]), first.threshold, retiring=retiring)


def _blocks(peer: Peer, settled: Settled) -> bool:
    """A pinned peer that the claim contradicts. A decision of another key does not: it is another decision."""
    row = peer.row
    same_decision = row.memory_type is not MemoryType.DECISION or row.memory_key == settled.address.memory_key
    return row.pinned and same_decision and peer.verdict.kind is PairKind.CONFLICT


def _refused(blocker: Peer, settled: Settled) -> Outcome:
    error = pinned(blocker.row, f"{_where(settled)}value: it contradicts the pinned fact at {blocker.row.memory_key!r}")
    refusal = Refusal("rejected_pinned", error)
    return Outcome("rejected", blocker.verdict.rule, (blocker,), blocker.verdict.threshold, refusal=refusal)


def _is_pinned(draft: Draft, settled: Settled) -> bool:
    """Whether the row is pinned once the claim is stored."""
    row = settled.base or draft.row_at(settled.address)
    return settled.pins or (row is not None and row.pinned and row.is_live)


def _refines(peer: Peer, draft: Draft, settled: Settled, rules: Rules) -> bool:
    if rules.policy != "newest_wins" or settled.returns:
        return False
    return (peer.verdict.templated or peer.verdict.told) and may_be_refined(draft, peer.row, settled)


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
    given = claim.given
    if head.content_sha256 != settled.content_sha256 or claim.if_match_sha256 not in (None, head.content_sha256):
        return False
    if head.demoted or (settled.pins and not head.pinned):
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


def _guarded(draft: Draft, settled: Settled, head: Row | None) -> Refusal | None:
    """The lock, then the pin, of the row at the address, whether a read serves it by now or not. Who says the same
    bytes again passes a lock only with nothing else said anew, and a pin with anything but another type."""
    row = settled.base or draft.row_at(settled.address)
    if row is None or (head is not None and _restates(head, settled)):
        return None
    if row.is_locked(draft.now) and row.lock == "read_only":
        return Refusal("skipped_locked", locked(row))
    changes = row.content_sha256 != settled.content_sha256 or row.memory_type is not settled.memory_type
    if row.pinned and row.is_live and changes and not settled.overriding:
        error = pinned(row, f"{_where(settled)}value: memory_key {row.memory_key!r} is pinned")
        return Refusal("skipped_pinned", error)
    return None


def _refuse_length(settled: Settled, head: Row | None) -> None:
    limit = settled.claim.char_limit or (head.char_limit if head else None)
    if limit is not None and len(settled.text) > limit:
        raise CharLimitExceeded(
            f"{_where(settled)}value: {len(settled.text)} characters, and the row's char_limit is {limit}"
        )


def _refuse_stale(settled: Settled, head: Row | None) -> None:
    expected = settled.claim.if_match_sha256
    current = head.content_sha256 if head else ""
    if expected is not None and expected != current:
        raise PreconditionFailed(
            f"{_where(settled)}if_match_sha256: the row's content is another one by now", {"current_sha256": current}
        )


def _where(settled: Settled) -> str:
    return "" if settled.index is None else f"entries[{settled.index}]."


def _holder(draft: Draft, settled: Settled) -> Row | None:
    """The row that the claim merges into. Three claims never merge away: one made by another run, whose reads would
    miss it, one that is to last longer than the row that says it already, and one that is to stand pinned."""
    if settled.pins:
        return None
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
