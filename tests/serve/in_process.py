"""The whole server in one process: the real HTTP surface and gateway, namespaces as plain classes, no Ray."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from loom_ray.actors.blacklist import Blacklist, open_blacklist
from loom_ray.actors.calls import Call, NamespaceGone, Reply, SweepOrder
from loom_ray.actors.directory import Place
from loom_ray.actors.embedding.actor import Description, EmbedderService
from loom_ray.actors.namespace import Namespace
from loom_ray.actors.opening import open_namespace
from loom_ray.contract.blacklist import Swept
from loom_ray.contract.scope import Scoped
from loom_ray.contract.settings import Settings
from loom_ray.core.records import Vectors
from loom_ray.core.refusal.pattern import Pattern
from loom_ray.core.refusal.registry import Effective
from loom_ray.serve.gateway import Gateway
from loom_ray.serve.http import build_app
from loom_ray.storage.file_blobs import FileBlobs


class LocalEmbedders:
    """The embedder service as a namespace sees it, without the way over Ray."""

    def __init__(self, settings: Settings) -> None:
        self.service = EmbedderService(settings)
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors:
        self.texts.extend(texts)
        return await self.service.embed(texts, deadline_s)

    async def describe(self) -> Description:
        return self.service.describe()


class LocalKeeper:
    """The keeper of the refused patterns as one namespace sees it."""

    def __init__(self, cluster: LocalCluster, place: Place) -> None:
        self.cluster, self.place = cluster, place

    async def effective(self) -> Effective:
        return (await self.cluster.blacklist()).effective(self.place)

    async def note_hits(self, hits: dict[str, int]) -> None:
        (await self.cluster.blacklist()).note_hits(hits)


class LocalNamespaces:
    """The namespaces as the keeper sees them."""

    def __init__(self, cluster: LocalCluster) -> None:
        self.cluster = cluster

    async def awake(self) -> list[Place]:
        return list(self.cluster.awake)

    async def tell(self, place: Place, effective: Effective) -> None:
        await self.cluster.awake[place].home.refusals.learn(effective)

    async def sweep(self, place: Place, pattern: Pattern, actor: str, rows_max: int) -> Swept:
        await self.cluster.wake(place)
        call = Call(uuid.uuid4().hex, "blacklist.sweep", SweepOrder(pattern, actor, rows_max))
        (reply,) = await self.cluster.serve(place, [call])
        reply = await self.cluster.finish(place, call.call_id) if reply.pending else reply
        if reply.error is not None:
            raise reply.error
        assert reply.answer is not None
        return Swept(**reply.answer)


class LocalCluster:
    """Opens a namespace when it is woken, and keeps it."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.blobs = FileBlobs(folder)
        self.embedders = LocalEmbedders(settings)
        self.awake: dict[Place, Namespace] = {}
        self._blacklist: Blacklist | None = None

    async def wake(self, place: Place) -> None:
        if place not in self.awake:
            incarnation = uuid.uuid4().hex
            self.awake[place] = await open_namespace(
                place, self.settings, self.blobs, self.embedders, LocalKeeper(self, place), incarnation, time.time_ns
            )

    async def serve(self, place: Place, calls: list[Call]) -> list[Reply]:
        if place not in self.awake:
            raise NamespaceGone(looked_at=False)
        return await self.awake[place].serve(calls)

    async def finish(self, place: Place, call_id: str) -> Reply:
        return await self.awake[place].finish(call_id)

    async def blacklist(self) -> Blacklist:
        if self._blacklist is None:
            namespaces, incarnation = LocalNamespaces(self), uuid.uuid4().hex
            self._blacklist = await open_blacklist(self.blobs, namespaces, self.settings, incarnation, time.time_ns)
        return self._blacklist

    async def ask_keeper(self, op: str, request: Scoped) -> dict[str, Any]:
        return await (await self.blacklist()).serve(op, request)

    async def touch(self, places: Sequence[Place]) -> None:
        return

    async def not_ready(self) -> dict[str, str]:
        return {}

    async def close(self) -> None:
        for namespace in self.awake.values():
            await namespace.leave()
        if self._blacklist is not None:
            await self._blacklist.close()
        await self.embedders.service.close()


@asynccontextmanager
async def server(folder: Path, **settings: object) -> AsyncIterator[tuple[httpx.AsyncClient, LocalCluster]]:
    """A client of a server with the fake embedder, and the cluster behind it."""
    chosen = Settings(embedder="fake").model_copy(update=settings)
    cluster = LocalCluster(chosen, folder)
    transport = httpx.ASGITransport(build_app(chosen, Gateway(chosen, cluster)), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://loom") as client:
        try:
            yield client, cluster
        finally:
            await cluster.close()
