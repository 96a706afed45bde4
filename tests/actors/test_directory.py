"""Who stays awake, who leaves for whom, and can any order of waking and leaving make them wait for each other?"""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from loom_ray.actors.directory import Directory, Place
from loom_ray.contract.errors import BackendUnavailable, StorageDamaged


def place(number: int) -> Place:
    return Place("acme", f"n{number}")


class Processes:
    """Homes that count: starting and leaving take turns of the loop, and nothing but this says who is awake."""

    def __init__(self, turns: int = 3) -> None:
        self.turns = turns
        self.running: set[Place] = set()
        self.running_most = 0
        self.log: list[tuple[str, Place]] = []
        self.failures: dict[Place, Exception] = {}
        self.may_leave = asyncio.Event()
        self.may_leave.set()
        self.incarnations = 0

    async def start(self, place: Place) -> None:
        self.running.add(place)
        self.running_most = max(self.running_most, len(self.running))
        await self._some_turns()
        if place in self.failures:
            raise self.failures[place]
        self.log.append(("start", place))

    async def leave(self, place: Place) -> str:
        if place not in self.running:
            return ""
        await self._some_turns()
        await self.may_leave.wait()
        self.running.discard(place)
        self.log.append(("leave", place))
        if place in self.failures:
            raise self.failures[place]
        self.incarnations += 1
        return f"incarnation {self.incarnations}"

    async def awake(self) -> list[Place]:
        return sorted(self.running)

    async def _some_turns(self) -> None:
        for _ in range(self.turns):
            await asyncio.sleep(0)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def directory(processes: Processes, live_max: int = 3, clock: Clock | None = None) -> Directory:
    return Directory(processes, live_max, 60.0, clock or Clock())


async def test_the_least_recently_used_leaves_first():
    processes = Processes()
    awake = directory(processes)
    for number in (1, 2, 3):
        await awake.wake(place(number))
    awake.touch([place(1)])
    await awake.wake(place(4))
    assert processes.running == {place(1), place(3), place(4)}
    await awake.wake(place(3))
    await awake.wake(place(5))
    assert processes.running == {place(3), place(4), place(5)}


async def test_two_hundred_places_pass_through_three_rooms():
    processes = Processes()
    awake = directory(processes)
    for number in range(200):
        await awake.wake(place(number))
        assert place(number) in processes.running
    assert processes.running_most == 3
    assert processes.running == {place(197), place(198), place(199)}


async def test_two_hundred_places_at_once_all_get_their_turn():
    processes = Processes()
    awake = directory(processes)
    async with asyncio.timeout(30):
        await asyncio.gather(*(awake.wake(place(number)) for number in range(200)))
    assert {started for what, started in processes.log if what == "start"} == {place(n) for n in range(200)}
    assert processes.running_most == 3


@pytest.mark.parametrize("seed", range(100))
async def test_no_order_of_waking_touching_and_leaving_makes_them_wait_for_each_other(seed: int):
    random = Random(seed)
    processes = Processes(turns=random.randint(0, 4))
    awake = directory(processes, live_max=random.randint(1, 3))

    async def visitor() -> None:
        for _ in range(10):
            await awake.wake(place(random.randrange(5)))
            awake.touch([place(random.randrange(5)) for _ in range(3)])
            for _ in range(random.randint(0, 6)):
                await asyncio.sleep(0)

    async with asyncio.timeout(30):
        await asyncio.gather(*(visitor() for _ in range(8)))
    assert processes.running_most <= 3


async def test_idle_ones_leave_and_those_in_use_stay():
    processes, clock = Processes(), Clock()
    awake = directory(processes, clock=clock)
    await awake.wake(place(1))
    await awake.wake(place(2))
    clock.now = 59.0
    awake.touch([place(2)])
    await awake.send_idle_home()
    assert processes.running == {place(1), place(2)}
    clock.now = 60.0
    await awake.send_idle_home()
    assert processes.running == {place(2)}


async def test_naming_one_that_has_left_gives_it_no_room():
    processes = Processes()
    awake = directory(processes)
    for number in range(10):
        await awake.wake(place(number))
    awake.touch([place(number) for number in range(7)])
    await awake.wake(place(10))
    assert processes.running == {place(8), place(9), place(10)}


async def test_who_calls_while_it_leaves_wakes_it_after_it_has_left():
    processes = Processes()
    awake = directory(processes, live_max=1)
    await awake.wake(place(1))
    processes.may_leave.clear()
    other = asyncio.create_task(awake.wake(place(2)))
    for _ in range(10):
        await asyncio.sleep(0)
    again = asyncio.create_task(awake.wake(place(1)))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not again.done()
    assert processes.log == [("start", place(1))]
    processes.may_leave.set()
    async with asyncio.timeout(10):
        await asyncio.gather(other, again)
    assert processes.log[1] == ("leave", place(1))
    assert processes.running == {place(1)}
    assert processes.running_most == 1


async def test_a_start_that_fails_is_unavailable_and_the_next_one_tries_again():
    processes = Processes()
    awake = directory(processes)
    processes.failures[place(1)] = OSError("no such node")
    with pytest.raises(BackendUnavailable, match="did not start"):
        await awake.wake(place(1))
    del processes.failures[place(1)]
    await awake.wake(place(1))
    assert processes.log == [("start", place(1))]


async def test_a_refusal_of_the_namespace_itself_is_handed_on():
    processes = Processes()
    processes.failures[place(1)] = StorageDamaged("log/7 is torn")
    with pytest.raises(StorageDamaged, match="log/7"):
        await directory(processes).wake(place(1))


async def test_processes_that_failed_to_start_take_room_like_any_other():
    processes = Processes()
    awake = directory(processes)
    for number in range(20):
        processes.failures[place(number)] = StorageDamaged("torn")
        with pytest.raises(StorageDamaged):
            await awake.wake(place(number))
    assert processes.running_most == 3


async def test_only_who_left_without_a_failure_left_cleanly():
    processes = Processes()
    awake = directory(processes, live_max=1)
    await awake.wake(place(1))
    await awake.wake(place(2))
    assert awake.left_cleanly("incarnation 1")
    processes.failures[place(2)] = OSError("killed on its way")
    await awake.wake(place(3))
    assert not awake.left_cleanly("incarnation 2")
    assert not awake.left_cleanly("")


async def test_a_directory_that_starts_anew_counts_those_that_are_awake():
    processes = Processes()
    before = directory(processes)
    for number in (1, 2, 3):
        await before.wake(place(number))
    after = directory(processes)
    await after.recall()
    await after.wake(place(4))
    assert len(processes.running) == processes.running_most == 3


async def test_all_leave_when_the_server_stops():
    processes = Processes()
    awake = directory(processes)
    for number in (1, 2, 3):
        await awake.wake(place(number))
    await awake.send_all_home()
    assert processes.running == set()
