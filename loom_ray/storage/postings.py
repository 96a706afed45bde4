"""Which rows hold a word, and how often? An inverted index in memory, changed in place."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

_KEY_BITS = 12  # a key has 512 characters at most, a text 32 MiB, and 2**26 rows are more than fit in memory
_TEXT_BITS = 25
_KEY_MAX = (1 << _KEY_BITS) - 1
_TEXT_MAX = (1 << _TEXT_BITS) - 1
_ONCE_IN_TEXT = 1 << _KEY_BITS
_COUNT_BITS = _TEXT_BITS + _KEY_BITS
_COUNT_MAX = (1 << _COUNT_BITS) - 1
_NONE = array("q")


class Found(NamedTuple):
    """Where a term stands: row numbers, each once, and its counts there."""

    rows: npt.NDArray[np.int64]
    in_text: npt.NDArray[np.int64]
    in_key: npt.NDArray[np.int64]


class Postings:
    """A posting is one integer: row number, count in the text, count in the key.

    Most terms stand in one row alone, and are held without an array: half the memory.
    """

    def __init__(self) -> None:
        self._of_term: dict[str, int | array[int]] = {}

    def add(self, row: int, text: Iterable[str], key: Iterable[str]) -> None:
        """Add a row, numbered higher than all before it."""
        base, of_term = row << _COUNT_BITS, self._of_term
        packed: dict[str, int] = {}
        for term in text:
            packed[term] = packed.get(term, base) + _ONCE_IN_TEXT
        for term in key:
            packed[term] = packed.get(term, base) + 1
        for term, posting in packed.items():
            held = of_term.get(term)
            if held is None:
                of_term[term] = posting
            elif isinstance(held, int):
                of_term[term] = array("q", (held, posting))
            else:
                held.append(posting)

    def of(self, term: str) -> Found:
        packed = _unpacked(self._of_term.get(term, _NONE))
        return Found(packed >> _COUNT_BITS, packed >> _KEY_BITS & _TEXT_MAX, packed & _KEY_MAX)

    def renumber(self, numbers: npt.NDArray[np.int64]) -> None:
        """Give every row its new number, rising as the old ones did; forget those whose new number is -1."""
        kept: dict[str, int | array[int]] = {}
        for term, held in self._of_term.items():
            packed = _unpacked(held)
            moved = numbers[packed >> _COUNT_BITS]
            left = (moved << _COUNT_BITS | packed & _COUNT_MAX)[moved >= 0]
            if len(left):
                kept[term] = int(left[0]) if len(left) == 1 else array("q", left.tobytes())
        self._of_term = kept


def _unpacked(held: int | array[int]) -> npt.NDArray[np.int64]:
    """A view: an array must not grow while one is in use."""
    return np.array((held,)) if isinstance(held, int) else np.frombuffer(held, dtype=np.int64)
