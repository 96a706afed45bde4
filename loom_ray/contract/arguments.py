"""Is this body a well-formed request? From JSON to the op's request model, or a refusal that names the field."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, field
from typing import Any

import pydantic_core
from pydantic import BaseModel, ValidationError

from loom_ray.contract.errors import InvalidRequest, MalformedBody, UnknownArgument
from loom_ray.contract.fields import refuse_broken_json
from loom_ray.contract.ops import Op
from loom_ray.contract.scope import Scoped
from loom_ray.contract.settings import Settings

NEAR_MISS_RATIO = 0.75  # difflib's similarity from which an unknown argument counts as a misspelling
NAMED_MAX = 20  # unknown arguments named in one answer; the rest would only swell it


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that passed the door, and what was noticed there."""

    request: Scoped
    ignored_args: list[str] = field(default_factory=list)
    did_you_mean: dict[str, str] = field(default_factory=dict)


def read_request(op: Op, body: bytes, settings: Settings) -> Asked:
    """Raises MalformedBody, InvalidRequest or UnknownArgument."""
    arguments = parse_object(body, settings)
    ignored, meant = _unknown(op, arguments)
    return Asked(_validate(op, arguments, settings), ignored, meant)


def parse_object(body: bytes, settings: Settings) -> dict[str, Any]:
    """The JSON object in `body`, with NaN, infinities and half characters refused by the name of their field."""
    try:
        arguments = pydantic_core.from_json(body, allow_inf_nan=True)
    except ValueError as broken:
        arguments = _diagnose(body, str(broken), settings)
    if not isinstance(arguments, dict):
        raise MalformedBody("the body must be a JSON object")
    return arguments


def _diagnose(body: bytes, broken: str, settings: Settings) -> Any:
    """Half characters pass Python's own parser, so with it the field can be named; anything else is malformed."""
    try:
        arguments = json.loads(body)
        if isinstance(arguments, dict):
            for name, value in arguments.items():
                _named(name, value, settings)
    except (ValueError, RecursionError):
        pass
    raise MalformedBody(f"the body is not JSON: {broken}"[:300])


def _named(name: str, value: Any, settings: Settings) -> None:
    try:
        refuse_broken_json({name: value}, settings.json_depth_max + 2)
    except ValueError as refusal:
        raise InvalidRequest(f"{printable(name)}: {printable(str(refusal))}") from None


def printable(text: str) -> str:
    """`text` as it may go into a message: bounded, and without half characters."""
    return text[:300].encode("utf-8", "backslashreplace").decode("utf-8")


def _validate(op: Op, arguments: dict[str, Any], settings: Settings) -> Scoped:
    try:
        return op.request.model_validate(arguments, context={"settings": settings})
    except ValidationError as refusal:
        errors = refusal.errors(include_url=False, include_context=False, include_input=False)
        raise InvalidRequest("; ".join(_sentence(error) for error in errors[:5])) from None


def _sentence(error: Any) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"]).lstrip(".")
    message = error["msg"].removeprefix("Value error, ")
    return printable(f"{place}: {message}" if place else message)


def _unknown(op: Op, arguments: dict[str, Any]) -> tuple[list[str], dict[str, str]]:
    ignored, meant = _compare(op.request, arguments, "")
    for place, model, item in _entries(op.request, arguments):
        inner_ignored, inner_meant = _compare(model, item, place)
        ignored, meant = ignored + inner_ignored, meant | inner_meant
    if meant and op.writes:
        named = ", ".join(f"{printable(given)} (did you mean {real}?)" for given, real in meant.items())
        raise UnknownArgument(f"unknown argument {named}", {"did_you_mean": meant})
    return [printable(name) for name in ignored[:NAMED_MAX]], {printable(k): v for k, v in meant.items()}


def _compare(model: type[BaseModel], item: dict[str, Any], place: str) -> tuple[list[str], dict[str, str]]:
    unknown = [name for name in item if name not in model.model_fields]
    meant: dict[str, str] = {}
    for name in unknown[:NAMED_MAX]:
        close = difflib.get_close_matches(name[:64], model.model_fields, n=1, cutoff=NEAR_MISS_RATIO)
        if close:
            meant[place + name] = close[0]
    return [place + name for name in unknown], meant


def _entries(model: type[BaseModel], arguments: dict[str, Any]) -> list[tuple[str, type[BaseModel], dict[str, Any]]]:
    entries = arguments.get("entries") if "entries" in model.model_fields else None
    if not isinstance(entries, list):
        return []
    entry_model = model.model_fields["entries"].annotation.__args__[0]  # type: ignore[union-attr]
    return [(f"entries[{i}].", entry_model, entry) for i, entry in enumerate(entries) if isinstance(entry, dict)]
