"""How long does a queue of 10,000 conflicts take: to list, to group by cause, and to settle group by group?

    python benchmarks/settling.py [--pairs 10000]

The namespace is written as a snapshot (pairs of five templates, flagged against each other), then served by a real
server. Times are of single requests over HTTP; the floor is `memory.list` of one page of the same namespace.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from latency_server import ORG, embedded_texts, namespace_actors, written_down
from server import running

from loom_ray.contract.settings import Settings
from loom_ray.contract.writing import SetRequest
from loom_ray.core.decide.claim import settle
from loom_ray.core.decide.outcome import Outcome
from loom_ray.core.decide.rules import Rules
from loom_ray.core.decide.store import store
from loom_ray.core.draft import By, Draft
from loom_ray.core.row import Row, Status
from loom_ray.core.state import State

NAMESPACE = "queue"
TEMPLATES = (
    "The {} service listens on port {}.",
    "Backups of {} are kept for {} days.",
    "Requests to {} time out after {} seconds.",
    "The {} cluster has {} nodes.",
    "Version {}.{} is deployed in production.",
)
PAGE = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000)
    pairs = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        asyncio.run(fill(data, pairs))
        with running(data) as server, httpx.Client(base_url=server.base_url, timeout=600) as client:
            measure(client)
            megabytes = max(namespace_actors(server).values()) / 2**20
            print(f"resident             {megabytes:8.0f} MB of the namespace's process")


# ---- filling ----------------------------------------------------------------------------------------------------
def texts_of(pairs: int) -> list[str]:
    """Both sides of each pair, one after the other."""
    subjects = [f"unit-{number}" for number in range(pairs)]
    return [
        TEMPLATES[number % len(TEMPLATES)].format(subject, value)
        for number, subject in enumerate(subjects)
        for value in (14 + number % 7, 30 + number % 11)
    ]


async def fill(folder: Path, pairs: int) -> None:
    texts = texts_of(pairs)
    vectors = await embedded_texts(texts)
    settings = Settings()
    draft = Draft(State(), time.time_ns(), By("memory.set", "-"))
    rows: list[Row] = []
    for number, text in enumerate(texts):
        asked = {"memory_key": f"unit/{number // 2}/{number % 2}", "value": text}
        request = SetRequest.model_validate(asked, context={"settings": settings})
        settled = settle(request, request, None, Rules(settings))
        clear = Outcome("clear", "nothing_close")
        memory_id = f"00000000-0000-4000-8000-{number:012d}"
        rows.append(store(draft, settled, clear, vectors[number : number + 1], memory_id))
    flagged = [
        replace(row, status=Status.CONFLICTED, conflict_with=(rows[number ^ 1].memory_id,))
        for number, row in enumerate(rows)
    ]
    await written_down(folder, NAMESPACE, flagged, [vectors[at : at + 1] for at in range(len(rows))])


# ---- measuring --------------------------------------------------------------------------------------------------
def measure(client: httpx.Client) -> None:
    ask(client, "memory.list", limit=1)  # wakes it
    floor = timed(client, "floor: memory.list", "memory.list", None, limit=PAGE)[0]
    timed(client, "first page", "conflicts.list", floor, limit=PAGE)
    timed(client, "count", "conflicts.list", floor, count_only=True)
    timed(client, "groups, first time", "conflicts.list", floor, group_by="cause")
    groups = timed(client, "groups, again", "conflicts.list", floor, group_by="cause")[1]["groups"]
    print(f"{len(groups)} groups: {', '.join(str(group['pairs']) for group in groups)} pairs")
    decided = {"group_id": groups[0]["group_id"], "decision": "revise", "reason": "measured"}
    answer = timed(client, "1,000 of a group", "conflicts.resolve", floor, **decided)[1]
    print(f"{answer['pairs']} pairs settled, {answer['remaining']} left")


def timed(client: httpx.Client, name: str, op: str, floor: float | None, **arguments: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    answer = ask(client, op, **arguments)
    elapsed = time.perf_counter() - began
    times = "" if floor is None else f"{elapsed / floor:8.1f} times the floor"
    print(f"{name:20} {elapsed * 1000:8.0f} ms {times}")
    return elapsed, answer


def ask(client: httpx.Client, op: str, **arguments: Any) -> Any:
    answer = client.post(f"/v1/{op}", json={"org": ORG, "namespace": NAMESPACE} | arguments)
    if answer.status_code != 200:
        raise SystemExit(f"{op}: {answer.status_code} {answer.text}")
    return answer.json()


if __name__ == "__main__":
    main()
