"""Which servers run on this machine? One small file a port, locked by its server as long as it lives."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a server says about itself to `status` and `down`. Times are Unix seconds; pid is that of `loom-ray up`."""

    pid: int
    port: int
    url: str
    storage_url: str
    folder: str
    started_at: float


class AlreadyRunning(Exception):
    """A live server holds the record of that port."""

    def __init__(self, record: RunRecord | None) -> None:
        super().__init__(record)
        self.record = record


def runs_folder() -> Path:
    """This user's folder for sockets, logs and records. Short, because a Unix socket's path has 107 bytes at most."""
    folder = Path("/tmp") / f"loom-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not folder.is_dir() or folder.is_symlink():
        raise PermissionError(f"{folder} belongs to someone else or is open to others: remove it")
    return folder


def new_run_folder() -> Path:
    """A fresh private folder below `runs_folder`; `free` removes it."""
    return Path(tempfile.mkdtemp(prefix="", dir=runs_folder()))


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """A record that stays locked until `free`, or until every process that has its descriptor is gone."""

    path: Path
    descriptor: int

    def write(self, record: RunRecord) -> None:
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, json.dumps(asdict(record)).encode(), 0)

    def free(self) -> None:
        os.ftruncate(self.descriptor, 0)  # never unlinked: another may be waiting to lock this very file
        os.close(self.descriptor)


def hold(port: int) -> tuple[HeldRecord, RunRecord | None]:
    """Take the record of a port; with it, what a server that ended without a word had left there.

    Raises AlreadyRunning with the live server's record.
    """
    path = runs_folder() / f"{port}.json"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise AlreadyRunning(_read(path)) from None
    left = _read(path)
    return HeldRecord(path, descriptor), left


def running() -> Iterator[RunRecord]:
    """The records of live servers, by port."""
    for path in sorted(runs_folder().glob("*.json")):
        record = _read(path)
        if record is not None and is_live(path):
            yield record


def is_live(path: Path) -> bool:
    """Whether some process still holds the record."""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def remove_leavings(record: RunRecord) -> None:
    """Remove the folder of a server that was killed."""
    folder = Path(record.folder)
    if folder.parent == runs_folder():
        shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> RunRecord | None:
    try:
        return RunRecord(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None
