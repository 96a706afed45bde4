"""How long do requests take with this many clients? Keep-alive connections in one process, each with one request."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp  # comes with ray[serve]; a fifth of httpx's cost a request, and the client shares the server's cores
import numpy as np
import orjson

Body = dict[str, Any]


@dataclass
class Load:
    """What one load measured: seconds of each request that was answered as expected, and what the others were."""

    clients: int
    latencies_s: list[float] = field(default_factory=list[float])
    elapsed_s: float = 0.0
    client_cpu_s: float = 0.0
    answers: Counter[str] = field(default_factory=Counter[str])

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.latencies_s) / self.elapsed_s

    def percentile_ms(self, percent: float) -> float:
        return percentile_ms(self.latencies_s, percent)


def percentile_ms(latencies_s: list[float], percent: float) -> float:
    return float(np.percentile(latencies_s, percent)) * 1000


def session(base_url: str, clients: int) -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=clients, keepalive_timeout=60)
    return aiohttp.ClientSession(base_url, connector=connector, timeout=aiohttp.ClientTimeout(total=120))


@dataclass(frozen=True)
class Asked:
    """A kind of request: where it goes, what its body is by number, and what of the answer is counted."""

    path: str
    body: Callable[[int], Any] | None  # None: a GET
    status: int = 200
    noted: Callable[[Any], str] | None = None


async def run(base_url: str, asked: Asked, clients: int, seconds: float, numbers: Callable[[], int]) -> Load:
    """`clients` connections for `seconds`; each sends its next request when the last is answered."""
    load = Load(clients)
    async with session(base_url, clients) as http:
        await asyncio.gather(*(_once(http, asked, numbers(), Load(clients)) for _ in range(clients)))
        began, cpu = time.perf_counter(), time.process_time()
        deadline = began + seconds
        await asyncio.gather(*(_client(http, asked, numbers, deadline, load) for _ in range(clients)))
        load.elapsed_s, load.client_cpu_s = time.perf_counter() - began, time.process_time() - cpu
    return load


async def _client(
    http: aiohttp.ClientSession, asked: Asked, numbers: Callable[[], int], deadline: float, load: Load
) -> None:
    while time.perf_counter() < deadline:
        await _once(http, asked, numbers(), load)


async def _once(http: aiohttp.ClientSession, asked: Asked, number: int, load: Load) -> None:
    body = None if asked.body is None else orjson.dumps(asked.body(number))
    began = time.perf_counter()
    async with http.request("GET" if body is None else "POST", asked.path, data=body) as response:
        answer = await response.read()
    took = time.perf_counter() - began
    if response.status != asked.status:
        load.answers[f"status {response.status}"] += 1
        return
    load.latencies_s.append(took)
    if asked.noted is not None:
        load.answers[asked.noted(orjson.loads(answer))] += 1
