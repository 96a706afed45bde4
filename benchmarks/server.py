"""Where does a benchmark's server come from? `loom-ray up` on a free port, over a folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from loom_ray.serve.processes import free_ports
from loom_ray.serve.supervisor import get

START_S_MAX = 180.0


@dataclass(frozen=True)
class Server:
    base_url: str
    pid: int  # of `loom-ray up`


@contextmanager
def running(folder: Path) -> Iterator[Server]:
    """A server over that folder; stopped in good order at the end."""
    port = free_ports(1)[0]
    environment = os.environ | {"LOOM_STORAGE_URL": f"file://{folder}", "LOOM_PORT": str(port)}
    command = [sys.executable, "-m", "loom_ray.cli", "up"]
    with (folder.parent / "server.txt").open("wb") as said:
        process = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
        try:
            if not _gets_ready(port, process):
                raise SystemExit((folder.parent / "server.txt").read_text())
            yield Server(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def _gets_ready(port: int, process: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + START_S_MAX
    while process.poll() is None and time.monotonic() < deadline:
        if (get("127.0.0.1", port, "/v1/ready") or {}).get("ready"):
            return True
        time.sleep(0.2)
    return False
