"""What does durability cost here? Puts, appends alone and in groups, and the load of a large snapshot, in one run.

    python benchmarks/storage.py [--rows 100000] [--dimensions 512] [--folder DIR]

S3 is moto's server in its own process: its figures say what HTTP and an emulator in Python cost, not what S3 costs.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np

from loom_ray.core.records import EmbedderStamp, RowWritten
from loom_ray.core.row import MemoryType, Row
from loom_ray.storage.blobs import Blobs, open_blobs
from loom_ray.storage.log import namespace_prefix
from loom_ray.storage.snapshot import StateImage
from loom_ray.storage.store import NamespaceStore

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "storage"))
from s3_emulator import KEYS, new_bucket, serve_s3

PREFIX = namespace_prefix("bench", "storage")
PUTS = 300
WAITERS = 32


def a_row(number: int) -> Row:
    return Row(
        memory_id=f"{number:026d}",
        memory_key=f"team/service-{number}/owner",
        agent="agent",
        user_id="-",
        session_id="-",
        run_id="",
        memory_type=MemoryType.SEMANTIC,
        value=f"Service {number} is owned by team {number % 97} and pages rotation {number % 13} after 10 minutes",
        content_sha256=f"{number:064d}",
        canonical_digest=f"{number:032d}",
        version=time.time_ns() + number,
        created_at=time.time_ns(),
        tags=("owner", "service"),
    )


async def times_ms(count: int, call: Callable[[int], Awaitable[object]]) -> list[float]:
    taken: list[float] = []
    for number in range(count):
        start = time.perf_counter()
        await call(number)
        taken.append((time.perf_counter() - start) * 1e3)
    return taken


def quantiles(taken: list[float]) -> str:
    cuts = statistics.quantiles(taken, n=100)
    return f"p50 {cuts[49]:.2f} ms, p95 {cuts[94]:.2f} ms"


async def measure_backend(name: str, blobs: Blobs, dimensions: int) -> None:
    puts = await times_ms(PUTS, lambda number: blobs.put_new(f"puts/{number}", b"x" * 2048))
    print(f"{name}: put_new of 2 KiB: {quantiles(puts)}")
    stamp = EmbedderStamp("bench", dimensions, "none")
    store, _ = await NamespaceStore.open(blobs, PREFIX, "bench", stamp)
    vector = np.random.default_rng(0).standard_normal((1, dimensions)).astype(np.float16)
    start = time.perf_counter()
    single = await times_ms(PUTS, lambda number: store.commit.submit([RowWritten(a_row(number), vector)]))
    print(f"{name}: appends, 1 writer: {PUTS / (time.perf_counter() - start):.0f}/s, {quantiles(single)}")

    async def writer(first: int) -> None:
        await times_ms(PUTS, lambda number: store.commit.submit([RowWritten(a_row(first + number), vector)]))

    start = time.perf_counter()
    await asyncio.gather(*(writer(1000 * place) for place in range(WAITERS)))
    print(f"{name}: appends, {WAITERS} writers: {WAITERS * PUTS / (time.perf_counter() - start):.0f}/s")
    await store.close()


async def store_snapshot(folder: Path, rows: int, dimensions: int) -> None:
    generator = np.random.default_rng(0)
    matrix = generator.standard_normal((rows, dimensions), dtype=np.float32).astype(np.float16)
    image = StateImage(
        rows=[a_row(number) for number in range(rows)], vectors=[matrix[number : number + 1] for number in range(rows)]
    )
    store, _ = await NamespaceStore.open(
        open_blobs(f"file://{folder}"), PREFIX, "writer", EmbedderStamp("bench", dimensions, "none")
    )
    start = time.perf_counter()
    await store.snapshot(image)
    print(f"snapshot of {rows} rows x {dimensions}: written in {time.perf_counter() - start:.2f} s")
    await store.close()


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


async def load_snapshot(folder: Path) -> None:
    before = resident_mib()
    start, cpu = time.perf_counter(), time.process_time()
    _, recovered = await NamespaceStore.open(open_blobs(f"file://{folder}"), PREFIX, f"reader-{time.time_ns()}", None)
    taken, cpu = time.perf_counter() - start, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    matrix = recovered.image.matrix
    assert matrix is not None
    print(
        f"loaded {len(recovered.image.rows)} rows in {taken:.2f} s ({cpu:.2f} s of CPU); resident {before:.0f} MiB"
        f" before, {resident_mib():.0f} after, {peak:.0f} at its peak; the matrix is {matrix.nbytes / 2**20:.0f} MiB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--folder", type=Path, help="where files are measured; a temporary folder by default")
    parser.add_argument("--only-load", type=Path, help=argparse.SUPPRESS)  # in a process of its own: for its memory
    chosen = parser.parse_args()
    if chosen.only_load:
        asyncio.run(load_snapshot(chosen.only_load))
        return
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        asyncio.run(measure_backend("file", open_blobs(f"file://{folder}/log"), chosen.dimensions))
        with serve_s3() as endpoint:
            blobs = open_blobs(new_bucket(endpoint), {**KEYS, "aws_endpoint": endpoint})
            asyncio.run(measure_backend("s3 (moto)", blobs, chosen.dimensions))
        asyncio.run(store_snapshot(Path(folder, "snapshot"), chosen.rows, chosen.dimensions))
        for _ in range(3):
            subprocess.run([sys.executable, __file__, "--only-load", f"{folder}/snapshot"], check=True)


if __name__ == "__main__":
    main()
