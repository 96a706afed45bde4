"""Who writes while processes die? Clients that retry under one Idempotency-Key until they are answered."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

LETTERS = "abcdefghijklmnopqrstuvwxyz"
KEYS_A_WRITER = 4
PAUSE_S = 0.05
ASK_S_MAX = 60.0


@dataclass
class Storm:
    """Some writers on one namespace. No two texts are alike, so that no write changes another's row."""

    base_url: str
    namespace: str
    writers: int = 16
    acknowledged: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # key: values in order
    under_way: dict[int, dict[str, Any]] = field(default_factory=dict)  # by writer: the body that has no answer yet
    answered_at: float = 0.0  # when the request was sent that was answered last (time.monotonic)
    refused: int = 0
    blowing: bool = True

    async def blow(self, meanwhile: Callable[[], Awaitable[None]]) -> None:
        """Until `meanwhile` is over."""
        async with httpx.AsyncClient(base_url=self.base_url, timeout=ASK_S_MAX) as client:
            tasks = [asyncio.create_task(self._write(client, number)) for number in range(self.writers)]
            try:
                await meanwhile()
            finally:
                self.blowing = False
                await asyncio.gather(*tasks)

    async def finish(self) -> None:
        """Sends what was under way again, under the same keys, until it is answered."""
        self.blowing = True
        async with httpx.AsyncClient(base_url=self.base_url, timeout=ASK_S_MAX) as client:
            left = sorted(self.under_way.items())
            await asyncio.gather(*(self._until_answered(client, number, body) for number, body in left))

    async def check(self) -> None:
        """Every key has exactly the values that were acknowledged, in order, and is found by its own text."""
        async with httpx.AsyncClient(base_url=self.base_url, timeout=ASK_S_MAX) as client:
            for key, values in self.acknowledged.items():
                got = await self._ask(client, "memory.get", {"memory_key": key})
                assert got["value"] == values[-1], f"{key} has another text than was acknowledged"
                rows = (await self._ask(client, "memory.history", {"memory_key": key, "limit": 1000}))["rows"]
                assert [row["value"] for row in rows][::-1] == values, f"{key}: lost or doubled"
                hit = (await self._ask(client, "memory.search", {"query": values[-1], "top_k": 1}))["results"][0]
                assert hit["memory_key"] == key, f"the text of {key} finds {hit['memory_key']}"
                assert hit["similarity"] > 0.999, f"{key} has another text's vector"

    @property
    def facts(self) -> int:
        return sum(map(len, self.acknowledged.values()))

    async def _write(self, client: httpx.AsyncClient, writer: int) -> None:
        random, turn = Random(writer), 0
        while self.blowing:
            words = ("".join(random.choices(LETTERS, k=9)) for _ in range(5))
            body = {"memory_key": f"w{writer}/{turn % KEYS_A_WRITER}", "value": f"{' '.join(words)} {turn}"}
            self.under_way[writer] = body | {"idempotency_key": f"{writer}-{turn}"}
            await self._until_answered(client, writer, self.under_way[writer])
            turn += 1

    async def _until_answered(self, client: httpx.AsyncClient, writer: int, body: dict[str, Any]) -> None:
        claim = {"memory_key": body["memory_key"], "value": body["value"], "namespace": self.namespace}
        while self.blowing:
            sent_at = time.monotonic()
            try:
                headers = {"Idempotency-Key": body["idempotency_key"]}
                response = await client.post("/v1/memory.set", json=claim, headers=headers)
            except httpx.HTTPError:  # nobody listens
                await asyncio.sleep(PAUSE_S)
                continue
            if response.status_code == 200:
                assert not response.json()["noop"], response.text
                self.acknowledged[body["memory_key"]].append(body["value"])
                self.answered_at = max(self.answered_at, sent_at)
                del self.under_way[writer]
                return
            assert response.status_code in (502, 503), response.text
            self.refused += 1
            await asyncio.sleep(PAUSE_S)

    async def _ask(self, client: httpx.AsyncClient, op: str, arguments: dict[str, Any]) -> dict[str, Any]:
        response = await client.post(f"/v1/{op}", json=arguments | {"namespace": self.namespace})
        assert response.status_code == 200, response.text
        return response.json()
