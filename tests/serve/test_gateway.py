"""What does a client see when its namespace leaves, dies or is late, and is anything then carried out twice?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from loom_ray.actors.calls import Call, NamespaceGone, Reply
from loom_ray.actors.directory import Place
from loom_ray.contract.arguments import read_request
from loom_ray.contract.errors import BackendUnavailable, InvalidRequest, OutcomeUnknown, Overloaded
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings
from loom_ray.serve.gateway import WAKES_MAX, Gateway

Step = str | Exception


class Stage:
    """A cluster that does what its script says for each trip, and counts what was really carried out.

    `done`, `pending`, `moved`; `lost`: carried out, and then the process died; an exception is raised as it is.
    """

    def __init__(self, *script: Step, finishes: Sequence[Step] = ()) -> None:
        self.script = list(script)
        self.finishes = list(finishes)
        self.carried_out: list[str] = []
        self.trips: list[list[Call]] = []
        self.wakes = 0
        self.wake_failure: Exception | None = None
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def serve(self, place: Place, calls: list[Call]) -> list[Reply]:
        self.trips.append(calls)
        await self.may_answer.wait()
        step = self.script.pop(0) if self.script else "done"
        return [self._reply(step, call) for call in calls]

    async def finish(self, place: Place, call_id: str) -> Reply:
        step = self.finishes.pop(0)
        if isinstance(step, Exception):
            raise step
        return Reply(answer={"from": "finish"})

    async def wake(self, place: Place) -> None:
        self.wakes += 1
        if self.wake_failure:
            raise self.wake_failure

    async def touch(self, places: Sequence[Place]) -> None:
        return

    async def not_ready(self) -> dict[str, str]:
        return {}

    def _reply(self, step: Step, call: Call) -> Reply:
        if isinstance(step, Exception):
            raise step
        if step in ("done", "lost", "pending") and (not call.idempotency_key or call.call_id not in self.carried_out):
            self.carried_out.append(call.call_id)
        if step == "lost":
            raise NamespaceGone(looked_at=True)
        answer = {"from": "serve"} if step == "done" else None
        return Reply(answer=answer, pending=step == "pending", moved=step == "moved")


def never_begun() -> Exception:
    return NamespaceGone(looked_at=False)


def begun() -> Exception:
    return NamespaceGone(looked_at=True)


async def ask(stage: Stage, op: str, key: str = "", settings: Settings | None = None) -> dict[str, Any]:
    return await asked(Gateway(settings or Settings(), stage), op, key)


async def asked(gateway: Gateway, op: str, key: str = "", **more: Any) -> dict[str, Any]:
    arguments = {"memory_key": "a"} | ({"value": "hot"} if op == "memory.set" else {}) | more
    request = read_request(OPS[op], json.dumps(arguments).encode(), Settings())
    return await gateway.ask(OPS[op], request, key)


@pytest.mark.parametrize("op", ["memory.get", "memory.set"])
@pytest.mark.parametrize("step", ["moved", never_begun()])
async def test_what_was_never_looked_at_is_sent_again(op: str, step: Step):
    stage = Stage(step, step)
    assert await ask(stage, op) == {"from": "serve"}
    assert (stage.wakes, len(stage.carried_out)) == (2, 1)


async def test_a_read_is_sent_again_whoever_looked_at_it():
    stage = Stage("lost", begun())
    assert await ask(stage, "memory.get") == {"from": "serve"}


async def test_a_write_without_a_key_that_somebody_looked_at_is_unknown_and_not_sent_again():
    stage = Stage("lost")
    with pytest.raises(OutcomeUnknown) as refusal:
        await ask(stage, "memory.set")
    assert refusal.value.detail("r-1")["outcome"] == "unknown"
    assert (len(stage.carried_out), len(stage.trips), stage.wakes) == (1, 1, 0)


async def test_a_write_with_a_key_is_sent_again_under_the_same_key():
    stage = Stage("lost", begun())
    assert await ask(stage, "memory.set", "key-1") == {"from": "serve"}
    assert [call.idempotency_key for trip in stage.trips for call in trip] == ["key-1"] * 3
    assert len({call.body_sha256 for trip in stage.trips for call in trip}) == 1
    assert len(stage.carried_out) == 1


async def test_a_pending_write_whose_namespace_goes_was_begun_whatever_it_says_of_its_leaving():
    stage = Stage("pending", finishes=[never_begun()])
    with pytest.raises(OutcomeUnknown):
        await ask(stage, "memory.set")
    assert len(stage.carried_out) == 1


async def test_a_pending_reply_is_fetched_and_a_read_or_a_keyed_write_that_loses_it_is_sent_again():
    assert await ask(Stage("pending", finishes=["done"]), "memory.set") == {"from": "finish"}
    assert await ask(Stage("pending", finishes=[begun()]), "memory.get") == {"from": "serve"}
    assert await ask(Stage("pending", finishes=[begun()]), "memory.set", "key-1") == {"from": "serve"}


async def test_a_namespace_that_keeps_failing_is_unavailable_and_a_keyed_write_it_began_is_unknown():
    stage = Stage(*[never_begun()] * WAKES_MAX)
    with pytest.raises(BackendUnavailable):
        await ask(stage, "memory.set", "key-1")
    assert stage.carried_out == []
    with pytest.raises(OutcomeUnknown):
        await ask(Stage(begun(), *[never_begun()] * WAKES_MAX), "memory.set", "key-1")


async def test_where_it_cannot_be_woken_the_client_hears_whether_its_write_was_begun():
    stage = Stage(never_begun())
    stage.wake_failure = BackendUnavailable("no room", retry_after_s=1.0)
    with pytest.raises(BackendUnavailable, match="no room"):
        await ask(stage, "memory.set", "key-1")
    stage = Stage(begun())
    stage.wake_failure = BackendUnavailable("no room", retry_after_s=1.0)
    with pytest.raises(OutcomeUnknown, match="no room"):
        await ask(stage, "memory.set", "key-1")


@pytest.mark.parametrize(("op", "refusal"), [("memory.get", BackendUnavailable), ("memory.set", OutcomeUnknown)])
async def test_past_the_deadline_a_read_is_unavailable_and_a_write_unknown(op: str, refusal: type[Exception]):
    stage = Stage()
    stage.may_answer.clear()
    with pytest.raises(refusal, match=r"no answer within 0\.02 s"):
        await ask(stage, op, settings=Settings(request_deadline_s=0.02))


async def test_a_refusal_of_the_namespace_is_the_clients():
    refused = InvalidRequest("value: too hot")

    class Refusing(Stage):
        async def serve(self, place: Place, calls: list[Call]) -> list[Reply]:
            return [Reply(error=refused) for _ in calls]

    with pytest.raises(InvalidRequest, match="too hot"):
        await ask(Refusing(), "memory.set")


async def test_requests_of_one_namespace_share_trips_and_those_of_another_do_not_wait_for_them():
    stage = Stage()
    gateway = Gateway(Settings(), stage)
    stage.may_answer.clear()
    first = asyncio.create_task(asked(gateway, "memory.get"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    crowd = [asyncio.create_task(asked(gateway, "memory.get")) for _ in range(5)]
    other = asyncio.create_task(asked(gateway, "memory.get", namespace="other"))
    for _ in range(5):
        await asyncio.sleep(0)
    assert [len(trip) for trip in stage.trips] == [1, 1]
    assert [trip[0].request.namespace for trip in stage.trips] == ["local", "other"]
    stage.may_answer.set()
    await asyncio.gather(first, *crowd, other)
    assert [len(trip) for trip in stage.trips] == [1, 1, 5]


async def test_past_its_bound_a_namespaces_line_is_overloaded_and_others_go_on():
    stage = Stage()
    gateway = Gateway(Settings(namespace_queue_max=2, gateway_batch_max=1), stage)
    stage.may_answer.clear()
    tasks = [asyncio.create_task(asked(gateway, "memory.get"))]
    for _ in range(3):
        await asyncio.sleep(0)
    tasks += [asyncio.create_task(asked(gateway, "memory.get")) for _ in range(2)]
    for _ in range(3):
        await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await asked(gateway, "memory.get")
    stage.may_answer.set()
    assert await asked(gateway, "memory.get", namespace="other") == {"from": "serve"}
    await asyncio.gather(*tasks)
