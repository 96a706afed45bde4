"""Where does a text hold a number that belongs to a person: card, US social security, PIN, IBAN or phone?

Texts come folded (sensitivity.py): ASCII digits, whatever the script. Each detector yields (start, end) of what it
finds. Check digits are verified by python-stdnum and phone numbers by phonenumbers, each imported when a candidate
first appears.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_DIGIT_GROUPS = re.compile(r"(?<![\w.,-])[0-9]{2,19}(?:[ -][0-9]{2,19})*(?!\w|[.,][0-9])")
_DIGITS = re.compile(r"[0-9]+")
_CARD_DIGITS_MIN = 13
_CARD_SHAPES = frozenset(
    {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 4, 4, 2), (4, 4, 4, 1), (4, 4, 5)}
)
_CARD_ISSUERS = (  # prefix range, lengths: the issuer identification numbers that the networks publish
    (4, 4, (13, 16, 18, 19)),  # Visa
    (51, 55, (16,)),  # Mastercard
    (2221, 2720, (16,)),
    (34, 34, (15,)),  # American Express
    (37, 37, (15,)),
    (300, 305, (14, 16)),  # Diners
    (3095, 3095, (14,)),
    (36, 36, (14,)),
    (38, 39, (14, 16)),
    (6011, 6011, (16, 19)),  # Discover
    (644, 659, (16, 19)),
    (3528, 3589, (16, 17, 18, 19)),  # JCB
    (2200, 2204, (16, 17, 18, 19)),  # Mir
    (62, 62, (16, 17, 18, 19)),  # UnionPay
    (81, 81, (16, 17, 18, 19)),
    (5018, 5020, (13, 16, 19)),  # Maestro, Dankort
    (5038, 5038, (13, 16, 19)),
    (5893, 5893, (16, 19)),
    (6304, 6304, (16, 18, 19)),
    (6759, 6763, (16, 18, 19)),
    (6765, 6767, (16, 18, 19)),
    (508, 508, (16,)),  # RuPay
    (5067, 5067, (16,)),  # Elo
    (636368, 636368, (16,)),
    (1, 1, (15,)),  # UATP
)

_SSN = re.compile(
    r"(?<![\w.-])(?:(?<![0-9] )[0-9]{3}([ .])[0-9]{2}\1[0-9]{4}(?! [0-9])|[0-9]{3}-(?:[0-9]{6}|[0-9]{2}-[0-9]{4})"
    r"|[0-9]{5}-[0-9]{4})(?!\w|[.-][0-9])"
)
_SSN_STATED = re.compile(
    r"\b(?:ssn|social[ -]security(?:[ -](?:number|no|num))?)\b[^0-9\n]{0,20}([0-9]{9})(?![0-9])", re.IGNORECASE
)
_SSN_BARE = re.compile(r"\A\s{0,22}([0-9]{9})\s{0,22}\Z")

_PIN = re.compile(
    r"\b(?:pin|pin[ -]?(?:code|number|no)|geheimzahl|code pin|пин(?:-?код)?|暗証番号|个人识别码)\b['\"]?"
    r"(?: (?:for|of|to|on) (?:[^\W\d_]{1,30} ){0,4}[^\W\d_]{1,30}\b)?"
    r"\s{0,3}(?:is|was|:|=|：|-|ist|est|es|は|是)?\s{0,3}['\"]?([0-9]{4,8})(?![\w.,]?[0-9])",
    re.IGNORECASE,
)
_PIN_HINTS = ("pin", "geheimzahl", "пин", "暗証番号", "个人识别码")

_IBAN_START = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?=[ -]?[A-Z0-9])")
_LETTER_VALUES = {ord(letter): str(value) for value, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ", start=10)}
_IBAN_END = frozenset(".,;:!?)]}'\"/ \t\r\n")
_IBAN_OUTSIDE_REGISTRY = {  # in use, though not in the registry that python-stdnum carries: lengths
    **dict.fromkeys(("AO", "CV", "GW", "MZ"), (25,)),
    **dict.fromkeys(("IR",), (26,)),
    **dict.fromkeys(("CF", "CG", "CM", "DJ", "GA", "GQ", "KM", "MG", "TD"), (27,)),
    **dict.fromkeys(("GF", "GP", "MQ", "RE", "PF", "TF", "YT", "NC", "BL", "MF", "PM", "WF"), (27,)),
    **dict.fromkeys(("BJ", "CI", "HN", "MA", "ML", "NE", "SN", "TG"), (28,)),
    "BF": (27, 28),
    "BI": (16,),
    "DZ": (24, 26),
    "NI": (28, 32),
}

_PHONE_INTERNATIONAL = re.compile(r"(?<![\w.])(?:\+|00)[1-9][0-9(). /-]{6,24}[0-9](?!\w)")
_PHONE_US = re.compile(r"(?<![0-9-])(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}-)[2-9][0-9]{2}-[0-9]{4}(?![\w-])")
_PHONE_WRITTEN = re.compile(r"(?<![\w+.])\(?[0-9][0-9(). /-]{5,20}[0-9](?!\w)")
_PHONE_NAMED = re.compile(
    r"(?:\b(?:phone|telephone|tel|mobile|cell|cellphone|call|fax|whatsapp|sms|landline|telefon\w{0,20}|handy|rufnummer"
    r"|téléphone|portable|teléfono|móvil|celular|telefone|telemóvel|cellulare|телефон\w{0,5}|моб)\b"
    r"|\bmy (?:\w{1,30} )?number\b|电话|電話|手机|携帯|전화|휴대폰|هاتف|جوال)[^0-9+\n]{0,30}$",
    re.IGNORECASE,
)
_PHONE_REGIONS = ("US", "GB", "DE", "FR", "ES", "IT", "IL", "IN", "JP", "CN", "BR", "RU", "KR", "SA", "EG", "NL", "PT")
_PHONES_REFUSED_MAX = 50  # each costs some 20 µs; a text with more candidates that are none has been told by then


def card_numbers(text: str) -> Iterator[tuple[int, int]]:
    for run in _DIGIT_GROUPS.finditer(text):
        if run.end() - run.start() >= _CARD_DIGITS_MIN:
            yield from _cards_in(text, run.start(), run.end())


def _cards_in(text: str, run_start: int, run_end: int) -> Iterator[tuple[int, int]]:
    """Neighbouring groups of a run of digits, grouped as cards are printed, that make a card number."""
    groups = list(_DIGITS.finditer(text, run_start, run_end))
    for start in range(len(groups)):
        for end in range(start + 1, min(start + 5, len(groups)) + 1):
            window = [group.group() for group in groups[start:end]]
            if end - start > 1 and tuple(map(len, window)) not in _CARD_SHAPES:
                continue
            if _is_card("".join(window)):
                yield groups[start].start(), groups[end - 1].end()


def _is_card(digits: str) -> bool:
    if not _CARD_DIGITS_MIN <= len(digits) <= 19 or not any(
        low <= int(digits[: len(str(low))]) <= high and len(digits) in lengths for low, high, lengths in _CARD_ISSUERS
    ):
        return False
    from stdnum import luhn

    return luhn.is_valid(digits)


def ssns(text: str) -> Iterator[tuple[int, int]]:
    """Written with separators, named as one, or nothing but nine digits; area, group and serial must be possible."""
    for pattern, group in ((_SSN, 0), (_SSN_STATED, 1), (_SSN_BARE, 1)):
        yield from (found.span(group) for found in pattern.finditer(text) if _is_ssn(found[group]))


def _is_ssn(candidate: str) -> bool:
    from stdnum.us import ssn

    return ssn.is_valid(re.sub("[ .-]", "", candidate))


def pins(text: str) -> Iterator[tuple[int, int]]:
    lowered = text.lower()
    if any(hint in lowered for hint in _PIN_HINTS):
        yield from (found.span(1) for found in _PIN.finditer(text))


def ibans(text: str) -> Iterator[tuple[int, int]]:
    for found in _IBAN_START.finditer(text):
        yield from _ibans_at(text, found.start())


def _ibans_at(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Try each length at which the candidate may end: before a space, a mark, or the end of the text."""
    candidate = ""
    for place in range(start, min(start + 46, len(text))):
        character = text[place]
        if character in " -" and candidate and text[place - 1] not in " -":
            continue
        if not (character.isascii() and (character.isdigit() or character.isupper())):
            return
        candidate += character
        ends = place + 1 == len(text) or text[place + 1] in _IBAN_END or text[place + 1] == "-"
        if ends and 15 <= len(candidate) <= 34 and _is_iban(candidate):
            yield start, place + 1


