"""In which form is a text embedded, and does it carry any meaning to embed?"""

from __future__ import annotations

import unicodedata

PREPARATION = "nfkc-strip-stop-fold-1"  # part of the embedder's stamp: another value means other vectors

_STOPS = ".。｡।۔።"  # full stops: Latin, CJK wide and half wide, Devanagari, Arabic, Ethiopic


def prepare(text: str) -> str:
    """The text as every embedder sees it: NFKC, no white space around, no final stop, case folded.

    The local model is case-sensitive and weighs a final stop; neither carries meaning in a statement (embedding.md).
    Idempotent, so a text may safely be prepared twice.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).strip()
    end = len(folded)
    while end and (folded[end - 1] in _STOPS or folded[end - 1].isspace()):
        end -= 1
    return folded[:end]


def has_meaning(text: str) -> bool:
    """Whether the text holds a letter or a digit of any script; without one, its vector means nothing."""
    return any(character.isalnum() for character in text)
