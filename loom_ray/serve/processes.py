"""Which processes and ports belong to whom, and how does a whole tree of them end? Linux: /proc and prctl(2)."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import socket
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_OURS = range(20_000, 32_000)  # above, from 32768, the kernel hands out ports of its own accord
_LISTEN = "0A"
POLL_S = 0.05


def adopt_orphans() -> None:
    """From now on a descendant whose parent dies becomes a child of this process, so that none can be lost."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(ancestor: int) -> list[int]:
    """Every live process below `ancestor`, parents before their children."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = stat.read_text("utf-8", "replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(stat.parent.name))
    found = list(children.get(ancestor, ()))
    for pid in found:  # grows while it is walked
        found += children.get(pid, ())
    return found


def end_descendants(grace_s: float = 0.0) -> list[int]:
    """SIGTERM to all processes below this one, SIGKILL to those that live on after `grace_s`; all are reaped.

    Returns the pids that were still there at the start. Processes born meanwhile are ended too.
    """
    first, deadline = descendants(os.getpid()), time.monotonic() + grace_s
    if grace_s:
        _signal_all(first, signal.SIGTERM)
        while descendants(os.getpid()) and time.monotonic() < deadline:
            reap()
            time.sleep(POLL_S)
    while remaining := descendants(os.getpid()):
        _signal_all(remaining, signal.SIGKILL)
        reap()
        time.sleep(POLL_S)
    reap()
    return first


def reap() -> None:
    """Collect every child that has ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def can_listen(host: str, port: int) -> OSError | None:
    """None when a server could bind `host`:`port` now, otherwise why not. Raises socket.gaierror for no such host."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
        except OSError as error:
            return error
    return None


def port_holder(port: int) -> str:
    """`name (pid 12)` of a process that listens on the port, or an empty string where /proc does not say."""
    wanted = _listening_inodes(port)
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if str(descriptor.readlink()) in wanted:
                process = descriptor.parents[1]
                return f"{(process / 'comm').read_text().strip()} (pid {process.name})"
    return ""


def _listening_inodes(port: int) -> set[str]:
    inodes: set[str] = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                columns = line.split()
                if columns[3] == _LISTEN and int(columns[1].rpartition(":")[2], 16) == port:
                    inodes.add(f"socket:[{columns[9]}]")
    return inodes


def free_ports(count: int, apart_from: int | None = None) -> range:
    """`count` neighbouring ports that nothing listens on, without `apart_from`, a port that is promised already.

    They lie outside the kernel's own range: from there, any client socket of the seconds until they are used may take
    one (Ray alone opens hundreds while it starts).
    """
    for _ in range(100):
        base = random.randrange(_OURS.start, _OURS.stop - count)
        ports = range(base, base + count)
        if apart_from not in ports and all(can_listen("0.0.0.0", port) is None for port in ports):
            return ports
    raise OSError(f"no {count} neighbouring ports are free between {_OURS.start} and {_OURS.stop}")
