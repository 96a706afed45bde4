"""What may a disk or an object storage do to us? A seeded in-memory Blobs with a page cache and every fault we know."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from loom_ray.storage.blobs import check_path, check_prefix
from loom_ray.storage.errors import BlobExists, BlobMissing, BlobsUnavailable


@dataclass(frozen=True)
class Faults:
    """How often each fault strikes a put, from 0 to 1; all zero is a disk that only crashes when told to."""

    full: float = 0  # nothing written, an error
    late: float = 0  # an error, and the put lands some time afterwards
    ambiguous: float = 0  # it landed, and the answer is an error
    echo: float = 0  # it landed, and the answer is BlobExists (a retry met its own first try)
    sync_fails: float = 0  # it is visible, not durable, and the answer is an error
    slow: int = 0  # turns of the loop that an effect may take


@dataclass
class Effect:
    """One change that is visible and may not have reached the disk; `data` None is a deletion."""

    path: str
    data: bytes | None


class FaultyDisk:
    """What all handles of one machine see, and what a power failure leaves of it."""

    def __init__(self, seed: int, faults: Faults | None = None) -> None:
        self.random = Random(seed)
        self.faults = faults or Faults()
        self.durable: dict[str, bytes] = {}
        self.visible: dict[str, bytes] = {}
        self.unsynced: list[Effect] = []
        self.late: list[Effect] = []

    def blobs(self) -> FaultyBlobs:
        return FaultyBlobs(self)

    def apply(self, effect: Effect) -> None:
        self.unsynced.append(effect)
        change(self.visible, effect)

    def sync(self, path: str) -> None:
        """fsync of a folder: every earlier effect in it is durable too (bytes are synced before they are linked)."""
        folder = path.rpartition("/")[0]
        kept: list[Effect] = []
        for effect in self.unsynced:
            if effect.path.rpartition("/")[0] == folder:
                change(self.durable, effect)
            else:
                kept.append(effect)
        self.unsynced = kept

    def land_late(self) -> None:
        """Now and then a put lands whose caller has long gone."""
        if self.late and self.random.random() < 0.2:
            effect = self.late.pop(self.random.randrange(len(self.late)))
            if effect.path not in self.visible:
                self.apply(effect)
                self.sync(effect.path)

    def crash(self) -> None:
        """Power failure: each unsynced effect stays or goes, and the last put may be torn where nothing durable lay (an
        atomic replacement leaves the old or the new)."""
        puts = [effect for effect in self.unsynced if effect.data and effect.path not in self.durable]
        if puts and self.random.random() < 0.5:
            puts[-1].data = self._torn(puts[-1].data or b"")
        for effect in self.unsynced:
            if self.random.random() < 0.5:
                change(self.durable, effect)
        self.unsynced = []
        self.visible = dict(self.durable)

    def _torn(self, data: bytes) -> bytes:
        kept = self.random.randrange(len(data))
        return self.random.choice([b"", data[:kept], data[: len(data) // 2] + bytes(len(data) - len(data) // 2)])


def change(files: dict[str, bytes], effect: Effect) -> None:
    if effect.data is None:
        files.pop(effect.path, None)
    else:
        files[effect.path] = effect.data


class FaultyBlobs:
    """One process's handle on the disk; it can be paused (SIGSTOP) at its next step; for ever is dead."""

    def __init__(self, disk: FaultyDisk) -> None:
        self.disk = disk
        self._running = asyncio.Event()
        self._running.set()

    def pause(self) -> None:
        self._running.clear()

    def resume(self) -> None:
        self._running.set()

    async def put_new(self, path: str, data: bytes) -> None:
        await self._before(path)
        if path in self.disk.visible:
            raise BlobExists(path)
        fate = self._fate()
        await self._land(path, data, fate)
        if fate == "echo":
            raise BlobExists(path)

    async def put(self, path: str, data: bytes) -> None:
        await self._before(path)
        await self._land(path, data, self._fate())

    async def get(self, path: str) -> bytes:
        await self._turns()
        try:
            return self.disk.visible[check_path(path)]
        except KeyError:
            raise BlobMissing(path) from None

    async def list(self, prefix: str) -> list[str]:
        await self._turns()
        return sorted(path for path in self.disk.visible if path.startswith(check_prefix(prefix)))

    async def delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            await self._turns()
            if check_path(path) in self.disk.visible:
                self.disk.apply(Effect(path, None))

    async def _before(self, path: str) -> None:
        check_path(path)
        self.disk.land_late()
        await self._turns()

    async def _land(self, path: str, data: bytes, fate: str) -> None:
        if fate == "late":
            self.disk.late.append(Effect(path, data))
        if fate in ("late", "full"):
            raise BlobsUnavailable(path, fate)
        self.disk.apply(Effect(path, data))
        await self._turns()
        if fate == "sync_fails":
            raise BlobsUnavailable(path, fate)
        self.disk.sync(path)
        if fate == "ambiguous":
            raise BlobsUnavailable(path, fate)

    def _fate(self) -> str:
        drawn = self.disk.random.random()
        for name in ("full", "late", "ambiguous", "echo", "sync_fails"):
            drawn -= getattr(self.disk.faults, name)
            if drawn < 0:
                return name
        return ""

    async def _turns(self) -> None:
        for _ in range(self.disk.random.randint(0, self.disk.faults.slow)):
            await asyncio.sleep(0)
        await self._running.wait()
