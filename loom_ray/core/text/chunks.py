"""Which parts of a value are embedded? Its excerpt, which alone is judged, and the chunks of a long one."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from loom_ray.core.row import JsonValue, text_of

EXCERPT_CHARS_MAX = 1200  # of the stored JSON, in which every character beyond ASCII is an escape of six (or twelve)
CHUNKS_MAX = 640  # embedded per value: 60,000 characters of any script, 700,000 of ASCII; words find what lies beyond

_QUOTES = 2
_NO_SUFFIX = re.compile(r"import:[0-9a-f]{24}")
_SENTENCE_END = re.compile(r"""[.!?…؟۔।]["'”’)\]]*\s+|[。！？]["”’」』）]*\s*""")
_SKIN_TONE = re.compile("[\U0001f3fb-\U0001f3ff]")
_HANGUL_LEAD = re.compile("[\u1100-\u115f\ua960-\ua97f]")  # letters that build one syllable with those after
_HANGUL_REST = re.compile("[\u1160-\u11ff\ud7b0-\ud7ff]")
_SARA_AM = "\u0e33\u0eb3"  # Thai and Lao: no mark by category, yet never first
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")  # a flag is two of them

_Costs = npt.NDArray[np.int64]


def excerpt(text: str) -> str:
    """The beginning of a text that its first vector embeds: all of it, or what 1,200 characters of JSON hold."""
    beginning = text[:EXCERPT_CHARS_MAX]
    if len(json.dumps(beginning)) <= EXCERPT_CHARS_MAX:  # nearly every text, and every hit of a search asks
        return beginning
    return next(_pieces(beginning, EXCERPT_CHARS_MAX), "")


def chunks(value: JsonValue, memory_key: str, chunks_max: int = CHUNKS_MAX) -> list[str]:
    """The verbatim pieces of a long value, in order; [] where the excerpt holds it all.

    A value is long when its stored JSON runs past the excerpt less the ` (#<key>)` suffix; no piece does. Joined, the
    pieces are the text, or, where it needs more than `chunks_max`, its beginning: compare the lengths and say so. What
    lies beyond is found by its words, never by its meaning.
    """
    room = EXCERPT_CHARS_MAX - len(_suffix(memory_key))
    if len(json.dumps(value)) <= room:
        return []
    text = text_of(value)[: chunks_max * room]
    return [piece for _, piece in zip(range(chunks_max), _pieces(text, room), strict=False)]


def _suffix(memory_key: str) -> str:
    return "" if _NO_SUFFIX.fullmatch(memory_key) else f" (#{memory_key})"


def _pieces(text: str, room: int) -> Iterator[str]:
    costs = np.insert(np.cumsum(_json_chars(text)), 0, 0)
    start = 0
    while start < len(text):
        end = _end(text, start, _reach(costs, start, room - _QUOTES))
        yield text[start:end]
        start = end


def _reach(costs: _Costs, start: int, room: int) -> int:
    """The furthest end of a piece from `start` that `room` characters of JSON hold; one character at least."""
    end = costs.searchsorted(int(costs[start]) + room, side="right")
    return max(int(end) - 1, start + 1)


def _json_chars(text: str) -> _Costs:
    """How many characters `json.dumps` writes for each character of the text."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    costs = np.where((points >= 0x20) & (points <= 0x7E), 1, 6)
    costs[points > 0xFFFF] = 12
    costs[np.isin(points, [ord(character) for character in '"\\\n\r\t\b\f'])] = 2
    return costs.astype(np.int64)


def _end(text: str, start: int, reach: int) -> int:
    """Where a piece ends: the last line, sentence, word or grapheme boundary that is in reach, in this order."""
    if reach == len(text):
        return reach
    middle = (start + reach) // 2
    line = text.rfind("\n", middle, reach) + 1
    end = line or _sentence(text, start, middle, reach) or _word(text, start, middle, reach)
    return end or _grapheme(text, start, reach)


def _sentence(text: str, start: int, middle: int, reach: int) -> int:
    ends = (match.end() for match in _SENTENCE_END.finditer(text, middle, reach))
    return max((end for end in ends if not _splits(text, start, end)), default=0)


def _word(text: str, start: int, middle: int, reach: int) -> int:
    ends = range(reach, middle, -1)
    return next((end for end in ends if text[end - 1].isspace() and not _splits(text, start, end)), 0)


def _grapheme(text: str, start: int, reach: int) -> int:
    return next((end for end in range(reach, start, -1) if not _splits(text, start, end)), reach)


def _splits(text: str, start: int, end: int) -> bool:
    """Whether a reader sees the characters on both sides of `end` as one (Unicode annex 29, but Indic conjuncts)."""
    before, after = text[end - 1], text[end]
    if unicodedata.category(after).startswith("M") or "\u200d" in (before, after) or before + after == "\r\n":
        return True
    if _SKIN_TONE.match(after) or _HANGUL_REST.match(after) or after in _SARA_AM:
        return True
    if _HANGUL_LEAD.match(before) and _HANGUL_LEAD.match(after):
        return True
    return _FLAG_LETTER.match(after) is not None and _flag_letters(text, start, end) % 2 == 1


def _flag_letters(text: str, start: int, end: int) -> int:
    count = 0
    while end - count > start and _FLAG_LETTER.match(text, end - count - 1):
        count += 1
    return count
