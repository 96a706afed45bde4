"""Who travels with whom, in which order, and what becomes of everybody when a trip fails?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from loom_ray.actors.coalescing import Coalescer
from loom_ray.contract.errors import Overloaded


class Ferry:
    """A `send` that leaves when it is told to; its answers are ten times the items."""

    def __init__(self) -> None:
        self.trips: list[list[int]] = []
        self.under_way = 0
        self.under_way_most = 0
        self.may_return = asyncio.Event()
        self.failure: Exception | None = None  # of the first trip

    async def send(self, items: list[int]) -> Sequence[int | BaseException]:
        self.trips.append(items)
        self.under_way += 1
        self.under_way_most = max(self.under_way, self.under_way_most)
        try:
            await self.may_return.wait()
        finally:
            self.under_way -= 1
        if self.failure and len(self.trips) == 1:
            raise self.failure
        return [ValueError(item) if item < 0 else 10 * item for item in items]


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_callers_of_one_turn_travel_together_and_later_ones_gather_for_the_next_trip():
    ferry = Ferry()
    ask = Coalescer[int, int](ferry.send, 8, 100)
    first = [asyncio.create_task(ask(number)) for number in (1, 2)]
    await turns()
    later = [asyncio.create_task(ask(number)) for number in (3, 4, 5)]
    await turns()
    assert ferry.trips == [[1, 2]]
    ferry.may_return.set()
    assert await asyncio.gather(*first, *later) == [10, 20, 30, 40, 50]
    assert ferry.trips == [[1, 2], [3, 4, 5]]


async def test_a_batch_is_bounded_and_the_rest_keeps_its_order():
    ferry = Ferry()
    ferry.may_return.set()
    ask = Coalescer[int, int](ferry.send, 3, 100)
    answers = await asyncio.gather(*(ask(number) for number in range(8)))
    assert answers == [10 * number for number in range(8)]
    assert ferry.trips == [[0, 1, 2], [3, 4, 5], [6, 7]]


async def test_a_caller_who_asks_again_in_the_turn_of_its_answer_is_not_forgotten():
    ferry = Ferry()
    ferry.may_return.set()
    ask = Coalescer[int, int](ferry.send, 8, 100)

    async def three_in_a_row() -> list[int]:
        return [await ask(1), await ask(2), await ask(3)]

    async with asyncio.timeout(10):
        assert await three_in_a_row() == [10, 20, 30]
    await turns(1)
    assert ask.idle


async def test_the_bound_of_those_who_wait_holds_and_one_past_it_is_refused():
    ferry = Ferry()
    ask = Coalescer[int, int](ferry.send, 1, 2)
    travelling = asyncio.create_task(ask(1))
    await turns()
    waiting = [asyncio.create_task(ask(number)) for number in (2, 3)]
    await turns()
    with pytest.raises(Overloaded) as refusal:
        await ask(4)
    assert refusal.value.retry_after_s == 1.0
    ferry.may_return.set()
    assert await asyncio.gather(travelling, *waiting) == [10, 20, 30]
    assert await ask(5) == 50


async def test_a_failing_trip_fails_its_own_travellers_and_no_one_else():
    ferry = Ferry()
    ask = Coalescer[int, int](ferry.send, 2, 100)
    ferry.failure = ConnectionError("the engine died")
    tasks = [asyncio.create_task(ask(number)) for number in (1, 2, 3)]
    await turns()
    ferry.may_return.set()
    failed = await asyncio.gather(*tasks[:2], return_exceptions=True)
    assert [type(one) for one in failed] == [ConnectionError, ConnectionError]
    assert await tasks[2] == 30
    assert await ask(4) == 40


async def test_a_result_that_is_an_exception_is_that_callers_alone():
    ferry = Ferry()
    ferry.may_return.set()
    ask = Coalescer[int, int](ferry.send, 8, 100)
    one, two, three = await asyncio.gather(ask(1), ask(-2), ask(3), return_exceptions=True)
    assert (one, three) == (10, 30)
    assert isinstance(two, ValueError)


async def test_who_gave_up_before_the_trip_does_not_travel_and_harms_nobody_after_it_began():
    ferry = Ferry()
    ask = Coalescer[int, int](ferry.send, 8, 100)
    gone_under_way = asyncio.create_task(ask(1))
    stays = asyncio.create_task(ask(2))
    await turns()
    gone_in_line = asyncio.create_task(ask(3))
    in_line = asyncio.create_task(ask(4))
    await turns()
    gone_under_way.cancel()
    gone_in_line.cancel()
    await turns()
    ferry.may_return.set()
    assert await asyncio.gather(stays, in_line) == [20, 40]
    assert ferry.trips == [[1, 2], [4]]


async def test_lanes_bound_the_trips_under_way():
    ferry = Ferry()
    ask = Coalescer[int, int](ferry.send, 1, 100, lanes=3)
    tasks = [asyncio.create_task(ask(number)) for number in range(5)]
    await turns()
    assert (ferry.under_way, ferry.trips) == (3, [[0], [1], [2]])
    ferry.may_return.set()
    assert await asyncio.gather(*tasks) == [0, 10, 20, 30, 40]
    assert ferry.under_way_most == 3
