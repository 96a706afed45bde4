"""How do the plain classes of this room become named, detached Ray actors? The only file here that knows Ray."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import numpy as np
import ray
from ray.exceptions import ActorDiedError, RayActorError, RayError, RayTaskError

from loom_ray.actors.calls import Call, NamespaceGone, Reply
from loom_ray.actors.coalescing import Coalescer
from loom_ray.actors.directory import Directory, Place
from loom_ray.contract.errors import BackendUnavailable, LoomError
from loom_ray.contract.settings import Settings
from loom_ray.core.records import Vectors
from loom_ray.storage.blobs import BlobMissing, open_blobs
from loom_ray.storage.errors import StorageError

if TYPE_CHECKING:  # FAISS and its like are loaded by the actors that use them, not by everyone who speaks to those
    from loom_ray.actors.embedding.actor import Description
    from loom_ray.actors.namespace import Namespace

_log = logging.getLogger(__name__)

RAY_NAMESPACE = "loom"
DIRECTORY = "directory"
EMBEDDER = "embedder"
HOME = "home"
NAMESPACE_BYTES = 160 * 1024 * 1024  # of one awake namespace, nearly all of it its Ray worker: measured 125 MB resident
MEMORY_SHARE = 0.5  # of the node, for awake namespaces
TEXTS_A_TRIP = 256  # of one request, in one trip to the embedder
EMBED_LANES = 4  # trips under way from one namespace to the embedder
START_S_MAX = 60.0
LEAVE_S_MAX = 10.0
ASK_S_MAX = 2.0  # for questions about readiness
SWITCH_INTERVAL_S = 0.0005  # while words are indexed in a thread, the loop waits so long for the interpreter, not 5 ms
EXIT_AFTER_S = 0.2  # a broken actor lives so long, for its last replies to get out
ACTOR = {
    "namespace": RAY_NAMESPACE,
    "lifetime": "detached",
    "get_if_exists": True,
    "max_restarts": -1,
    "max_task_retries": 0,
    "num_cpus": 0,
}


# ---- the actors -------------------------------------------------------------------------------------------------
class NamespaceActor:
    """A namespace in a process of its own. It opens with its first call, and ends itself when its log fails."""

    def __init__(self, org: str, namespace: str, settings: Settings) -> None:
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        self._place = Place(org, namespace)
        self._settings = settings
        self._incarnation = uuid.uuid4().hex
        self._opening: asyncio.Task[Namespace] | None = None

    async def awake(self) -> str:
        """Returns the incarnation once the state is there."""
        await self._namespace()
        return self._incarnation

    async def serve(self, calls: list[Call]) -> list[Reply]:
        namespace = await self._namespace()
        replies = await namespace.serve(calls)
        self._end_if_broken(namespace)
        return replies

    async def finish(self, call_id: str) -> Reply:
        namespace = await self._namespace()
        reply = await namespace.finish(call_id)
        self._end_if_broken(namespace)
        return reply

    async def leave(self) -> str:
        if self._opening is not None:
            await (await self._namespace()).leave()
        return self._incarnation

    async def _namespace(self) -> Namespace:
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        try:
            return await asyncio.shield(self._opening)
        except Exception:
            self._opening = None  # the next call tries again: a storage that was down may be back
            raise

    async def _open(self) -> Namespace:
        from loom_ray.actors.opening import open_namespace

        blobs = open_blobs(self._settings.storage_url)
        return await open_namespace(
            self._place, self._settings, blobs, RemoteEmbedder(self._settings), self._incarnation, time.time_ns
        )

    def _end_if_broken(self, namespace: Namespace) -> None:
        """Ray starts the actor anew, and the new one reads what the log really holds."""
        if namespace.broken:
            asyncio.get_running_loop().call_later(EXIT_AFTER_S, os._exit, 1)


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


class EmbedderActor:
    """One of the pool; it begins to load as soon as it is there."""

    def __init__(self, settings: Settings) -> None:
        from loom_ray.actors.embedding.actor import EmbedderService

        self._service = EmbedderService(settings)

    async def prepare(self) -> None:
        try:
            await self._service.start()
        except LoomError as refusal:  # told again to everyone who asks for a vector
            _log.warning("the embedder is not ready: %s", refusal)

    async def embed_each(self, texts: list[str], deadline_s: float) -> Any:
        return await self._service.embed_each(texts, deadline_s)

    async def describe(self) -> Description:
        return self._service.describe()


def live_max_of_node() -> int:
    """How many namespaces fit in the node's share of memory; at least two."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(2, int(memory * MEMORY_SHARE / NAMESPACE_BYTES))


# ---- from plain code to the actors ------------------------------------------------------------------------------
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
        named: list[Any] = await asyncio.to_thread(ray.util.list_named_actors, all_namespaces=True)
        return [place for actor in named if actor["namespace"] == RAY_NAMESPACE and (place := place_of(actor["name"]))]

    def _create(self, place: Place) -> Any:
        options = ACTOR | {"name": actor_name(place), "max_concurrency": 10_000}
        return ray.remote(NamespaceActor).options(**options).remote(place.org, place.namespace, self._settings)


