"""Is a rollback whole, or not at all, when its namespace is killed in the middle of it? And is its undo still exact?"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from random import Random
from typing import Any

import httpx
import pytest
from loom_server import LoomServer

NAMESPACE = "taken-back"
FACTS = 120
RUN = "crawl"
Seen = dict[str, Any]


class Clients:
    """Each request is sent until it is answered, under a key of its own."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client, self.sent, self.unanswered = client, 0, 0

    async def ask(self, op: str, **arguments: Any) -> Any:
        self.sent += 1
        headers = {"Idempotency-Key": f"request-{self.sent}"}
        while True:
            response = await self.client.post(f"/v1/{op}", json={"namespace": NAMESPACE} | arguments, headers=headers)
            if response.status_code == 200:
                return response.json()
            assert response.status_code in (502, 503), response.text
            self.unanswered += 1
            await asyncio.sleep(0.02)

    async def rows(self) -> dict[str, Seen]:
        """All that readers see, by key."""
        answer = await self.ask("memory.list", limit=1000, include_duplicates=True)
        assert answer["count"] == len(answer["rows"])
        told = ("memory_id", "value", "status", "conflict_with", "duplicate_of", "tags")
        return {row["memory_key"]: {name: row.get(name) for name in told} for row in answer["rows"]}


async def killed_after(server: LoomServer, seconds: float) -> None:
    await asyncio.sleep(seconds)
    for pid in await asyncio.to_thread(server.processes_of, "NamespaceActor"):
        os.kill(pid, signal.SIGKILL)


async def test_a_rollback_is_whole_or_not_at_all_and_its_undo_exact(
    server: LoomServer, request: pytest.FixtureRequest
) -> None:
    """`pytest tests/cluster/test_rollback_kills.py --kills 20` kills it half as often, at any moment."""
    random = Random(7)
    async with httpx.AsyncClient(base_url=server.base_url, timeout=60.0) as client:
        people = Clients(client)
        entries = [{"memory_key": f"k{n}", "value": f"The {n}th kiln is lit by Ada."} for n in range(FACTS)]
        await people.ask("memory.bulk_set", entries=entries)
        before = await people.rows()
        crawled = [
            {"memory_key": f"k{n}", "value": f"The {n}th kiln is lit by Bo."} for n in range(FACTS // 2, FACTS * 2)
        ]
        await people.ask("memory.bulk_set", entries=crawled, run_id=RUN)
        after = await people.rows()
        assert len(before) == FACTS
        assert len(after) == FACTS * 2
        cause, seconds = {"run_id": RUN}, 0.0
        interrupted, kills = 0, request.config.getoption("--kills", default=10) // 2
        for number in range(kills + 1):  # the first is left alone, and tells how long one takes
            began = time.monotonic()
            rolling = asyncio.create_task(people.ask("memory.rollback", dry_run=False, **cause))
            if number:
                await killed_after(server, random.uniform(0, seconds))
                interrupted += not rolling.done()
                assert await people.rows() in (before, after), f"kill {number}: half of a rollback"
            answer = await rolling
            seconds = seconds or time.monotonic() - began
            assert await people.rows() == (after if number % 2 else before), f"kill {number}"
            cause = {"commit_id": answer["commit_id"]}
    assert interrupted
    print(f"\n{interrupted} of {kills} rollbacks were killed under way; one takes {seconds:.2f} s")
