"""How long do judged writes and searches take, and how far is that from what their parts cost alone?

    python benchmarks/latency.py [--rows 1000,10000,100000] [--clients 1,8,32] [--seconds 5] [--base-url URL]

Without --base-url it starts a server of its own on a free port, over a temporary folder with namespaces that it has
filled beforehand (their snapshots are written in this process, unjudged); only then does it say what a row costs in
memory and how long a wake-up takes. With --base-url it fills a fresh org by `memory.bulk_set`.

Of ten writes eight are new facts, one contradicts a stored fact, one repeats a stored fact under another key. A search
asks for one stored fact by its sentence with another value. `rows` are those at the start: writes add to them.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import latency_floors as floors
from latency_facts import Fact, contradiction, fact, restatement
from latency_load import Asked, Load, run, session
from latency_report import report
from latency_server import ORG, fill_all, namespace_actors, namespace_of
from server import Server, running

BULK = 500
NO_OP = Asked("/v1/memory.set", lambda _: [], status=400)  # the app reads the body and refuses it
HEALTH = Asked("/v1/health", None)  # HAProxy answers it itself, so this is the client's own bound


@dataclass
class Waking:
    """What a namespace's process costs. Seconds and bytes."""

    first_answer_s: float
    first_search_s: float
    resident_bytes: int
    after_kill_s: float = 0.0


@dataclass
class Measured:
    """Everything that one run found. Floors are seconds of single steps, by name."""

    floors: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    vector_search: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    no_op: dict[int, Load] = field(default_factory=dict[int, Load])
    health: dict[int, Load] = field(default_factory=dict[int, Load])
    writes: dict[tuple[int, int], Load] = field(default_factory=dict[tuple[int, int], Load])  # by rows, clients
    searches: dict[tuple[int, int], Load] = field(default_factory=dict[tuple[int, int], Load])
    waking: dict[int, Waking] = field(default_factory=dict[int, Waking])


def main() -> None:
    arguments = _arguments()
    measured = Measured()
    _measure_floors(measured, arguments.rows)
    if arguments.base_url:
        asyncio.run(_measure_server(measured, arguments, f"bench-{uuid.uuid4().hex[:8]}", None))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "data"
            _say("filling the namespaces")
            asyncio.run(fill_all(folder, arguments.rows))
            _say("starting the server")
            with running(folder) as server:
                arguments.base_url = server.base_url
                asyncio.run(_measure_server(measured, arguments, ORG, server))
    print("\n".join(report(measured)))


def _arguments() -> argparse.Namespace:
    def numbers(text: str) -> list[int]:
        return [int(number) for number in text.split(",")]

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=numbers, default=[1_000, 10_000, 100_000])
    parser.add_argument("--clients", type=numbers, default=[1, 8, 32])
    parser.add_argument("--seconds", type=float, default=5.0, help="of each load")
    parser.add_argument("--base-url", default="")
    return parser.parse_args()


def _say(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what} …", file=sys.stderr)


def _measure_floors(measured: Measured, sizes: list[int]) -> None:
    _say("measuring the floors")
    measured.floors["bare actor call"] = floors.actor_call()
    measured.floors["bare embedder, one text"] = floors.embedder([fact(number).value for number in range(1_000)])
    measured.floors["bare put and fsync"] = floors.durable_put(Path(tempfile.gettempdir()))
    for rows in sizes:
        measured.vector_search[rows] = floors.vector_search(rows)


async def _measure_server(measured: Measured, arguments: argparse.Namespace, org: str, server: Server | None) -> None:
    url, seconds = arguments.base_url, arguments.seconds
    if server is not None:
        measured.waking[0] = await _wake(server, org, 0)
    for clients in arguments.clients:
        _say(f"no-ops, {clients} clients")
        measured.health[clients] = await run(url, HEALTH, clients, seconds, itertools.count().__next__)
        measured.no_op[clients] = await run(url, NO_OP, clients, seconds, itertools.count().__next__)
    for rows in arguments.rows:
        if server is None:
            await _fill_by_http(url, org, rows)
        else:
            _say(f"waking {rows} rows")
            measured.waking[rows] = await _wake(server, org, rows)
        await _measure_loads(measured, arguments, org, rows)
        if server is not None:
            measured.waking[rows].after_kill_s = await _kill_and_wait(server, org, rows)


