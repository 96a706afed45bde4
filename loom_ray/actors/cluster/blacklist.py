"""How is the keeper of the refused patterns run, and how do it and the namespaces reach each other?"""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import Any

import ray
from ray.exceptions import ActorUnavailableError, RayActorError

from loom_ray.actors.blacklist import Blacklist, open_blacklist
from loom_ray.actors.calls import Call, SweepOrder
from loom_ray.actors.cluster.calling import (
    ACTOR,
    ASK_S_MAX,
    DIRECTORY,
    RAY_NAMESPACE,
    START_S_MAX,
    OpenedOnce,
    actor_name,
    answer_of,
    end_if_broken,
    place_of,
    stateless_answer,
)
from loom_ray.actors.directory import Place
from loom_ray.contract.blacklist import Swept
from loom_ray.contract.errors import BackendUnavailable
from loom_ray.contract.settings import Settings
from loom_ray.core.refusal.pattern import Pattern
from loom_ray.core.refusal.registry import Effective
from loom_ray.storage.blobs import open_blobs

BLACKLIST = "blacklist"
TELL_S_MAX = 10.0


class BlacklistActor:
    """It opens its log with its first call, and ends itself when that fails."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._blacklist = OpenedOnce(self._open)

    async def serve(self, op: str, request: Any) -> dict[str, Any]:
        blacklist = await self._blacklist()
        try:
            return await blacklist.serve(op, request)
        finally:
            end_if_broken(blacklist)

    async def effective(self, place: Place) -> Effective:
        return (await self._blacklist()).effective(place)

    async def note_hits(self, hits: dict[str, int]) -> None:
        (await self._blacklist()).note_hits(hits)

    async def leave(self) -> None:
        if self._blacklist.has_begun:
            await (await self._blacklist()).close()

    async def _open(self) -> Blacklist:
        blobs = open_blobs(self._settings.storage_url)
        namespaces = RayNamespaces(self._settings)
        return await open_blacklist(blobs, namespaces, self._settings, uuid.uuid4().hex, time.time_ns)


class RayNamespaces:
    """How the keeper reaches the namespaces."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def awake(self) -> list[Place]:
        return await awake_places()

    async def tell(self, place: Place, effective: Effective) -> None:
        """One that has ended needs not be told: it asks before its next first write."""
        try:
            handle = await asyncio.to_thread(ray.get_actor, actor_name(place), RAY_NAMESPACE)
        except ValueError:
            return
        try:
            await answer_of(handle.tell.remote(effective), TELL_S_MAX)
        except ActorUnavailableError:  # it may be alive, and only not heard of
            raise BackendUnavailable("a namespace cannot be reached", retry_after_s=1.0) from None
        except RayActorError:
            return

    async def sweep(self, place: Place, pattern: Pattern, actor: str, rows_max: int) -> Swept:
        directory = await asyncio.to_thread(ray.get_actor, DIRECTORY, RAY_NAMESPACE)
        await stateless_answer(directory.wake.remote(*place), START_S_MAX)
        call = Call(uuid.uuid4().hex, "blacklist.sweep", SweepOrder(pattern, actor, rows_max))
        handle = await asyncio.to_thread(ray.get_actor, actor_name(place), RAY_NAMESPACE)
        (reply,) = await stateless_answer(handle.serve.remote([call]), self._settings.request_deadline_s)
        if reply.pending:
            reply = await stateless_answer(handle.finish.remote(call.call_id), self._settings.request_deadline_s)
        if reply.error is not None:
            raise reply.error
        if reply.answer is None:
            raise BackendUnavailable("the namespace was leaving", retry_after_s=1.0)
        return Swept(**reply.answer)


class RemoteBlacklist:
    """The keeper as one namespace sees it."""

    def __init__(self, settings: Settings, place: Place) -> None:
        self._actor = start_blacklist(settings)
        self._place = place

    async def effective(self) -> Effective:
        return await stateless_answer(self._actor.effective.remote(self._place), ASK_S_MAX)

    async def note_hits(self, hits: dict[str, int]) -> None:
        await stateless_answer(self._actor.note_hits.remote(hits), ASK_S_MAX)


def start_blacklist(settings: Settings) -> Any:
    return ray.remote(BlacklistActor).options(**ACTOR, name=BLACKLIST).remote(settings)


async def awake_places() -> list[Place]:
    """Every namespace that has a process, whatever the directory knows of it."""
    named: list[Any] = await asyncio.to_thread(ray.util.list_named_actors, all_namespaces=True)
    return [place for actor in named if actor["namespace"] == RAY_NAMESPACE and (place := place_of(actor["name"]))]
