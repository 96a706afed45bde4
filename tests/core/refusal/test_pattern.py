"""Which patterns are taken, and what is said of those that are not?"""

from __future__ import annotations

from typing import Any

import pytest

from loom_ray.core.refusal.pattern import (
    Pattern,
    PatternRefused,
    PatternScope,
    PatternType,
    check_pattern,
    instructions_of,
)


def pattern(text: str, **more: Any) -> Pattern:
    told = {
        "pattern_id": text, "pattern_type": PatternType.SUBSTRING, "scope": PatternScope.NAMESPACE, "org": "dev",
        "namespace": "local", "reason": "", "fold": False, "created_at": 1, "actor": "process:-",
    }  # fmt: skip
    return Pattern(pattern=text, **told | more)


def regex(text: str, **more: Any) -> Pattern:
    return pattern(text, pattern_type=PatternType.REGEX, **more)


@pytest.mark.parametrize("text", ["w" * 4096, "тайный склад", "a.b*c(", "👩‍👩‍👧", " x"])
def test_a_substring_is_taken_as_it_is(text: str) -> None:
    check_pattern(pattern(text))
    assert instructions_of(pattern(text)) == 0


@pytest.mark.parametrize("text", ["u" * 256, r"final\z", r"\p{Greek}{4}", "(?i)grünspan", r"\bQX-\d{4}\b", "(a+)+b"])
def test_re2_syntax_is_taken(text: str) -> None:
    check_pattern(regex(text))
    check_pattern(regex(text, fold=True))


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (pattern("w" * 4097), "4,096"),
        (pattern(" \n"), "blank"),
        (pattern("\u200b\u00ad", fold=True), "nothing is left"),
        (pattern("a\0b"), "NUL"),
        (regex("u" * 257), "256 characters"),
        (regex("[a-z]{300}"), "300 instructions"),
        (regex("a(?=b)"), "lookahead"),
        (regex("a(?!b)"), "lookahead"),
        (regex("(?<=x)y"), "lookbehind"),
        (regex("(?<!x)y"), "lookbehind"),
        (regex(r"(a)\1"), "backreference"),
        (regex(r"(?P<n>a)(?P=n)"), "backreference"),
        (regex(r"end\Z"), r"\\z"),
        (regex("(unclosed"), "not closed"),
        (regex("[unclosed"), "RE2"),
        (regex("x*"), "empty text"),
        (regex("a|"), "empty text"),
        (regex("(?s).*"), "empty text"),
    ],
)
def test_what_is_refused_is_told_why(refused: Pattern, why: str) -> None:
    with pytest.raises(PatternRefused, match=why):
        check_pattern(refused)


def test_instructions_are_counted_at_the_limit_and_one_past() -> None:
    sizes = {count: instructions_of(regex(f"z{{{count}}}")) for count in range(280, 305)}
    fits = max(count for count, size in sizes.items() if size <= 300)
    check_pattern(regex(f"z{{{fits}}}"))
    with pytest.raises(PatternRefused, match="300 instructions"):
        check_pattern(regex(f"z{{{fits + 1}}}"))


def test_a_scope_is_counted_at_the_limit_and_one_past() -> None:
    others = [regex(f"z{number}{{250}}") for number in range(11)]
    left = 3000 - sum(map(instructions_of, others))
    sizes = {count: instructions_of(regex(f"y{{{count}}}")) for count in range(1, 250)}
    fits = max(count for count, size in sizes.items() if size <= left)
    check_pattern(regex(f"y{{{fits}}}"), others)
    with pytest.raises(PatternRefused, match="3,000 instructions together"):
        check_pattern(regex(f"y{{{fits + 1}}}"), others)
    check_pattern(pattern("y" * 4096), others)
