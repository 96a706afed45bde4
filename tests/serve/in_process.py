"""The whole server in one process: the real HTTP surface and gateway, namespaces as plain classes, no Ray."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from loom_ray.actors.calls import Call, NamespaceGone, Reply
from loom_ray.actors.directory import Place
from loom_ray.actors.embedding.actor import Description, EmbedderService
from loom_ray.actors.namespace import Namespace
from loom_ray.actors.opening import open_namespace
from loom_ray.contract.settings import Settings
from loom_ray.core.records import Vectors
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


class LocalCluster:
    """Opens a namespace when it is woken, and keeps it."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.blobs = FileBlobs(folder)
        self.embedders = LocalEmbedders(settings)
        self.awake: dict[Place, Namespace] = {}

    async def wake(self, place: Place) -> None:
        if place not in self.awake:
            incarnation = uuid.uuid4().hex
            self.awake[place] = await open_namespace(
                place, self.settings, self.blobs, self.embedders, incarnation, time.time_ns
            )

    async def serve(self, place: Place, calls: list[Call]) -> list[Reply]:
        if place not in self.awake:
            raise NamespaceGone(looked_at=False)
        return await self.awake[place].serve(calls)

    async def finish(self, place: Place, call_id: str) -> Reply:
        return await self.awake[place].finish(call_id)

    async def touch(self, places: Sequence[Place]) -> None:
        return

    async def not_ready(self) -> dict[str, str]:
        return {}

    async def close(self) -> None:
        for namespace in self.awake.values():
            await namespace.leave()
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
