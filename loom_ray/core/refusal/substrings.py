"""Which of thousands of strings are in a text? One pass of an Aho-Corasick automaton says whether any is.

The pass does not list overlapping matches: of patterns like a, aa, aaa there may be thousands at every character. It
stops at the first piece of the text that holds a match; only then are single patterns looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ahocorasick_rs import BytesAhoCorasick, Implementation

_PIECE_BYTES = 1 << 16


class Substrings:
    """Immutable; searched from any number of threads, without the interpreter's lock."""

    def __init__(self, needles: Sequence[str]) -> None:
        self.needles = tuple(needles)
        self._bytes = [needle.encode() for needle in needles]
        self._overlap = max(map(len, self._bytes), default=1) - 1
        # UTF-8 has no character within another one, so bytes meet where characters do. The contiguous automaton is a
        # tenth of a DFA's size and fast enough.
        self._automaton = BytesAhoCorasick(self._bytes, implementation=Implementation.ContiguousNFA)

    def found_in(self, text: bytes) -> Iterator[int]:
        """Indexes of the needles that are in it, lowest first; one at a time, since mostly the first is enough."""
        known = self._any_in(text)
        if known:
            yield from (index for index, needle in enumerate(self._bytes) if index in known or needle in text)

    def _any_in(self, text: bytes) -> set[int]:
        """Some of the needles that are in it, and none where none is."""
        for start in range(0, max(1, len(text) - self._overlap), _PIECE_BYTES):
            piece = text[start : start + _PIECE_BYTES + self._overlap]
            if found := self._automaton.find_matches_as_indexes(piece):
                return {index for index, _, _ in found}
        return set()
