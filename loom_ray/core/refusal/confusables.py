"""Which letters look alike? Unicode's table (UTS 39), as the package confusable_homoglyphs carries it.

`LOOKS` takes each character to the one that stands for its class: its ASCII member where it has one (l for l, 1, I and
|; O for 0 and O), else the one of the lowest code point. What looks like two ASCII letters becomes these (oe). "m"
keeps to itself: held against "rn", as the table has it, "modem" would be in "modern".

Looking alike and differing in case only cannot be one relation, for then n would be v (Ν looks like N, and its small ν
like v). So a text is taken to its looks alone, and of a pattern's letter every case is: see `looks_of`. `COARSE` is
that one relation all the same, for ruling out most texts in one pass before anything is looked at closely.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import cast

from confusable_homoglyphs.confusables import confusables_data  # pyright: ignore

_CASED_MAX = 0x1E944  # beyond it no character has a case
_MARKS = "\u200e\u200f"  # the table wraps letters written from right to left in them
_STROKE, _RING = "l", "O"
_APART = frozenset({"m"})  # ASCII letters that a class of several letters does not swallow

# A digit in a number and an l in a word are just that: "100" is not in "look", nor "mail" in "mall". They become
# controls, which `folding` has removed from the text before.
PLAIN_DIGITS = {ord(digit): chr(0x0E + int(digit)) for digit in "0123456789"}
PLAIN_L = "\x01"
_PLAIN = {chr(digit): plain for digit, plain in PLAIN_DIGITS.items()} | {"l": PLAIN_L}


class _Classes:
    """Union-find: who belongs together, though only told of pairs."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def top(self, member: str) -> str:
        while (above := self._above.get(member, member)) != member:
            self._above[member] = self._above.get(above, above)
            member = above
        return member

    def join(self, one: str, other: str) -> None:
        self._above.setdefault(one, one)
        self._above.setdefault(other, other)
        self._above[self.top(one)] = self.top(other)

    def all(self) -> Iterable[list[str]]:
        classes: defaultdict[str, list[str]] = defaultdict(list)
        for member in self._above:
            classes[self.top(member)].append(member)
        return classes.values()


def _looks() -> dict[int, str]:
    classes = _Classes()
    for one, entries in cast(dict[str, list[dict[str, str]]], confusables_data).items():
        for entry in entries:
            classes.join(one.strip(_MARKS) or one, entry["c"].strip(_MARKS) or entry["c"])
    table: dict[int, str] = {}
    for members in classes.all():
        stands = _stands_for(members)
        table |= {ord(member): stands for member in members if len(member) == 1 and member != stands}
    return table


def _stands_for(members: list[str]) -> str:
    if _STROKE in members:
        return _STROKE
    if _RING in members:
        return _RING
    return min(members, key=lambda one: (not one.isascii(), len(one), one))


def _cases() -> dict[str, list[str]]:
    """The characters that differ in case only, under what case folding makes of them."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for code in range(_CASED_MAX):
        folded = chr(code).casefold()
        if folded != chr(code) and len(folded) == 1:
            found[folded].append(chr(code))
    return {folded: [folded, *others] for folded, others in found.items()}


LOOKS = _looks()
_CASES = _cases()
# A letter that looks like two in one of its cases only (Ы like bl) keeps to itself: its cases must meet.
for _code in [code for code, look in LOOKS.items() if len(look) > 1]:
    _cased = _CASES.get(chr(_code).casefold(), [])
    if any(len(LOOKS.get(ord(one), one)) != len(LOOKS[_code]) for one in _cased):
        del LOOKS[_code]


@lru_cache(maxsize=4096)
def looks_of(letter: str) -> tuple[str, ...]:
    """Everything that a letter of a pattern may look like in a text, once `LOOKS` was applied to the text."""
    cases = _CASES.get(letter.casefold(), [letter])
    found = [one.translate(LOOKS) for one in (letter, *cases)]
    found += [_PLAIN[one] for one in (letter, letter.casefold()) if one in _PLAIN]
    return tuple(dict.fromkeys(found))


def _coarse() -> dict[int, str]:
    classes = _Classes()
    for letter in _letters():
        looks = looks_of(letter)
        for look in looks:
            for one, other in zip(looks[0], look, strict=True):
                classes.join(one, other)
    table: dict[int, str] = {}
    for members in classes.all():
        stands = min(members, key=lambda one: (not one.isascii(), one))
        table |= {ord(member): stands for member in members if member != stands}
    return table


def _letters() -> Iterator[str]:
    yield from (chr(code) for code in LOOKS)
    yield from (one for cases in _CASES.values() for one in cases if len(one) == 1)
    yield from "0123456789l"


COARSE = _coarse()
