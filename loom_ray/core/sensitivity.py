"""How sensitive is a text? By the shapes in it: a high one is never embedded, a medium one is labelled."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from loom_ray.core import personal_numbers
from loom_ray.core.credentials import holds_credential

Level = Literal["", "medium", "high"]
Kind = Literal["credential", "card_number", "ssn", "pin", "email", "phone", "iban"]

_HIGH: frozenset[Kind] = frozenset({"credential", "card_number", "ssn", "pin"})
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_EMAIL = re.compile(
    r"[\w!#$%&'*+/=?^`{|}~.\"-]@((?:[^\W_][\w-]{0,62}\.){1,8})(?:xn--[\w-]{2,59}|[^\W\d_]{2,63})(?![\w-])"
)
_NO_MAILBOX = re.compile(r"(?:://\S*|(?<!\w)git)$")


_NUMBERS: tuple[tuple[Kind, int, Callable[[str], bool]], ...] = (  # with the fewest digits that one can have
    ("card_number", 13, personal_numbers.holds_card_number),
    ("ssn", 9, personal_numbers.holds_ssn),
    ("pin", 4, personal_numbers.holds_pin),
    ("phone", 7, personal_numbers.holds_phone),
    ("iban", 8, personal_numbers.holds_iban),
)


@dataclass(frozen=True, slots=True)
class Detection:
    """The level of the most sensitive shape ("" for none) and every kind found, in the order of `Kind`."""

    level: Level
    kinds: tuple[Kind, ...]


_NOTHING = Detection("", ())


def detect(text: str) -> Detection:
    """What the text holds, in time linear in its length; digits of every script count.

    High: a credential (password stated, key, token, private key, address with a login), a card number, a US social
    security number, a PIN stated. Medium: an e-mail address, a phone number, an IBAN. A shape is not proof: see
    benchmarks/sensitivity.py for how often it is right.
    """
    folded = text if text.isascii() else _folded(text)
    kinds: list[Kind] = []
    if holds_credential(folded):
        kinds.append("credential")
    kinds.extend(_number_kinds(folded))
    if "@" in folded and _holds_email(folded):
        kinds.append("email")
    if not kinds:
        return _NOTHING
    return Detection("high" if _HIGH.intersection(kinds) else "medium", tuple(kinds))


def _folded(text: str) -> str:
    """NFKC, and the digits of every script as ASCII."""
    normal = unicodedata.normalize("NFKC", text)
    return _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.digit(match.group())), normal)


def _number_kinds(folded: str) -> Iterator[Kind]:
    digits = sum(map(folded.count, "0123456789"))
    for kind, digits_min, holds in _NUMBERS:
        if digits >= digits_min and holds(folded):
            yield kind


def _holds_email(folded: str) -> bool:
    """An address; not the login in a URL, and not git's user at a host."""
    return any(
        _NO_MAILBOX.search(folded, max(0, match.start() - 200), match.start() + 1) is None
        for match in _EMAIL.finditer(folded)
    )
