"""Which of the substrings with `fold` are in a text, whatever it is disguised as?

Most texts are cleared by two passes: none of the patterns is there as it is written, nor coarsely. Where one is there
coarsely, the regex of all its disguises decides, and costs of the budget like any regex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from loom_ray.core.refusal.engine import Regex, compiled
from loom_ray.core.refusal.folding import coarse_of_pattern, disguises
from loom_ray.core.refusal.substrings import Substrings
from loom_ray.core.refusal.views import Views

_SEARCH_BYTES = 1 << 24  # the longest pattern's disguises need a quarter of it, and few patterns come so far

Spend = Callable[[int], bool]  # whether there is room for that many bytes times instructions


class _Disguises:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    @cached_property
    def _regex(self) -> Regex:
        return compiled(disguises(self._pattern), search_bytes=_SEARCH_BYTES)

    def cost(self, text: bytes) -> int:
        return self._regex.programsize * len(text)

    def are_in(self, text: bytes) -> bool:
        return self._regex.search(text) is not None


class DisguisedSubstrings:
    """Immutable but for the regexes that it compiles when it first needs them."""

    def __init__(self, needles: Sequence[str]) -> None:
        self.needles = tuple(needles)
        self._as_written = Substrings(self.needles)
        self._coarse = Substrings([coarse_of_pattern(needle) for needle in self.needles])
        self._disguises = [_Disguises(needle) for needle in self.needles]

    def found_in(self, views: Views, spend: Spend) -> Iterator[int]:
        """Indexes of the patterns, lowest first. What there is no room for is passed over: `spend` knows of it."""
        if not self.needles:
            return
        as_written = set(self._as_written.found_in(views.everything))
        coarsely = self._coarse.found_in(views.coarse)
        for index in sorted(as_written.union(coarsely)):
            if index in as_written or self._is_disguised(index, views, spend):
                yield index

    def _is_disguised(self, index: int, views: Views, spend: Spend) -> bool:
        found = self._disguises[index]
        return spend(found.cost(views.looking)) and found.are_in(views.looking)
