"""How do many callers share one embedder? In batches, bounded, each caller with a deadline of its own."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np

from loom_ray.actors.embedding.port import TextRefused
from loom_ray.contract.errors import BackendUnavailable, LoomError, Overloaded
from loom_ray.core.records import Vectors

_log = logging.getLogger(__name__)

Encode = Callable[[Sequence[str]], Awaitable[Vectors]]


@dataclass(eq=False, slots=True)
class _Call:
    """One caller's texts. `taken` of them have left the queue; `done` is set when none is open."""

    texts: Sequence[str]
    expires_at: float  # loop time, seconds
    done: asyncio.Future[None]
    taken: int = 0
    vectors: dict[int, Vectors] = field(default_factory=dict[int, Vectors])  # by position, (dimensions,)
    refused: dict[int, LoomError] = field(default_factory=dict[int, LoomError])

    def settle(self) -> None:
        if not self.done.done() and len(self.vectors) + len(self.refused) == len(self.texts):
            self.done.set_result(None)


class _Item(NamedTuple):
    call: _Call
    position: int

    @property
    def text(self) -> str:
        return self.call.texts[self.position]


class Embedded(NamedTuple):
    """(n, dimensions) in the order of the texts; a refused text has a zero row and its reason by position."""

    vectors: Vectors
    refused: dict[int, LoomError]


class MicroBatcher:
    """Merges concurrent calls: while batches are being encoded, the next collects; nobody waits for company.

    Calls take turns within a batch, so one text does not queue behind another caller's thousand. A caller that gives
    up takes its waiting texts along, and a batch that nobody waits for any more is cancelled.
    """

    def __init__(self, encode: Encode, dimensions: int, batch_max: int, queue_max: int, lanes_max: int = 1) -> None:
        self._encode = encode
        self._dimensions = dimensions
        self._batch_max = batch_max
        self._queue_max = queue_max
        self._lanes_max = lanes_max  # batches encoded at a time
        self._calls: deque[_Call] = deque()
        self._lanes: set[asyncio.Task[None]] = set()
        self._in_flight: dict[asyncio.Task[None], list[_Item]] = {}
        self.waiting = 0  # texts in the queue

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Embedded:
        """The texts' vectors within the deadline; texts that the backend does not take are named apart.

        Raises:
            Overloaded: too many texts wait already. A call that alone passes the bound is taken when none waits.
            BackendUnavailable: the deadline passed, or the backend failed.
        """
        if not texts:
            return Embedded(np.empty((0, self._dimensions), dtype=np.float16), {})
        if self.waiting and self.waiting + len(texts) > self._queue_max:
            raise Overloaded("too many texts wait to be embedded", {"waiting": self.waiting}, retry_after_s=1.0)
        call = self._enqueue(texts, deadline_s)
        try:
            async with asyncio.timeout_at(call.expires_at):
                await call.done
        except TimeoutError:
            raise BackendUnavailable(f"the embedder did not answer in {deadline_s:g} s", retry_after_s=1.0) from None
        finally:
            self._leave(call)
        return self._gathered(call)

    async def close(self) -> None:
        """Stop encoding; callers that still wait are refused."""
        in_flight = [item.call for items in self._in_flight.values() for item in items]
        for call in [*self._calls, *in_flight]:
            _fail(call, BackendUnavailable("the embedder is stopping"))
        lanes = list(self._lanes)
        for lane in lanes:
            lane.cancel()
        await asyncio.gather(*lanes, return_exceptions=True)

    def _enqueue(self, texts: Sequence[str], deadline_s: float) -> _Call:
        loop = asyncio.get_running_loop()
        call = _Call(texts, loop.time() + deadline_s, loop.create_future())
        self._calls.append(call)
        self.waiting += len(texts)
        if len(self._lanes) < self._lanes_max:
            self._lanes.add(asyncio.create_task(self._run()))
        return call

    def _leave(self, call: _Call) -> None:
        """Take back what still waits, and stop the batches in which nobody is left."""
        call.done.cancel()
        if call.taken < len(call.texts):
            self._calls.remove(call)
            self.waiting -= len(call.texts) - call.taken
        for task, items in self._in_flight.items():
            if all(item.call.done.done() for item in items):
                task.cancel()

    def _gathered(self, call: _Call) -> Embedded:
        rows = np.zeros((len(call.texts), self._dimensions), dtype=np.float16)
        for position, vector in call.vectors.items():
            rows[position] = vector
        return Embedded(rows, call.refused)

    async def _run(self) -> None:
        """One lane: batch after batch until nothing waits. It leaves in the same turn as it finds the queue empty."""
        try:
            while self._calls:
                await self._run_batch(self._next_batch())
        finally:
            self._lanes.discard(cast(asyncio.Task[None], asyncio.current_task()))

    async def _run_batch(self, items: list[_Item]) -> None:
        task = asyncio.create_task(self._settle(items))
        self._in_flight[task] = items
        try:
            await asyncio.wait([task])
        finally:
            task.cancel()
            del self._in_flight[task]

    def _next_batch(self) -> list[_Item]:
        """Up to `batch_max` texts, an even share of each call that waits, in their order."""
        share = max(1, self._batch_max // len(self._calls))
        items: list[_Item] = []
        while self._calls and len(items) < self._batch_max:
            call = self._calls.popleft()
            end = min(call.taken + share, call.taken + self._batch_max - len(items), len(call.texts))
            items.extend(_Item(call, position) for position in range(call.taken, end))
            call.taken = end
            if end < len(call.texts):
                self._calls.append(call)
        self.waiting -= len(items)
        return items

    async def _settle(self, items: list[_Item]) -> None:
        """Encode a batch and hand each call its part; a failure is every call's, a refused text its own call's."""
        calls = {item.call: None for item in items}
        try:
            async with asyncio.timeout_at(max(call.expires_at for call in calls)):
                await self._encode_apart(items)
        except (LoomError, TimeoutError) as error:
            failure = error if isinstance(error, LoomError) else BackendUnavailable("the embedder did not answer")
            for call in calls:
                _fail(call, failure)
        except Exception as error:
            _log.exception("the embedder failed")
            for call in calls:
                _fail(call, BackendUnavailable(f"the embedder failed: {type(error).__name__}"))
        for call in calls:
            call.settle()

    async def _encode_apart(self, items: list[_Item]) -> None:
        """Encode; where a text is refused, halve until it stands alone, so that its neighbours pass."""
        wanted = [item for item in items if not item.call.done.done()]
        if not wanted:
            return
        try:
            vectors = await self._encode([item.text for item in wanted])
        except TextRefused as refusal:
            if len(wanted) == 1:
                wanted[0].call.refused[wanted[0].position] = refusal
                return
            half = len(wanted) // 2
            await self._encode_apart(wanted[:half])
            await self._encode_apart(wanted[half:])
            return
        for item, vector in zip(wanted, vectors, strict=True):
            item.call.vectors[item.position] = vector


def _fail(call: _Call, error: LoomError) -> None:
    if not call.done.done():
        call.done.set_exception(error)
