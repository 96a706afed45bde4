"""What held at a time? From the images of a row to the one that was true, or known, then.

valid_time: a row makes one statement after another; each holds from its `valid_at`, or else from when it was said,
until the row's next one begins, its `valid_to`, or the beginning of the memory that took the row's place. What was
deleted, marked wrong or rolled back since was not true then either; what expired was true until it did. Where the fact
has moved to another key since, the old key's row made the statement until then.

knowledge_time: the newest image recorded by then, if it stood: neither deleted nor retired yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from loom_ray.contract.fields import to_ns
from loom_ray.contract.reading import AsOfBasis, GetRequest, SearchRequest
from loom_ray.core.row import LIVE, Row, Status

STANDING = LIVE | {Status.DUPLICATE}
RETRACTED = frozenset({Status.TOMBSTONED, Status.REJECTED})


class Held(NamedTuple):
    """An image that held at the time asked for, and since when (ns)."""

    began: int
    image: Row


def moment(request: SearchRequest | GetRequest) -> int:
    """The end of the microsecond that is asked for (ns): a time that an answer has shown means the version that it
    stands for, which is stamped more finely."""
    as_of = to_ns(request.as_of)
    assert as_of is not None
    return as_of + 999 if as_of % 1000 == 0 else as_of


def held_by_each(images: Iterable[Row], as_of: int, basis: AsOfBasis) -> list[Held]:
    """Of each memory the image that held at `as_of`, if any. Of a memory all images are needed, or at least the newest
    of each statement (valid_time) and the newest recorded by then (knowledge_time)."""
    of_each: dict[str, list[Row]] = defaultdict(list)
    for image in images:
        of_each[image.memory_id].append(image)
    held = (_held(of_one, as_of, basis) for of_one in of_each.values())
    return [one for one in held if one is not None]


def held_last(held: Sequence[Held]) -> Row | None:
    """Of several the one that began last."""
    return max(held, key=lambda one: (one.began, one.image.version)).image if held else None


def _held(images: Sequence[Row], as_of: int, basis: AsOfBasis) -> Held | None:
    if basis == "knowledge_time":
        known = max((image for image in images if image.version <= as_of), key=_recorded, default=None)
        return Held(known.version, known) if known is not None and known.status in STANDING else None
    newest = max(images, key=_recorded)
    if _ended(newest) <= as_of:
        return None
    begun = [image for image in images if image.began <= as_of and image.asserted_at <= newest.asserted_at]
    last = max(begun, key=lambda image: (image.began, image.version), default=None)
    if last is None or (last.valid_to is not None and last.valid_to <= as_of):
        return None
    return Held(last.began, _as_it_was(last))


def _ended(newest: Row) -> float:
    """When the row stopped making statements (ns): its place was taken, it expired, or its fact moved to another key;
    0 where what it said was taken back."""
    if newest.status is Status.REDIRECT:
        return newest.version
    if newest.status is Status.SUPERSEDED:
        return newest.version if newest.ended_at is None else newest.ended_at
    if newest.status is Status.TOMBSTONED and newest.has_expired:
        return newest.expires_at or 0
    return 0 if newest.status in RETRACTED else float("inf")


def _as_it_was(image: Row) -> Row:
    """A row that has moved since still says what it said."""
    return replace(image, status=Status.ACTIVE, redirects_to="") if image.status is Status.REDIRECT else image


def _recorded(image: Row) -> int:
    return image.version
