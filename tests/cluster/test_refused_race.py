"""Is there a moment at which a refused value gets in? Writers at two gateways while it is added, and kills."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
import pytest
from loom_server import LoomServer, wait_until

WRITERS = 8
NAMESPACE = "refusal"
AFTERWARDS = 3  # writes of each writer that begin after the answer


@dataclass
class Hammer:
    """Writers that put one word into ever new keys, and what became of each write."""

    client: httpx.AsyncClient
    word: str
    blowing: bool = True
    landed: list[float] = field(default_factory=list)  # when the write began
    refused: list[float] = field(default_factory=list)
    numbers: count[int] = field(default_factory=count)

    async def blow(self) -> None:
        while self.blowing:
            await self.strike()

    async def strike(self) -> None:
        key, began = f"{self.word}/{next(self.numbers)}", time.monotonic()
        claim = {"memory_key": key, "value": f"about {self.word}", "memory_type": "episodic"}
        status, answer = await ask(self.client, "memory.set", claim)
        if status == 200:
            self.landed.append(began)
        else:
            assert (status, answer["detail"]["code"]) == (422, "BLACKLISTED"), answer
            self.refused.append(began)


async def ask(client: httpx.AsyncClient, op: str, arguments: dict[str, Any]) -> tuple[int, Any]:
    response = await client.post(f"/v1/{op}", json={"namespace": NAMESPACE} | arguments)
    return response.status_code, response.json()


async def one_round(client: httpx.AsyncClient, word: str) -> None:
    hammer = Hammer(client, word)
    tasks = [asyncio.create_task(hammer.blow()) for _ in range(WRITERS)]
    while len(hammer.landed) < WRITERS:  # noqa: ASYNC110 - writes of other processes
        await asyncio.sleep(0.001)
    status, answer = await ask(client, "blacklist.add", {"pattern": word, "reason": "race"})
    answered = time.monotonic()
    assert status == 200, answer
    hammer.blowing = False
    await asyncio.gather(*(hammer.strike() for _ in range(WRITERS * AFTERWARDS)))
    await asyncio.gather(*tasks)
    late = [began for began in hammer.landed if began > answered]
    assert not late, f"{len(late)} writes of {word} began after the answer and landed"
    assert len([began for began in hammer.refused if began > answered]) >= WRITERS * AFTERWARDS
    (listed,) = [await ask(client, "memory.list", {"prefix": f"{word}/", "count_only": True})]
    assert listed[1]["count"] == len(hammer.landed)
    status, answer = await ask(client, "blacklist.remove", {"pattern_id": answer["pattern_id"]})
    assert answer["removed"]


async def test_no_write_that_begins_after_the_answer_lands(server: LoomServer, request: pytest.FixtureRequest) -> None:
    """`pytest tests/cluster/test_refused_race.py --rounds 200` plays so many."""
    limits = httpx.Limits(max_connections=64)
    async with httpx.AsyncClient(base_url=server.base_url, timeout=60.0, limits=limits) as client:
        for number in range(request.config.getoption("--rounds", default=20)):
            await one_round(client, f"saffron{number}x")


def test_the_patterns_outlive_a_killed_keeper(server: LoomServer) -> None:
    status, added = server.post("blacklist.add", namespace=NAMESPACE, pattern="Falkenberg", scope="org")
    assert status == 200, added
    (keeper,) = server.processes_of("BlacklistActor")
    os.kill(keeper, signal.SIGKILL)
    claim = {"namespace": NAMESPACE, "memory_key": "k", "memory_type": "episodic"}
    assert server.post("memory.set", **claim, value="about Falkenberg")[0] == 422
    assert server.post("memory.set", **claim, value="about the kettle")[0] == 200
    woken = claim | {"namespace": "woken-meanwhile"}
    assert server.post("memory.set", **woken, value="about Falkenberg")[0] in (422, 503)

    def listed() -> bool:
        status, answer = server.post("blacklist.list", namespace=NAMESPACE)
        return status == 200 and [row["pattern_id"] for row in answer["rows"]] == [added["pattern_id"]]

    wait_until(listed, 60, "a new keeper with the same patterns")
    assert server.post("memory.set", **claim | {"namespace": "woken-later"}, value="about Falkenberg")[0] == 422
    assert server.post("blacklist.remove", namespace=NAMESPACE, pattern_id=added["pattern_id"])[1]["removed"]
    assert server.post("memory.set", **claim | {"namespace": "woken-later"}, value="about Falkenberg")[0] == 200


def test_a_killed_namespace_knows_what_it_must_refuse(server: LoomServer) -> None:
    status, added = server.post("blacklist.add", namespace="killed", pattern="Merlin")
    assert status == 200, added
    known = set(server.processes_of("NamespaceActor"))
    claim = {"namespace": "killed", "memory_key": "k", "memory_type": "episodic"}
    assert server.post("memory.set", **claim, value="about the kettle")[0] == 200
    for pid in set(server.processes_of("NamespaceActor")) - known:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: server.post("memory.set", **claim, value="about Merlin")[0] != 503, 60, "the namespace again")
    assert server.post("memory.set", **claim, value="about Merlin")[0] == 422
