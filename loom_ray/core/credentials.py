"""Where does a text hold a credential? Tokens by their issuers' published forms, and passwords stated as such.

The forms are those that the issuers document and that secret scanners agree on. Every pattern is linear: it starts at
a literal behind a boundary, and its repeats are bounded or end at the first other character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_FORMS = (
    # cloud
    r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z0-9]{16}(?![A-Z0-9])",
    r"ABSK[A-Za-z0-9+/]{80,400}",
    r"bedrock-api-key-[A-Za-z0-9+/=]{40,}",
    r"AIza[\w-]{35}(?![\w-])",
    r"ya29\.[\w-]{20,}",
    r"GOCSPX-[\w-]{28}",
    r"LTAI[A-Za-z0-9]{17,21}(?![A-Za-z0-9])",
    r"do[opr]_v1_[a-f0-9]{64}",
    r"dapi[a-f0-9]{32}(?![a-z0-9])",
    r"dt0c01\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    r"fo1_[\w-]{43}",
    r"fm[12][ar]?_[A-Za-z0-9+/]{80,}",
    r"[\w~.-]{3}[0-9]Q~[\w~.-]{31,34}(?![\w~.-])",
    r"sha256~[\w-]{43}(?![\w-])",
    r"hv[sbr]\.[\w-]{24,}",
    r"s\.[A-Za-z0-9]{24}(?![A-Za-z0-9])",
    r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}",
    r"pul-[a-f0-9]{40}(?![a-f0-9])",
    r"ops_eyJ[\w+/=-]{100,}",
    r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}(?![\w-])",
    r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}",
    r"pscale_(?:tkn|oauth|pw)_[\w=.-]{32,64}",
    r"nvapi-[\w-]{60,}",
    # code and packages
    r"gh[pousr]_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
    r"github_pat_\w{60,}",
    r"gl(?:pat|dt|ft|rt|ptt|imt|cbt|soat|ffct|oas|agent|wt)-[\w-]{20,}",
    r"GR1348941[\w-]{20,50}(?![\w-])",
    r"sgp_(?:[A-Fa-f0-9]{16}_|local_)?[A-Fa-f0-9]{40}(?![A-Za-z0-9])|sgp_[A-Za-z0-9]{16}_[A-Fa-f0-9]{40}",
    r"npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
    r"pypi-AgE[\w-]{75,}",
    r"rubygems_[a-f0-9]{48}",
    r"AKC[A-Za-z0-9]{10,}",
    r"AP[0-9A-F](?=[A-Z]*[a-z0-9])[A-Za-z0-9]{8,}",
    r"cmVmd[A-Za-z0-9]{59}",
    r"ATATT3[\w=-]{180,}",
    r"ATCTT3[\w=-]{180,}",
    r"sntry[su]_[A-Za-z0-9+/=_]{40,}",
    r"API-[A-Z0-9]{26}(?![A-Z0-9])",
    r"pnu_[A-Za-z0-9]{36}(?![A-Za-z0-9])",
    r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
    r"NRAK-[A-Z0-9]{27}",
    r"gl(?:sa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|c_eyJ[A-Za-z0-9+/=]{30,})",
    r"ico-[A-Za-z0-9]{32}(?![A-Za-z0-9.])",
    r"rdme_[a-z0-9]{70}",
    r"lin_api_[A-Za-z0-9]{40}",
    r"ntn_[0-9]{11}[A-Za-z0-9]{35}(?![A-Za-z0-9])",
    r"secret_[A-Za-z0-9]{43}(?![A-Za-z0-9])",
    # models
    r"sk-(?:ant-(?:api|admin)[0-9]{2}-[\w-]{70,}|or-v1-[a-f0-9]{64}|(?:proj|svcacct|admin|None)-[\w-]{40,})",
    r"sk-[A-Za-z0-9]{32,}",
    r"hf_[A-Za-z0-9]{34}(?![A-Za-z0-9])",
    r"api_org_[A-Za-z0-9]{34}(?![A-Za-z0-9])",
    r"pplx-[A-Za-z0-9]{48}(?![A-Za-z0-9])",
    r"gsk_[A-Za-z0-9]{52}",
    r"r8_[A-Za-z0-9]{37}",
    # messages and payments
    r"xox[abeoprs](?:\.xox[bp])?-[0-9]{1,13}-[\w-]{20,}",
    r"xapp-[0-9]-[A-Z0-9]+-[0-9]+-[a-z0-9]{32,}",
    r"SG\.[\w-]{22}\.[\w-]{39,}",
    r"key-[a-f0-9]{32}(?![a-f0-9])",
    r"[a-f0-9]{32}-us[0-9]{1,2}(?![0-9])",
    r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    r"(?:AC|SK)(?=[a-z0-9]{0,31}[0-9]|x{32})[a-z0-9]{32}(?![A-Za-z0-9])",
    r"[0-9]{8,10}:[\w-]{35}(?![\w-])",
    r"[A-Z][\w-]{22,25}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])",
    r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,}",
    r"whsec_[A-Za-z0-9+/=]{24,}",
    r"sq0(?:atp|csp)-[\w-]{22,60}",
    r"EAAA[\w-]{56,70}(?![\w-])",
    r"EAA[MC][A-Za-z0-9]{80,}",
    r"[0-9]{15,16}\|[\w-]{27,40}(?![\w-])",
    r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}",
    r"EZ[AT]K[A-Za-z0-9]{54}(?![A-Za-z0-9])",
    r"s-s4t2(?:ud|af)-[a-f0-9]{64}",
    # by construction
    r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}",
    r"ZXlK[A-Za-z0-9+/=]{80,}",
)
_FORM_CHARS_MIN = 13
_FORM = re.compile(
    rf"(?<![\w.+/-])(?=[\w.~:|=+/-]{{{_FORM_CHARS_MIN}}})(?:{'|'.join(_FORMS)})",
    re.ASCII,
)
_EMPTY_TAIL = re.compile(r"(.)\1{11,}$")

_FORM_REST = re.compile(r"[\w+/=~-]*(?:[.:|][\w+/=~-]+)*", re.ASCII)  # a form may say only how a token begins

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr])*[A-Za-z0-9+/=:\s]{16}"
    r"(?:[A-Za-z0-9+/=:.,()\s]|\\[nr]|-(?!----))*(?:-----END [A-Z0-9 ]{0,60}-----)?"
)  # no possessive group: Python before 3.11.5 loses the character that ends one
_SERVICE_ACCOUNT = re.compile(r'"type"\s{0,9}:\s{0,9}"(service_account)"')
_WEBHOOK = re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z][A-Z0-9]{7,}/[\w/]{20,}", re.ASCII)
_URL_LOGIN = re.compile(r"://[^\s:/?#@\[\]<>\"']{0,200}:([^\s/?#<>\"']{1,200})@[\w\[]")
_CURL = re.compile(
    r"\bcurl\b[^\n]{0,400}?\s(?:-u|--user)[ =]{0,3}['\"]?[^\s:'\"]{1,200}:(?:\\?['\"])?([^\s\"']{3,200})"
)
_HEADER = re.compile(
    r"\b(?:proxy-)?authorization['\"]?\s{0,3}[:=]\s{0,3}['\"]?(?:[A-Za-z-]{2,20}\s{1,3})?([\w\-+/=.~]{8,})", re.I | re.A
)

_PASSWORD_WORDS = (
    r"pass(?:word|wd|phrase|code|wort)|pwd|kennwort|mot de passe|contrase(?:ñ|n)a|parola d'ordine|palavra-passe"
    r"|wachtwoord|passord|adgangskode|kodeord|lösenord|salasana|pass(?=['\"]{1,2}\s{0,3}[:=])"
    r"|has(?:ł|l)o|şifre|пароль|كلمة (?:المرور|السر)|密码|密碼|口令|パスワード|비밀번호"
)
_SECRET_WORDS = (
    r"(?:api|access|secret|auth|private|account|service|client|master|encryption|signing|subscription|storage"
    r"|session|bearer|app|webhook)[ _-]?(?:key|token|secret)|(?<![a-z])(?:secret|token|credentials?)"
)
_STATED = re.compile(
    rf"(?:({_PASSWORD_WORDS})|(?<!csrf-)(?<!csrf_)(?:{_SECRET_WORDS}))"
    r"(?: (?:for|of|to|on|für|pour|para|de|от|для) (?:[\w'-]{1,30} ){0,4}[\w'-]{1,30})?"
    r"['\")\]]{0,2}[ \t]{0,3}"
    r"(:=|=>|[:=：]|\b(?:is(?: now| set to)?|was|ist|lautet|est|es)\b|是|为|は|[—–-] )"
    r"[ \t>]{0,3}(?:([\"'`“«])([^\"'`”»\n]{1,300})|([^\s\"'`,;<>]{1,300}))([ \t]+[^\W\d_])?",
    re.IGNORECASE,
)
_GIVEN = re.compile(  # log in with password hunter2
    rf"\b(?:with|using|use|mit|avec|con)(?: (?:the|this|dem|le|la))? (?:{_PASSWORD_WORDS})[ \t]{{1,3}}"
    r"[\"'`“«]?([^\s\"'`”»,;<>]{1,300})",
    re.IGNORECASE,
)
_CALLED = re.compile(  # hunter2 is the password of the wifi
    rf"(?<!\S)([^\s\"'`,;<>]{{1,300}}) (?:is|was|ist|est|es) (?:the|das|le|la) (?:[\w'-]{{1,30}} )?"
    rf"(?:{_PASSWORD_WORDS})\b",
    re.IGNORECASE,
)
# fmt: off
_STATED_HINTS = (
    "pass", "pwd", "secret", "token", "key", "credential", "kennwort", "contrase", "parola", "palavra", "wachtwoord",
    "adgangskode", "kodeord", "lösenord", "salasana", "hasł", "haslo", "şifre", "пароль", "كلمة", "密",
    "口令", "パス", "비밀",
)
# fmt: on
_STATED_HINTS_ASCII = tuple(filter(str.isascii, _STATED_HINTS))
_COUNTED_WORD = re.compile(r"[0-9.]+[-_.]?[^\W\d_]+$|[^\W\d_]+[-_.]?[0-9.]+$")
_STOPS = ".,;)"
_CHOSEN_CHARS_MIN = 5
_PLACEHOLDER = re.compile(
    r"[$%{<*]|(?:insert|your|my|enter|put|not|fake|example|change)[ _-]|[\w.]{1,80}[({\[]|(.)\1*$|x{3}|\.{3}|-{3}"
    r"|\[[a-z_ ]{0,40}(?:\]\W*)?$",  # such as the masks of anonymise.py, though a part of a text may cut one
    re.IGNORECASE,
)
# fmt: off
_NO_PASSWORD = frozenset((  # what one says of a password, rather than a password
    "required", "optional", "none", "null", "nil", "true", "false", "yes", "no", "unknown", "reset", "changed",
    "hidden", "redacted", "removed", "encrypted", "hashed", "missing", "invalid", "expired", "empty", "n/a", "tbd",
    "string", "text", "stored", "kept", "rotated", "managed", "shared", "the", "a", "an", "in", "on", "not", "never",
    "set", "unset", "default", "based", "protected", "only", "secret", "password", "correct", "incorrect", "wrong",
    "weak", "strong", "needed", "disabled", "enabled", "file", "env", "vault", "manager", "policy",
))
# fmt: on


def credentials(text: str) -> Iterator[tuple[int, int]]:
    """Where credentials are, as (start, end); of a stated one, its value. Time is linear in the length of the text."""
    if "-----BEGIN" in text:
        yield from (found.span() for found in _PRIVATE_KEY.finditer(text))
    if "service_account" in text:
        yield from (found.span(1) for found in _SERVICE_ACCOUNT.finditer(text))
    yield from _tokens(text)
    if "hooks.slack" in text:
        yield from (found.span() for found in _WEBHOOK.finditer(text))
    if "://" in text and "@" in text:
        yield from (found.span(1) for found in _URL_LOGIN.finditer(text) if _is_real(found[1]))
    if "curl" in text:
        yield from (found.span(1) for found in _CURL.finditer(text) if _is_real(found[1]))
    yield from _stated(text)
    if "uthorization" in text:
        yield from (found.span(1) for found in _HEADER.finditer(text) if _is_token(found[1]))


def _tokens(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for word in text.split():
        if len(word) < _FORM_CHARS_MIN:
            continue
        at = text.index(word, at)
        for form in _FORM.finditer(word):
            rest = _FORM_REST.match(word, form.end())
            yield at + form.start(), at + (rest or form).end()
        at += len(word)


def _is_real(secret: str) -> bool:
    """Not a variable, not a placeholder, not one character over and over."""
    return _PLACEHOLDER.match(secret) is None


def _is_token(value: str) -> bool:
    """Whether it looks made by a machine: letters and digits, long enough, and no placeholder."""
    return (
        len(value) >= 8
        and any(character.isdigit() for character in value)
        and any(character.isalpha() for character in value)
        and _is_real(value)
        and _EMPTY_TAIL.search(value) is None
    )


def _stated(text: str) -> Iterator[tuple[int, int]]:
    lowered = text.lower()
    if any(hint in lowered for hint in (_STATED_HINTS_ASCII if lowered.isascii() else _STATED_HINTS)):
        yield from (_value_span(match) for match in _STATED.finditer(text) if _states(match))
        for form in (_GIVEN, _CALLED):
            yield from (_span_of(match, 1) for match in form.finditer(text) if _is_chosen(match[1].rstrip(_STOPS)))


def _value_span(match: re.Match[str]) -> tuple[int, int]:
    return _span_of(match, 4 if match[4] else 5)


def _span_of(match: re.Match[str], group: int) -> tuple[int, int]:
    start, end = match.span(group)
    return start, start + len(match.string[start:end].rstrip(_STOPS))


def _is_chosen(value: str) -> bool:
    """Whether a word that prose calls a password is one that somebody chose, rather than a word about passwords."""
    mixed = any(map(str.isalpha, value)) and not value.isalpha()
    return len(value) >= _CHOSEN_CHARS_MIN and mixed and any(map(str.isdigit, value)) and _is_real(value)


def _states(match: re.Match[str]) -> bool:
    """Whether "<keyword> <separator> <value>" states a secret, rather than speaks about one."""
    password, separator, quote, quoted, bare, prose_follows = match.groups()
    value = (quoted or bare or "").strip().rstrip(_STOPS)
    if not password:
        made = _is_token(value) and " " not in value
        return made and (len(value) >= 16 or (separator[0] in ":=：" and not _COUNTED_WORD.match(value)))
    if len(value) < 3 or not any(map(str.isalnum, value)) or not _is_real(value) or value.casefold() in _NO_PASSWORD:
        return False
    if quote:
        return True
    plain = value.isalpha() and (value.islower() or value.istitle() or value.isupper() or not value.isascii())
    return not plain or (separator[0] in ":=：" and not prose_follows)
