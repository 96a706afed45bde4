"""How does a test get a real server? `loom-ray up` as a person would start it, on a free port over its own folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loom_ray.serve.processes import descendants, free_ports

READY_S_MAX, GONE_S_MAX, POLL_S = 270.0, 60.0, 0.05


def wait_until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(POLL_S)


class LoomServer:
    """One `loom-ray up` in a session of its own, so that a signal to its group reaches no test."""

    def __init__(self, folder: Path, port: int | None = None, **environment: str) -> None:
        self.folder, self.port = folder, port or free_ports(1)[0]
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.storage_url = f"file://{folder / 'data'}"
        self.output = folder / "up.log"
        self.environment = environment
        self.seen: set[int] = set()

    def start(self) -> LoomServer:
        arguments = ["up", "--port", str(self.port), "--storage-url", self.storage_url]
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("LOOM_", "RAY_"))}
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "loom_ray.cli", *arguments],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=inherited | self.environment, cwd=self.folder, start_new_session=True,
            )  # fmt: skip
        return self

    def wait_until_ready(self) -> LoomServer:
        wait_until(lambda: self.process.poll() is not None or self._is_announced(), READY_S_MAX, "loom-ray up")
        assert self.process.poll() is None, self.text()
        wait_until(lambda: self.get("/v1/ready")[0] == 200, READY_S_MAX, "GET /v1/ready")
        self.note_processes()
        return self

    def note_processes(self) -> set[int]:
        """Remember what runs below it now; `is_gone` looks for all that was ever noted."""
        self.seen |= {self.process.pid, *descendants(self.process.pid)}
        return self.seen

    def driver(self) -> int:
        """The child that started Ray."""
        return descendants(self.process.pid)[0]

    def processes_of(self, title: str) -> list[int]:
        """Ray names its workers after their actor's class."""
        found: list[int] = []
        for pid in descendants(self.process.pid):
            try:
                line = Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:
                continue
            if line.startswith(f"ray::{title}".encode()):
                found.append(pid)
        return found

    def is_gone(self) -> bool:
        self.process.poll()
        return not any(_is_alive(pid) for pid in self.seen)

    def wait_until_gone(self) -> int:
        """Until no process of it is left; the exit code of `loom-ray up`."""
        wait_until(self.is_gone, GONE_S_MAX, f"the end of {[pid for pid in self.seen if _is_alive(pid)]}")
        return self.process.wait()

    def stop(self) -> int:
        """What SIGTERM does; kills what is left when that fails the test."""
        self.note_processes()
        try:
            self.process.send_signal(signal.SIGTERM)
            return self.wait_until_gone()
        finally:
            for pid in filter(_is_alive, self.seen):
                os.kill(pid, signal.SIGKILL)

    def text(self) -> str:
        return self.output.read_text("utf-8", "replace")

    def get(self, path: str) -> tuple[int, Any]:
        return self._ask(urllib.request.Request(self.base_url + path))

    def post(self, op: str, **arguments: Any) -> tuple[int, Any]:
        return self._ask(urllib.request.Request(f"{self.base_url}/v1/{op}", json.dumps(arguments).encode()))

    def _ask(self, request: urllib.request.Request) -> tuple[int, Any]:
        """The status and the JSON body; (0, the reason) when nobody answers."""
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, json.loads(response.read())
        except urllib.error.HTTPError as refusal:
            return refusal.code, json.loads(refusal.read() or b"null")
        except OSError as error:
            return 0, str(error)

    def _is_announced(self) -> bool:
        return "\nready after" in self.text()


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
