"""Who may serve this folder? One server at a time: a lock that dies with its holder."""

from __future__ import annotations

import fcntl
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from loom_ray.storage.errors import FolderLocked

LOCK = ".LOCK"  # hidden, so that it is no blob


@dataclass(frozen=True, slots=True)
class FolderLock:
    """Held until `release` or the death of the process; a program that it starts does not inherit it (CLOEXEC)."""

    root: Path
    descriptor: int

    def release(self) -> None:
        os.close(self.descriptor)


def hold(root: Path) -> FolderLock:
    """Take the lock on the folder, making it if need be. Raises FolderLocked naming pid and host of the holder.

    flock(2): freed by the kernel when the holder dies. It does not reach across machines on every network file system.
    """
    root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(descriptor, 512, 0).decode("utf-8", "replace").strip() or "not yet named"
        os.close(descriptor)
        raise FolderLocked(str(root), holder) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"pid {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
    return FolderLock(root, descriptor)
