"""Does a namespace survive everything at once? Incarnations that open, write, snapshot, sleep, wake and die on one
faulty disk, step by step from one seed, and the promises that must hold throughout."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from faulty import Faults, FaultyBlobs, FaultyDisk
from scenes import audited

from loom_ray.core.records import Audited, EmbedderStamp, Reinforced, RowWritten
from loom_ray.core.row import MemoryType, Row
from loom_ray.storage.errors import BlobsUnavailable, CommitFailed, Fenced, LogClosed, StorageError
from loom_ray.storage.log import namespace_prefix
from loom_ray.storage.snapshot import StateImage
from loom_ray.storage.store import NamespaceStore, Recovered

PREFIX = namespace_prefix("acme", "sim")
STAMP = EmbedderStamp("fake", 4, "none")
STEPS = 60


async def inline(call: Callable[..., Any], *arguments: Any) -> Any:
    """Threads would not be deterministic."""
    return call(*arguments)


def expect(error: BaseException, what: str) -> None:
    """Faults of the disk may make an operation fail; they may never look like damage."""
    assert isinstance(error, Fenced | CommitFailed | BlobsUnavailable | LogClosed), f"{what}: {error!r}"


def new_row(number: int) -> Row:
    return Row(
        memory_id=f"m{number}",
        memory_key=f"k{number}",
        agent="a",
        user_id="-",
        session_id="-",
        run_id="",
        memory_type=MemoryType.SEMANTIC,
        value=f"fact {number}",
        content_sha256="",
        canonical_digest="",
        version=number,
        created_at=number,
    )


def audit_of(row: Row) -> Audited:
    return audited(row.version, memory_id=row.memory_id)


@dataclass
class Process:
    """One incarnation: its handle, its store once it has opened, and the rows that it believes in, in order."""

    name: str
    blobs: FaultyBlobs
    opening: asyncio.Task[None] | None = None
    store: NamespaceStore | None = None
    rows: dict[str, Row] = field(default_factory=dict)
    dead: bool = False
    refusal: str = ""
    opened_at: int = 0  # its opening segment
    closing: asyncio.Task[None] | None = None


class World:
    """One disk, some processes, and what was promised to whom."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        rate = self.random.choice([0, 0, 0.02, 0.05])
        faults = Faults(full=rate, late=rate, ambiguous=rate, echo=rate, sync_fails=rate, slow=3)
        self.disk = FaultyDisk(seed, faults)
        self.processes: list[Process] = []
        self.written = 0
        self.acknowledged: dict[str, tuple[int, int]] = {}  # memory id: (segment, order of submission)
        self.owner_of: dict[int, str] = {}  # segment: the incarnation it was acknowledged to

    async def play(self) -> None:
        for _ in range(STEPS):
            self.step()
            for _ in range(self.random.choice([0, 1, 5, 30])):
                await asyncio.sleep(0)
        await self.settle()

    def step(self) -> None:
        actions = [self.start, self.write, self.write, self.write, self.write, self.write, self.snapshot, self.snapshot]
        actions += [self.pause, self.wake, self.wake]
        if self.random.random() < 0.3:
            actions += [self.kill, self.close, self.lose_power]
        self.random.choice(actions)()

    def start(self) -> None:
        if sum(not process.dead for process in self.processes) < 4:
            process = Process(f"p{len(self.processes)}", self.disk.blobs())
            self.processes.append(process)
            process.opening = asyncio.get_running_loop().create_task(self.open(process))

    async def open(self, process: Process) -> None:
        try:
            store, recovered = await NamespaceStore.open(process.blobs, PREFIX, process.name, STAMP, inline)
        except StorageError as error:
            expect(error, f"{process.name} cannot open")
            process.dead, process.refusal = True, repr(error)
            return
        process.opened_at = store.commit.next_seq - 1
        self.check_recovered(process, recovered)
        process.store = store

    def check_recovered(self, process: Process, recovered: Recovered) -> None:
        """Nothing acknowledged is lost or doubled, and the order of replay is the order of commit."""
        order = [row.memory_id for row in recovered.image.rows]
        order += [record.row.memory_id for record in recovered.records if isinstance(record, RowWritten)]
        assert len(order) == len(set(order)), f"{process.name} replays a write twice: {order}"
        before = {name: place for name, place in self.acknowledged.items() if place[0] < process.opened_at}
        lost = before.keys() - set(order)
        assert not lost, f"{process.name} lost {sorted(lost)}"
        assert [name for name in order if name in before] == sorted(before, key=before.__getitem__)
        assert recovered.image.embedder == STAMP
        process.rows = {row.memory_id: row for row in recovered.image.rows}
        for record in recovered.records:
            self.apply(process, record)
        counts = {row.memory_id: row.reinforcements for row in process.rows.values()}
        assert set(counts.values()) <= {1}, f"{process.name} replays a reinforcement twice or never: {counts}"

    def apply(self, process: Process, record: Any) -> None:
        if isinstance(record, RowWritten):
            process.rows[record.row.memory_id] = record.row
        elif isinstance(record, Reinforced):
            process.rows[record.memory_id] = process.rows[record.memory_id].reinforced(record.at)

    def write(self) -> None:
        process = self.pick(lambda process: process.store is not None)
        if process is None or process.store is None:
            return
        rows = [new_row(self.written + place) for place in range(1, self.random.randint(2, 4))]
        self.written += len(rows)
        records = [each for row in rows for each in (RowWritten(row), Reinforced(row.memory_id, 1), audit_of(row))]
        for record in records:
            self.apply(process, record)
        future = process.store.commit.submit(records)
        future.add_done_callback(lambda done: self.acknowledge(process, rows, done))

    def acknowledge(self, process: Process, rows: list[Row], done: asyncio.Future[int]) -> None:
        if process.dead or done.cancelled():
            return
        if (error := done.exception()) is not None:
            expect(error, f"{process.name} cannot write")
            return
        seq = done.result()
        assert self.owner_of.setdefault(seq, process.name) == process.name, f"two heads at {seq}"
        for later in self.processes:
            if later.store is not None and later.opened_at > seq:
                unseen = {row.memory_id for row in rows} - later.rows.keys()
                assert not unseen, f"{process.name} is acknowledged {seq}, {later.name} took over and never saw it"
        for row in rows:
            self.acknowledged[row.memory_id] = (seq, row.version)

    def snapshot(self) -> None:
        process = self.pick(lambda process: process.store is not None and not process.store.snapshotting)
        if process is not None and process.store is not None and process.closing is None:
            task = process.store.snapshot(self.image_of(process))
            task.add_done_callback(self.check_snapshot)

    def image_of(self, process: Process) -> StateImage:
        rows = list(process.rows.values())
        return StateImage(rows=rows, vectors=[None] * len(rows), embedder=STAMP, last_version=len(rows))

    def check_snapshot(self, task: asyncio.Task[int]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            expect(error, "a snapshot failed")

    def close(self) -> None:
        process = self.pick(lambda process: process.store is not None and process.closing is None)
        if process is not None and process.store is not None:
            process.closing = asyncio.get_running_loop().create_task(self.close_store(process, process.store))

    async def close_store(self, process: Process, store: NamespaceStore) -> None:
        try:
            await store.close()
        except StorageError as error:
            expect(error, f"{process.name} cannot close")

    def pause(self) -> None:
        if (process := self.pick(lambda process: True)) is not None:
            process.blobs.pause()

    def wake(self) -> None:
        if (process := self.pick(lambda process: True)) is not None:
            process.blobs.resume()

    def kill(self, process: Process | None = None) -> None:
        process = process or self.pick(lambda process: True)
        if process is not None:
            process.dead = True
            process.blobs.pause()

    def lose_power(self) -> None:
        for process in self.processes:
            self.kill(process)
        self.disk.crash()

    def pick(self, fits: Callable[[Process], bool]) -> Process | None:
        alive = [process for process in self.processes if not process.dead and fits(process)]
        return self.random.choice(alive) if alive else None

    async def settle(self) -> None:
        """Everybody wakes; then the power goes, and on a disk without faults all must be there, in history too."""
        for process in self.processes:
            if not process.dead:
                process.blobs.resume()
        for _ in range(300):
            await asyncio.sleep(0)
        self.lose_power()
        self.disk.faults = Faults()
        last = Process("last", self.disk.blobs())
        self.processes.append(last)
        await self.open(last)
        assert last.store is not None, last.refusal
        await last.store.snapshot(self.image_of(last))
        self.check_folded(last, "history")
        self.check_folded(last, "audit")
        again = Process("again", self.disk.blobs())
        self.processes.append(again)
        await self.open(again)
        assert again.rows == last.rows

    def check_folded(self, process: Process, folder: str) -> None:
        """Plain files, as DuckDB would read them: every version and its audit record once."""
        files = {path: data for path, data in self.disk.visible.items() if path.startswith(f"{PREFIX}{folder}/")}
        tables = [pq.read_table(pa.BufferReader(data), use_threads=False) for data in files.values()]
        ids = [name for table in tables for name in table["memory_id"].to_pylist()]
        assert sorted(ids) == sorted(process.rows), f"{folder} {ids} of {list(process.rows)} in {list(files)}"


def play(seed: int) -> None:
    """AssertionError naming what broke; the seed says how."""

    async def run() -> None:
        world = World(seed)
        failures: list[BaseException] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: failures.append(context.get("exception") or AssertionError(context["message"]))
        )
        try:
            await world.play()
        finally:
            mine = asyncio.current_task()
            for task in asyncio.all_tasks() - {mine}:
                task.cancel()
        failures += [
            process.opening.exception()  # type: ignore[misc]
            for process in world.processes
            if process.opening and process.opening.done() and not process.opening.cancelled()
            if process.opening.exception()
        ]
        if failures:
            raise failures[0]

    asyncio.run(run())
