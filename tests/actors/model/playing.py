"""How is a program played to the namespace and to the model at once? On a disk in memory, with power failures."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import Any

from clockwork import run
from faulty import Faults, FaultyDisk
from keepers import Patterns
from promises import check_state
from scene import PLACE, BagOfWords, Clock, answer_to, call_of, inline

from loom_ray.actors.namespace import Namespace
from loom_ray.actors.opening import open_namespace
from loom_ray.contract.settings import Settings
from model.answers import answer_of
from model.comparing import differences, hints_of
from model.invariants import check_vectors
from model.marks import settle
from model.programs import Step
from model.reads import check_reads
from model.requests import on_the_wire, resolved
from model.rows import Memory, Refused

SETTINGS = Settings(snapshot_segments=7)
Answer = dict[str, Any]


class Play:
    """One namespace through its incarnations, and the model beside it."""

    def __init__(self) -> None:
        self.disk = FaultyDisk(seed=1, faults=Faults(slow=2))
        self.clock = Clock()
        self.memory = Memory(self.clock.ns)
        self.ids = 0
        self.left: list[object] = []  # earlier incarnations: what they still wait for stays as it is, as after a kill
        self.namespace: Namespace

    async def open(self) -> None:
        self.blobs, name = self.disk.blobs(), f"p{len(self.left)}"
        keeper = Patterns()
        self.namespace = await open_namespace(
            PLACE, SETTINGS, self.blobs, BagOfWords(), keeper, name, self.clock, inline
        )
        self.namespace.home.fresh_ids = self.fresh_ids
        self.left.append(self.namespace)

    def fresh_ids(self, count: int) -> list[str]:
        """Ties are broken by ids: a program that fails does so again."""
        self.ids += count
        return [f"m{self.ids - place:05}" for place in range(count)]

    async def play(self, program: list[Step]) -> None:
        await self.open()
        for number, step in enumerate(program):
            self.clock.advance(step.asked["seconds"] if step.op == "time" else 1)
            self.memory.now = self.clock.ns
            settle(self.memory)
            await self.take(step, number)
            settle(self.memory)  # what was written may have stopped being true before
            await self.agree()
            await check_reads(self.memory, self.ask, step.asked)

    async def take(self, step: Step, number: int) -> None:
        if step.op == "crash":
            await self.lose_power()
        elif step.op == "leave":
            await self.namespace.leave()
            await self.open()
        elif step.op != "time":
            await (self.interrupted if step.crash is not None else self.answered)(step, number)

    async def answered(self, step: Step, number: int) -> None:
        asked = resolved(self.memory, step)
        wire = on_the_wire(step.op, asked, self.namespace.home.state)
        if wire is None:
            return
        real = await self.ask(step.op, wire, f"key-{number}" if step.twice else "")
        if step.twice and isinstance(real, dict) and not asked.get("dry_run"):  # which remembers nothing
            assert await self.ask(step.op, wire, f"key-{number}") == real, "a retry was answered otherwise"
        self.memory, expected = self.expected(self.memory, step.op, asked, real)
        compare(real, expected)

    def expected(self, memory: Memory, op: str, asked: Answer, real: Answer | str) -> tuple[Memory, Answer | str]:
        """The model after the request, and its answer. What is refused or only tried leaves no trace."""
        after = deepcopy(memory)
        after.hints = hints_of(self.namespace.home.state, asked, real)
        try:
            answer = answer_of(after, op, asked)
        except Refused as refusal:
            if asked.get("dry_run") and str(refusal) == "PINNED_CONFLICT":
                return memory, {"conflict_verdict": "rejected", "noop": True}
            return memory, str(refusal)
        return (
            (memory, answer | {"noop": True} if "noop" in answer else answer)
            if asked.get("dry_run")
            else (after, answer)
        )

    async def ask(self, op: str, wire: Answer, key: str = "") -> Answer | str:
        reply = await answer_to(self.namespace, call_of(op, SETTINGS, key, **wire))
        return reply.error.code if reply.error is not None else reply.answer or {}

    async def interrupted(self, step: Step, number: int) -> None:
        """The power fails under way: afterwards the request has been carried out, or nothing has."""
        asked = resolved(self.memory, step)
        wire = on_the_wire(step.op, asked, self.namespace.home.state)
        if wire is None:
            return
        asking = asyncio.get_running_loop().create_task(self.ask(step.op, wire))
        for _ in range(step.crash or 0):
            await asyncio.sleep(0)
        told = asking.result() if asking.done() else None
        self.left.append(asking)
        await self.lose_power()
        done, expected = self.expected(self.memory, step.op, asked, told or {})
        if told is not None:
            compare(told, expected)
        state = self.namespace.home.state
        if told is not None or not differences(done, state):
            self.memory = done

    async def lose_power(self) -> None:
        self.blobs.pause()
        self.disk.crash()
        await self.open()

    async def agree(self) -> None:
        await self.ask("memory.list", {"count_only": True})  # whoever comes carries out what has ended
        state = self.namespace.home.state
        check_state(state)
        check_vectors(self.namespace)
        found = differences(self.memory, state)
        assert not found, "\n".join(["the state is another:", *found])


def compare(real: Answer | str, expected: Answer | str) -> None:
    if isinstance(real, str) or isinstance(expected, str):
        assert real == expected, f"answered {real}, expected {expected}"
        return
    seen = real | entries_of(real)
    for name, value in expected.items():
        assert seen.get(name) == value, f"answered {name}={seen.get(name)!r}, expected {value!r}; whole: {real}"


def entries_of(real: Answer) -> Answer:
    """What a batch answers: the verdicts by the places of its entries, or the keys that were changed and refused."""
    if "merged" in real:
        lists = {name: [(it["index"], it["conflict_verdict"]) for it in real[name]] for name in ("written", "merged")}
        refused = [it["index"] for name in ("rejected_pinned", "skipped_pinned", "skipped_locked") for it in real[name]]
        return lists | {"refused": sorted(refused)}
    found: Answer = {"applied": sorted(it["memory_key"] for it in real["applied"])} if "applied" in real else {}
    if "refused" in real:
        found["refused"] = sorted((it["memory_key"], it["code"]) for it in real["refused"])
    return found


def play(program: list[Step], seed: int = 0) -> None:
    """AssertionError naming the difference and the program as a list of requests."""
    done = Play()
    try:
        run(seed, lambda: done.play(program))
    except AssertionError as difference:
        told = "\n".join(f"  {number}. {step}" for number, step in enumerate(program))
        raise AssertionError(f"{difference}\nin the program:\n{told}") from None
