"""How does `loom-ray up` keep a server: start it, know when it answers, end all of it whatever happens?

Two processes, so that none can be lost: this one holds the locks and the terminal and never imports Ray; its child
(driver.py) starts Ray. Either adopts the orphans of the other's side and ends them. Killed with -9, this one leaves a
child that reads the end of its standard input and stops everything; a killed child is noticed here.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from loom_ray.contract.settings import Settings
from loom_ray.serve import processes, ray_environment
from loom_ray.serve.driver import StartOrder

START_S_MAX = 240.0  # 18 s on two idle cores, 90 s on two busy ones
STOP_S_MAX = 15.0
ANSWER_S_MAX = 30.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOG = "server.log"


class StartFailed(Exception):
    """The server did not come up; the message is for the terminal, the log has the rest."""


class Stopped(Exception):
    """A signal asked for the end."""


@dataclass
class Server:
    """One server: its folder, its child, and what it has said so far. Not thread-safe: for the main thread."""

    settings: Settings
    folder: Path
    ray_address: str = ""
    descriptors: list[int] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)
    behind_haproxy: bool = False

    def start(self, environment: dict[str, str]) -> None:
        """Start the child. `environment` is what the child inherits of ours."""
        processes.adopt_orphans()
        environment = {name: value for name, value in environment.items() if name != "RAY_ADDRESS"}
        if not self.ray_address:
            ours = ray_environment.own_cluster(self.folder, self.settings)
            environment |= ours
            self.behind_haproxy = ray_environment.uses_haproxy(ours)
        with (self.folder / LOG).open("ab") as log:
            self.child = subprocess.Popen(
                [sys.executable, "-m", "loom_ray.serve.driver"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                pass_fds=self.descriptors,
                text=True,
            )
        assert self.child.stdin is not None
        order = StartOrder(revealed(self.settings), str(self.folder), self.ray_address, self.descriptors)
        self.child.stdin.write(order.to_line())
        self.child.stdin.flush()

    def wait_until_answers(self) -> None:
        """Return once a replica answers at the public address, ready or not. Raises StartFailed."""
        for event in self._events():
            if "failed" in event:
                raise StartFailed(event["failed"])
            self.stages[event["stage"]] = event["seconds"]
            if event["stage"] == "gateway":
                return self._wait_for_replica()
        raise StartFailed("it ended without a word")

    def wait(self) -> int:
        """Until the child ends; its exit code."""
        return self.child.wait()

    def stop(self) -> None:
        """End everything: in good order within STOP_S_MAX, by force what is left then. Safe to call at any time."""
        if not hasattr(self, "child"):
            return
        self.child.send_signal(signal.SIGTERM if "gateway" in self.stages else signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(STOP_S_MAX)
        self.kill()

    def kill(self) -> None:
        """End everything now."""
        processes.end_descendants()

    def _events(self) -> Iterator[dict[str, Any]]:
        """What the child tells, until it ends; after START_S_MAX it is killed."""
        assert self.child.stdout is not None
        limit = threading.Timer(START_S_MAX, self.child.kill)
        limit.start()
        try:
            yield from map(json.loads, self.child.stdout)
        finally:
            limit.cancel()

    def _wait_for_replica(self) -> None:
        deadline = time.monotonic() + ANSWER_S_MAX
        while "ready" not in (get(self.settings.host, self.settings.port, "/v1/ready") or {}):
            if time.monotonic() > deadline or self.child.poll() is not None:
                raise StartFailed("GET /v1/ready does not answer at the public address")
            time.sleep(processes.POLL_S)


def get(host: str, port: int, path: str, timeout_s: float = 2.0) -> dict[str, Any] | None:
    """The JSON object that a GET answers, whatever its status, or None where no server gives one."""
    connection = http.client.HTTPConnection(reachable(host), port, timeout=timeout_s)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        body = json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return body if isinstance(body, dict) else None


def reachable(host: str) -> str:
    """The address at which a client on this machine finds a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def revealed(settings: Settings) -> dict[str, Any]:
    """The settings as plain values, secrets in the clear: for the child's standard input alone."""
    return {
        name: value.get_secret_value() if isinstance(value, SecretStr) else value
        for name, value in dict(settings).items()
    }


def raise_on_signals(server: Server) -> None:
    """From now on SIGINT, SIGTERM and SIGHUP raise Stopped in the main thread; a second one ends everything at once."""

    def first(number: int, _frame: object) -> None:
        for each in STOP_SIGNALS:
            signal.signal(each, second)
        raise Stopped(signal.Signals(number).name)

    def second(_number: int, _frame: object) -> None:
        server.kill()
        os._exit(130)

    for each in STOP_SIGNALS:
        signal.signal(each, first)
