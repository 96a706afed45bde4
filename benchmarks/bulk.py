"""How much of the embedder's rate is left to a bulk write? 1,000 new facts in one `memory.bulk_set`, judged and kept.

    python benchmarks/bulk.py [--rounds 5] [--turns PATH]

The facts are made: 24 templates over 2,000 subjects, so that each has many near neighbours to judge; or with
--turns the lines of a conversation (JSON lines with `date`, `speaker`, `text`). The floor is the bare embedder in this
process: the same texts, in one call, with its usual threads. Floor and server take turns, so that both meet the same
machine; every round has a namespace of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
from latency_facts import fact
from server import running

from loom_ray.actors.embedding.actor import EmbedderService
from loom_ray.contract.settings import Settings

ENTRIES = 1_000
Entry = dict[str, Any]
DEADLINE_S = 600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=Path)
    given = parser.parse_args()
    asyncio.run(measure(given.rounds, entries_of(given.turns, given.rounds + 1)))


def entries_of(turns: Path | None, rounds: int) -> list[list[Entry]]:
    """1,000 for each round, the unmeasured first included; the lines of a file come round again where it is shorter."""
    if turns is None:
        facts = [asdict(fact(number)) for number in range(rounds * ENTRIES)]
        entries = [{name: told for name, told in one.items() if told} for one in facts]
    else:
        lines = [json.loads(line) for line in turns.read_text().splitlines()]
        texts = [f"{line['date']} {line['speaker']}: {line['text']}" for line in lines]
        entries = [{"memory_key": f"turn/{n}", "value": texts[n % len(texts)]} for n in range(rounds * ENTRIES)]
    return [entries[start : start + ENTRIES] for start in range(0, len(entries), ENTRIES)]


async def measure(rounds: int, entries: list[list[Entry]]) -> None:
    bare: list[float] = []
    written: list[float] = []
    embedder = EmbedderService(Settings())
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "data") as server:
        for number in range(rounds + 1):  # the first round warms both up
            bare.append(await embed(embedder, [entry["value"] for entry in entries[number]]))
            written.append(write(server.base_url, f"round-{number}", entries[number]))
    await embedder.close()
    report([ENTRIES / seconds for seconds in bare[1:]], [ENTRIES / seconds for seconds in written[1:]])


async def embed(embedder: EmbedderService, texts: list[str]) -> float:
    """Seconds."""
    began = time.perf_counter()
    await embedder.embed(texts, DEADLINE_S)
    return time.perf_counter() - began


def write(base_url: str, namespace: str, entries: list[Entry]) -> float:
    """Seconds of the one request, beside the waking of the namespace."""
    with httpx.Client(base_url=base_url, timeout=DEADLINE_S) as client:
        client.post("/v1/namespace.register", json={"namespace": namespace}).raise_for_status()
        began = time.perf_counter()
        answer = client.post("/v1/memory.bulk_set", json={"namespace": namespace, "entries": entries})
        elapsed = time.perf_counter() - began
    answer.raise_for_status()
    told = answer.json()
    assert len(told["written"]) + len(told["merged"]) == len(entries)
    return elapsed


def report(bare: list[float], written: list[float]) -> None:
    ratios = [ours / floor for ours, floor in zip(written, bare, strict=True)]
    print(f"bare embedder       {statistics.median(bare):7.0f} texts/s    (median of {len(bare)} rounds)")
    print(f"memory.bulk_set     {statistics.median(written):7.0f} entries/s")
    print(f"ratio               {statistics.median(ratios):7.2f}    each round: {' '.join(f'{r:.2f}' for r in ratios)}")


if __name__ == "__main__":
    main()
