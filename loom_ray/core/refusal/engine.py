"""What does RE2 make of a regex, and how large is it? Linear in the text whatever the regex; never the standard engine.

Sizes are counted on the regex as it is written, with its groups; what runs captures nothing, which is smaller. RE2.Set
is not used: where its memory runs out it reports no match, and nothing may pass unchecked. A single regex falls back
to a slower, still linear, search instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

SEARCH_BYTES = 1 << 20  # memory that one regex may fill while it searches; ten full scopes then stay below 120 MB


class BadRegex(ValueError):
    """In words that say what is wrong with it."""


class Regex(Protocol):
    @property
    def programsize(self) -> int: ...

    def search(self, text: bytes) -> object | None:
        """Thread-safe, and without the interpreter's lock."""
        ...


_compile = cast(Callable[[str, Any], Regex], re2.compile)  # pyright: ignore[reportUnknownMemberType]
_new_options = cast(Callable[[], Any], re2.Options)
_Failure = cast(type[Exception], re2.error)  # pyright: ignore[reportUnknownMemberType]

_UNSUPPORTED = (
    (("(?=", "(?!"), "lookahead is not RE2 syntax"),
    (("(?<=", "(?<!"), "lookbehind is not RE2 syntax"),
)
_BACKREFERENCE = re.compile(r"\\[1-9gk]")


def compiled(pattern: str, *, any_case: bool = False, search_bytes: int = SEARCH_BYTES) -> Regex:
    """For searching. Raises BadRegex."""
    return _built(pattern, any_case=any_case, captures=False, memory=search_bytes)


@lru_cache(maxsize=4096)
def instructions(pattern: str, *, any_case: bool = False) -> int:
    """RE2 instructions of the regex as it is written. Raises BadRegex."""
    return _built(pattern, any_case=any_case, captures=True, memory=SEARCH_BYTES).programsize


def _built(pattern: str, *, any_case: bool, captures: bool, memory: int) -> Regex:
    options = _new_options()
    options.log_errors = False
    options.case_sensitive = not any_case
    options.never_capture = not captures
    options.max_mem = memory
    try:
        return _compile(pattern, options)
    except _Failure as failure:
        raise BadRegex(_reason(failure.args[0], pattern)) from None


def _reason(said: bytes | str, pattern: str) -> str:
    """RE2's words, or clearer ones where it only quotes a piece."""
    detail = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    for pieces, reason in _UNSUPPORTED:
        if any(detail.endswith(piece) for piece in pieces):
            return reason
    if "pattern too large" in detail:
        return "it compiles to far too many instructions"
    if detail.startswith("missing )"):
        return "a group is not closed"
    if detail.startswith("invalid escape sequence: \\Z"):
        return "\\Z is not RE2 syntax: the end of the text is \\z"
    by_name = "(?P=" in pattern and detail.endswith("(?P")
    if by_name or (detail.startswith("invalid escape sequence") and _BACKREFERENCE.search(detail)):
        return "a backreference is not RE2 syntax"
    return f"RE2 refuses it ({detail})"
