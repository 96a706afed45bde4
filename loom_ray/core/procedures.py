"""Is this a procedure? A body of steps, as against a sentence about one."""

from __future__ import annotations

import re
from typing import cast

from loom_ray.core.row import JsonValue

_STEP_KEYS = ("steps", "procedure", "instructions")
_STEP_LINE = re.compile(r"^\s*(?:[-*•]|\(?\d{1,3}[.):]|step\s+\d{1,3}\b)\s*\S", re.IGNORECASE)


def is_procedure(value: JsonValue) -> bool:
    """True for a list of at least two texts, an object with such a list of steps, or two or more listed lines."""
    if isinstance(value, dict):
        fields = cast(dict[str, JsonValue], value)
        return any(_is_steps(fields.get(key)) for key in _STEP_KEYS)
    if isinstance(value, str):
        return sum(_STEP_LINE.match(line) is not None for line in value.splitlines()) >= 2
    return _is_steps(value)


def _is_steps(value: JsonValue) -> bool:
    if not isinstance(value, list) or len(cast(list[JsonValue], value)) < 2:
        return False
    return all(isinstance(step, (str, dict)) and bool(cast(JsonValue, step)) for step in cast(list[JsonValue], value))
