"""What does it change that everything a cause did is taken back?

What goes back is linked then as it was, as far as the rows that it was linked to still say what they said; whatever was
asserted since is judged against it, as at any return. All of it is one commit, which can be rolled back like another.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from typing import NamedTuple

from loom_ray.contract.rollback import Becomes, RollbackAnswer, RollbackRequest, RolledBack
from loom_ray.core.decide.claim import settled_of
from loom_ray.core.decide.links import flag, hand_on, heirs, promote, unflag
from loom_ray.core.decide.outcome import Outcome, against
from loom_ray.core.decide.peers import judged_peers
from loom_ray.core.decide.rollback_plan import Plan, images_after, is_returning
from loom_ray.core.decide.rules import Rules
from loom_ray.core.decide.trail import Trail
from loom_ray.core.decide.write import Embedded, near_in
from loom_ray.core.draft import Draft, Note
from loom_ray.core.row import Row, Status

PINNED = "contradicts_a_pinned_fact"
Links = dict[str, set[str]]


def decide_rollback(
    draft: Draft, request: RollbackRequest, judged: Judged, found: Mapping[str, Embedded]
) -> RollbackAnswer:
    """`judged` on this draft, with the vectors of every memory whose text changes."""
    before = [row for name in judged.images if (row := draft.row(name)) is not None]
    _put(draft, judged, found, request.reason)
    for row in before:
        _release(draft, row, judged)
    return _answer(draft, request, judged.plan)


# ---- how they stand to what is newer ---------------------------------------------------------------------------------
class Judged(NamedTuple):
    """The plan without what a pin keeps away, the images, and who is at odds with whom among them and the rest."""

    plan: Plan
    images: dict[str, Row]
    links: Links


def judged_one_by_one(
    draft: Draft, plan: Plan, found: Mapping[str, Embedded], rules: Rules
) -> Generator[None, None, Judged]:
    """Yields after each memory that returns. `plan` is current; `found` has the neighbours of all that return."""
    while True:
        images = images_after(draft, plan)
        after = draft.twin()
        for name, image in images.items():
            after.put(image, found[name].vectors if name in found and not found[name].stored else None)
        back = {name: image for name, image in images.items() if is_returning(draft, image)}
        outcomes: dict[str, Outcome] = {}
        for name in back:
            outcomes[name] = _outcome(after, plan, name, back, found[name], rules)
            yield
        pinned = [name for name, outcome in outcomes.items() if outcome.refusal is not None]
        if not pinned:
            images |= {name: _as_judged(images[name], outcome) for name, outcome in outcomes.items()}
            images = {name: _of_canonical(image, images) for name, image in images.items()}
            return Judged(plan, images, _links(draft, after, plan, images, outcomes))
        plan = plan.without(pinned, PINNED)


def _outcome(
    after: Draft, plan: Plan, memory_id: str, back: Mapping[str, Row], found: Embedded, rules: Rules
) -> Outcome:
    """Of newer rows alone: how it stood to the others, its base tells."""
    if rules.policy == "append_only":
        return Outcome("", "append_only")
    settled, known = settled_of(back[memory_id]), _known(after, plan, back[memory_id], back)
    near = {name: one for name, one in near_in(after, found).items() if not known(name)}
    peers = judged_peers(after, settled, near, rules)
    return against([peer for peer in peers if not known(peer.row.memory_id)], after, settled, rules)


def _known(after: Draft, plan: Plan, image: Row, back: Mapping[str, Row]) -> Callable[[str], bool]:
    """Against which others it needs not be judged: their links tell, or of two that return the other was said later."""

    def known(memory_id: str) -> bool:
        row = after.row(memory_id)
        later = memory_id in back and back[memory_id].asserted_at > image.asserted_at
        return row is None or later or plan.knows(image.memory_id, row)

    return known


def _as_judged(image: Row, outcome: Outcome) -> Row:
    if outcome.verdict != "duplicate":
        return image
    return replace(image, status=Status.DUPLICATE, duplicate_of=outcome.peers[0].row.memory_id)


def _of_canonical(image: Row, images: Mapping[str, Row]) -> Row:
    """What it repeats may have turned out to repeat another itself."""
    canonical = image.duplicate_of
    while (other := images.get(canonical)) is not None and other.status is Status.DUPLICATE:
        canonical = other.duplicate_of
    return replace(image, duplicate_of=canonical)


def _links(draft: Draft, after: Draft, plan: Plan, images: Mapping[str, Row], outcomes: Mapping[str, Outcome]) -> Links:
    """Symmetric among those that go back: what either was linked to, and what it meets anew."""
    links: Links = defaultdict(set)
    for name, image in images.items():
        for peer_id in _rivals(draft, after, plan, image, outcomes.get(name)):
            peer = images.get(peer_id) or after.row(peer_id)
            if peer is None or not _may_be_at_odds(after, image, peer):
                continue
            links[name].add(peer_id)
            if peer_id in images:
                links[peer_id].add(name)
    return links


def _rivals(draft: Draft, after: Draft, plan: Plan, image: Row, outcome: Outcome | None) -> list[str]:
    base, current = plan.bases[image.memory_id], draft.row(image.memory_id)
    if base is None or current is None:
        return []
    then = ((peer, after.row(peer)) for peer in base.conflict_with)
    rivals = [peer for peer, row in then if row is not None and plan.met(image.memory_id, row)]
    if outcome is None:  # it says now what it said then: who has been judged against it since stays so
        return [*rivals, *(peer for peer in current.conflict_with if _is_newer(after, plan, image, peer))]
    newer = outcome.peers if outcome.verdict == "conflict" else ()
    return [*rivals, *(peer.row.memory_id for peer in newer)]


def _is_newer(after: Draft, plan: Plan, image: Row, peer_id: str) -> bool:
    peer = after.row(peer_id)
    return peer is not None and peer_id not in plan.bases and not plan.met(image.memory_id, peer)


def _may_be_at_odds(after: Draft, image: Row, peer: Row) -> bool:
    stand = image.is_live and image.is_searched and peer.is_live and peer.is_searched
    return stand and not after.is_allowed(image.memory_key, peer.memory_key)


# ---- carrying it out -------------------------------------------------------------------------------------------------
def _put(draft: Draft, judged: Judged, found: Mapping[str, Embedded], reason: str) -> None:
    """One image each; then the others that are at odds with one of them no longer, or from now on."""
    former: Links = {}
    for name, image in judged.images.items():
        current, base = draft.row(name), judged.plan.bases[name]
        former[name] = set(current.conflict_with) if current is not None else set()
        links = judged.links.get(name, set())
        in_order = (*(peer for peer in (base.conflict_with if base else ()) if peer in links), *sorted(links))
        status = Status.CONFLICTED if links else image.status
        vectors = found[name].vectors if name in found and not found[name].stored else None
        linked = replace(image, status=status, conflict_with=tuple(dict.fromkeys(in_order)))
        draft.put(linked, vectors, Note(reason=reason))
    for name in judged.images:
        links = judged.links.get(name, set())
        unflag(draft, name, sorted(former[name] - links))
        row = draft.row(name)
        assert row is not None
        flag(draft, row, [peer for each in sorted(links) if (peer := draft.row(each)) is not None])


def _release(draft: Draft, before: Row, judged: Judged) -> None:
    """What repeated a text that was taken back, and is not taken back with it, stands by itself."""
    row = draft.row(before.memory_id)
    if row is None or (row.is_live and row.is_searched and row.canonical_digest == before.canonical_digest):
        return
    waiting = [heir for heir in heirs(draft, before) if heir.memory_id not in judged.images]
    hand_on(draft, waiting, lambda heir: promote(draft, heir, before))


# ---- the answer ------------------------------------------------------------------------------------------------------
def _answer(draft: Draft, request: RollbackRequest, plan: Plan) -> RollbackAnswer:
    rows = [_rolled_back(draft, plan, trail) for trail in plan.trails.values()]
    count = Counter(row.becomes for row in rows)
    changed = bool(draft.records) and not request.dry_run
    return RollbackAnswer(
        dry_run=request.dry_run,
        commit_id=str(draft.commit_id) if changed else "",
        removed=count["removed"],
        restored=count["restored"],
        kept=count["kept"],
        rows=rows,
    )


def _rolled_back(draft: Draft, plan: Plan, trail: Trail) -> RolledBack:
    row = draft.row(trail.memory_id)
    told = row or trail.last
    return RolledBack(
        memory_id=trail.memory_id,
        memory_key=told.memory_key,
        agent=told.agent,
        user_id=told.user_id,
        session_id=told.session_id,
        did=trail.did,
        becomes=_becomes(plan, trail),
        status=row.status.value if row is not None else "",
        reason=plan.kept.get(trail.memory_id, ""),
    )


def _becomes(plan: Plan, trail: Trail) -> Becomes:
    if trail.memory_id in plan.kept:
        return "kept"
    if trail.memory_id in plan.bases:
        return "removed" if plan.bases[trail.memory_id] is None else "restored"
    return "relinked" if trail.steps else "counted"
