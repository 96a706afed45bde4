"""What is left of a value when nothing in it may lead to a person or open anything?"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import cast

from loom_ray.core.row import JsonValue, text_of
from loom_ray.core.sensitivity import KINDS, Finding, findings

_MASK = re.compile(rf"\[(?:{'|'.join(KINDS)})\]")
_MASKED_TOKEN = re.compile(rf'"{_MASK.pattern}(?: [0-9]+)?"')
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"\[\]{},:]+')  # of JSON: a string (a key, too), number or literal


def anonymised(value: JsonValue) -> JsonValue:
    """The value with everything that `sensitivity.findings` finds in it replaced by `[kind]`.

    Strings keep the rest of their text, keys are masked like any string, and a number becomes a string. What only shows
    in the JSON as a whole (`{"password": "tr0ub4dor"}`) masks the whole string or number that it lies in. Keys that
    become equal are told apart by a number from 2 on. Nothing is found in the text of the result, so to anonymise it
    again changes nothing; a value without findings comes back equal.
    """
    value = _each_masked(value)
    while not isinstance(value, str) and (found := findings(text_of(value))):
        rendered = text_of(value)
        masked = _tokens_masked(rendered, found)
        if masked == rendered:  # found in the masks themselves or in punctuation: nothing smaller is left to mask
            return _mask(found[0])
        value = json.loads(masked, object_pairs_hook=_told_apart)
    return value


def _each_masked(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return _text_masked(value)
    if isinstance(value, dict):
        pairs = cast("dict[str, JsonValue]", value).items()
        return _told_apart((_text_masked(key), _each_masked(item)) for key, item in pairs)
    if isinstance(value, list):
        return [_each_masked(item) for item in cast("list[JsonValue]", value)]
    if value is None or isinstance(value, bool):
        return value
    number = text_of(value)
    masked = _text_masked(number)
    return value if masked == number else masked


def _text_masked(text: str) -> str:
    """Until nothing is found: to mask one shape can uncover another, such as the rest of a very long one."""
    while found := findings(text):
        masked = _spans_masked(text, found)
        if len(_MASK.sub("", masked)) >= len(_MASK.sub("", text)):
            return _mask(found[0])
        text = masked
    return text


def _spans_masked(text: str, found: list[Finding]) -> str:
    pieces: list[str] = []
    at = 0
    for finding in found:
        pieces += text[at : finding.start], _mask(finding)
        at = finding.end
    return "".join(pieces) + text[at:]


def _tokens_masked(rendered: str, found: list[Finding]) -> str:
    """The JSON with every string, number and literal in which something was found as the string of its mask."""
    starts = [finding.start for finding in found]

    def masked(token: re.Match[str]) -> str:
        finding = found[max(0, bisect_right(starts, token.end() - 1) - 1)]
        is_hit = finding.start < token.end() and token.start() < finding.end
        return f'"{_mask(finding)}"' if is_hit and not _MASKED_TOKEN.fullmatch(token.group()) else token.group()

    return _TOKEN.sub(masked, rendered)


def _told_apart(pairs: Iterable[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """An object of all the pairs, though their keys may be equal."""
    result: dict[str, JsonValue] = {}
    seen: dict[str, int] = {}
    for key, item in pairs:
        name = key
        while name in result:
            seen[key] = seen.get(key, 1) + 1
            name = f"{key} {seen[key]}"
        result[name] = item
    return result


def _mask(finding: Finding) -> str:
    return f"[{finding.kind}]"
