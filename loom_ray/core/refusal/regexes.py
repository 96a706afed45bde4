"""Does a regex meet a text, or any of the many strings of a JSON value, and what does it cost to ask?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from loom_ray.core.refusal.engine import BadRegex, Regex, compiled, instructions
from loom_ray.core.refusal.folding import latin_regex
from loom_ray.core.refusal.pattern import REGEX_INSTRUCTIONS_MAX
from loom_ray.core.refusal.views import Views

_FEW_TEXTS = 4  # so many are searched one by one
# Of these, a search of all texts at once, line by line, could miss what a search of each finds.
_NOT_BY_LINES = re.compile(r"\\[AzQ]|\(\?[a-zA-Z]*-")


@dataclass(frozen=True)
class _Search:
    """One compiled regex. Immutable but for what it compiles when it first needs it."""

    pattern: str
    any_case: bool

    @cached_property
    def _each(self) -> Regex:
        return compiled(self.pattern, any_case=self.any_case)

    @cached_property
    def _by_lines(self) -> Regex | None:
        """Meets all texts, one a line, wherever the regex meets one of them, and maybe elsewhere."""
        if _NOT_BY_LINES.search(self.pattern):
            return None
        try:
            return compiled(f"(?m:{self.pattern})", any_case=self.any_case)
        except BadRegex:
            return None

    def meets(self, texts: Sequence[bytes]) -> bool:
        if len(texts) > _FEW_TEXTS and self._by_lines and self._by_lines.search(b"\n".join(texts)) is None:
            return False
        return any(self._each.search(text) is not None for text in texts)


class PlainRegex:
    """Looks at values."""

    def __init__(self, pattern: str) -> None:
        self._search = _Search(pattern, any_case=False)
        self._size = instructions(pattern)

    def cost(self, views: Views) -> int:
        """The bytes of the value as it is written times its instructions."""
        return self._size * len(views.values[0])

    def meets(self, views: Views) -> bool:
        return self._search.meets(views.values)


class FoldedRegex:
    """Looks at values and names, as they are and without their disguises, in any case."""

    def __init__(self, pattern: str) -> None:
        self._search = _Search(pattern, any_case=True)
        in_latin = _in_latin(pattern)
        self._latin = _Search(in_latin, any_case=True)
        self._size = max(instructions(one, any_case=True) for one in (pattern, in_latin))

    def cost(self, views: Views) -> int:
        return self._size * (sum(map(len, views.lines)) + sum(map(len, views.latin)))

    def meets(self, views: Views) -> bool:
        return self._search.meets(views.lines) or self._latin.meets(views.latin)


def _in_latin(pattern: str) -> str:
    """As it is where a letter that looks like a digit would make another, larger or impossible, repetition of it."""
    changed = latin_regex(pattern)
    try:
        return changed if instructions(changed, any_case=True) <= REGEX_INSTRUCTIONS_MAX else pattern
    except BadRegex:
        return pattern
