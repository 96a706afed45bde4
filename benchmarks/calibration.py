"""Do the calibrated thresholds of an embedder hold on pairs that they were not measured on?

    python benchmarks/calibration.py --pairs PATH [--embedder local|fake]

PATH holds JSON lines with `a`, `b` and `class` or `label`: paraphrase, restatement, update, contradiction (about the
same thing), compatible, unrelated.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import time
from pathlib import Path

import numpy as np

from loom_ray.actors.embedding.actor import EmbedderService
from loom_ray.contract.settings import Settings
from loom_ray.core.calibration import Calibration

SAME = ("paraphrase", "update", "contradiction")
APART = ("compatible", "unrelated")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--embedder", choices=("local", "fake"), default="local")
    arguments = parser.parse_args()
    records = [json.loads(line) for line in arguments.pairs.read_text(encoding="utf-8").splitlines()]
    asyncio.run(measure(records, Settings(embedder=arguments.embedder)))


async def measure(records: list[dict[str, str]], settings: Settings) -> None:
    service = EmbedderService(settings)
    before, before_cpu = time.perf_counter(), time.process_time()
    await service.start()
    wall, cpu = time.perf_counter() - before, time.process_time() - before_cpu
    print(f"load and calibrate: {wall:.2f} s ({cpu:.2f} s of CPU), peak resident {resident_mb():.0f} MB")
    calibration = service.describe().calibration
    assert calibration is not None
    print(calibration)
    similarities = await embedded(service, records)
    if calibration.thresholds is not None:
        report(records, similarities, calibration)
    await rates(service)
    await service.close()


async def embedded(service: EmbedderService, records: list[dict[str, str]]) -> np.ndarray:
    left = await service.embed([record["a"] for record in records], 60)
    right = await service.embed([record["b"] for record in records], 60)
    return np.einsum("ij,ij->i", left.astype(np.float32), right.astype(np.float32))


def report(records: list[dict[str, str]], similarities: np.ndarray, calibration: Calibration) -> None:
    labels = np.asarray([record.get("class") or record["label"] for record in records])
    same, apart = similarities[np.isin(labels, SAME)], similarities[np.isin(labels, APART)]
    assert calibration.thresholds is not None
    at = calibration.thresholds.conflict
    best = max(accuracy(same, apart, threshold) for threshold in np.arange(0.0, 1.0, 0.005))
    print(f"conflict {at}: balanced accuracy {accuracy(same, apart, at):.3f} here, best possible {best:.3f}")
    for label in dict.fromkeys(labels):
        share = np.mean(similarities[labels == label] >= calibration.thresholds.duplicate)
        print(f"duplicate gate {calibration.thresholds.duplicate}: passed by {share:.2f} of {label}")


def accuracy(same: np.ndarray, apart: np.ndarray, threshold: float) -> float:
    return float((np.mean(same >= threshold) + np.mean(apart < threshold)) / 2)


async def rates(service: EmbedderService) -> None:
    texts = [f"Crew {n} checks the pumps of hall {n % 7} on Tuesdays." for n in range(640)]
    before, before_cpu = time.perf_counter(), time.process_time()
    for text in texts[:100]:
        await service.embed([text], 60)
    wall, cpu = time.perf_counter() - before, time.process_time() - before_cpu
    print(f"one at a time: {wall * 10:.2f} ms a text ({cpu * 10:.2f} ms of CPU)")
    before, before_cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(service.embed([text], 60) for text in texts))
    wall, cpu = time.perf_counter() - before, time.process_time() - before_cpu
    print(f"640 callers at once: {len(texts) / wall:.0f} texts/s ({cpu / len(texts) * 1000:.2f} ms of CPU a text)")
    print(f"peak resident {resident_mb():.0f} MB")


def resident_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
