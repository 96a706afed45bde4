"""What does an embedding endpoint look like that misbehaves on request? A real HTTP server on loopback."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

DIMENSIONS = 8
Reply = Callable[[dict[str, Any]], Response]


def vector_of(text: str) -> list[float]:
    """Any fixed direction for a text, not of length 1."""
    seed = int.from_bytes(text.encode("utf-8")[-6:], "big")
    return [float(x) for x in np.random.default_rng(seed).normal(size=DIMENSIONS) * 3]


def good(body: dict[str, Any]) -> Response:
    return answer([vector_of(text) for text in body["input"]], body)


def answer(vectors: list[list[float]], body: dict[str, Any]) -> Response:
    """Items in reverse order: the index counts, not the place."""
    coded: list[Any] = vectors
    if body.get("encoding_format") == "base64":
        coded = [base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode() for vector in vectors]
    data = [{"object": "embedding", "index": i, "embedding": item} for i, item in enumerate(coded)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return Response(
        json.dumps({"object": "list", "model": body["model"], "data": data[::-1], "usage": usage}),
        media_type="application/json",
    )


def status(code: int, headers: dict[str, str] | None = None) -> Reply:
    return lambda body: JSONResponse({"error": {"message": "key sk-secret is wrong"}}, code, headers)


def garbage(body: dict[str, Any]) -> Response:
    return PlainTextResponse("<html>hello</html>")


def not_json(body: dict[str, Any]) -> Response:
    return Response("{", media_type="application/json")


class Endpoint:
    """Replies in turn with `script`, then well; records each request's body and headers."""

    def __init__(self) -> None:
        self.script: list[Reply] = []
        self.bodies: list[dict[str, Any]] = []
        self.authorizations: list[str] = []
        self.always: Reply = good
        self.url = ""

    async def handle(self, request: Request) -> Response:
        body = await request.json()
        self.bodies.append(body)
        self.authorizations.append(request.headers.get("authorization", ""))
        reply = self.script.pop(0) if self.script else self.always
        return reply(body)


@contextmanager
def served() -> Iterator[Endpoint]:
    """An endpoint on a free port of loopback, in a thread of its own."""
    endpoint = Endpoint()
    app = Starlette(routes=[Route("/v1/embeddings", endpoint.handle, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    started = threading.Event()
    startup = server.startup

    async def announced(sockets: Any = None) -> None:
        await startup(sockets)
        started.set()

    server.startup = announced
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert started.wait(30)
    endpoint.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.should_exit = True
        thread.join(30)


class BlackHole:
    """Accepts connections, reads, and never answers."""

    async def __aenter__(self) -> BlackHole:
        self.connections = 0
        self._closing = asyncio.Event()
        self._server = await asyncio.start_server(self._swallow, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *error: object) -> None:
        self._closing.set()
        self._server.close()

    async def _swallow(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        await self._closing.wait()
        writer.close()
