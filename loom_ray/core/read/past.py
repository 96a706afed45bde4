"""What held at a time? From the images of a row to the one that was true, or known, then.

valid_time: a row makes one statement after another; each holds from its `valid_at`, or else from when it was said,
until the row's next one begins, its `valid_to`, or the beginning of the memory that took the row's place. What was
deleted or marked wrong since was not true then either.

knowledge_time: the newest image recorded by then, if it stood: neither deleted nor retired yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from loom_ray.contract.reading import AsOfBasis
from loom_ray.core.row import LIVE, Row, Status
from loom_ray.core.state import State

STANDING = LIVE | {Status.DUPLICATE}
RETRACTED = frozenset({Status.TOMBSTONED, Status.REJECTED})


class Held(NamedTuple):
    """An image that held at the time asked for, and since when (ns)."""

    began: int
    image: Row


def held_by_each(state: State, images: Iterable[Row], as_of: int, basis: AsOfBasis) -> list[Held]:
    """Of each memory the image that held at `as_of`, if any. Of a memory all images are needed, or at least the newest
    of each statement (valid_time) and the newest recorded by then (knowledge_time)."""
    of_each: dict[str, list[Row]] = defaultdict(list)
    for image in images:
        of_each[image.memory_id].append(image)
    held = (_held(state, of_one, as_of, basis) for of_one in of_each.values())
    return [one for one in held if one is not None]


def held_last(held: Sequence[Held]) -> Row | None:
    """Of several the one that began last."""
    return max(held, key=lambda one: (one.began, one.image.version)).image if held else None


def _held(state: State, images: Sequence[Row], as_of: int, basis: AsOfBasis) -> Held | None:
    if basis == "knowledge_time":
        known = max((image for image in images if image.version <= as_of), key=_recorded, default=None)
        return Held(known.version, known) if known is not None and known.status in STANDING else None
    newest = max(images, key=_recorded)
    if newest.status in RETRACTED or _ended(state, newest) <= as_of:
        return None
    begun = [image for image in images if began(image) <= as_of]
    last = max(begun, key=lambda image: (began(image), image.version), default=None)
    if last is None or (last.valid_to is not None and last.valid_to <= as_of):
        return None
    return Held(began(last), last)


def began(image: Row) -> int:
    """When the statement that the image makes began to hold (ns). Images of before that was kept say when they were
    written."""
    return image.valid_at if image.valid_at is not None else image.asserted_at or image.version


def _ended(state: State, newest: Row) -> float:
    """When the row stopped making statements (ns): its place was taken, or its fact moved to another key."""
    if newest.status is Status.REDIRECT:
        return newest.version
    if newest.status is not Status.SUPERSEDED:
        return float("inf")
    successor = state.rows.get(newest.superseded_by)
    return newest.version if successor is None else began(successor)


def _recorded(image: Row) -> int:
    return image.version
