"""What if an answer gets lost on the way? An HTTP proxy that hangs up after the first PUT has reached the storage."""

from __future__ import annotations

import asyncio
from types import TracebackType
from urllib.parse import urlsplit


class LosesFirstAnswer:
    """Passes each request on over a connection of its own; the answer to the first PUT is dropped."""

    def __init__(self, endpoint: str) -> None:
        target = urlsplit(endpoint)
        self._target = (target.hostname or "", target.port or 80)
        self.puts = 0

    async def __aenter__(self) -> LosesFirstAnswer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.endpoint = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line), 0
        )
        answer = await self._forward(head, await reader.readexactly(length))
        if head.startswith(b"PUT"):
            self.puts += 1
        if not head.startswith(b"PUT") or self.puts > 1:
            writer.write(answer)
            await writer.drain()
        writer.close()

    async def _forward(self, head: bytes, body: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(*self._target)
        writer.write(head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + body)
        await writer.drain()
        answer = await reader.read()
        writer.close()
        return answer
