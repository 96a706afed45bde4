"""How much of the embedder's rate is left to a bulk write? 1,000 new facts in one `memory.bulk_set`, judged and kept.

    python benchmarks/bulk.py [--rounds 5]

The floor is the bare embedder in this process: the same texts, in one call, with its usual threads. Floor and server
take turns, so that both meet the same machine; every round has facts of its own and a namespace of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import httpx
from latency_facts import fact
from server import running

from loom_ray.actors.embedding.actor import EmbedderService
from loom_ray.contract.settings import Settings

ENTRIES = 1_000
DEADLINE_S = 600.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    asyncio.run(measure(parser.parse_args().rounds))


async def measure(rounds: int) -> None:
    bare: list[float] = []
    written: list[float] = []
    embedder = EmbedderService(Settings())
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "data") as server:
        for number in range(-1, rounds):  # the first round warms both up
            texts = range((number + 1) * ENTRIES, (number + 2) * ENTRIES)
            bare.append(await embed(embedder, texts))
            written.append(write(server.base_url, f"round-{number + 1}", texts))
    await embedder.close()
    report([ENTRIES / seconds for seconds in bare[1:]], [ENTRIES / seconds for seconds in written[1:]])


async def embed(embedder: EmbedderService, numbers: range) -> float:
    """Seconds."""
    texts = [fact(number).value for number in numbers]
    began = time.perf_counter()
    await embedder.embed(texts, DEADLINE_S)
    return time.perf_counter() - began


def write(base_url: str, namespace: str, numbers: range) -> float:
    """Seconds of the one request, beside the waking of the namespace."""
    entries = [{name: told for name, told in asdict(fact(number)).items() if told} for number in numbers]
    with httpx.Client(base_url=base_url, timeout=DEADLINE_S) as client:
        client.post("/v1/namespace.register", json={"namespace": namespace}).raise_for_status()
        began = time.perf_counter()
        answer = client.post("/v1/memory.bulk_set", json={"namespace": namespace, "entries": entries})
        elapsed = time.perf_counter() - began
    answer.raise_for_status()
    assert len(answer.json()["written"]) == len(entries)
    return elapsed


def report(bare: list[float], written: list[float]) -> None:
    ratios = [ours / floor for ours, floor in zip(written, bare, strict=True)]
    print(f"bare embedder       {statistics.median(bare):7.0f} texts/s    (median of {len(bare)} rounds)")
    print(f"memory.bulk_set     {statistics.median(written):7.0f} entries/s")
    print(f"ratio               {statistics.median(ratios):7.2f}    each round: {' '.join(f'{r:.2f}' for r in ratios)}")


if __name__ == "__main__":
    main()
