"""What is a pattern that no write may store, and which ones are too large, or no pattern at all?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from loom_ray.core.refusal.engine import BadRegex, compiled, instructions
from loom_ray.core.refusal.folding import tidied

PATTERN_CHARS_MAX = 4096
REGEX_CHARS_MAX = 256
REGEX_INSTRUCTIONS_MAX = 300
SCOPE_INSTRUCTIONS_MAX = 3000  # of all regexes of one scope together
CHECK_BUDGET = 250_000_000  # bytes of one request times instructions of the regexes that look at them

# What no regex that says something meets all of: nothing, a letter, a digit between spaces, a sign and a line break.
_ALL_KINDS = (b"", b"q", b" 7 ", "\u00a7\n".encode())


class PatternType(StrEnum):
    SUBSTRING = "substring"
    REGEX = "regex"


class PatternScope(StrEnum):
    NAMESPACE = "namespace"
    ORG = "org"
    GLOBAL = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """`org` and `namespace` are empty where the scope is wider. `created_at` in ns."""

    pattern_id: str
    pattern: str
    pattern_type: PatternType
    scope: PatternScope
    org: str
    namespace: str
    reason: str
    fold: bool
    created_at: int
    actor: str


_WIDEST_FIRST = (PatternScope.GLOBAL, PatternScope.ORG, PatternScope.NAMESPACE)


def precedence(pattern: Pattern) -> tuple[int, int, str]:
    """Which of several is named: that of the widest scope, of these the oldest."""
    return _WIDEST_FIRST.index(pattern.scope), pattern.created_at, pattern.pattern_id


class PatternRefused(ValueError):
    """Says which limit or which piece of syntax."""


def instructions_of(pattern: Pattern) -> int:
    """What its regex costs a byte; 0 of a substring. Raises PatternRefused where RE2 does not know the syntax."""
    if pattern.pattern_type is PatternType.SUBSTRING:
        return 0
    try:
        return instructions(pattern.pattern, any_case=pattern.fold)
    except BadRegex as failure:
        raise PatternRefused(str(failure)) from None


def check_pattern(pattern: Pattern, others: Iterable[Pattern] = ()) -> None:
    """Whether it may stand beside the `others` of its scope. Raises PatternRefused."""
    if not pattern.pattern.strip():
        raise PatternRefused("it is blank, and would refuse everything")
    if "\0" in pattern.pattern or any("\ud800" <= letter <= "\udfff" for letter in pattern.pattern):
        raise PatternRefused("it holds a NUL or half a character, which no text holds")
    if pattern.fold and not tidied(pattern.pattern).strip():
        raise PatternRefused("nothing is left of it once its invisible characters are removed (fold)")
    if pattern.pattern_type is PatternType.REGEX:
        _check_regex(pattern, others)
    elif len(pattern.pattern) > PATTERN_CHARS_MAX:
        raise PatternRefused(
            f"a substring holds at most {PATTERN_CHARS_MAX:,} characters, not {len(pattern.pattern):,}"
        )


def _check_regex(pattern: Pattern, others: Iterable[Pattern]) -> None:
    if len(pattern.pattern) > REGEX_CHARS_MAX:
        raise PatternRefused(f"a regex holds at most {REGEX_CHARS_MAX} characters, not {len(pattern.pattern):,}")
    size = instructions_of(pattern)
    if size > REGEX_INSTRUCTIONS_MAX:
        raise PatternRefused(
            f"a regex compiles to at most {REGEX_INSTRUCTIONS_MAX} instructions, not {size:,}; a long literal is"
            " better a substring"
        )
    regex = compiled(pattern.pattern, any_case=pattern.fold)
    if all(regex.search(text) is not None for text in _ALL_KINDS):
        raise PatternRefused("it matches the empty text, and so every text")
    taken = sum(instructions_of(other) for other in others)
    if taken + size > SCOPE_INSTRUCTIONS_MAX:
        raise PatternRefused(
            f"the regexes of a scope compile to at most {SCOPE_INSTRUCTIONS_MAX:,} instructions together: this one has"
            f" {size:,}, the others have {taken:,}"
        )
