"""When are two values one fact, letter for letter? The canonical form that merges are keyed on."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any, cast

from loom_ray.core.row import JsonValue

_JSON_MARK = "\x01"  # opens the form of whatever is no text, so that no plain text equals it by accident
_PASSES_MAX = 4  # folding and NFKC settle after two passes; the bound only guards the loop

# Invisible marks that change no letter. The joiners U+200C and U+200D stay: they tell words apart in some scripts.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]")
_WHITE_SPACE = re.compile(r"\s+")
_ONE_GLYPH = str.maketrans({"‘": "'", "’": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "−": "-", "‐": "-", "‑": "-"})
# Thai: a tone mark typed after the nikhahit of sara am is the same letter as one typed before it.
_THAI_TONE_AFTER_NIKHAHIT = re.compile("\u0e4d([\u0e48-\u0e4b])(?=\u0e32)")

_EDGE = ".,;:!¡¿·•*\"'`«»‹›‚‛()[]{}…。、，！；：「」『』《》〈〉【】〔〕،؛۔।॥–—-|\\ "
"""Dropped at both edges. Kept: `?` (a question states nothing), `% # + ° @ & / ~ = < > _ $ €` and other signs."""

_SIGN_AT_START = re.compile(r"(?:-(?=[\d.,]*\d)|\.(?=\w)|:(?=\d)|!(?=\w)|\\(?=\w)|--?(?=\w))")
_MEASURE_AT_END = re.compile(r"\d['\"]$")


def canonical_form(value: JsonValue) -> str:
    """The form under which equal facts are equal.

    A text: NFKC, case folded, white space collapsed, edge punctuation dropped (never a sign that carries meaning).
    Anything else: its JSON with sorted keys and canonical strings inside; numbers by value, so 8 and 8.0 are one,
    8 and "8", 1 and true are not. Idempotent on texts.
    """
    if isinstance(value, str):
        return canonical_text(value)
    return _JSON_MARK + json.dumps(_canonical_json(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_text(text: str) -> str:
    """`canonical_form` of a text. A text of punctuation alone keeps it."""
    folded = _folded(text)
    return _without_edges(folded) or folded


def _folded(text: str) -> str:
    for _ in range(_PASSES_MAX):
        before, text = text, _fold_once(text)
        if text == before:
            break
    return text


def _fold_once(text: str) -> str:
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = _INVISIBLE.sub("", text).translate(_ONE_GLYPH)
    return _WHITE_SPACE.sub(" ", _THAI_TONE_AFTER_NIKHAHIT.sub("\\1\u0e4d", text)).strip()


def _without_edges(text: str) -> str:
    start, end = 0, len(text)
    while start < end and text[start] in _EDGE and not _SIGN_AT_START.match(text, start):
        start += 1
    while end > start and text[end - 1] in _EDGE and not _is_measure(text, start, end):
        end -= 1
    return text[start:end]


def _is_measure(text: str, start: int, end: int) -> bool:
    """Whether the quote at the end is a foot or inch mark: after a digit, with no quote that it could close."""
    mark = text[end - 1]
    return bool(_MEASURE_AT_END.search(text, max(start, end - 2), end)) and mark not in text[: end - 1]


def _canonical_json(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return canonical_text(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_canonical_json(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {unicodedata.normalize("NFC", key): _canonical_json(item) for key, item in items}
    return value
