"""What is a word of a statement? Its text, the key it is compared by, and the part that it plays."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """The part a word plays. The values (number to identifier) and names are what a fact hangs on."""

    NUMBER = "number"
    QUANTITY = "quantity"
    DATE = "date"
    TIME = "time"
    WEEKDAY = "weekday"
    VERSION = "version"
    IDENTIFIER = "identifier"
    URL = "url"
    NAME = "name"
    WORD = "word"
    FUNCTION = "function"
    NEGATION = "negation"
    MARK = "mark"


VALUE_KINDS = frozenset(
    {
        Kind.NUMBER,
        Kind.QUANTITY,
        Kind.DATE,
        Kind.TIME,
        Kind.WEEKDAY,
        Kind.VERSION,
        Kind.IDENTIFIER,
        Kind.URL,
    }
)
CONTENT_KINDS = VALUE_KINDS | {Kind.NAME, Kind.WORD}


class Word(NamedTuple):
    """One word or one value (`12 March 2031` is one), `start` and `end` being offsets in the statement's text.

    `key` is equal for words that mean the same number, date or stem; `folded` is the word as written, case folded.
    """

    text: str
    key: str
    kind: Kind
    folded: str
    start: int
    end: int
