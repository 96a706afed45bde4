"""Which memories go back when a cause is rolled back, and what do they hold then?

Every memory whose newest changes are all the cause's goes back to its image before them. Nobody else's change is
touched: a memory that was changed since stays, and with it what only followed it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from loom_ray.core.decide.trail import Trail
from loom_ray.core.draft import Draft
from loom_ray.core.row import Row, Status
from loom_ray.core.state import State

CHANGED_SINCE = "changed_since"
FORGOTTEN = "forgotten"  # deleted longer ago than it could be restored
BLACKLISTED = "blacklisted"


# ---- which memories go back, and to what -----------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Plan:
    """Back to which image each memory goes (None: it was not there before), and which stay as they are, and why."""

    trails: Mapping[str, Trail]
    bases: Mapping[str, Row | None]
    kept: Mapping[str, str]

    def is_current(self, state: State) -> bool:
        """Whether none of them has changed since the trails were read."""
        rows = ((name, state.rows.get(name)) for name in self.bases)
        return all(row is not None and row.version == self.trails[name].version for name, row in rows)

    def met(self, memory_id: str, other: Row) -> bool:
        """Whether the other (as it will be) said just that when the cause came to the memory: then what it goes back to
        is linked as the two stand."""
        came_at = self.trails[memory_id].last_block[0].audit.commit_id  # what was there before is stamped lower
        if other.memory_id in self.bases:
            return self.trails[other.memory_id].said_at(came_at) == other.asserted_at
        return other.asserted_at < came_at

    def knows(self, memory_id: str, other: Row) -> bool:
        """Whether the links of either tell how the two stand."""
        base = self.bases[memory_id]
        assert base is not None
        return self.met(memory_id, other) or (other.memory_id in self.bases and self.met(other.memory_id, base))

    def without(self, memory_ids: Collection[str], reason: str) -> Plan:
        """These stay, and with them what only followed them."""
        kept = {**self.kept, **dict.fromkeys(memory_ids, reason)}
        bases = {name: base for name, base in self.bases.items() if name not in kept}
        while left := [name for name in bases if _follows_kept(name, self.trails, kept)]:
            kept |= dict.fromkeys(left, CHANGED_SINCE)
            bases = {name: base for name, base in bases.items() if name not in kept}
        return Plan(self.trails, bases, kept)


def planned(trails: Mapping[str, Trail], state: State) -> Plan:
    blocks = {name: trail.last_block for name, trail in trails.items()}
    bases = {name: block[0].before for name, block in blocks.items() if block}
    plan = Plan(trails, bases, {}).without([name for name in bases if name not in state.rows], FORGOTTEN)
    return plan.without([name for name, trail in trails.items() if trail.is_changed_since], CHANGED_SINCE)


def _follows_kept(memory_id: str, trails: Mapping[str, Trail], kept: Mapping[str, str]) -> bool:
    """Whether it was retired behind, released by, moved to or moved from a memory that stays."""
    if any(step.follows in kept for step in trails[memory_id].last_block):
        return True
    return any(step.caused and step.moved_to == memory_id for name in kept for step in trails[name].steps)


# ---- what they hold then ---------------------------------------------------------------------------------------------
def images_after(draft: Draft, plan: Plan) -> dict[str, Row]:
    """Each memory as it was, still without its contradictions; how often it was said stays counted."""
    images = {name: _image(draft, name, base) for name, base in plan.bases.items()}
    return {name: _repeating(draft, image, images, plan) for name, image in images.items()}


def _image(draft: Draft, memory_id: str, base: Row | None) -> Row:
    current = draft.row(memory_id)
    assert current is not None
    if base is None:
        gone = replace(current, status=Status.TOMBSTONED, tombstoned_at=draft.now, superseded_by="", ended_at=None)
        return replace(gone, conflict_with=(), duplicate_of="", redirects_to="")
    status = Status.ACTIVE if base.is_live else base.status
    counted = {"reinforcements": current.reinforcements, "reinforced_at": current.reinforced_at}
    return replace(base, status=status, conflict_with=(), **counted)


def _repeating(draft: Draft, image: Row, images: Mapping[str, Row], plan: Plan) -> Row:
    """A duplicate whose canonical has gone or says something else by now stands by itself."""
    if image.status is not Status.DUPLICATE:
        return image
    canonical = images.get(image.duplicate_of) or draft.row(image.duplicate_of)
    stands = canonical is not None and canonical.is_live and plan.met(image.memory_id, canonical)
    return image if stands else replace(image, status=Status.ACTIVE, duplicate_of="")


def is_returning(draft: Draft, image: Row) -> bool:
    """Whether it will say what nobody has been judged against since."""
    current = draft.row(image.memory_id)
    assert current is not None
    says = current.is_live and current.is_searched and current.asserted_at == image.asserted_at
    return image.is_live and image.is_searched and not says


def says_anew(draft: Draft, image: Row) -> bool:
    """Whether it will be served with a text that it is not served with now."""
    current = draft.row(image.memory_id)
    assert current is not None
    says = current.is_readable(draft.now) and current.content_sha256 == image.content_sha256
    return (image.is_live or image.status is Status.DUPLICATE) and not says


def needs_vectors(draft: Draft, image: Row) -> bool:
    """Whether it must be looked up: what returns is judged, and another text has other vectors."""
    current = draft.row(image.memory_id)
    assert current is not None
    another = image.is_searched and current.content_sha256 != image.content_sha256
    return another or is_returning(draft, image)
