"""How is an actor made, named and asked? What all files of this folder have in common."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar
from urllib.parse import quote, unquote

from ray.exceptions import RayActorError, RayTaskError

from loom_ray.actors.directory import Place
from loom_ray.contract.errors import BackendUnavailable

RAY_NAMESPACE = "loom"
HOME = "home"
DIRECTORY = "directory"
START_S_MAX = 60.0
ASK_S_MAX = 2.0  # for questions about readiness
CONCURRENCY = 10_000
ACTOR = {
    "namespace": RAY_NAMESPACE,
    "lifetime": "detached",
    "get_if_exists": True,
    "max_restarts": -1,
    "max_task_retries": 0,
    "num_cpus": 0,
    "max_concurrency": CONCURRENCY,
}
EXIT_AFTER_S = 0.2  # a broken actor lives so long, for its last replies to get out


class HasLog(Protocol):
    """What an actor serves from; `broken` once its log has failed."""

    @property
    def broken(self) -> bool: ...


Owned = TypeVar("Owned", bound=HasLog)


class OpenedOnce(Generic[Owned]):
    """What an actor opens with its first call. Where that fails the next call tries again: a storage that was down may
    be back."""

    def __init__(self, open_it: Callable[[], Coroutine[Any, Any, Owned]]) -> None:
        self._open_it = open_it
        self._opening: asyncio.Task[Owned] | None = None

    @property
    def has_begun(self) -> bool:
        return self._opening is not None

    async def __call__(self) -> Owned:
        if self._opening is None:
            self._opening = asyncio.create_task(self._open_it())
        try:
            return await asyncio.shield(self._opening)
        except Exception:
            self._opening = None
            raise


def end_if_broken(owned: HasLog) -> None:
    """Ray starts the actor anew, and the new one reads what the log really holds."""
    if owned.broken:
        asyncio.get_running_loop().call_later(EXIT_AFTER_S, os._exit, 1)


def actor_name(place: Place) -> str:
    """Percent-encoded, so that no two places share a name."""
    return f"{HOME}:{quote(place.org, safe='')}:{quote(place.namespace, safe='')}"


def place_of(name: str) -> Place | None:
    kind, *rest = name.split(":")
    return Place(unquote(rest[0]), unquote(rest[1])) if kind == HOME and len(rest) == 2 else None


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
