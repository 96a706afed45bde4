"""What would a judged write cost if this server added nothing? Its parts alone, measured one by one on this machine.

The HTTP no-op is measured by latency.py, against the running server.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from loom_ray.actors.cluster.calling import ACTOR
from loom_ray.actors.embedding.local import LocalEmbedder
from loom_ray.core.decide.peers import NEIGHBOURS
from loom_ray.storage.file_blobs import FileBlobs

TIMES = 300
WARM_UP = 30
SEGMENT_BYTES = 2_000  # of one judged write: a row of text and 512 half-precision numbers, compressed


async def timed(step: Callable[[int], Awaitable[Any]], times: int = TIMES) -> list[float]:
    """Seconds of each of `times` steps, one after the other, after a few unmeasured ones."""
    for number in range(-WARM_UP, 0):
        await step(number)
    seconds: list[float] = []
    for number in range(times):
        began = time.perf_counter()
        await step(number)
        seconds.append(time.perf_counter() - began)
    return seconds


class Echo:
    """An actor that answers at once."""

    async def answer(self, asked: bytes) -> bytes:
        return asked


class Caller:
    """Asks the other from its own loop, as a gateway replica asks a namespace."""

    async def time_calls(self, echo: Any) -> list[float]:
        asked = bytes(500)
        return await timed(lambda _: echo.answer.remote(asked))


def actor_call() -> list[float]:
    """An async actor's call to another, 500 bytes there and back. In a process of its own, so that Ray's threads are
    not among the client's, and under a token, as in the server's own cluster."""
    with tempfile.TemporaryDirectory() as folder:
        token = Path(folder) / "token"
        token.write_text(secrets.token_hex(32))
        environment = os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        measured = subprocess.run([sys.executable, __file__], env=environment, stdout=subprocess.PIPE, check=True)
        return json.loads(measured.stdout.splitlines()[-1])


def _actor_call() -> list[float]:
    import ray

    ray.init(address="local", include_dashboard=False, log_to_driver=False, num_cpus=2)
    try:
        options = {name: ACTOR[name] for name in ("num_cpus", "max_task_retries")}
        echo = ray.remote(Echo).options(**options).remote()
        caller = ray.remote(Caller).options(**options).remote()
        return ray.get(caller.time_calls.remote(echo))
    finally:
        ray.shutdown()


def embedder(texts: list[str]) -> list[float]:
    """One text at a time through the local model, without its service's queue and without Ray."""

    async def measured() -> list[float]:
        model = LocalEmbedder(batch_max=1)
        await model.load()
        try:
            return await timed(lambda number: model.embed([texts[number]]))
        finally:
            await model.close()

    return asyncio.run(measured())


def vector_search(rows: int) -> list[float]:
    """The neighbours of one vector among so many, by FAISS alone: half precision, exact, one thread. What the vectors
    are makes no difference to its time."""
    dimensions = LocalEmbedder.stamp.dimensions
    vectors = np.random.default_rng(rows).standard_normal((rows, dimensions), dtype=np.float32)
    index = faiss.IndexScalarQuantizer(dimensions, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    index.add(vectors)
    faiss.omp_set_num_threads(1)

    async def search(number: int) -> None:
        place = number % rows
        index.search(vectors[place : place + 1], NEIGHBOURS)

    return asyncio.run(timed(search))


def durable_put(folder: Path) -> list[float]:
    """A segment's bytes put where nothing lies yet: file and folder are fsynced."""

    async def measured() -> list[float]:
        with tempfile.TemporaryDirectory(dir=folder) as root:
            blobs = FileBlobs(Path(root))
            return await timed(lambda number: blobs.put_new(f"put/{number + WARM_UP}", os.urandom(SEGMENT_BYTES)))

    return asyncio.run(measured())


if __name__ == "__main__":
    print(json.dumps(_actor_call()))
