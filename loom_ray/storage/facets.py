"""Which rows may a search return? What the two indexes know of a row beside its text, and the filter over it."""

from __future__ import annotations

from dataclasses import dataclass

from loom_ray.core.row import LIVE, MemoryType, Row, Status

NOBODY = "-"


@dataclass(frozen=True, slots=True)
class Facets:
    """What searches filter by. `until` is the first time (ns) at which the row is no longer served; None is never."""

    memory_type: MemoryType
    user_id: str
    status: Status
    tags: tuple[str, ...] = ()
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Where:
    """All that is given must hold; None (for tags: nothing) does not filter. Applied before the top k are taken."""

    memory_types: frozenset[MemoryType] | None = None
    user_ids: frozenset[str] | None = None
    statuses: frozenset[Status] | None = None
    tags: frozenset[str] = frozenset()  # any of
    at: int | None = None  # ns; rows whose `until` is not later are left out

    def admits(self, facets: Facets) -> bool:
        """The meaning of the filter, for one row; the indexes apply the same to all rows at once."""
        return (
            (self.memory_types is None or facets.memory_type in self.memory_types)
            and (self.user_ids is None or facets.user_id in self.user_ids)
            and (self.statuses is None or facets.status in self.statuses)
            and (not self.tags or not self.tags.isdisjoint(facets.tags))
            and (self.at is None or facets.until is None or facets.until > self.at)
        )


def facets_of(row: Row) -> Facets:
    """A row is served until it expires or stops being valid, whichever comes first."""
    return Facets(row.memory_type, row.user_id, row.status, row.tags, row.ends_at())


def peers_where(memory_type: MemoryType, user_id: str) -> Where:
    """The rows that a write may be judged against: of its type, of its user or where either is nobody's, live or about
    to be: a duplicate lives when its canonical goes, and that may be in the same batch."""
    user_ids = None if user_id == NOBODY else frozenset((user_id, NOBODY))
    return Where(memory_types=frozenset((memory_type,)), user_ids=user_ids, statuses=LIVE | {Status.DUPLICATE})
