"""Whose time is up? The rows that leave the reads by themselves, in the order of when they do."""

from __future__ import annotations

from itertools import islice

from sortedcontainers import SortedSet

from loom_ray.core.row import Row, Status

AT_ONCE_MAX = 500  # ends in one commit


def is_over(row: Row, now: int) -> bool:
    """Whether the row is one that reads served until its end came."""
    return (row.is_live or row.status is Status.DUPLICATE) and not row.is_current(now)


class Ends:
    """Holds an end until it is carried out. One that only stopped being true may be held again after a replay: to carry
    it out once more changes nothing."""

    def __init__(self) -> None:
        self._in_order: SortedSet[tuple[int, str]] = SortedSet()
        self._of_each: dict[str, int] = {}

    def put(self, row: Row, after: int | None = None) -> None:
        """The row's new image says when its end is; of its ends the first, or the first after `after` (ns)."""
        self.settle(row.memory_id)
        if not (row.is_live or row.status is Status.DUPLICATE):
            return
        ends = [end for end in (row.leaves_at(), row.valid_to) if end is not None and (after is None or end > after)]
        if ends:
            self._of_each[row.memory_id] = min(ends)
            self._in_order.add((min(ends), row.memory_id))

    def settle(self, memory_id: str) -> None:
        """Nothing is due for it any more."""
        end = self._of_each.pop(memory_id, None)
        if end is not None:
            self._in_order.discard((end, memory_id))

    def due(self, now: int) -> list[str]:
        """Those that end at or before `now` (ns), the earliest first, so many as one commit carries out."""
        return [memory_id for _, memory_id in islice(self._in_order.irange(maximum=(now, chr(0x10FFFF))), AT_ONCE_MAX)]

    def next(self) -> int | None:
        """When the next one is due (ns)."""
        return self._in_order[0][0] if self._in_order else None
