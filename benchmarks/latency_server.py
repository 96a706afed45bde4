"""What does the latency benchmark need of its server? Namespaces filled beforehand, and a look at their processes."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from latency_facts import fact
from server import Server

from loom_ray.actors.embedding.actor import EmbedderService
from loom_ray.actors.embedding.local import LocalEmbedder
from loom_ray.contract.settings import Settings
from loom_ray.contract.writing import SetRequest
from loom_ray.core.decide.claim import settle
from loom_ray.core.decide.outcome import Outcome
from loom_ray.core.decide.rules import Rules
from loom_ray.core.decide.store import store
from loom_ray.core.draft import By, Draft
from loom_ray.core.records import RowWritten, Vectors
from loom_ray.core.row import Row
from loom_ray.core.state import State
from loom_ray.storage.file_blobs import FileBlobs
from loom_ray.storage.paths import namespace_prefix
from loom_ray.storage.snapshot import StateImage
from loom_ray.storage.store import NamespaceStore

ORG = "bench"
FILL_S_MAX = 3600.0


def namespace_of(rows: int) -> str:
    return f"rows-{rows}"


# ---- filling ----------------------------------------------------------------------------------------------------
async def embedded_texts(texts: list[str]) -> Vectors:
    """(texts, dimensions)."""
    service = EmbedderService(Settings())
    try:
        return await service.embed(texts, FILL_S_MAX)
    finally:
        await service.close()


async def fill(folder: Path, rows: int, vectors: Vectors) -> None:
    """Writes the first `rows` facts as a namespace's snapshot, as if each had been judged clear."""
    settings = Settings()
    draft = Draft(State(), time.time_ns(), By("memory.set", "-"))
    clear = Outcome("clear", "nothing_close")
    for number in range(rows):
        request = SetRequest.model_validate(asdict(fact(number)), context={"settings": settings})
        settled = settle(request, request, None, Rules(settings))
        store(draft, settled, clear, vectors[number : number + 1], str(uuid.uuid4()))
    written = [record for record in draft.records if isinstance(record, RowWritten)]
    stored = [record.row for record in written]
    await written_down(folder, namespace_of(rows), stored, [record.vectors for record in written])


async def written_down(folder: Path, namespace: str, rows: list[Row], vectors: Sequence[Vectors | None]) -> None:
    """A namespace of these rows, as a snapshot."""
    image = StateImage(rows=rows, vectors=vectors, embedder=LocalEmbedder.stamp, last_version=rows[-1].version)
    prefix, incarnation = namespace_prefix(ORG, namespace), uuid.uuid4().hex
    held, _ = await NamespaceStore.open(FileBlobs(folder), prefix, incarnation, LocalEmbedder.stamp)
    await held.snapshot(image)
    await held.close()


async def fill_all(folder: Path, sizes: list[int]) -> None:
    """Namespaces of these sizes, written as snapshots: judging 100,000 rows one by one would take minutes."""
    vectors = await embedded_texts([fact(number).value for number in range(max(sizes))])
    for rows in sizes:
        await fill(folder, rows, vectors)


# ---- watching ----------------------------------------------------------------------------------------------------
def namespace_actors(server: Server) -> dict[int, int]:
    """The processes of its awake namespaces: resident bytes by pid."""
    parents = dict(_processes())
    found: dict[int, int] = {}
    for pid in parents:
        try:
            title = Path(f"/proc/{pid}/cmdline").read_bytes()
            resident_pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:
            continue
        if title.startswith(b"ray::NamespaceActor") and server.pid in _ancestors(pid, parents):
            found[pid] = resident_pages * os.sysconf("SC_PAGE_SIZE")
    return found


def _processes() -> Iterator[tuple[int, int]]:
    """Each process and its parent."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield int(folder.name), int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue


def _ancestors(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid in parents:
        pid = parents[pid]
        yield pid
