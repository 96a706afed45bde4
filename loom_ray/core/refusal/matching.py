"""Which pattern refuses a text? Substrings in one pass, then regexes; of several the widest, then the oldest.

Plain substrings cost nothing of a request's budget, so a text that is too long for the regexes is still named by the
substring that it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from typing import NamedTuple, TypeVar

from loom_ray.core.refusal.budget import Budget
from loom_ray.core.refusal.disguised import DisguisedSubstrings, Spend
from loom_ray.core.refusal.pattern import Pattern, PatternType, precedence
from loom_ray.core.refusal.regexes import FoldedRegex, PlainRegex
from loom_ray.core.refusal.substrings import Substrings
from loom_ray.core.refusal.texts import Texts, texts_of
from loom_ray.core.refusal.views import Views

__all__ = ["Budget", "Matcher", "Refused", "Texts", "texts_of"]


class Refused(NamedTuple):
    """`pattern` is None where the text could not be checked within the budget: nothing passes unchecked."""

    pattern: Pattern | None
    reason: str


class Matcher:
    """Of patterns that `check_pattern` let pass. Immutable: any number of threads may ask."""

    def __init__(self, patterns: Sequence[Pattern], before: Matcher | None = None) -> None:
        """What `before` has compiled of them is taken from it."""
        ordered = sorted(patterns, key=precedence)
        substrings = [one for one in ordered if one.pattern_type is PatternType.SUBSTRING]
        self._plain = [one for one in substrings if not one.fold]
        self._folding = [one for one in substrings if one.fold]
        self._substrings = _made(Substrings, self._plain, before and before._substrings)
        self._disguised = _made(DisguisedSubstrings, self._folding, before and before._disguised)
        known: dict[Pattern, PlainRegex | FoldedRegex] = before._regexes if before else {}
        regexes = [one for one in ordered if one.pattern_type is PatternType.REGEX]
        self._regexes = {one: known.get(one) or _regex(one) for one in regexes}

    def with_patterns(self, patterns: Sequence[Pattern]) -> Matcher:
        """One that knows these instead."""
        return Matcher(patterns, before=self)

    @property
    def is_empty(self) -> bool:
        return not (self._plain or self._folding or self._regexes)

    def check(self, texts: Texts, budget: Budget) -> Refused | None:
        """The first pattern that meets the texts of one write, in a request that has that much of its budget left."""
        if self.is_empty:
            return None
        views, purse = Views(texts), _Purse(budget)
        found = next(self._substrings_in(views, purse.spend), None)
        if found is None and not purse.lacking and self._regexes:
            purse.spend(sum(regex.cost(views) for regex in self._regexes.values()))
            if not purse.lacking:
                found = next(self._regexes_in(views), None)
        if found is not None:
            return Refused(found, found.reason)
        return Refused(None, purse.lacking) if purse.lacking else None

    def matches(self, texts: Texts) -> list[Pattern]:
        """All that meet them, whatever it costs, in the order in which `check` names one."""
        views = Views(texts)
        return [*self._substrings_in(views, lambda _: True), *self._regexes_in(views)]

    def _substrings_in(self, views: Views, spend: Spend) -> Iterator[Pattern]:
        plain = (self._plain[index] for index in self._substrings.found_in(views.plain))
        folding = (self._folding[index] for index in self._disguised.found_in(views, spend))
        return merge(plain, folding, key=precedence)

    def _regexes_in(self, views: Views) -> Iterator[Pattern]:
        return (one for one, regex in self._regexes.items() if regex.meets(views))


_Needles = TypeVar("_Needles", Substrings, DisguisedSubstrings)


def _made(make: type[_Needles], patterns: Sequence[Pattern], before: _Needles | None) -> _Needles:
    needles = tuple(one.pattern for one in patterns)
    return before if before is not None and before.needles == needles else make(needles)


class _Purse:
    """A budget that remembers what it had no room for."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.lacking = ""

    def spend(self, cost: int) -> bool:
        lacks = self._budget.spend(cost)
        self.lacking = self.lacking or lacks
        return not lacks


def _regex(pattern: Pattern) -> PlainRegex | FoldedRegex:
    return FoldedRegex(pattern.pattern) if pattern.fold else PlainRegex(pattern.pattern)
