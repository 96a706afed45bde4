"""Which namespaces are awake, and who must leave? One directory for the cluster; it starts them and sends them home."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol
from weakref import WeakValueDictionary

from loom_ray.contract.errors import BackendUnavailable, LoomError

_log = logging.getLogger(__name__)
LEFT_MAX = 10_000  # gateways ask within seconds; this bounds the memory, not the truth


class Place(NamedTuple):
    """A namespace's name, whole: never joined into one text, so that no two places can be taken for one."""

    org: str
    namespace: str


class Homes(Protocol):
    """How namespaces are started and sent home (cluster/ does it with Ray actors)."""

    async def start(self, place: Place) -> None:
        """Returns when the namespace answers; fine where it is awake already."""
        ...

    async def leave(self, place: Place) -> str:
        """Returns when its state is safe and its process gone: which incarnation that was, empty where none was awake.

        Raises whatever kept it from ending cleanly; it is gone all the same.
        """
        ...

    async def awake(self) -> list[Place]: ...


class Directory:
    """Keeps at most `live_max` namespaces awake, the least recently used leaving first, and idle ones after `idle_s`.

    A convenience, not a guard: whatever happens here, the fenced log lets no two incarnations of a namespace write.
    """

    def __init__(self, homes: Homes, live_max: int, idle_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._homes = homes
        self._live_max = live_max
        self._idle_s = idle_s
        self._clock = clock
        self._used: OrderedDict[Place, float] = OrderedDict()  # least recently used first
        self._changing: WeakValueDictionary[Place, asyncio.Lock] = WeakValueDictionary()  # gone with its last holder
        self._room = asyncio.Lock()
        self._left: OrderedDict[str, None] = OrderedDict()  # incarnations that answered every call before they went

    async def recall(self) -> None:
        """After a restart of the directory itself: who is awake?"""
        for place in await self._homes.awake():
            self._used.setdefault(place, self._clock())

    async def wake(self, place: Place) -> None:
        """Returns when the namespace is awake. Raises BackendUnavailable when it cannot be started."""
        while not await self._started(place):
            await self._take_room(place)

    def touch(self, places: Iterable[Place]) -> None:
        """These were used just now. One that has left meanwhile takes no room again by being named here."""
        for place in places:
            if place in self._used:
                self._used[place] = self._clock()
                self._used.move_to_end(place)

    def left_cleanly(self, incarnation: str) -> bool:
        """Whether no call was cut short when this incarnation went: what it did not answer, it never began."""
        return incarnation in self._left

    async def send_idle_home(self) -> None:
        """To be called from time to time."""
        now = self._clock()
        for place in [place for place, used in self._used.items() if now - used >= self._idle_s]:
            if self._clock() - self._used.get(place, now) >= self._idle_s:
                await self._send_home(place)

    async def send_all_home(self) -> None:
        """The server stops: every state is put where the next one finds it, without a log to replay."""
        await asyncio.gather(*(self._send_home(place) for place in list(self._used)))

    async def _started(self, place: Place) -> bool:
        """False for a namespace without room. Who holds a place's lock waits for that place's process and for nothing
        else, above all not for room: that is made by locking other places."""
        async with self._lock(place):
            if place not in self._used:
                return False
            self.touch([place])
            await self._start(place)
            return True

    async def _start(self, place: Place) -> None:
        """One that does not start keeps its room: its process may be there all the same."""
        try:
            await self._homes.start(place)
        except Exception as failure:
            _log.warning("namespace %s/%s did not start: %s", *place, failure)
            if isinstance(failure, LoomError):
                raise
            raise BackendUnavailable("the namespace did not start", retry_after_s=1.0) from failure

    async def _take_room(self, place: Place) -> None:
        async with self._room:
            if place not in self._used:
                while len(self._used) >= self._live_max:
                    await self._send_home(next(iter(self._used)))
                self._used[place] = self._clock()

    async def _send_home(self, place: Place) -> None:
        """It is off the list first: a call that comes meanwhile waits at its lock and wakes it again."""
        self._used.pop(place, None)
        async with self._lock(place):
            if place not in self._used:
                self._note_left(await self._leave(place))

    async def _leave(self, place: Place) -> str:
        try:
            return await self._homes.leave(place)
        except Exception as failure:  # its log keeps what it had acknowledged; the next incarnation reads it
            _log.warning("namespace %s/%s did not leave cleanly: %s", *place, failure)
            return ""

    def _note_left(self, incarnation: str) -> None:
        if incarnation:
            self._left[incarnation] = None
            if len(self._left) > LEFT_MAX:
                self._left.popitem(last=False)

    def _lock(self, place: Place) -> asyncio.Lock:
        lock = self._changing.get(place)
        if lock is None:
            lock = self._changing[place] = asyncio.Lock()
        return lock
