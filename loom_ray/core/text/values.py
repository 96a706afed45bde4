"""Which values does a statement name? Numbers, quantities, dates, times, versions, identifiers and addresses."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

from loom_ray.core.text import numbers
from loom_ray.core.text.calendar_values import clock_word, date_word, day_word, month_of, weekday_of
from loom_ray.core.text.lexicon import calendar, numerals, units
from loom_ray.core.text.tokens import Token
from loom_ray.core.text.words import Kind, Word

_CLOSING = ".,;:!?)]}'\"»”"
_ORDINAL = re.compile(r"(\d{1,4})-?(?:st|nd|rd|th|er|re|ère|e|ème|o|a|й|го|ого|ый|ая|ой)$")
_GLUED = re.compile(r"([-+]?\d++(?:[.,]\d++)*)(.*)$", re.DOTALL)
_NOON = re.compile(r"\s?([ap])\.?\s?m\b\.?", re.IGNORECASE)
_UNIT = re.compile(r"\s?(°\s?[CFcf]\b|km/h|kbit/s|mbit/s|gbit/s|[^\W\d_]++(?![\d_])|[$€£¥₩₹₽₺฿%°′″])", re.IGNORECASE)
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_UNSPACED_UNIT_CHARS_MAX = 7
_YEARS = range(1900, 2101)
_CALENDAR: dict[str, Callable[[Token], Word]] = {"clock": clock_word, "weekday": day_word}  # others: dates


class ValueReader:
    """Reads the values of one text. `text` is normalised, `tokens` are its tokens."""

    def __init__(self, text: str, tokens: list[Token], language: str) -> None:
        self._text = text
        self._tokens = tokens
        self._language = language

    def read(self, at: int) -> Word | None:
        """The value that begins at token `at`; None where that token is a plain word or a mark."""
        token = self._tokens[at]
        match token.kind:
            case "word":
                return self._worded(at)
            case "number":
                return self._from_number(at)
            case "mark" | "han" | "hiragana" | "katakana" | "particle" | "thai" | "language":
                return None
            case "hangul":
                return self._number_word(at)
            case _:
                return self._special(at)

    def _word(self, kind: Kind, key: str, start: int, end: int) -> Word:
        text = self._text[start:end].strip()
        return Word(text, f"{kind}:{key}", kind, text.casefold(), start, end)

    def _special(self, at: int) -> Word | None:
        """Tokens whose pattern already says what they are."""
        token = self._tokens[at]
        match token.kind:
            case "url" | "email" | "domain" | "path":
                text = token.text.rstrip(_CLOSING)
                return self._word(Kind.URL, text.rstrip("/"), token.start, token.start + len(text))
            case "version":
                return self._word(Kind.VERSION, token.text.casefold().lstrip("v"), token.start, token.end)
            case "iso" | "ymd" | "dmy" | "day" | "clock" | "weekday":
                return _CALENDAR.get(token.kind, date_word)(token)
            case "time":
                return self._clock(token)
            case "hannumber":
                return self._han_number(token)
            case "sign":
                return self._money(at)
            case "glued":
                return self._glued(at)
            case _:
                return self._identifier(at)

    def _identifier(self, at: int) -> Word:
        token = self._tokens[at]
        ordinal = _ORDINAL.match(token.text.casefold())
        if ordinal:
            return self._ordinal(int(ordinal[1]), at)
        return self._word(Kind.IDENTIFIER, token.text.casefold().lstrip("#"), token.start, token.end)

    def _ordinal(self, number: int, at: int) -> Word:
        """A day of a month (15th March, March 15th is read from its month), or a rank."""
        token = self._tokens[at]
        return self._day_first(number, at) or self._word(Kind.NUMBER, f"#{number}", token.start, token.end)

    def _clock(self, token: Token) -> Word:
        hours, minutes, *_ = [int(part) for part in re.split("[:h]", token.text)]
        end = token.end
        noon = _NOON.match(self._text, end)
        if noon:
            hours, end = hours % 12 + (12 if noon[1] in "pP" else 0), noon.end()
        if hours > 24 or minutes > 59:
            return self._word(Kind.IDENTIFIER, token.text, token.start, token.end)
        seconds = token.text.split(":", 2)[2:]
        return self._word(Kind.TIME, f"{hours:02}:{minutes:02}" + "".join(f":{s}" for s in seconds), token.start, end)

    def _han_number(self, token: Token) -> Word | None:
        value = numbers.han_number(token.text)
        if value is None or token.text == "一":
            return None
        return self._counted(Decimal(value), token.start, token.end)

    def _money(self, at: int) -> Word | None:
        sign = self._tokens[at]
        if sign.text not in units.SIGNS_BEFORE or at + 1 >= len(self._tokens):
            return None
        token = self._tokens[at + 1]
        if token.kind not in ("number", "glued") or token.start > sign.end + 1:
            return None
        digits, suffix = self._split(token)
        amount = numbers.parse_number(digits, self._language)
        if amount is None:
            return None
        amount *= numerals.SUFFIX_MULTIPLIERS.get(suffix.casefold(), 1)
        amount, end = self._multiplied(amount, token.end)
        return self._word(Kind.QUANTITY, self._amount(amount, units.UNITS[sign.text]), sign.start, end)

    @staticmethod
    def _split(token: Token) -> tuple[str, str]:
        glued = _GLUED.match(token.text)
        return (glued[1], glued[2]) if glued and token.kind == "glued" else (token.text, "")

    @staticmethod
    def _amount(amount: Decimal, unit: units.Unit) -> str:
        return f"{unit.dimension}:{numbers.decimal_key(amount * unit.factor)}"

    def _glued(self, at: int) -> Word:
        token = self._tokens[at]
        digits, suffix = self._split(token)
        folded = suffix.casefold()
        if folded in ("st", "nd", "rd", "th"):
            return self._ordinal(int(digits.lstrip("+-").replace(",", "").replace(".", "")), at)
        value = numbers.parse_number(digits, self._language)
        if value is None:
            return self._word(Kind.IDENTIFIER, token.text.casefold(), token.start, token.end)
        if folded.replace(".", "") in ("am", "pm") and value == int(value) and 0 <= value <= 24:
            hours = int(value) % 12 + (12 if folded[0] == "p" else 0)
            return self._word(Kind.TIME, f"{hours:02}:00", token.start, token.end)
        unit = units.CASE_SENSITIVE_UNITS.get(suffix) or units.UNITS.get(folded)
        if unit is None:
            value *= numerals.SUFFIX_MULTIPLIERS.get(folded, 1_000_000_000)
            return self._counted(value, token.start, token.end)
        return self._word(Kind.QUANTITY, self._amount(value, unit), token.start, token.end)

    def _from_number(self, at: int) -> Word:
        token = self._tokens[at]
        value = numbers.parse_number(token.text, self._language)
        if value is None:
            return self._word(Kind.NUMBER, token.text, token.start, token.end)
        if token.text.isdigit() and len(token.text) <= 2:
            dated = self._day_first(int(value), at)
            if dated:
                return dated
            hour = self._hour(int(value), token)
            if hour:
                return hour
        return self._counted(value, token.start, token.end)

    def _hour(self, hours: int, token: Token) -> Word | None:
        noon = _NOON.match(self._text, token.end)
        if noon and hours <= 12:
            return self._word(
                Kind.TIME, f"{hours % 12 + (12 if noon[1] in 'pP' else 0):02}:00", token.start, noon.end()
            )
        after = _UNIT.match(self._text, token.end)
        if after and after[1].casefold() in calendar.CLOCK_WORDS and hours <= 24 and self._language == "de":
            return self._word(Kind.TIME, f"{hours:02}:00", token.start, after.end())
        return None

    def _multiplied(self, amount: Decimal, end: int) -> tuple[Decimal, int]:
        following = _UNIT.match(self._text, end)
        if not following:
            return amount, end
        if _UNSPACED.match(following[1]):
            factor = numbers.multiplier(following[1][0])
            return (amount * factor, following.start(1) + 1) if factor else (amount, end)
        factor = numbers.multiplier(following[1].casefold())
        return (amount * factor, following.end()) if factor else (amount, end)

    def _counted(self, value: Decimal, start: int, end: int) -> Word:
        """A quantity if a unit follows, a year if it looks like one, else a number."""
        value, end = self._multiplied(value, end)
        following = _UNIT.match(self._text, end)
        if following:
            unit, unit_end = self._unit(following)
            if unit:
                return self._word(Kind.QUANTITY, self._amount(value, unit), start, unit_end)
        text = self._text[start:end]
        if len(text) == 4 and text.isdigit() and int(text) in _YEARS:
            return self._word(Kind.DATE, f"{text}-?-?", start, end)
        return self._word(Kind.NUMBER, numbers.decimal_key(value), start, end)

    def _unit(self, following: re.Match[str]) -> tuple[units.Unit | None, int]:
        name, start = following[1], following.start(1)
        if _UNSPACED.match(name):
            return self._unspaced_unit(start)
        if name in units.CASE_SENSITIVE_UNITS:
            return units.CASE_SENSITIVE_UNITS[name], following.end()
        folded = name.casefold().replace(" ", "")
        if folded in units.AMBIGUOUS and not (
            self._language in units.AMBIGUOUS[folded] or (len(name) > 2 and name.isupper())
        ):
            return None, start
        return units.UNITS.get(folded), following.end()

    def _unspaced_unit(self, start: int) -> tuple[units.Unit | None, int]:
        for length in range(_UNSPACED_UNIT_CHARS_MAX, 0, -1):
            unit = units.UNITS.get(self._text[start : start + length])
            if unit:
                return unit, start + length
        return None, start

    def _worded(self, at: int) -> Word | None:
        """A weekday, a month with its day and year, or a number in words."""
        token = self._tokens[at]
        folded = token.text.casefold()
        weekday = weekday_of(folded.removesuffix("'s"), self._language)
        if weekday is not None:
            return self._word(Kind.WEEKDAY, str(weekday), token.start, token.end)
        month = month_of(folded, self._language)
        if month is not None:
            dated = self._month_first(month, folded, at)
            if dated:
                return dated
        return self._number_word(at)

    def _number_word(self, at: int) -> Word | None:
        token = self._tokens[at]
        folded = token.text.casefold()
        rank = numerals.ORDINALS.get(self._language, {}).get(folded)
        if rank is not None:
            return self._word(Kind.NUMBER, f"#{rank}", token.start, token.end)
        value = numbers.cardinal(folded, self._language)
        if value is None:
            return None
        total, last = self._composed(value, at)
        return self._counted(Decimal(total), token.start, self._tokens[last].end)

    def _composed(self, value: int, at: int) -> tuple[int, int]:
        """`twenty-five`, `two hundred and fifty`: the sum and the last token of it."""
        last, total = at, value
        while True:
            at = last + 1
            while at < len(self._tokens) and self._tokens[at].text.casefold() in ("-", "and", "y", "e", "et", "und"):
                at += 1
            if at >= len(self._tokens):
                return total, last
            folded = self._tokens[at].text.casefold()
            part, factor = numbers.cardinal(folded, self._language), numbers.multiplier(folded)
            if factor and at == last + 1 and factor < 1_000_000:
                total, last = total * factor, at
            elif part is not None and (
                (total % 100 == 0 and total >= 100) or (total % 10 == 0 and total >= 20 and part < 10)
            ):
                total, last = total + part, at
            else:
                return total, last

    def _day_first(self, day: int, at: int) -> Word | None:
        """`12 March 2031`, `12. März`, `12 de marzo de 2031`."""
        following = at + 1
        while following < len(self._tokens) and self._tokens[following].text.casefold() in (".", "de", "of", "do", "-"):
            following += 1
        if not 1 <= day <= 31 or following >= len(self._tokens) or following > at + 3:
            return None
        month = month_of(self._tokens[following].text.casefold(), self._language)
        if month is None:
            return None
        year, end = self._year(following)
        return self._word(Kind.DATE, f"{year}-{month}-{day}", self._tokens[at].start, end)

    def _year(self, at: int) -> tuple[str, int]:
        """The year behind token `at` (behind a comma, `de` or `of`), or `?`; and where the date ends."""
        following = at + 1
        while following < len(self._tokens) and self._tokens[following].text.casefold() in (",", "de", "of", ".", "do"):
            following += 1
        if following < len(self._tokens) and following <= at + 2:
            token = self._tokens[following]
            if token.kind == "number" and len(token.text) == 4 and token.text.isdigit():
                return token.text, token.end
        return "?", self._tokens[at].end

    def _month_first(self, month: int, folded: str, at: int) -> Word | None:
        """`March 12, 2031`, `March 15th`, `March 2031`, or the month alone."""
        start = self._tokens[at].start
        day = self._day_after(at)
        year, end = self._year(at + 1 if day else at)
        if day or year != "?":
            return self._word(Kind.DATE, f"{year}-{month}-{day or '?'}", start, end)
        if folded in calendar.AMBIGUOUS_MONTHS and not self._after_time_word(at):
            return None
        return self._word(Kind.DATE, f"?-{month}-?", start, self._tokens[at].end)

    def _day_after(self, at: int) -> int | None:
        if at + 1 >= len(self._tokens):
            return None
        match = re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)?", self._tokens[at + 1].text)
        return int(match[1]) if match and 1 <= int(match[1]) <= 31 else None

    def _after_time_word(self, at: int) -> bool:
        return at > 0 and self._tokens[at - 1].text.casefold() in calendar.TIME_PREPOSITIONS
