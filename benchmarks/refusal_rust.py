"""Does a regex meet what the tests of the crate regex say, and which of these is RE2 not held to?"""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from loom_ray.core.refusal.engine import BadRegex, compiled


@dataclass(frozen=True)
class Test:
    name: str
    regexes: tuple[str, ...]
    haystack: bytes
    spans: tuple[tuple[int, tuple[int, int]], ...]  # which regex, and where
    given: dict[str, Any]


class Judged(NamedTuple):
    answer: str  # agrees, differs, skipped
    why: str


def tests_in(folder: Path) -> Iterator[Test]:
    for path in sorted(folder.rglob("*.toml")):
        for given in tomllib.loads(path.read_text(encoding="utf-8"))["test"]:
            yield _test(f"{path.stem}/{given['name']}", given)


def _test(name: str, given: dict[str, Any]) -> Test:
    regexes = [given["regex"]] if isinstance(given["regex"], str) else given["regex"]
    haystack = given["haystack"].encode()
    if given.get("unescape"):
        haystack = codecs.escape_decode(haystack)[0]
    return Test(name, tuple(regexes), haystack, tuple(map(_span, given["matches"])), given)


def _span(match: Any) -> tuple[int, tuple[int, int]]:
    """A span, a list of the spans of groups, or either with the id of its regex."""
    which = 0
    if isinstance(match, dict):
        which, match = match["id"], match.get("span") or match["spans"]
    first = match[0] if isinstance(match[0], list) else match
    return which, (first[0], first[1])


_PERL = re.compile(r"\\[wWdDsSbB]|\[:")
_CASE = re.compile(r"\(\?[a-zA-Z]*i")
_OTHER_SYNTAX = re.compile(r"&&|--|~~|\[[^\]]*\[[^:]|\\[<>]|\(\?[a-zA-Z-]*[xRu]|\\b\{")


def _skipped(test: Test) -> str:
    """Why the test says nothing about whether a regex meets a text in RE2, or nothing."""
    given = test.given
    if "bounds" in given:
        return "searches a part of the text only"
    if "line-terminator" in given:
        return "another line terminator than \\n"
    if not test.haystack.isascii() and given.get("unicode", True) and any(map(_PERL.search, test.regexes)):
        return "\\w, \\d, \\s and \\b are of ASCII in RE2"
    if any(map(_OTHER_SYNTAX.search, test.regexes)):
        return "syntax of the crate only (set operations in classes, (?x), (?R), (?u), \\< and its like)"
    if len(test.regexes) > 1 and (given.get("match-kind"), given.get("search-kind")) != ("all", "overlapping"):
        return "names only the leftmost of several regexes"
    try:
        test.haystack.decode()
    except UnicodeDecodeError:
        return "searches bytes that are no text"
    if not given.get("unicode", True) and not test.haystack.isascii():
        return "meets single bytes of a character"
    return ""


def judge(test: Test) -> Judged:
    if why := _skipped(test):
        return Judged("skipped", why)
    try:
        regexes = [compiled(_as_ours(regex, test.given)) for regex in test.regexes]
    except BadRegex as failure:
        if not test.given.get("compiles", True):
            return Judged("agrees", "")
        return Judged("skipped", f"RE2 does not know it: {re.sub(r'[(].*', '', str(failure))}")
    if not test.given.get("compiles", True):
        return Judged("skipped", "the crate refuses it, RE2 knows it")
    found = [regex.search(test.haystack) for regex in regexes]
    if {index for index, match in enumerate(found) if match} != {which for which, _ in test.spans}:
        return Judged("differs", "whether it meets the text")
    return Judged("agrees", "")


def _as_ours(regex: str, given: dict[str, Any]) -> str:
    flags = "(?i)" if given.get("case-insensitive") else ""
    return f"{flags}\\A(?:{regex})" if given.get("anchored") else flags + regex
