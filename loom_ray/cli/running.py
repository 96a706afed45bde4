"""Which servers run here, and how is one told to stop?"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from urllib.parse import urlsplit

from rich.table import Table

from loom_ray.cli.terminal import Refusal, console, read_settings, refuse
from loom_ray.cli.up import absolute
from loom_ray.serve import run_record
from loom_ray.serve.processes import POLL_S
from loom_ray.serve.run_record import RunRecord
from loom_ray.serve.supervisor import STOP_S_MAX, get


def show() -> int:
    """Print the live servers; the exit code is 0 when there is one, 1 when there is none."""
    records = list(run_record.running())
    if not records:
        console.print("no server runs on this machine")
        return 1
    table = Table("address", "answers", "since", "storage", "pid", box=None, pad_edge=False)
    for record in records:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.started_at))
        table.add_row(record.url, _condition(record), since, record.storage_url, str(record.pid))
    console.print(table)
    return 0


def stop(port: int | None, storage_url: str | None) -> int:
    """SIGTERM to the server of that port or storage, and wait until its last process is gone."""
    try:
        record = _find(port, storage_url)
    except Refusal as refusal:
        return refuse(refusal)
    os.kill(record.pid, signal.SIGTERM)
    path, deadline = run_record.runs_folder() / f"{record.port}.json", time.monotonic() + 2 * STOP_S_MAX
    while run_record.is_live(path):
        if time.monotonic() > deadline:
            return refuse(f"pid {record.pid} has not stopped yet")
        time.sleep(POLL_S)
    console.print(f"stopped {record.url}")
    return 0


def _find(port: int | None, storage_url: str | None) -> RunRecord:
    records = list(run_record.running())
    if storage_url is not None:
        matching = [record for record in records if record.storage_url == absolute(storage_url)]
        sought = f"on {storage_url}"
    else:
        port = port or read_settings().port
        matching, sought = [record for record in records if record.port == port], f"on port {port}"
    if not matching:
        others = ", ".join(str(record.port) for record in records)
        raise Refusal(f"no server runs {sought}" + (f" (there is one on port {others})" if others else ""))
    return matching[0]


def _condition(record: RunRecord) -> str:
    address = urlsplit(record.url)
    health = get(address.hostname or "127.0.0.1", record.port, "/v1/health")
    if health is None:
        return "no" if Path(record.folder).exists() else "stopping"
    return "yes"
