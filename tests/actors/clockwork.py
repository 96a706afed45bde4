"""How does a life run the same way twice, and in no time? On a loop whose time and threads are its own."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any


class Jumping(selectors.SelectSelector):
    """Never waits: it moves the loop's clock to the next timer instead."""

    loop: Clockwork

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise AssertionError("everybody waits, and nothing is going to happen")
        self.loop.seconds += timeout
        return []


class Clockwork(asyncio.SelectorEventLoop):
    """Time passes only where everybody waits for it; what would run in a thread runs here, some turns later."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.seconds = 0.0
        selector = Jumping()
        selector.loop = self
        super().__init__(selector)

    def time(self) -> float:
        return self.seconds

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        return self.create_task(self._some_turns_later(func, *args))

    async def _some_turns_later(self, func: Callable[..., Any], *args: Any) -> Any:
        for _ in range(self.random.randint(0, 4)):
            await asyncio.sleep(0)
        return func(*args)


def run(seed: int, main: Callable[[], Awaitable[None]]) -> None:
    """Plays `main` to its end and leaves nothing behind. Failures that nobody awaited are raised too."""
    failures: list[BaseException] = []
    loop = Clockwork(seed)
    loop.set_exception_handler(
        lambda _, context: failures.append(context.get("exception") or AssertionError(context["message"]))
    )
    try:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(main())
    finally:
        while left := asyncio.all_tasks(loop):
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
        asyncio.set_event_loop(None)
        loop.close()
    if failures:
        raise failures[0]
