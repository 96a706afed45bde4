"""How could a conflict be settled, and what speaks for it? Read from the two rows alone; deterministic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from loom_ray.contract.conflicts import Decision, ProposeRevisionAnswer, ProposeRevisionRequest, Suggestion
from loom_ray.contract.fields import to_rfc3339
from loom_ray.core.judging.contrast import Contrast, contrast
from loom_ray.core.read.conflicts import differing, peer_of
from loom_ray.core.row import Row, Status
from loom_ray.core.state import State

_TRUST = {"human": 3, "process": 2, "": 2, "derived": 1, "imported": 1, "external": 0}
_PINNED, _DATED, _TRUSTED, _REPEATED, _LATER, _APART = 16, 4, 3, 2, 1, 3


class Argument(NamedTuple):
    """One thing that speaks for a decision. The weights are ours: a pin is a person's word and outweighs the
    others together, a date is the fact's own, and what was merely written later is the weakest sign."""

    decision: Decision
    weight: int
    why: str


def propose(state: State, request: ProposeRevisionRequest) -> ProposeRevisionAnswer:
    row = state.rows.get(request.memory_id)
    if row is None or row.status is not Status.CONFLICTED:
        return ProposeRevisionAnswer(found=False, memory_id=request.memory_id)
    wanted = [peer for peer in row.conflict_with if request.peer_id in (None, peer)]
    peers = [peer for peer in map(state.rows.get, wanted) if peer is not None]
    return ProposeRevisionAnswer(
        found=bool(peers),
        memory_id=row.memory_id,
        memory_key=row.memory_key,
        suggestions=_suggestions(row, peers),
        peers=[peer_of(row, peer) for peer in peers],
    )


def _suggestions(row: Row, peers: list[Row]) -> list[Suggestion]:
    """For each peer the strongest decision; peers with one answer and one reason share a suggestion."""
    told: dict[tuple[int, Decision, str], list[str]] = defaultdict(list)
    for peer in peers:
        weights: dict[Decision, int] = defaultdict(int)
        arguments = list(_arguments(row, peer))
        for argument in arguments:
            weights[argument.decision] += argument.weight
        for decision, weight in weights.items():
            why = "; ".join(argument.why for argument in arguments if argument.decision == decision)
            told[weight, decision, why].append(peer.memory_id)
    ordered = sorted(told.items(), key=lambda one: (-one[0][0], one[0][1], one[0][2]))
    return [
        Suggestion(decision=decision, peer_ids=peer_ids, rationale=why, weight=weight)
        for (weight, decision, why), peer_ids in ordered
    ]


def _arguments(row: Row, peer: Row) -> Iterator[Argument]:
    """revise keeps the row, contract keeps the peer."""
    found = contrast(row.text, peer.text)
    said = _said(row, peer, found)
    if row.pinned != peer.pinned:
        yield Argument(_keeps(row.pinned), _PINNED, f"the row at {_key(row, peer, row.pinned)} is pinned")
    if row.valid_at != peer.valid_at and row.valid_at is not None and peer.valid_at is not None:
        later = row.valid_at > peer.valid_at
        since = to_rfc3339(row.valid_at if later else peer.valid_at)
        yield Argument(_keeps(later), _DATED, f"what {_key(row, peer, later)} says holds since {since}, later{said}")
    trust = _TRUST.get(row.source_class, 2) - _TRUST.get(peer.source_class, 2)
    if trust:
        better = row if trust > 0 else peer
        why = f"{better.memory_key!r} comes from a source of class {better.source_class or 'process'}"
        yield Argument(_keeps(trust > 0), _TRUSTED, why)
    if row.reinforcements != peer.reinforcements:
        more = row.reinforcements > peer.reinforcements
        times = max(row.reinforcements, peer.reinforcements)
        yield Argument(_keeps(more), _REPEATED, f"{_key(row, peer, more)} was said again {times} times")
    if row.identity != peer.identity and row.memory_key != peer.memory_key and found.rule != "negation":
        yield Argument("allow", _APART, f"two writers keep them under two keys, and both may hold{said}")
    later = (row.asserted_at, row.version) > (peer.asserted_at, peer.version)
    yield Argument(_keeps(later), _LATER, f"{_key(row, peer, later)} was written later{said}")
    yield Argument("allow", 0, "they may be about different things: then both hold, and are not flagged again")


def _keeps(row: bool) -> Decision:
    return "revise" if row else "contract"


def _key(row: Row, peer: Row, is_row: bool) -> str:
    return repr((row if is_row else peer).memory_key)


def _said(row: Row, peer: Row, found: Contrast) -> str:
    """The first difference in words; nothing of a secret."""
    named = differing(row, peer, found)
    return f" ({named[0].ours or 'nothing'} against {named[0].theirs or 'nothing'})" if named else ""
