"""Where does one token end and the next begin? A single pass over the text, in every script; no meaning yet."""

from __future__ import annotations

import re
import sys
import unicodedata
from typing import NamedTuple

from loom_ray.core.text.lexicon.calendar import UNSPACED_WEEKDAY
from loom_ray.core.text.lexicon.function_words import FUNCTION_WORDS
from loom_ray.core.text.lexicon.numerals import HAN_COUNTERS
from loom_ray.core.text.lexicon.units import UNITS

SENTENCE_MARKS = frozenset(".!?:;\"'“”«»([—-•…|")
"""Behind one of these a sentence may begin, and a capital tells nothing."""


class Token(NamedTuple):
    """A piece of text: `kind` is the name of the pattern that took it, `start` its offset."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _combining_marks() -> str:
    """The combining marks as a character class: Python's `\\w` leaves them out, and Thai or Hindi words fall apart."""
    ranges: list[list[int]] = []
    for point in range(0x300, min(sys.maxunicode, 0x1FFFF)):
        if unicodedata.category(chr(point)) in ("Mn", "Mc"):
            if ranges and ranges[-1][1] == point - 1:
                ranges[-1][1] = point
            else:
                ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_MARKS = _combining_marks()
_LETTER = rf"(?:[^\W\d_]|[{_MARKS}])"
_CASED = "A-Za-zÀ-ɏΑ-ώЀ-ӿ"
_GLUED_WORDS = "|".join(
    sorted(
        (
            re.escape(alias)
            for alias in UNITS
            if alias.isascii() and alias[0].isalpha() and "_" not in alias and len(alias) < 5
        ),
        key=len,
        reverse=True,
    )
)
_HAN_NUMERAL = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_CLOCK = (
    rf"(?:(?:上午|下午|早上|晚上|凌晨|中午|午前|午後|오전|오후)\s?)?{_HAN_NUMERAL}\s?(?:点(?!钟)|点钟|點|時(?![間代])|时(?![间代])|시(?!간))"
    r"(?:\s?\d{1,2}\s?[分분]|半|반)?"
)
_DAY = (
    rf"(?:\d{{2,4}}\s?[年년]\s?)?{_HAN_NUMERAL}\s?(?:月|월)(?:\s?{_HAN_NUMERAL}\s?[日号號일])?"
    r"|\d{4}\s?[年년](?![間间간])|\d{1,2}[日号號일](?![間间간])"
)
_URL_END = r"[^\s<>\"'，。、）」]"
_PATTERNS = (
    ("url", rf"(?:https?|ftps?|s3|ssh|git|file|wss?)://{_URL_END}+|www\.{_URL_END}+"),
    ("email", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"),
    (
        "domain",
        r"(?:[A-Za-z0-9-]{1,63}\.){1,5}(?:com|org|net|io|dev|edu|gov|local|internal|example|app|ai)(?::\d+)?(?:/[^\s,;)]*)?(?![\w-])",
    ),
    ("path", r"(?<![\w/])(?:~|\.{1,2})?(?:/[\w.@+-]+)+/?|[A-Za-z]:\\[^\s]+"),
    (
        "file",
        r"[\w-]{1,64}\.(?:py|js|tsx?|json|ya?ml|toml|md|txt|csv|parquet|log|conf|cfg|ini|sh|sql|html?|xml|pdf|docx?|xlsx?|zip|gz|rs|go|cpp|java)(?!\w)",
    ),
    (
        "iso",
        r"(?<!\d)\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![\d-])",
    ),
    ("ymd", r"(?<![\d.])\d{4}[./]\d{1,2}[./]\d{1,2}(?![./]?\d)"),
    ("dmy", r"(?<![\d.])(?:\d{1,2}[./-]\d{1,2}[./-]\d{4}|\d{1,2}/\d{1,2}/\d{2})(?![./]?\d)"),
    ("time", r"(?<![\d:.])\d{1,2}(?::\d{2}){1,2}(?![\d:])|(?<!\w)\d{1,2}h\d{2}(?!\w)"),
    ("weekday", UNSPACED_WEEKDAY),
    ("clock", _CLOCK),
    ("day", _DAY),
    ("hannumber", rf"[〇零一二两兩三四五六七八九十百千万萬億亿]{{1,12}}(?=[{''.join(sorted(HAN_COUNTERS))}])"),
    (
        "version",
        r"(?<![\w.])[vV]?\d+(?:\.\d+){2,8}(?:[-+]?[A-Za-z][\w.-]{0,32})?(?<!\.)|(?<!\w)[vV]\d+(?:\.\d+)?(?!\w)",
    ),
    ("glued", rf"(?<![\w.])[-+]?\d++(?:[.,]\d++){{0,6}}(?:st|nd|rd|th|am|pm|a\.m\.|p\.m\.|k|bn|{_GLUED_WORDS})(?!\w)"),
    (
        "identifier",
        rf"#?(?!\d+-[{_CASED}]{{3}})(?=[{_CASED}0-9_-]{{0,64}}\d)(?=[{_CASED}0-9_-]{{0,64}}[{_CASED}])"
        rf"[{_CASED}0-9]+(?:[-_.][{_CASED}0-9]+)*|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+|#\d+",
    ),
    (
        "number",
        r"(?:(?<![\w)])[-+])?(?:\d{1,3}(?:(?P<sep>[,.' ])\d{3})(?:(?P=sep)\d{3})*(?!\d)(?:[.,]\d+)?"
        r"|\d+(?:[.,]\d+)?(?:⁄\d+)?)",
    ),
    ("language", r"(?<!\w)(?:[A-Za-z]\+\+|[A-Za-z]#|\.NET)(?!\w)"),
    ("han", r"[\u3400-\u9fff\uf900-\ufaff々〇]"),
    ("particle", "|".join(sorted(FUNCTION_WORDS["ja"], key=len, reverse=True))),
    ("hiragana", r"(?:(?![はがをにでとのへも])[\u3041-\u309f])+"),
    ("katakana", r"[\u30a0-\u30ff]+"),
    ("hangul", r"[\uac00-\ud7a3\u1100-\u11ff]+"),
    ("thai", r"[เแโใไ]?[ก-ฮ][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]*[ะาๅ]?|[\u0e00-\u0e7f]"),
    ("word", rf"(?:(?![\u0e00-\u0e7f\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]){_LETTER})+(?:['’ʼ]{_LETTER}+)*"),
    ("sign", r"[$€£¥₩₹₽₺฿%°′″]"),
    ("mark", r"[^\s\w]"),
)
_MASTER = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS))
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_ASCII_SEPARATORS = str.maketrans({"٫": ".", "٬": ",", "،": ",", "؛": ";", "؟": "?", "−": "-", "–": "–"})


def normalise(text: str) -> str:
    """NFKC, digits of every script as 0-9, case kept: what is analysed, and what differences quote."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text).translate(_ASCII_SEPARATORS)
    return _FOREIGN_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit.group())), text)


def tokenise(text: str) -> list[Token]:
    """The tokens of a normalised text, in order; white space and what no pattern takes is skipped."""
    return [Token(match.lastgroup or "mark", match.group(), match.start()) for match in _MASTER.finditer(text)]
