"""How sensitive is a text? By the shapes in it: a high one is never embedded, a medium one is labelled."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, get_args

from loom_ray.core import personal_numbers
from loom_ray.core.credentials import credentials

Level = Literal["", "medium", "high"]
Kind = Literal["credential", "card_number", "ssn", "pin", "email", "phone", "iban"]
KINDS: tuple[Kind, ...] = get_args(Kind)  # the most sensitive first

_HIGH: frozenset[Kind] = frozenset({"credential", "card_number", "ssn", "pin"})
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_EMAIL = re.compile(
    r"[\w!#$%&'*+/=?^`{|}~.\"-]@((?:[^\W_][\w-]{0,62}\.){1,8})(?:xn--[\w-]{2,59}|[^\W\d_]{2,63})(?![\w-])"
)
_LOCAL_PART_REVERSED = re.compile(r"\"[^\"\n]{0,64}\"|[\w!#$%&'*+^~.-]{1,128}")
_NO_MAILBOX = re.compile(r"(?:://\S*|(?<!\w)git)$")
_PART_CHARS, _OVERLAP_CHARS = 32_768, 512  # a secret longer than the overlap is one by its first part already


class Detection(NamedTuple):
    """The level of the most sensitive shape ("" for none) and every kind found, in the order of `Kind`."""

    level: Level
    kinds: tuple[Kind, ...]


class Finding(NamedTuple):
    """A shape at [start, end) of a text, in characters."""

    start: int
    end: int
    kind: Kind


_NOTHING = Detection("", ())


def detect(text: str) -> Detection:
    """What the text holds, in time linear in its length; digits of every script count.

    High: a credential (password stated, key, token, private key, address with a login), a card number, a US social
    security number, a PIN stated. Medium: an e-mail address, a phone number, an IBAN. A shape is not proof: see
    benchmarks/sensitivity.py for how often it is right.
    """
    folded = text if text.isascii() else _folded(text)
    digits = _digits(folded)
    kinds: list[Kind] = [
        kind for kind, digits_min, spans in _DETECTORS if digits >= digits_min and next(spans(folded), None) is not None
    ]
    if not kinds:
        return _NOTHING
    return Detection("medium" if _HIGH.isdisjoint(kinds) else "high", tuple(kinds))


def findings(text: str) -> list[Finding]:
    """Where the text holds what `detect` tells of it or of any of its `parts`: disjoint, in order.

    Where shapes overlap, they are one finding of the most sensitive kind.
    """
    found = [finding for part_start, part in parts(text) for finding in _findings_in(part, part_start)]
    disjoint: list[Finding] = []
    for finding in sorted(found):
        if disjoint and finding.start < disjoint[-1].end:
            disjoint.append(_united(disjoint.pop(), finding))
        else:
            disjoint.append(finding)
    return disjoint


def _united(first: Finding, second: Finding) -> Finding:
    kind = first.kind if KINDS.index(first.kind) <= KINDS.index(second.kind) else second.kind
    return Finding(first.start, max(first.end, second.end), kind)


def parts(text: str) -> Iterator[tuple[int, str]]:
    """The whole text in overlapping parts, each with its start: a scan of all of it in one go would hold the
    interpreter for seconds."""
    yield 0, text[: _PART_CHARS + _OVERLAP_CHARS]
    for start in range(_PART_CHARS, len(text), _PART_CHARS):
        yield start - _OVERLAP_CHARS, text[start - _OVERLAP_CHARS : start + _PART_CHARS + _OVERLAP_CHARS]


def _findings_in(part: str, part_start: int) -> Iterator[Finding]:
    folded = part if part.isascii() else _folded(part)
    digits = _digits(folded)
    found: list[tuple[tuple[int, int], Kind]] = [
        (span, kind) for kind, digits_min, spans in _DETECTORS if digits >= digits_min for span in spans(folded)
    ]
    if not found:
        return
    origins = _origins(part)
    for (start, end), kind in found:
        yield Finding(part_start + origins[start][0], part_start + origins[end - 1][1], kind)


def _folded(text: str) -> str:
    """NFKC, and the digits of every script as ASCII."""
    normal = unicodedata.normalize("NFKC", text)
    return _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.digit(match.group())), normal)


def _digits(folded: str) -> int:
    return sum(map(folded.count, "0123456789"))


def _origins(text: str) -> list[tuple[int, int]]:
    """For each character of the folded text, the [start, end) of the characters that it was folded from."""
    origins: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end == len(text) or _folds_apart(text[start:end], text[end]):
            origins.extend([(start, end)] * len(_folded(text[start:end])))
            start = end
    return origins


def _folds_apart(before: str, character: str) -> bool:
    """Whether nothing of a character is combined with, or moved before, what stands before it."""
    if before.isascii() and character.isascii():
        return True
    folded = _folded(character)
    return unicodedata.combining(folded[0]) == 0 and _folded(before + character) == _folded(before) + folded


def _emails(folded: str) -> Iterator[tuple[int, int]]:
    """Addresses; not the login in a URL, and not git's user at a host."""
    if "@" not in folded:
        return
    for match in _EMAIL.finditer(folded):
        at = match.start() + 1
        if _NO_MAILBOX.search(folded, max(0, at - 201), at) is None:
            local = _LOCAL_PART_REVERSED.match(folded[max(0, at - 128) : at][::-1])
            yield at - (local.end() if local else 1), match.end()


_DETECTORS: tuple[tuple[Kind, int, Callable[[str], Iterator[tuple[int, int]]]], ...] = (  # with the fewest digits
    ("credential", 0, credentials),
    ("card_number", 13, personal_numbers.card_numbers),
    ("ssn", 9, personal_numbers.ssns),
    ("pin", 4, personal_numbers.pins),
    ("email", 0, _emails),
    ("phone", 7, personal_numbers.phones),
    ("iban", 8, personal_numbers.ibans),
)
