"""Which values may a field hold? The field types that all requests share; each refuses by naming what is wrong.

Bounds are named in settings and come with the validation context, so that an owner's setting is what the door
enforces; the JSON schema carries the name of the bound under `x-bound`, which `openapi.py` fills in.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema

from loom_ray.contract.settings import Settings

_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
DEFAULTS = Settings.model_construct()
INTEGER_MAX = 2**64 - 1  # what a JSON number can hold here without losing digits; past it, send a string
INTEGER_MIN = -(2**63)


def bound(info: ValidationInfo, name: str) -> int:
    """The bound called `name`: of the settings in the validation context, else the default."""
    context: dict[str, Settings] = info.context or {}
    settings = context.get("settings", DEFAULTS)
    return int(getattr(settings, name))


def is_blank(text: str) -> bool:
    """Whether nothing of it can be seen: white space, and characters that only format (zero-width ones, marks of
    direction). Ends at the first that can."""
    return all(c.isspace() or unicodedata.category(c) == "Cf" for c in text)


def refuse_broken_text(text: str) -> str:
    """Raises ValueError for what cannot be stored byte for byte: NUL and lone surrogates."""
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    if not text.isascii() and _HALF_A_CHARACTER.search(text):
        raise ValueError("must not hold half a character (a lone surrogate)")
    return text


def _text(name: str, *, blank: bool = False, wild: bool = False, nfc: bool = False) -> Callable[..., str]:
    def check(text: str, info: ValidationInfo) -> str:
        refuse_broken_text(text)
        if not blank and is_blank(text):
            raise ValueError("must not be blank")
        if not wild and text == "*":
            raise ValueError("'*' names nobody here")
        if len(text) > bound(info, name):
            raise ValueError(f"must be at most {bound(info, name)} characters ({name})")
        return unicodedata.normalize("NFC", text) if nfc else text

    return check


def _printable(text: str) -> str:
    if any(unicodedata.category(c) == "Cc" for c in text):
        raise ValueError("must not hold control characters")
    return text


def _bounded(name: str, **schema: Any) -> Any:
    return Field(json_schema_extra={"x-bound": name, "minLength": 1, **schema})


Name = Annotated[str, AfterValidator(_text("name_chars_max")), AfterValidator(_printable), _bounded("name_chars_max")]
WildName = Annotated[
    str, AfterValidator(_text("name_chars_max", wild=True)), AfterValidator(_printable), _bounded("name_chars_max")
]
OptionalName = Annotated[
    str,
    AfterValidator(_text("name_chars_max", blank=True)),
    AfterValidator(_printable),
    Field(json_schema_extra={"x-bound": "name_chars_max"}),
]
Reason = Annotated[
    str,
    AfterValidator(_text("reason_chars_max", blank=True, wild=True)),
    Field(description="kept in the audit", json_schema_extra={"x-bound": "reason_chars_max"}),
]
MemoryKey = Annotated[
    str, AfterValidator(_text("memory_key_chars_max", wild=True, nfc=True)), _bounded("memory_key_chars_max")
]
KeyPrefix = Annotated[
    str,
    AfterValidator(_text("memory_key_chars_max", blank=True, wild=True, nfc=True)),
    Field(json_schema_extra={"x-bound": "memory_key_chars_max"}),
]
Cursor = Annotated[
    str,
    AfterValidator(_text("cursor_chars_max", blank=True)),
    Field(description="`next_cursor` of the page before", json_schema_extra={"x-bound": "cursor_chars_max"}),
]
Query = Annotated[str, AfterValidator(_text("query_chars_max", wild=True)), _bounded("query_chars_max")]
Tag = Annotated[str, AfterValidator(_text("tag_chars_max", wild=True)), _bounded("tag_chars_max")]
MemoryId = Annotated[str, AfterValidator(_text("name_chars_max", wild=True)), _bounded("name_chars_max")]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="64 lower-case hex digits")]


def _at_most(name: str) -> Callable[..., list[str]]:
    def check(items: list[str], info: ValidationInfo) -> list[str]:
        if len(items) > bound(info, name):
            raise ValueError(f"must hold at most {bound(info, name)} items ({name})")
        return list(dict.fromkeys(items))

    return check


def _names(name: str) -> Any:
    return Field(json_schema_extra={"x-bound": name})


Tags = Annotated[list[Tag], AfterValidator(_at_most("tags_max")), _names("tags_max")]
Entities = Annotated[list[Tag], AfterValidator(_at_most("entities_max")), _names("entities_max")]
Files = Annotated[list[Tag], AfterValidator(_at_most("files_max")), _names("files_max")]
MemoryKeys = Annotated[
    list[MemoryKey],
    AfterValidator(_at_most("bulk_entries_max")),
    Field(min_length=1, json_schema_extra={"x-bound": "bulk_entries_max"}),
]
MemoryIds = Annotated[
    list[MemoryId],
    AfterValidator(_at_most("bulk_entries_max")),
    Field(min_length=1, json_schema_extra={"x-bound": "bulk_entries_max"}),
]


def _time(value: Any) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    if not isinstance(value, str) or "T" not in value.upper().replace(" ", "T", 1):
        raise ValueError("must be an RFC 3339 time such as 2031-03-01T12:00:00Z")
    try:
        time = datetime.fromisoformat(value)
    except ValueError as impossible:
        raise ValueError(f"must be an RFC 3339 time such as 2031-03-01T12:00:00Z ({impossible})") from None
    time = time.replace(tzinfo=UTC) if time.tzinfo is None else time
    return _utc_after_epoch(time)


def _utc_after_epoch(time: datetime) -> datetime:
    try:
        time = time.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie between the years 1678 and 2261") from None
    if not 1678 <= time.year <= 2261:  # what 64 bits of nanoseconds hold
        raise ValueError("must lie between the years 1678 and 2261")
    return time


Time = Annotated[
    datetime | None,
    BeforeValidator(_time),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]}),
]


def to_ns(time: datetime | None) -> int | None:
    """Nanoseconds since the epoch, exactly (a float of seconds would lose microseconds)."""
    if time is None:
        return None
    delta = time - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000_000 + delta.microseconds * 1_000


def to_rfc3339(ns: int | None) -> str | None:
    """UTC with `Z`; whole seconds without a fraction, otherwise microseconds."""
    if ns is None:
        return None
    seconds, rest = divmod(ns, 1_000_000_000)
    time = datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest // 1_000, tzinfo=None)
    return time.isoformat() + "Z"


def refuse_broken_json(value: Any, depth_max: int) -> None:
    """Raises ValueError, with the place, for what a value must not hold; walks without recursion.

    Depth is counted in containers: `[["x"]]` is two deep.
    """
    stack: list[tuple[Any, int, str]] = [(value, 0, "")]
    while stack:
        item, depth, path = stack.pop()
        if isinstance(item, str):
            _at(path, refuse_broken_text, item)
        elif isinstance(item, bool) or item is None:
            continue
        elif isinstance(item, (int, float)):
            _at(path, _refuse_number, item)
        elif depth == depth_max:
            raise ValueError(f"must not be nested deeper than {depth_max} levels (json_depth_max)")
        elif isinstance(item, dict):
            for key, inner in cast(dict[str, Any], item).items():
                _at(path, refuse_broken_text, key)
                stack.append((inner, depth + 1, f"{path}.{key}"))
        else:
            stack.extend((inner, depth + 1, f"{path}[{i}]") for i, inner in enumerate(cast(list[Any], item)))


def _refuse_number(number: float) -> None:
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError("must not hold a number that JSON cannot hold")
    if isinstance(number, int) and not INTEGER_MIN <= number <= INTEGER_MAX:
        raise ValueError("must not hold an integer beyond 64 bits: send it as text")


def _at(path: str, check: Callable[[Any], Any], item: Any) -> None:
    try:
        check(item)
    except ValueError as refusal:
        raise ValueError(f"{refusal} (at {path[:80].lstrip('.')})" if path else str(refusal)) from None


def _json_value(value: Any, info: ValidationInfo) -> Any:
    if value is None or (isinstance(value, str) and is_blank(value)):
        raise ValueError("must not be blank")
    refuse_broken_json(value, bound(info, "json_depth_max"))
    return value


Value = Annotated[Any, AfterValidator(_json_value), Field(description="any JSON value but null and blank text")]
