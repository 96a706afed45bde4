"""What does the OpenAPI 3.1 document say? Everything in it comes from the op table."""

from __future__ import annotations

from typing import Any, cast

from pydantic.json_schema import models_json_schema

from loom_ray import __version__
from loom_ray.contract.errors import LoomError
from loom_ray.contract.ops import OPS, Op, refusals
from loom_ray.contract.rows import RowView
from loom_ray.contract.settings import Settings

SCHEMAS = "#/components/schemas/"


def openapi_document(settings: Settings) -> dict[str, Any]:
    """The whole document, with the bounds of `settings` filled in."""
    requests = [(op.request, "validation") for op in OPS.values()]
    answers = [(op.answer, "serialization") for op in OPS.values()]
    names, definitions = models_json_schema(
        [*requests, *answers, (RowView, "serialization")],  # type: ignore[list-item]
        ref_template=SCHEMAS + "{model}",
    )
    schemas = definitions.get("$defs", {}) | {"Error": _error_schema()}
    _fill_bounds(schemas, settings)
    return {
        "openapi": "3.1.0",
        "info": {"title": "loom-ray", "version": __version__, "summary": "A judged memory server for AI agents"},
        "paths": {f"/v1/{op.name}": {"post": _operation(op, names)} for op in OPS.values()} | _plain_paths(),
        "components": {"schemas": schemas},
    }


def _operation(op: Op, names: dict[Any, Any]) -> dict[str, Any]:
    return {
        "operationId": op.name,
        "tags": [op.family],
        "summary": op.summary,
        "x-role": op.role,
        "x-rate-class": op.rate_class,
        "parameters": [_IDEMPOTENCY_KEY] if op.writes else [],
        "requestBody": {"required": True, "content": _json(names[(op.request, "validation")])},
        "responses": {"200": {"description": "done", "content": _json(names[(op.answer, "serialization")])}}
        | _refusal_responses(refusals(op)),
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _refusal_responses(kinds: tuple[type[LoomError], ...]) -> dict[str, Any]:
    by_status: dict[str, list[str]] = {}
    for kind in kinds:
        by_status.setdefault(str(kind.status), []).append(kind.code)
    error = {"$ref": SCHEMAS + "Error"}
    return {status: {"description": ", ".join(codes), "content": _json(error)} for status, codes in by_status.items()}


def _error_schema() -> dict[str, Any]:
    detail = {
        "code": {"type": "string"},
        "message": {"type": "string"},
        "category": {"type": "string"},
        "retryable": {"type": "boolean"},
        "retry_after_s": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "request_id": {"type": "string"},
    }
    return {
        "type": "object",
        "required": ["detail"],
        "properties": {"detail": {"type": "object", "required": list(detail), "properties": detail}},
    }


def _fill_bounds(node: Any, settings: Settings) -> None:
    """Turns `x-bound: <setting>` into the JSON schema keyword that fits the type beside it."""
    if isinstance(node, dict):
        schema = cast(dict[str, Any], node)
        keyword = {"string": "maxLength", "array": "maxItems", "integer": "maximum"}.get(str(schema.get("type")))
        if keyword and "x-bound" in schema:
            schema[keyword] = getattr(settings, schema["x-bound"])
        node = list(schema.values())
    if isinstance(node, list):
        for child in cast(list[Any], node):
            _fill_bounds(child, settings)


def _plain_paths() -> dict[str, Any]:
    def get(summary: str, statuses: tuple[str, ...] = ("200",)) -> dict[str, Any]:
        return {"get": {"summary": summary, "responses": {status: {"description": summary} for status in statuses}}}

    return {
        "/v1/health": get("Alive, at once, whatever else is busy"),
        "/v1/ready": get("What is not ready, and why", ("200", "503")),
    }


_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "a retry under one key is answered as the first was; another body under it is refused",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
