"""What do the indexes filter by? The facets of each row as numbers, and the filter over all rows at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from loom_ray.core.row import MemoryType, Status
from loom_ray.storage.facets import Facets, Where

NEVER = np.iinfo(np.int64).max
ROW = np.dtype(
    [("held", "?"), ("memory_type", "u1"), ("status", "u1"), ("user", "i4"), ("tags", "i4"), ("until", "i8")],
    align=True,
)
_TYPES = {memory_type: code for code, memory_type in enumerate(MemoryType)}
_STATUSES = {status: code for code, status in enumerate(Status)}

Facts = npt.NDArray[np.void]  # of ROW: what is known of each row, as numbers
Mask = npt.NDArray[np.bool_]


class Codebook:
    """The numbers that stand for user ids and sets of tags. It only grows, so a reader in another thread may use it."""

    def __init__(self) -> None:
        self._users: dict[str, int] = {}
        self._tag_sets: dict[tuple[str, ...], int] = {}
        self._tag_sets_with: dict[str, list[int]] = {}

    def facts(self, facets: Sequence[Facets]) -> Facts:
        """One record of ROW for each, held."""
        return np.fromiter((self._encoded(each) for each in facets), dtype=ROW, count=len(facets))

    def _encoded(self, facets: Facets) -> tuple[bool, int, int, int, int, int]:
        user = self._users.setdefault(facets.user_id, len(self._users))
        until = NEVER if facets.until is None else facets.until
        return True, _TYPES[facets.memory_type], _STATUSES[facets.status], user, self._tag_set(facets.tags), until

    def _tag_set(self, tags: tuple[str, ...]) -> int:
        code = self._tag_sets.get(tags)
        if code is None:
            code = len(self._tag_sets)
            for tag in set(tags):
                self._tag_sets_with.setdefault(tag, []).append(code)
            self._tag_sets[tags] = code
        return code

    def mask(self, facts: Facts, where: Where) -> Mask:
        """Which of the rows the filter admits."""
        mask = facts["held"].copy()
        if where.memory_types is not None:
            mask &= _among(facts["memory_type"], (_TYPES[each] for each in where.memory_types))
        if where.statuses is not None:
            mask &= _among(facts["status"], (_STATUSES[each] for each in where.statuses))
        if where.user_ids is not None:
            mask &= _among(facts["user"], (self._users.get(each, -1) for each in where.user_ids))
        if where.tags:
            mask &= _among(facts["tags"], (code for tag in where.tags for code in self._tag_sets_with.get(tag, ())))
        if where.at is not None:
            mask &= facts["until"] > where.at
        return mask


def _among(column: npt.NDArray[np.integer], codes: Iterable[int]) -> Mask:
    wanted = list(codes)
    if len(wanted) > 4:
        return np.isin(column, wanted)
    mask = np.zeros(len(column), dtype=np.bool_)
    for code in wanted:
        mask |= column == code
    return mask
