"""Where does a request go, and what if nobody is home? Stateless; any number of replicas may run one each."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from typing import Any, Protocol

from loom_ray.actors.calls import Call, NamespaceGone, Reply
from loom_ray.actors.coalescing import Coalescer
from loom_ray.actors.directory import Place
from loom_ray.contract.arguments import Asked
from loom_ray.contract.errors import BackendUnavailable, LoomError, OutcomeUnknown
from loom_ray.contract.ops import Op
from loom_ray.contract.scope import Scoped
from loom_ray.contract.settings import Settings
from loom_ray.core.decide.claim import body_sha256

TOUCH_SECONDS = 5.0  # how often the directory hears which namespaces were used
WAKES_MAX = 5  # times that one request may find its namespace leaving before it is refused


class Cluster(Protocol):
    """How the namespaces are reached (actors/cluster/reaching.py does it over Ray)."""

    async def wake(self, place: Place) -> None: ...

    async def serve(self, place: Place, calls: list[Call]) -> list[Reply]:
        """Raises NamespaceGone."""
        ...

    async def finish(self, place: Place, call_id: str) -> Reply:
        """Raises NamespaceGone."""
        ...

    async def ask_keeper(self, op: str, request: Scoped) -> dict[str, Any]:
        """Of the refused patterns. Raises the LoomError that the client is to see."""
        ...

    async def touch(self, places: Sequence[Place]) -> None: ...

    async def not_ready(self) -> dict[str, str]:
        """What is not ready, and why; empty when everything is."""
        ...


class Gateway:
    """Sends the calls of one namespace in batches: while one is under way, the next gathers."""

    def __init__(self, settings: Settings, cluster: Cluster) -> None:
        self._settings = settings
        self._cluster = cluster
        self._lines: dict[Place, Coalescer[Call, Reply]] = {}
        self._used: set[Place] = set()
        self._touching: asyncio.Task[None] | None = None

    async def ask(self, op: Op, asked: Asked, idempotency_key: str = "") -> dict[str, Any]:
        """The op's answer. Raises the LoomError that the client is to see."""
        if op.owner == "keeper":  # its ops say the same when they are repeated, without a key
            return await self._cluster.ask_keeper(op.name, asked.request) | _noticed(asked)
        place = Place(asked.request.org, asked.request.namespace)
        call = _call(op, asked, idempotency_key)
        try:
            async with asyncio.timeout(self._settings.request_deadline_s):
                reply = await self._delivered(op, place, call)
        except TimeoutError:
            late = OutcomeUnknown if op.writes else BackendUnavailable
            raise late(f"no answer within {self._settings.request_deadline_s:g} s", retry_after_s=1.0) from None
        if reply.error is not None:
            raise reply.error
        assert reply.answer is not None
        return reply.answer

    async def not_ready(self) -> dict[str, str]:
        return await self._cluster.not_ready()

    async def _delivered(self, op: Op, place: Place, call: Call) -> Reply:
        """Sends the call until somebody has answered it; again only where that cannot carry it out twice."""
        at_stake = False  # somebody may have begun with this write
        for _ in range(WAKES_MAX):
            reply, begun = await self._tried(place, call)
            if reply is not None:
                return reply
            at_stake = op.writes and (at_stake or begun)
            if at_stake and not call.idempotency_key:
                raise OutcomeUnknown("the namespace failed while it wrote", retry_after_s=1.0)
            await self._woken(place, at_stake)
        raise (OutcomeUnknown if at_stake else BackendUnavailable)("the namespace keeps failing", retry_after_s=1.0)

    async def _tried(self, place: Place, call: Call) -> tuple[Reply | None, bool]:
        """The reply, None where the namespace has gone or left; and whether it may have begun with the call."""
        pending = False
        try:
            reply = await self._line(place)(call)
            if reply.pending:
                pending = True
                reply = await self._cluster.finish(place, call.call_id)
        except NamespaceGone as gone:
            return None, pending or gone.looked_at
        finally:
            self._drop_idle_line(place)
        if reply.moved:
            return None, False
        self._note_use(place)
        return reply, True

    async def _woken(self, place: Place, at_stake: bool) -> None:
        try:
            await self._cluster.wake(place)
        except BackendUnavailable as refusal:
            if at_stake:
                raise OutcomeUnknown(refusal.message, retry_after_s=refusal.retry_after_s) from refusal
            raise

    def _line(self, place: Place) -> Coalescer[Call, Reply]:
        line = self._lines.get(place)
        if line is None:
            line = Coalescer[Call, Reply](
                lambda calls: self._cluster.serve(place, calls),
                self._settings.gateway_batch_max,
                self._settings.namespace_queue_max,
            )
            self._lines[place] = line
        return line

    def _drop_idle_line(self, place: Place) -> None:
        """A gateway outlives many namespaces; it keeps lines only where somebody stands in one."""
        if place in self._lines and self._lines[place].idle:
            del self._lines[place]

    def _note_use(self, place: Place) -> None:
        self._used.add(place)
        if self._touching is None or self._touching.done():
            self._touching = asyncio.create_task(self._tell_use())

    async def _tell_use(self) -> None:
        await asyncio.sleep(TOUCH_SECONDS)
        used, self._used = list(self._used), set()
        try:
            await self._cluster.touch(used)
        except LoomError:  # the directory is being restarted; the next use tells again
            return


def _noticed(asked: Asked) -> dict[str, Any]:
    return {"ignored_args": asked.ignored_args, "did_you_mean": asked.did_you_mean} if asked.ignored_args else {}


def _call(op: Op, asked: Asked, idempotency_key: str) -> Call:
    noticed = _noticed(asked)
    key = idempotency_key if op.writes else ""
    body = body_sha256(op.name, asked.arguments) if key else ""
    return Call(uuid.uuid4().hex, op.name, asked.request, key, body, noticed)
