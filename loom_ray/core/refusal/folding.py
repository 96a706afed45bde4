"""What is left of a text once its disguises are taken off? For patterns with `fold`.

`tidied` takes off what nobody sees: compatibility forms (NFKC), default-ignorable, control and tag characters, runs of
white space. `looks` goes on to what letters look like. What is written in tag characters alone, invisible to people
and plain to a model, is read as what it spells besides. An emoji flag keeps its tags: they are what tells flags apart.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from loom_ray.core.refusal.confusables import COARSE, LOOKS, PLAIN_DIGITS, PLAIN_L, looks_of

_IGNORABLE = (
    # what Unicode's DerivedCoreProperties calls ignorable by default: the first and the last of each range
    *((0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F)),
    *((0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF)),
    *((0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
    # as invisible: controls that are no white space, and annotation marks
    *((0x1, 0x8), (0xE, 0x1B), (0x7F, 0x84), (0x86, 0x9F), (0xFFF9, 0xFFFB)),
)
_BREAKS = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_SPACES = "\t\x1f\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\u2800"
_INVISIBLE: dict[int, str | None] = {
    **{code: None for first, last in _IGNORABLE for code in range(first, last + 1)},
    **dict.fromkeys(map(ord, _BREAKS), "\n"),
    **dict.fromkeys(map(ord, _SPACES), " "),
}
_WIDE_CASES = {code: chr(code).casefold() for code in range(0x80, 0xFB18) if len(chr(code).casefold()) > 1}

_TAGS = re.compile("[\U000e0020-\U000e007f]")
_SPELT = {**{0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}, 0xE007F: ""}
_FLAGS = {  # England, Scotland, Wales: each to a private character, so that it meets itself only
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in land) + "\U000e007f": "\U0001f3f4" + kept
    for land, kept in (("gbeng", "\U0010fff1"), ("gbsct", "\U0010fff2"), ("gbwls", "\U0010fff3"))
}

_PLAIN_L_RUN = re.compile(r"(?<=[a-km-z])l+|l+(?=[a-km-z])")
_NUMBER = re.compile(r"(?<![^\W\d_])(?<![0-9])[0-9]+(?![^\W_])")
_LOOKS = {**LOOKS, **{code: folded.translate(LOOKS) for code, folded in _WIDE_CASES.items()}}  # ß is ss in one case
_COARSE: dict[int, str] = {**COARSE, **dict.fromkeys(map(ord, " \n-"), "")}


def tidied(text: str) -> str:
    """Line breaks and the white space around them become one "\\n", other runs of white space one blank."""
    text = _with_flags_kept(text)
    text = re.sub(" {2,}", " ", unicodedata.normalize("NFKC", text.translate(_INVISIBLE)))
    return re.sub(" ?\n[ \n]*", "\n", text)


def spelt(text: str) -> str:
    """The text with its tag characters as the letters that they stand for; empty where it has none."""
    return _with_flags_kept(text).translate(_SPELT) if _TAGS.search(text) else ""


def _with_flags_kept(text: str) -> str:
    if not _TAGS.search(text):
        return text
    for flag, kept in _FLAGS.items():
        text = text.replace(flag, kept)
    return text


def looks(tidy: str) -> str:
    """What the letters of a tidied text look like. An l in a word and the digits of a number are just that."""
    tidy = _PLAIN_L_RUN.sub(lambda run: PLAIN_L * len(run[0]), tidy)
    return _NUMBER.sub(lambda number: number[0].translate(PLAIN_DIGITS), tidy).translate(_LOOKS)


def coarse(looking: str) -> str:
    """Of `looks`: alike for all texts in which one pattern could be. Without blanks, breaks and hyphens."""
    return looking.translate(_COARSE)


def coarse_of_pattern(pattern: str) -> str:
    return coarse("".join(looks_of(letter)[0] for letter in _letters(pattern)))


def _letters(pattern: str) -> str:
    return tidied(pattern).strip(" \n").translate(_WIDE_CASES)


@lru_cache(maxsize=256)
def disguises(pattern: str) -> str:
    """A regex for `looks` of every text that holds the pattern, in any case, by any look, and over line breaks with or
    without a hyphen."""
    pieces = [_disguises(letter) for letter in _letters(pattern)]
    return "(?:-?\n)?".join(pieces)


def _disguises(letter: str) -> str:
    if letter in " \n":
        return "[ \n]"
    found = looks_of(letter)
    if all(len(one) == 1 for one in found):
        return "[" + "".join(f"\\x{{{ord(one):x}}}" for one in found) + "]"
    return "(?:" + "|".join("".join(f"\\x{{{ord(part):x}}}" for part in one) for one in found) + ")"


def joined(tidy: str) -> tuple[str, ...]:
    """A tidied text with its line breaks taken for nothing (with the hyphen before them), and for a blank."""
    return tuple(dict.fromkeys((re.sub("-?\n", "", tidy), tidy.replace("\n", " "))))


# ---- for regexes, whose letters are their own ------------------------------------------------------------------
def _latin() -> dict[int, str]:
    """Letters and digits of other scripts that look like an ASCII one, to that one."""
    table = {code: look for code, look in LOOKS.items() if code > 0x7F and len(look) == 1 and look.isalnum()}
    for code, look in table.items():
        letter = chr(code)
        if look in "lO" and letter.isdecimal():
            table[code] = str(unicodedata.decimal(letter))
        elif look == "l" and letter.isupper():
            table[code] = "I"
    return {code: look for code, look in table.items() if look.isascii()}


_LATIN = _latin()
_FOREIGN = re.compile(r"(?<!-)[^\x00-\x7f](?!-)")  # not at the ends of a range, which would become another range


def latin(text: str) -> str:
    return text if text.isascii() else text.translate(_LATIN)


def latin_regex(regex: str) -> str:
    """The regex that meets in `latin` texts what this one means."""
    return _FOREIGN.sub(lambda letter: latin(letter[0]), regex)
