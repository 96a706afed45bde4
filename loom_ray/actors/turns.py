"""How is a long decision taken without holding up everybody else? Step by step, with a turn for others after each."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import TypeVar

from loom_ray.actors.home import Home

Result = TypeVar("Result")


def moment(home: Home) -> tuple[object, ...]:
    """What a decision depends on beside its claims: any change of rows, settings or the allowlist is stamped."""
    return home.state.last_version, home.refusals.version, home.rules


async def giving_way(steps: Generator[None, None, Result]) -> Result:
    """What the steps come to. It counts where the moment is the same by the end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        await asyncio.sleep(0)


def at_once(steps: Generator[None, None, Result]) -> Result:
    """As `giving_way`, in this turn."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
