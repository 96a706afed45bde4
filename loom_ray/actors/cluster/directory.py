"""How is the cluster's one directory run?"""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any

import ray
from ray.exceptions import RayError

from loom_ray.actors.cluster.blacklist import start_blacklist
from loom_ray.actors.cluster.calling import ACTOR, DIRECTORY, answer_of, first_line
from loom_ray.actors.cluster.namespaces import RayHomes
from loom_ray.actors.directory import Directory, Place
from loom_ray.contract.errors import BackendUnavailable, LoomError
from loom_ray.contract.settings import Settings
from loom_ray.storage.blobs import BlobMissing, open_blobs
from loom_ray.storage.errors import StorageError

_log = logging.getLogger(__name__)

NAMESPACE_BYTES = 160 * 1024 * 1024  # of one awake namespace, nearly all of it its Ray worker: measured 125 MB resident
MEMORY_SHARE = 0.5  # of the node, for awake namespaces
LEAVE_S_MAX = 10.0


class DirectoryActor:
    """The cluster's directory; restarted, it asks Ray who is awake."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        live_max = settings.namespaces_live_max or live_max_of_node()
        self._directory = Directory(RayHomes(settings), live_max, settings.namespace_idle_seconds)
        self._ready: asyncio.Task[None] | None = None
        self._tidying: asyncio.Task[None] | None = None

    async def wake(self, org: str, namespace: str) -> None:
        await self._recalled()
        await self._directory.wake(Place(org, namespace))

    async def touch(self, places: list[Place]) -> None:
        await self._recalled()
        self._directory.touch(places)

    async def send_all_home(self) -> None:
        await self._recalled()
        await self._directory.send_all_home()

    async def not_ready(self) -> dict[str, str]:
        """Asks the storage for something that is not there: a missing blob is a good answer."""
        try:
            await open_blobs(self._settings.storage_url).get("ready/probe")
        except BlobMissing:
            return {}
        except StorageError as failure:
            return {"storage": str(failure)}
        return {}

    async def left_cleanly(self, incarnation: str) -> bool:
        return self._directory.left_cleanly(incarnation)

    async def _recalled(self) -> None:
        if self._ready is None or (self._ready.done() and self._ready.exception()):
            self._ready = asyncio.create_task(self._directory.recall())
        if self._tidying is None:
            self._tidying = asyncio.create_task(self._tidy())
        try:
            await asyncio.shield(self._ready)
        except Exception as failure:  # the next call asks again
            raise BackendUnavailable("the directory does not know yet who is awake", retry_after_s=1.0) from failure

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(min(30.0, self._settings.namespace_idle_seconds / 4))
            await self._directory.send_idle_home()


def live_max_of_node() -> int:
    """How many namespaces fit in the node's share of memory; at least two."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(2, int(memory * MEMORY_SHARE / NAMESPACE_BYTES))


def start_directory(settings: Settings) -> Any:
    options = ACTOR | {"name": DIRECTORY}
    return ray.remote(DirectoryActor).options(**options).remote(settings)


async def send_all_home(settings: Settings) -> None:
    """Before the server stops; what does not make it in time is read from its log at the next start."""
    try:
        await answer_of(start_directory(settings).send_all_home.remote(), LEAVE_S_MAX)
        await answer_of(start_blacklist(settings).leave.remote(), LEAVE_S_MAX)
    except (LoomError, RayError) as failure:
        _log.warning("not every namespace left in time: %s", first_line(failure))
