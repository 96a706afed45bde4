"""What does the HTTP surface look like? `POST /v1/<op>` for each op of the table, and a few plain GETs."""

from __future__ import annotations

import html
import logging
import re
import uuid
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from loom_ray import __version__
from loom_ray.contract.arguments import read_request
from loom_ray.contract.errors import (
    InternalError,
    InvalidRequest,
    LoomError,
    MalformedBody,
    MethodNotAllowed,
    NotFound,
    OriginRefused,
    PayloadTooLarge,
)
from loom_ray.contract.openapi import openapi_document
from loom_ray.contract.ops import OPS, Op
from loom_ray.contract.settings import Settings
from loom_ray.serve.gateway import Gateway
from loom_ray.serve.health import health_body

_log = logging.getLogger(__name__)
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def build_app(settings: Settings, gateway: Gateway) -> Starlette:
    """One ASGI app; every refusal has the contract's error shape, whatever raised it."""
    surface = _Surface(settings, gateway)
    routes = [
        Route("/v1/health", surface.health, methods=["GET"]),
        Route("/v1/ready", surface.ready, methods=["GET"]),
        Route("/openapi.json", surface.openapi, methods=["GET"]),
        Route("/docs", surface.docs, methods=["GET"]),
        *(Route(f"/v1/{op.name}", surface.endpoint(op), methods=["POST"]) for op in OPS.values()),
    ]
    handlers: dict[Any, Any] = {LoomError: _refused, HTTPException: _not_routed, Exception: _failed}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False  # a redirect's empty body is not our error shape
    return app


class _Surface:
    def __init__(self, settings: Settings, gateway: Gateway) -> None:
        self._settings = settings
        self._gateway = gateway
        self._openapi = orjson.dumps(openapi_document(settings))
        self._docs = _docs_page()

    async def health(self, request: Request) -> Response:
        """Where HAProxy does not answer it already."""
        return _json(health_body(self._settings))

    async def ready(self, request: Request) -> Response:
        missing = await self._gateway.not_ready()
        return _json({"ready": not missing, "not_ready": missing}, 503 if missing else 200)

    async def openapi(self, request: Request) -> Response:
        return Response(self._openapi, media_type="application/json")

    async def docs(self, request: Request) -> Response:
        return HTMLResponse(self._docs)

    def endpoint(self, op: Op) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            refuse_other_origins(request, self._settings.host)
            body = await read_body(request, self._settings.max_request_bytes)
            asked = read_request(op, body, self._settings)
            return _json(await self._gateway.ask(op, asked, _idempotency_key(request)), request_id=_id_of(request))

        return answer


def refuse_other_origins(request: Request, host: str) -> None:
    """A browser names the page that asks. On loopback nobody needs a token, so a page from elsewhere, or one whose name
    was bound to this address, must not write here. Raises OriginRefused."""
    origin = request.headers.get("origin")
    if origin is not None and host in LOOPBACK and urlsplit(origin).hostname not in LOOPBACK:
        raise OriginRefused(f"a page of {origin[:100]!r} may not ask this server")


async def read_body(request: Request, bytes_max: int) -> bytes:
    """Raises PayloadTooLarge as soon as it is known: from the declared length, else when the bound is passed."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > bytes_max:
        raise _too_large(bytes_max)
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > bytes_max:
            raise _too_large(bytes_max)
        parts.append(part)
    return b"".join(parts)


def _too_large(bytes_max: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"the body must be at most {bytes_max} bytes (max_request_bytes)")


def _idempotency_key(request: Request) -> str:
    key = request.headers.get("idempotency-key")
    if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
        raise InvalidRequest("Idempotency-Key: must be 1 to 255 visible ASCII characters")
    return key or ""


def _id_of(request: Request) -> str:
    """The client's request id where it gave a sane one, else ours; the same for the whole request."""
    if not hasattr(request.state, "request_id"):
        given = request.headers.get("x-request-id", "")
        request.state.request_id = given if _REQUEST_ID.fullmatch(given) else f"r-{uuid.uuid4().hex[:16]}"
    return str(request.state.request_id)


def _json(body: Any, status: int = 200, request_id: str = "", headers: dict[str, str] | None = None) -> Response:
    own = {"x-request-id": request_id} if request_id else {}
    return Response(orjson.dumps(body), status, own | (headers or {}), media_type="application/json")


async def _refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, LoomError)
    request_id = _id_of(request)
    headers = {"retry-after": str(max(1, round(refusal.retry_after_s)))} if refusal.retry_after_s is not None else {}
    if isinstance(refusal, PayloadTooLarge):
        headers["connection"] = "close"  # what is left of the body is not read
    return _json({"detail": refusal.detail(request_id)}, refusal.status, request_id, headers)


async def _not_routed(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return await _refused(request, MethodNotAllowed(f"{request.url.path} does not take {request.method}"[:300]))
    if error.status_code == 404:
        return await _refused(request, NotFound(f"there is no {request.url.path}"[:300]))
    return await _refused(request, MalformedBody(str(error.detail)[:300]))


async def _failed(request: Request, fault: Exception) -> Response:
    _log.error("request %s to %s failed", _id_of(request), request.url.path, exc_info=fault)
    return await _refused(request, InternalError("the server failed; its log names this request's id"))


def _docs_page() -> str:
    rows = "".join(
        f"<tr><td><code>POST /v1/{op.name}</code></td><td>{op.role}</td><td>{html.escape(op.summary)}</td></tr>"
        for op in OPS.values()
    )
    return (
        f"<!doctype html><meta charset=utf-8><title>loom-ray {__version__}</title>"
        "<style>body{font:16px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}"
        "td{padding:.3rem .8rem .3rem 0;vertical-align:top;border-top:1px solid #ccc}</style>"
        f"<h1>loom-ray {__version__}</h1><p>Every field of every operation: <a href=/openapi.json>openapi.json</a>"
        f" (OpenAPI 3.1).</p><table>{rows}</table>"
    )
