"""How does a gateway reach the namespaces?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import ActorDiedError, RayActorError, RayError

from loom_ray.actors.calls import Call, NamespaceGone, Reply
from loom_ray.actors.cluster.blacklist import start_blacklist
from loom_ray.actors.cluster.calling import (
    ASK_S_MAX,
    RAY_NAMESPACE,
    START_S_MAX,
    actor_name,
    answer_of,
    first_line,
    stateless_answer,
)
from loom_ray.actors.cluster.directory import start_directory
from loom_ray.actors.cluster.embedders import start_embedders
from loom_ray.actors.directory import Place
from loom_ray.contract.errors import LoomError
from loom_ray.contract.scope import Scoped
from loom_ray.contract.settings import Settings

if TYPE_CHECKING:
    from loom_ray.actors.embedding.actor import Description


class RayCluster:
    """How a gateway reaches the namespaces."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._handles: dict[Place, tuple[Any, str]] = {}  # the actor and which incarnation answered last
        self._directory = start_directory(settings)
        self._embedders = start_embedders(settings)
        self._blacklist = start_blacklist(settings)

    async def wake(self, place: Place) -> None:
        await stateless_answer(self._directory.wake.remote(*place), START_S_MAX)

    async def serve(self, place: Place, calls: list[Call]) -> list[Reply]:
        handle = await self._handle(place)
        return await self._ask(place, handle.serve.remote(calls))

    async def finish(self, place: Place, call_id: str) -> Reply:
        handle = await self._handle(place)
        return await self._ask(place, handle.finish.remote(call_id))

    async def ask_keeper(self, op: str, request: Scoped) -> dict[str, Any]:
        return await stateless_answer(self._blacklist.serve.remote(op, request), self._settings.request_deadline_s)

    async def touch(self, places: Sequence[Place]) -> None:
        await stateless_answer(self._directory.touch.remote(list(places)), ASK_S_MAX)

    async def not_ready(self) -> dict[str, str]:
        missing: dict[str, str] = {}
        try:
            missing |= await answer_of(self._directory.not_ready.remote(), ASK_S_MAX)
        except (LoomError, RayError) as failure:
            missing["directory"] = first_line(failure)
        try:
            described: Description = await answer_of(self._embedders[0].describe.remote(), ASK_S_MAX)
            if not described.loaded:
                missing["embedder"] = f"{described.stamp.name} is not loaded yet"
        except (LoomError, RayError) as failure:
            missing["embedder"] = first_line(failure)
        return missing

    async def _handle(self, place: Place) -> Any:
        """The actor, after it said which incarnation it is. Raises NamespaceGone when there is none."""
        if place not in self._handles:
            try:
                handle = await asyncio.to_thread(ray.get_actor, actor_name(place), RAY_NAMESPACE)
                incarnation = await answer_of(handle.awake.remote(), START_S_MAX)
            except (ValueError, RayActorError):
                raise NamespaceGone(looked_at=False) from None
            self._handles[place] = handle, incarnation
        return self._handles[place][0]

    async def _ask(self, place: Place, reference: Any) -> Any:
        incarnation = self._handles[place][1]
        try:
            return await answer_of(reference, self._settings.request_deadline_s)
        except RayActorError as ended:
            self._handles.pop(place, None)
            raise NamespaceGone(looked_at=not await self._left_cleanly(ended, incarnation)) from None

    async def _left_cleanly(self, ended: RayActorError, incarnation: str) -> bool:
        if not isinstance(ended, ActorDiedError):
            return False
        try:
            return bool(await answer_of(self._directory.left_cleanly.remote(incarnation), ASK_S_MAX))
        except (LoomError, RayError):
            return False
