"""How do blobs survive on a disk? Temporary file, fsync, link or rename, fsync of the folder.

obstore 0.12.1 has no fsync option on its LocalStore (object_store has one, the Python binding does not show it), so
these few POSIX calls are our own. A blob becomes visible only after its bytes are on the disk, so no crash tears one.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import ParamSpec, TypeVar
from uuid import uuid4

from loom_ray.storage.blobs import check_path, check_prefix
from loom_ray.storage.errors import BlobExists, BlobMissing, BlobsUnavailable

UNFINISHED = ".unfinished"  # hidden: no blob path may start with a dot
UNFINISHED_AGE_S_MAX = 3600.0  # older ones are a dead writer's; a live one that slept so long fails, and harms nothing

P = ParamSpec("P")
T = TypeVar("T")


class FileBlobs:
    """Blobs in a folder. Blocking calls run in asyncio's thread pool; several processes may share the folder."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._unfinished = self.root / UNFINISHED
        self._settled: set[Path] = set()  # folders whose whole chain of parents this instance has fsynced
        self._names = itertools.count()
        self._writer = uuid4().hex

    async def put_new(self, path: str, data: bytes) -> None:
        await self._run(path, self._put_new, path, data)

    async def put(self, path: str, data: bytes) -> None:
        await self._run(path, self._put, path, data)

    async def get(self, path: str) -> bytes:
        return await self._run(path, self._get, path)

    async def list(self, prefix: str) -> list[str]:
        return await self._run(prefix, self._list, prefix)

    async def delete(self, paths: Iterable[str]) -> None:
        await self._run(str(self.root), self._delete, [check_path(path) for path in paths])

    async def _run(self, path: str, call: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        try:
            return await asyncio.to_thread(call, *arguments, **named)
        except OSError as error:
            raise BlobsUnavailable(path, f"{type(error).__name__}: {error}") from error

    def _put_new(self, path: str, data: bytes) -> None:
        with self._finished(path, data) as (written, target):
            try:
                os.link(written, target)
            except FileExistsError:
                raise BlobExists(path) from None

    def _put(self, path: str, data: bytes) -> None:
        with self._finished(path, data) as (written, target):
            written.replace(target)

    @contextlib.contextmanager
    def _finished(self, path: str, data: bytes) -> Iterator[tuple[Path, Path]]:
        """A file with `data` on the disk, to be moved to its place in the block; then the folder is fsynced."""
        target = self.root / check_path(path)
        self._settle(self._unfinished)
        self._settle(target.parent)
        written = self._unfinished / f"{self._writer}-{next(self._names)}"
        try:
            write_synced(written, data)
            yield written, target
            sync_folder(target.parent)
        finally:
            written.unlink(missing_ok=True)

    def _settle(self, folder: Path) -> None:
        """Make the folder, and fsync each parent up to the root's: who made one may have died before syncing."""
        if folder in self._settled and folder.exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        for parent in folder.parents:
            sync_folder(parent)
            if parent == self.root.parent:
                break
        self._settled.add(folder)
        if folder == self._unfinished:
            self._clean()

    def _clean(self) -> None:
        oldest = time.time() - UNFINISHED_AGE_S_MAX
        for leftover in self._unfinished.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if leftover.stat().st_mtime < oldest:
                    leftover.unlink()

    def _get(self, path: str) -> bytes:
        try:
            return (self.root / check_path(path)).read_bytes()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise BlobMissing(path) from None

    def _list(self, prefix: str) -> list[str]:
        found: list[str] = []
        for folder, folders, files in os.walk(self.root / check_prefix(prefix), onerror=raise_unless_missing):
            folders[:] = [name for name in folders if not name.startswith(".")]
            place = Path(folder).relative_to(self.root)
            found += [(place / name).as_posix() for name in files if not name.startswith(".")]
        return sorted(found)

    def _delete(self, paths: Iterable[str]) -> None:
        for path in paths:
            target = self.root / path
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                target.unlink()
            with contextlib.suppress(OSError):  # not empty, or gone; only an old snapshot's ever becomes empty
                target.parent.rmdir()


def raise_unless_missing(error: OSError) -> None:
    """A folder that is not there is empty; one that cannot be read must not look empty."""
    if not isinstance(error, FileNotFoundError):
        raise error


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file and fsync it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the folder's entries durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
