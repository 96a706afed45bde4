"""How do many waiting callers share one trip? While a trip is under way the next callers gather, and go together."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from loom_ray.contract.errors import Overloaded

Item = TypeVar("Item")
Result = TypeVar("Result")


class Coalescer(Generic[Item, Result]):
    """`send` takes the items of one trip and answers one result (or exception) for each, in order.

    Nobody waits for company: a caller who finds no trip under way leaves with those of the same turn of the loop. An
    exception from `send` itself is every caller's.
    """

    def __init__(
        self,
        send: Callable[[list[Item]], Awaitable[Sequence[Result | BaseException]]],
        batch_max: int,
        waiting_max: int,
        lanes: int = 1,
    ) -> None:
        self._send = send
        self._batch_max = batch_max
        self._waiting_max = waiting_max
        self._waiting: deque[tuple[Item, asyncio.Future[Result]]] = deque()
        self._lanes = lanes  # trips under way at a time
        self._trips: set[asyncio.Task[None]] = set()

    @property
    def idle(self) -> bool:
        return not self._waiting and not self._trips

    async def __call__(self, item: Item) -> Result:
        """Raises Overloaded when `waiting_max` callers wait already, and whatever the item's trip ends in."""
        if len(self._waiting) >= self._waiting_max:
            raise Overloaded("too many requests wait for this namespace", retry_after_s=1.0)
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if len(self._trips) < self._lanes:
            self._trips.add(asyncio.create_task(self._travel()))
        return await future

    async def _travel(self) -> None:
        """One lane. It is given up in the same turn in which nobody is left waiting: a turn later somebody may be, who
        would find the lane taken and wait for ever."""
        try:
            while self._waiting:
                count = min(len(self._waiting), self._batch_max)
                batch = [self._waiting.popleft() for _ in range(count)]
                await self._trip([(item, future) for item, future in batch if not future.done()])
        finally:
            lane = asyncio.current_task()
            assert lane is not None
            self._trips.remove(lane)

    async def _trip(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        if not batch:
            return
        try:
            results = await self._send([item for item, _ in batch])
        except Exception as failure:
            results = [failure] * len(batch)
        for (_, future), result in zip(batch, results, strict=True):
            _settle(future, result)


def _settle(future: asyncio.Future[Result], result: Result | BaseException) -> None:
    if future.done():  # its caller gave up
        return
    if isinstance(result, BaseException):
        future.set_exception(result)
    else:
        future.set_result(result)
