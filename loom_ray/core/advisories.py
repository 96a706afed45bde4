"""Which shape of a value can recall not reach? Advice in the answer of a write, which succeeds all the same."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, cast

_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}")
_BASE64_CHARS_MIN = 24  # 18 bytes; a shorter word may be anything
_SAMPLE_CHARS = 4096  # a multiple of four: of a long text the beginning tells
_HEX_OR_UUID = re.compile(r"[0-9a-fA-F-]+")
_WORD_LIKE = re.compile(r"[a-z]{3,}")
_JSON_ENDS = {"{": "}", "[": "]"}


def advisories(value: Any, oversized_past: int) -> list[str]:
    """`base64`, `double-encoded` and `oversized`, those that hold, in this order.

    `oversized_past` is the length in characters of the value's JSON, as stored, past which it is oversized; 0 disables.
    """
    found: list[str] = []
    if isinstance(value, str):
        text = value.strip()
        if _is_base64(text):
            found.append("base64")
        if _is_json_text(text):
            found.append("double-encoded")
    if oversized_past and _is_longer(value, oversized_past):
        found.append("oversized")
    return found


def _is_base64(text: str) -> bool:
    """One long run of the alphabet (lines allowed) that decodes, and that no word, path, id or hex digest would be."""
    joined = "".join(text.split()) if "\n" in text else text
    if len(joined) < _BASE64_CHARS_MIN or len(joined) % 4 == 1 or not _BASE64.fullmatch(joined):
        return False
    padded = joined.endswith("=")
    if padded and len(joined) % 4:
        return False
    sample = joined[:_SAMPLE_CHARS]
    if _HEX_OR_UUID.fullmatch(sample) or not _looks_random(sample):
        return False
    try:
        base64.b64decode(sample.translate({45: 43, 95: 47}) + "=" * (-len(sample) % 4), validate=True)
    except binascii.Error:
        return False
    return True


def _looks_random(sample: str) -> bool:
    """Upper and lower case mixed, and less than half of it in runs of small letters, which words and names are of."""
    mixed = any(map(str.isupper, sample)) and any(map(str.islower, sample))
    return mixed and 2 * sum(map(len, _WORD_LIKE.findall(sample))) < len(sample)


def _is_json_text(text: str) -> bool:
    """Whether a string is itself the JSON of an object or a list."""
    if len(text) < 2 or _JSON_ENDS.get(text[0]) != text[-1]:
        return False
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(parsed, dict | list) and bool(cast("dict[str, Any] | list[Any]", parsed))


def _is_longer(value: Any, bound: int) -> bool:
    if isinstance(value, str) and len(value) + 2 > bound:
        return True
    return len(json.dumps(value, ensure_ascii=False)) > bound
