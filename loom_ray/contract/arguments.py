"""Is this body a well-formed request? From JSON to the op's request model, or a refusal that names the field."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast, get_args

import pydantic_core
from pydantic import BaseModel, ValidationError

from loom_ray.contract.errors import InvalidRequest, MalformedBody, UnknownArgument
from loom_ray.contract.fields import refuse_broken_json
from loom_ray.contract.ops import Op
from loom_ray.contract.scope import Scoped
from loom_ray.contract.settings import Settings

_INTEGER_DIGITS_MAX = 1000
NEAR_MISS_RATIO = 0.75  # difflib's similarity from which an unknown argument counts as a misspelling
UNKNOWN_MAX = 100  # unknown arguments in one request; looking for what each may mean costs time


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that passed the door, and what was noticed there."""

    request: Scoped
    arguments: dict[str, Any]  # as they came
    ignored_args: list[str] = field(default_factory=list[str])
    did_you_mean: dict[str, str] = field(default_factory=dict[str, str])


def read_request(op: Op, body: bytes, settings: Settings) -> Asked:
    """Raises MalformedBody, InvalidRequest or UnknownArgument."""
    arguments = parse_object(body, settings)
    ignored, meant = _unknown(op, arguments)
    return Asked(_validate(op, arguments, settings), arguments, ignored, meant)


def parse_object(body: bytes, settings: Settings) -> dict[str, Any]:
    """The JSON object in `body`, with NaN, infinities and half characters refused by the name of their field."""
    try:
        arguments: Any = pydantic_core.from_json(body, allow_inf_nan=True)
    except ValueError as broken:
        arguments = _diagnose(body, str(broken), settings)
    if not isinstance(arguments, dict):
        raise MalformedBody("the body must be a JSON object")
    return cast(dict[str, Any], arguments)


def _diagnose(body: bytes, broken: str, settings: Settings) -> Any:
    """Half characters pass Python's own parser, so with it the field can be named; anything else is malformed."""
    try:
        arguments: Any = json.loads(body, parse_int=_integer)
        if isinstance(arguments, dict):
            for name, value in cast(dict[str, Any], arguments).items():
                _named(name, value, settings)
    except (ValueError, RecursionError):
        pass
    raise MalformedBody(f"the body is not JSON: {broken}"[:300])


def _integer(digits: str) -> float:
    """Python refuses to read thousands of digits; what it stands for here is only that it is too large."""
    return int(digits) if len(digits) <= _INTEGER_DIGITS_MAX else math.inf


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
    """Names of arguments that nobody knows, and what those that are close to a real one were meant to be."""
    ignored: list[str] = []
    meant: dict[str, str] = {}
    for place, model, item in [("", op.request, arguments), *_nested(op.request, arguments)]:
        for name in [name for name in item if name not in model.model_fields]:
            ignored.append(printable(place + name))
            if close := _close_to(model, name[:64]):
                meant[printable(place + name)] = close
            if len(ignored) > UNKNOWN_MAX:
                raise UnknownArgument(f"more than {UNKNOWN_MAX} unknown arguments, the first is {ignored[0]}")
    if meant and op.writes:
        named = ", ".join(f"{given} (did you mean {real}?)" for given, real in meant.items())
        raise UnknownArgument(f"unknown argument {named}"[:1000], {"did_you_mean": meant})
    return ignored, meant


@lru_cache(maxsize=1024)
def _close_to(model: type[BaseModel], name: str) -> str:
    return next(iter(difflib.get_close_matches(name, model.model_fields, n=1, cutoff=NEAR_MISS_RATIO)), "")


def _nested(model: type[BaseModel], arguments: dict[str, Any]) -> Iterator[tuple[str, type[BaseModel], dict[str, Any]]]:
    """The places, the models and the arguments of objects within the request: a batch's entries, a filter."""
    for name, inner in _models_within(model):
        given: Any = arguments.get(name)
        if isinstance(given, dict):
            yield f"{name}.", inner, cast(dict[str, Any], given)
        elif isinstance(given, list):
            items = enumerate(cast(list[Any], given))
            yield from ((f"{name}[{i}].", inner, item) for i, item in items if isinstance(item, dict))


@lru_cache(maxsize=256)
def _models_within(model: type[BaseModel]) -> list[tuple[str, type[BaseModel]]]:
    """The fields that hold another model, alone, optional or in a list."""
    within = [(name, kind) for name, field in model.model_fields.items() for kind in get_args(field.annotation)]
    return [(name, kind) for name, kind in within if isinstance(kind, type) and issubclass(kind, BaseModel)]