class RayCluster:
    """How a gateway reaches the namespaces."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._handles: dict[Place, tuple[Any, str]] = {}  # the actor and which incarnation answered last
        self._directory = start_directory(settings)
        self._embedders = start_embedders(settings)

    async def wake(self, place: Place) -> None:
        await stateless_answer(self._directory.wake.remote(*place), START_S_MAX)

    async def serve(self, place: Place, calls: list[Call]) -> list[Reply]:
        handle = await self._handle(place)
        return await self._ask(place, handle.serve.remote(calls))

    async def finish(self, place: Place, call_id: str) -> Reply:
        handle = await self._handle(place)
        return await self._ask(place, handle.finish.remote(call_id))

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


class RemoteEmbedder:
    """The pool as one namespace sees it: what is asked in one turn of its loop goes in one trip."""

    def __init__(self, settings: Settings) -> None:
        self._pool = start_embedders(settings)
        self._deadline_s = settings.request_deadline_s
        self._trips = 0
        self._ask = Coalescer[Sequence[str], Vectors](
            self._embed_together, settings.gateway_batch_max, settings.namespace_queue_max, EMBED_LANES
        )

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors:
        """Many texts go in several trips, so that one batch never fills the queue that everybody shares."""
        async with asyncio.timeout(deadline_s):
            parts = [
                await self._ask(texts[start : start + TEXTS_A_TRIP]) for start in range(0, len(texts), TEXTS_A_TRIP)
            ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    async def describe(self) -> Description:
        return await stateless_answer(self._pool[0].describe.remote(), ASK_S_MAX)

    async def _embed_together(self, asked: list[Sequence[str]]) -> list[Vectors | BaseException]:
        self._trips += 1
        embedder = self._pool[self._trips % len(self._pool)]
        texts = [text for one in asked for text in one]
        embedded = await stateless_answer(embedder.embed_each.remote(texts, self._deadline_s), self._deadline_s)
        results: list[Vectors | BaseException] = []
        start = 0
        for one in asked:
            end = start + len(one)
            refused = [why for place, why in embedded.refused.items() if start <= place < end]
            results.append(refused[0] if refused else embedded.vectors[start:end])
            start = end
        return results


def start_directory(settings: Settings) -> Any:
    options = ACTOR | {"name": DIRECTORY, "max_concurrency": 10_000}
    return ray.remote(DirectoryActor).options(**options).remote(settings)


def start_embedders(settings: Settings) -> list[Any]:
    """The pool, made by whoever comes first; each begins to load at once."""
    actor: Any = ray.remote(EmbedderActor)
    names = [f"{EMBEDDER}-{number}" for number in range(settings.embedder_pool)]
    pool = [actor.options(**ACTOR, name=name, max_concurrency=10_000).remote(settings) for name in names]
    for embedder in pool:
        embedder.prepare.remote()
    return pool


def actor_name(place: Place) -> str:
    """Percent-encoded, so that no two places share a name."""
    return f"{HOME}:{quote(place.org, safe='')}:{quote(place.namespace, safe='')}"


def place_of(name: str) -> Place | None:
    kind, *rest = name.split(":")
    return Place(unquote(rest[0]), unquote(rest[1])) if kind == HOME and len(rest) == 2 else None


async def send_all_home(settings: Settings) -> None:
    """Before the server stops; what does not make it in time is read from its log at the next start."""
    try:
        await answer_of(start_directory(settings).send_all_home.remote(), LEAVE_S_MAX)
    except (LoomError, RayError) as failure:
        _log.warning("not every namespace left in time: %s", first_line(failure))


def first_line(failure: BaseException) -> str:
    """Ray's messages go on with process ids and addresses, which are nobody's business."""
    return str(failure).partition("\n")[0][:200]


async def answer_of(reference: Any, seconds: float) -> Any:
    """The call's answer; what the actor raised comes out as it was, without Ray's traceback around it.

    Raises BackendUnavailable when it takes longer, and RayActorError when the actor ended.
    """
    try:
        async with asyncio.timeout(seconds):
            return await reference
    except TimeoutError:
        raise BackendUnavailable("an actor does not answer", retry_after_s=1.0) from None
    except RayTaskError as wrapped:
        raise (wrapped.cause if isinstance(wrapped.cause, Exception) else wrapped) from None


async def stateless_answer(reference: Any, seconds: float) -> Any:
    """As `answer_of`, of an actor that loses nothing when it ends: Ray is starting it anew, so BackendUnavailable."""
    try:
        return await answer_of(reference, seconds)
    except RayActorError:
        raise BackendUnavailable("an actor is being restarted", retry_after_s=1.0) from None
