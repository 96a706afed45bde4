"""Which of a request's claims hold what must not be stored? Marked before anything is decided or embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from loom_ray.core.decide.claim import Settled
from loom_ray.core.refusal.matching import Refused, Texts, texts_of
from loom_ray.core.row import Address, JsonValue, Row

BEHIND_UNCHECKED = "an earlier entry of its key could not be checked; send it again in a smaller request"


def texts_of_claim(settled: Settled) -> Texts:
    """The value, and the names that stand beside it."""
    if settled.returns and settled.base is not None:
        return texts_of_row(settled.base)
    claim = settled.claim
    source = (claim.source_class or "", claim.source_resource_id)
    return _texts(claim.value, settled.address.memory_key, *claim.tags, *claim.entities, *settled.files, *source)


def texts_of_row(row: Row) -> Texts:
    """The same of a stored row."""
    source = (row.source_class, row.source_resource_id)
    return _texts(row.value, row.memory_key, *row.tags, *row.entities, *row.files, *source)


def _texts(value: JsonValue, *names: str) -> Texts:
    return texts_of(value, tuple(name for name in names if name))


def marked(claims: Sequence[Settled], found: Sequence[Refused | None]) -> list[Settled]:
    """The claims with what refuses them. Behind one that could not be checked, every later one of its key is refused
    the same way: sent again in order, they leave the key at its last value (the pages)."""
    unchecked: set[Address] = set()
    result: list[Settled] = []
    for settled, match in zip(claims, found, strict=True):
        behind = match is None and settled.address in unchecked
        refused = Refused(None, BEHIND_UNCHECKED) if behind else match
        if refused is not None and refused.pattern is None:
            unchecked.add(settled.address)
        result.append(settled if refused is None else replace(settled, refused=refused))
    return result