async def _measure_loads(measured: Measured, arguments: argparse.Namespace, org: str, rows: int) -> None:
    url, seconds = arguments.base_url, arguments.seconds
    writes, searches = _writes(org, rows), _searches(org, rows)
    numbers = itertools.count(rows).__next__
    for clients in arguments.clients:
        _say(f"{rows} rows, {clients} clients")
        measured.searches[rows, clients] = await run(url, searches, clients, seconds, numbers)
        measured.writes[rows, clients] = await run(url, writes, clients, seconds, numbers)


# ---- what is asked ----------------------------------------------------------------------------------------------
def _scope(org: str, rows: int) -> dict[str, str]:
    return {"org": org, "namespace": namespace_of(rows)}


def _writes(org: str, rows: int) -> Asked:
    def written(number: int) -> Fact:
        earlier = number * 7919 % rows
        return {3: contradiction, 7: restatement}.get(number % 10, lambda _: fact(number))(earlier)

    return Asked(
        "/v1/memory.set",
        lambda number: _scope(org, rows) | asdict(written(number)),
        noted=lambda answer: answer["conflict_verdict"],
    )


def _searches(org: str, rows: int) -> Asked:
    return Asked(
        "/v1/memory.search",
        lambda number: _scope(org, rows) | {"query": contradiction(number * 7919 % rows).value},
        noted=lambda answer: "found" if answer["results"] else "nothing",
    )


async def _fill_by_http(url: str, org: str, rows: int) -> None:
    _say(f"filling {rows} rows by memory.bulk_set")
    async with session(url, 1) as http:
        for start in range(0, rows, BULK):
            entries = [asdict(fact(number)) for number in range(start, min(start + BULK, rows))]
            async with http.post("/v1/memory.bulk_set", json=_scope(org, rows) | {"entries": entries}) as response:
                response.raise_for_status()


# ---- waking -----------------------------------------------------------------------------------------------------
async def _wake(server: Server, org: str, rows: int) -> Waking:
    """The namespace is asleep before."""
    before = namespace_actors(server)
    first_answer_s = await _seconds_to_row(server, org, rows)
    query = _scope(org, rows) | {"query": fact(0).value}
    first_search_s = await _seconds(
        server, "/v1/memory.search", query, lambda answer: bool(answer["results"]) == bool(rows)
    )
    after = namespace_actors(server)
    return Waking(first_answer_s, first_search_s, sum(after[pid] for pid in after.keys() - before.keys()))


async def _seconds_to_row(server: Server, org: str, rows: int) -> float:
    body = _scope(org, rows) | {"memory_key": fact(0).memory_key}
    return await _seconds(server, "/v1/memory.get", body, lambda answer: answer["found"] == bool(rows))


async def _seconds(server: Server, path: str, body: dict[str, Any], told: Callable[[Any], bool]) -> float:
    """How long the answer took; it must be what is expected."""
    began = time.perf_counter()
    async with session(server.base_url, 1) as http, http.post(path, json=body) as response:
        answer = await response.json()
    took = time.perf_counter() - began
    if not told(answer):
        raise SystemExit(f"{path} of {body}: {answer}")
    return took


async def _kill_and_wait(server: Server, org: str, rows: int) -> float:
    """Every awake namespace is killed; seconds to the first answer of this one."""
    _say(f"killing {rows} rows")
    for pid in namespace_actors(server):
        os.kill(pid, signal.SIGKILL)
    return await _seconds_to_row(server, org, rows)


if __name__ == "__main__":
    main()
