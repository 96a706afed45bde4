"""What does a write do, whole? Single writes and batches take the same steps; a batch is one draft."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loom_ray.contract.errors import LoomError
from loom_ray.core.decide.claim import Settled
from loom_ray.core.decide.outcome import Outcome, outcome_with_vector, outcome_without_vector
from loom_ray.core.decide.rules import Rules
from loom_ray.core.decide.store import store
from loom_ray.core.draft import Draft
from loom_ray.core.records import Vectors
from loom_ray.core.row import Row

NO_VECTORS: Vectors = np.zeros((0, 0), np.float16)  # of a text without meaning: punctuation alone


@dataclass(frozen=True, slots=True)
class Embedded:
    """What the waiting part of a write brought: the claim's vectors and the stored rows near its excerpt.

    `stored` says that the row carried these vectors when it was looked at; they need not be written again as long as it
    still has that text.
    """

    vectors: Vectors  # (1 + chunks, dimensions); (0, dimensions) for a text without meaning
    near: Mapping[str, float]
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """One claim's end: how it was judged and the row that now holds the fact; None where it was refused."""

    settled: Settled
    outcome: Outcome
    row: Row | None


class NeedsVectors(Exception):
    """These claims (by place) cannot be decided before they are embedded."""

    def __init__(self, places: list[int]) -> None:
        super().__init__(places)
        self.places = places


def decide_writes(
    draft: Draft,
    claims: Sequence[Settled],
    embedded: Mapping[int, Embedded],
    rules: Rules,
    fresh_ids: Sequence[str],
) -> list[Written]:
    """Judges and stores the claims in order, each against the state with the earlier ones in it.

    Raises NeedsVectors, with every place that is sure to need one, and the refusals of a claim; the draft is void then.
    """
    return list(written_one_by_one(draft, claims, embedded, rules, fresh_ids))


def written_one_by_one(
    draft: Draft,
    claims: Sequence[Settled],
    embedded: Mapping[int, Embedded],
    rules: Rules,
    fresh_ids: Sequence[str],
) -> Iterator[Written]:
    """As `decide_writes`, claim by claim; a draft that saw the state change in between must never be applied."""
    for place, (settled, fresh_id) in enumerate(zip(claims, fresh_ids, strict=True)):
        outcome = outcome_without_vector(draft, settled, rules)
        found = embedded.get(place)
        if found is None and _wants_vector(settled, outcome):
            raise NeedsVectors(missing_vectors(draft, claims, embedded, rules, first=place))
        if outcome is None:
            near = {} if found is None else near_in(draft, found)
            outcome = outcome_with_vector(draft, settled, near, rules)
        if outcome.refusal is not None:
            yield Written(settled, outcome, None)
            continue
        vectors = _to_write(draft, found, settled)
        row = store(draft, settled, outcome, vectors, fresh_id)
        if (
            found is not None and vectors is None and outcome.held_by is None
        ):  # a row that came back to life in this draft
            draft.excerpts.put(row.memory_id, found.vectors)
        yield Written(settled, outcome, row)


def missing_vectors(
    draft: Draft, claims: Sequence[Settled], embedded: Mapping[int, Embedded], rules: Rules, first: int
) -> list[int]:
    """Claims from `first` on that need a vector as the draft stands. One that an earlier claim of its own batch makes
    unnecessary may be among them: a vector too many costs time, one too few would cost another round."""
    rest = [place for place in range(first + 1, len(claims)) if place not in embedded]
    return [first, *(place for place in rest if _may_want_vector(draft, claims[place], rules))]


def _may_want_vector(draft: Draft, settled: Settled, rules: Rules) -> bool:
    try:
        return _wants_vector(settled, outcome_without_vector(draft, settled, rules))
    except LoomError:  # refused as things stand, but an earlier claim of the batch may change that
        return bool(settled.pieces)


def _wants_vector(settled: Settled, outcome: Outcome | None) -> bool:
    stored = outcome is None or (outcome.held_by is None and outcome.refusal is None)
    return bool(settled.pieces) and stored


def near_in(draft: Draft, found: Embedded) -> dict[str, float]:
    """The neighbours in the state, with the rows of this draft in their new wording."""
    if not len(found.vectors):
        return {}
    stored = {memory_id: near for memory_id, near in found.near.items() if memory_id not in draft.excerpts}
    return stored | draft.excerpts.near(found.vectors[0])


def _to_write(draft: Draft, found: Embedded | None, settled: Settled) -> Vectors | None:
    """None where the row's vectors stay: its text may have changed since they were looked up, or in this batch."""
    if found is None:
        return NO_VECTORS if settled.is_searched else None
    row = draft.row_at(settled.address)
    still_its_text = row is not None and row.is_searched and row.content_sha256 == settled.content_sha256
    return None if found.stored and still_its_text else found.vectors
