"""Which day or hour does a token mean? Numeric dates, clock times and weekdays of every script, as comparable keys."""

from __future__ import annotations

import re

from loom_ray.core.text import numbers
from loom_ray.core.text.lexicon.calendar import AFTER_NOON, MONTHS, UNSPACED_WEEKDAY_NUMBERS, WEEKDAYS
from loom_ray.core.text.tokens import Token
from loom_ray.core.text.words import Kind, Word

_PARTS = re.compile(r"(\d+|[一二三四五六七八九十]+)\s?([年년月월日号號일])")
_CLOCK = re.compile(
    r"(\D*?)\s?(\d{1,2}|[一二三四五六七八九十]{1,3})\s?[点點時时시钟鐘]+\s?(?:(\d{1,2})\s?[分분]|([半반]))?$"
)
_FIELDS = {"年": 0, "년": 0, "月": 1, "월": 1, "日": 2, "号": 2, "號": 2, "일": 2}


def weekday_of(folded: str, language: str) -> int | None:
    """Monday is 0. English names count in every text of Latin script."""
    found = WEEKDAYS.get(language, {}).get(folded)
    return (
        found if found is not None or not folded.isascii() else WEEKDAYS["en"].get(folded) if len(folded) > 4 else None
    )


def month_of(folded: str, language: str) -> int | None:
    """January is 1. English names count in every text of Latin script, abbreviations only in English."""
    found = MONTHS.get(language, {}).get(folded)
    return found if found is not None or len(folded) < 4 else MONTHS["en"].get(folded)


def date_word(token: Token) -> Word:
    """A numeric date: `2031-03-12` (with a time or without), `12.03.2031`, `3/12/31`, `6月10日`."""
    text = token.text
    if token.kind == "day":
        key = _unspaced_date(text)
    elif token.kind == "iso":
        year, month, day = text[:10].rstrip("T ").split("-")[:3]
        digits = re.match(r"\d+", day)
        key = f"{year}-{int(month)}-{int(digits[0]) if digits else 0}" + _time_part(text)
    elif token.kind == "ymd":
        year, month, day = re.split("[./]", text)
        key = f"{year}-{int(month)}-{int(day)}"
    else:
        key = _day_month_year(text)
    return Word(text, f"date:{key}", Kind.DATE, text.casefold(), token.start, token.end)


def _time_part(text: str) -> str:
    """The time of an ISO date and time, as part of its key."""
    parts = re.split("[T ]", text, maxsplit=1)
    return f"T{parts[1]}" if len(parts) == 2 else ""


def _day_month_year(text: str) -> str:
    """Day first where a point or the numbers say so; an ambiguous order is kept as it is written."""
    first, second, year = (int(part) for part in re.split("[./-]", text))
    year += 2000 if year < 100 else 0
    if first > 12 or "." in text:
        return f"{year}-{second}-{first}"
    return f"{year}-{first}-{second}" if second > 12 else f"{year}-{first}/{second}"


def _unspaced_date(text: str) -> str:
    fields = ["?", "?", "?"]
    for numeral, field in _PARTS.findall(text):
        fields[_FIELDS[field]] = str(int(numeral) if numeral.isdigit() else numbers.han_number(numeral))
    return "-".join(fields)


def clock_word(token: Token) -> Word:
    """An hour with its minutes: `下午3点`, `18時30分`, `오후 3시 반`."""
    match = _CLOCK.match(token.text)
    hours = minutes = 0
    if match:
        hours = int(match[2]) if match[2].isdigit() else numbers.han_number(match[2]) or 0
        hours += 12 if match[1].strip() in AFTER_NOON and hours < 12 else 0
        minutes = int(match[3] or 0) if not match[4] else 30
    return Word(token.text, f"time:{hours:02}:{minutes:02}", Kind.TIME, token.text, token.start, token.end)


def day_word(token: Token) -> Word:
    """A weekday in a script without spaces."""
    text = token.text
    name = text.removeprefix("วัน") if text.startswith("วัน") else text[0] if text[1:2] in ("曜", "요") else text[-1]
    return Word(text, f"weekday:{UNSPACED_WEEKDAY_NUMBERS[name]}", Kind.WEEKDAY, text, token.start, token.end)
