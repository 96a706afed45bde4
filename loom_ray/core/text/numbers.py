"""Which number does a numeral mean? Digits with separators, number words, and the numerals of Chinese characters."""

from __future__ import annotations

from decimal import Decimal

from loom_ray.core.text.lexicon.numerals import CARDINALS, HAN_DIGITS, HAN_POWERS, MULTIPLIERS

_COMMA_DECIMAL = frozenset(
    {"de", "fr", "es", "it", "pt", "nl", "pl", "ru", "sv", "da", "cs", "uk", "tr", "id", "vi", "el"}
)
_DIGITS_MAX = 200  # a longer run of digits is compared as it is written


def decimal_key(number: Decimal) -> str:
    """The same text for equal numbers: no exponent, no trailing zeros."""
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def parse_number(text: str, language: str) -> Decimal | None:
    """The value of a numeral with digits; None where it is none (1.2,3.4) or too long to be one.

    With two kinds of separator the last is the decimal one. A single separator before exactly three digits follows the
    language: 1,500 is one and a half in German, fifteen hundred in English.
    """
    if len(text) > _DIGITS_MAX:
        return None
    whole, _, denominator = text.partition("⁄")
    sign = -1 if whole[:1] == "-" else 1
    digits = whole.lstrip("+-").replace(" ", "").replace("'", "")
    plain = _with_decimal_point(digits, language)
    if plain.count(".") > 1 or not plain.replace(".", ""):
        return None
    value = Decimal(plain)
    return sign * (value / Decimal(denominator) if denominator.strip("0") else value)


def _with_decimal_point(digits: str, language: str) -> str:
    comma, point = digits.rfind(","), digits.rfind(".")
    if comma < 0 and point < 0:
        return digits
    if comma >= 0 and point >= 0:
        thousands = "," if point > comma else "."
        return digits.replace(thousands, "").replace(",", ".")
    separator = "," if comma >= 0 else "."
    last = digits.rfind(separator)
    grouped = len(digits) - last == 4 and 1 <= digits.index(separator) <= 3 and digits[0] != "0"
    if digits.count(separator) > 1 or (grouped and (separator == ".") == (language in _COMMA_DECIMAL)):
        return digits.replace(separator, "")
    return digits.replace(",", ".")


def cardinal(word: str, language: str) -> int | None:
    """The value of one number word, German and Dutch compounds (fünfundzwanzig) included."""
    words = CARDINALS.get(language)
    if words is None:
        return None
    value = words.get(word)
    if value is None and language in ("de", "nl") and len(word) > 8:
        value = _germanic_compound(word, words, "und" if language == "de" else "en")
    return value


def _germanic_compound(word: str, words: dict[str, int], link: str) -> int | None:
    """Ones before tens: `fünf` + `und` + `zwanzig`, `een` and `ein` included."""
    at = word.find(link, 2)
    ones, tens = word[:at].rstrip("ë"), word[at + len(link) :]
    if at < 0 or words.get(tens, 0) < 20:
        return None
    unit = 1 if ones in ("ein", "een") else words.get(ones.rstrip("ë"))
    return words[tens] + unit if unit is not None and unit < 10 else None


def multiplier(word: str) -> int | None:
    return MULTIPLIERS.get(word)


def han_number(text: str) -> int | None:
    """The value of a run of Chinese numerals (三十五 → 35, 二〇三一 → 2031); None where it is no number."""
    if all(char in HAN_DIGITS for char in text):
        return int("".join(str(HAN_DIGITS[char]) for char in text))
    total = section = digit = 0
    for char in text:
        if char in HAN_DIGITS:
            digit = HAN_DIGITS[char]
        elif char not in HAN_POWERS:
            return None
        elif HAN_POWERS[char] >= 10_000:
            total, section, digit = (total + section + digit) * HAN_POWERS[char], 0, 0
        else:
            section, digit = section + (digit or 1) * HAN_POWERS[char], 0
    return total + section + digit