def _is_iban(candidate: str) -> bool:
    if int((candidate[4:] + candidate[:4]).translate(_LETTER_VALUES)) % 97 != 1:  # ISO 7064, before costlier checks
        return False
    from stdnum import iban

    outside = len(candidate) in _IBAN_OUTSIDE_REGISTRY.get(candidate[:2], ())
    return outside or iban.is_valid(candidate, check_country=False)


def phones(text: str) -> Iterator[tuple[int, int]]:
    """International with its prefix, in the North American form, or in any of the larger countries' when so named."""
    yield from _valid(_PHONE_INTERNATIONAL.finditer(text), (None,))
    yield from _valid(_PHONE_US.finditer(text), ("US",))
    yield from _valid(filter(_is_named_phone, _PHONE_WRITTEN.finditer(text)), _PHONE_REGIONS)


def _valid(candidates: Iterable[re.Match[str]], regions: tuple[str | None, ...]) -> Iterator[tuple[int, int]]:
    refused = 0
    for found in candidates:
        number = re.sub("^00", "+", found.group()) if regions == (None,) else found.group()
        if any(_is_phone(number, region) for region in regions):
            yield found.span()
        else:
            refused += 1
            if refused == _PHONES_REFUSED_MAX:
                return


def _is_named_phone(match: re.Match[str]) -> bool:
    return _PHONE_NAMED.search(match.string[max(0, match.start() - 60) : match.start()]) is not None


def _is_phone(candidate: str, region: str | None) -> bool:
    import phonenumbers

    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(candidate, region))
    except phonenumbers.NumberParseException:
        return False
