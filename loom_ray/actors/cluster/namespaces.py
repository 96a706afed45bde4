"""How does a namespace live in a process of its own, and how is that started and sent home?"""

from __future__ import annotations

import asyncio
import sys
import time
import uuid
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayActorError

from loom_ray.actors.calls import Call, Reply
from loom_ray.actors.cluster.blacklist import RemoteBlacklist, awake_places
from loom_ray.actors.cluster.calling import (
    ACTOR,
    RAY_NAMESPACE,
    START_S_MAX,
    OpenedOnce,
    actor_name,
    answer_of,
    end_if_broken,
)
from loom_ray.actors.cluster.embedders import RemoteEmbedder
from loom_ray.actors.directory import Place
from loom_ray.contract.settings import Settings
from loom_ray.core.refusal.registry import Effective
from loom_ray.storage.blobs import open_blobs

if TYPE_CHECKING:  # FAISS and its like are loaded by the actor, not by everyone who speaks to it
    from loom_ray.actors.namespace import Namespace

SWITCH_INTERVAL_S = 0.0005  # while words are indexed in a thread, the loop waits so long for the interpreter, not 5 ms


class NamespaceActor:
    """A namespace in a process of its own. It opens with its first call, and ends itself when its log fails."""

    def __init__(self, org: str, namespace: str, settings: Settings) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        self._place = Place(org, namespace)
        self._settings = settings
        self._incarnation = uuid.uuid4().hex
        self._namespace = OpenedOnce(self._open)

    async def awake(self) -> str:
        """Returns the incarnation once the state is there."""
        await self._namespace()
        return self._incarnation

    async def serve(self, calls: list[Call]) -> list[Reply]:
        namespace = await self._namespace()
        replies = await namespace.serve(calls)
        end_if_broken(namespace)
        return replies

    async def finish(self, call_id: str) -> Reply:
        namespace = await self._namespace()
        reply = await namespace.finish(call_id)
        end_if_broken(namespace)
        return reply

    async def tell(self, effective: Effective) -> None:
        """What the namespace must refuse from now on. One that is not open yet asks by itself."""
        if self._namespace.has_begun:
            await (await self._namespace()).home.refusals.learn(effective)

    async def leave(self) -> str:
        if self._namespace.has_begun:
            await (await self._namespace()).leave()
        return self._incarnation

    async def _open(self) -> Namespace:
        from loom_ray.actors.opening import open_namespace

        blobs = open_blobs(self._settings.storage_url)
        return await open_namespace(
            self._place,
            self._settings,
            blobs,
            RemoteEmbedder(self._settings),
            RemoteBlacklist(self._settings, self._place),
            self._incarnation,
            time.time_ns,
        )


class RayHomes:
    """How the directory starts namespaces and sends them home."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def start(self, place: Place) -> None:
        handle = await asyncio.to_thread(self._create, place)
        deadline = time.monotonic() + START_S_MAX
        while True:
            try:
                await answer_of(handle.awake.remote(), START_S_MAX)
                return
            except RayActorError:  # it is being restarted
                if time.monotonic() > deadline:
                    raise
                handle = await asyncio.to_thread(self._create, place)
                await asyncio.sleep(0.05)

    async def leave(self, place: Place) -> str:
        try:
            handle = await asyncio.to_thread(ray.get_actor, actor_name(place), RAY_NAMESPACE)
        except ValueError:
            return ""
        try:
            return str(await answer_of(handle.leave.remote(), START_S_MAX))
        finally:
            await asyncio.to_thread(ray.kill, handle, no_restart=True)

    async def awake(self) -> list[Place]:
        return await awake_places()

    def _create(self, place: Place) -> Any:
        options = ACTOR | {"name": actor_name(place)}
        return ray.remote(NamespaceActor).options(**options).remote(place.org, place.namespace, self._settings)
