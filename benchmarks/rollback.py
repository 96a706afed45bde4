"""How long does it take to take back a run of thousands of facts, and how long do others wait meanwhile?

    python benchmarks/rollback.py [--facts 2500]

A crawler writes the facts in bulks, half of them over what somebody had told before. Then its run is rolled back: dry,
for good, and that is undone by its commit_id. Beside each, a reader gets one key after the other. Times are of single
requests over HTTP; the floor is the dry run's.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx
from latency_facts import fact
from server import running

RUN, BULK = "crawl", 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=2_500)
    facts = parser.parse_args().facts
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "data") as server,
        httpx.Client(base_url=server.base_url, timeout=600) as client,
    ):
        fill(client, facts)
        measure(client)


def fill(client: httpx.Client, facts: int) -> None:
    write(client, {f"fact/{n}": f"{fact(n).value} Said by hand." for n in range(facts // 2)})
    write(client, {f"fact/{n}": fact(n).value for n in range(facts)}, run_id=RUN)


def write(client: httpx.Client, told: dict[str, str], **who: str) -> None:
    entries = [{"memory_key": key, "value": value} for key, value in told.items()]
    for start in range(0, len(entries), BULK):
        ask(client, "memory.bulk_set", entries=entries[start : start + BULK], **who)


def measure(client: httpx.Client) -> None:
    floor, _ = timed(client, "dry run", None, run_id=RUN)
    _, answer = timed(client, "applied", floor, run_id=RUN, dry_run=False)
    print(f"{answer['removed']} removed, {answer['restored']} restored, {answer['kept']} kept")
    _, undone = timed(client, "undone", floor, commit_id=answer["commit_id"], dry_run=False)
    print(f"{undone['removed']} removed, {undone['restored']} restored, {undone['kept']} kept")


def timed(client: httpx.Client, name: str, floor: float | None, **arguments: Any) -> tuple[float, Any]:
    """Prints the request's seconds, and the longest that a reader beside it had to wait."""
    over = threading.Event()
    waits: list[float] = []
    reader = threading.Thread(target=read, args=(str(client.base_url), over, waits))
    reader.start()
    began = time.perf_counter()
    answer = ask(client, "memory.rollback", **arguments)
    elapsed = time.perf_counter() - began
    over.set()
    reader.join()
    times = "" if floor is None else f"{elapsed / floor:5.1f} times the dry run"
    print(f"{name:10} {elapsed:6.2f} s, a reader beside it waits at most {max(waits):5.2f} s {times}")
    return elapsed, answer


def read(base_url: str, over: threading.Event, waits: list[float]) -> None:
    with httpx.Client(base_url=base_url, timeout=600) as client:
        while not over.is_set():
            began = time.perf_counter()
            ask(client, "memory.get", memory_key="fact/0")
            waits.append(time.perf_counter() - began)


def ask(client: httpx.Client, op: str, **arguments: Any) -> Any:
    answer = client.post(f"/v1/{op}", json=arguments)
    if answer.status_code != 200:
        raise SystemExit(f"{op}: {answer.status_code} {answer.text}")
    return answer.json()


if __name__ == "__main__":
    main()
