"""What does `loom-ray up` do, in which order, and what does it say when something is in the way?"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from loom_ray.cli.terminal import Refusal, console, read_settings, refuse
from loom_ray.contract.settings import Settings
from loom_ray.serve import processes, run_record
from loom_ray.serve.run_record import AlreadyRunning, HeldRecord, RunRecord
from loom_ray.serve.supervisor import LOG, Server, StartFailed, Stopped, get, raise_on_signals, reachable
from loom_ray.storage import folder_lock
from loom_ray.storage.blobs import folder_of
from loom_ray.storage.errors import FolderLocked

LEAVINGS_S_MAX = 10.0  # a killed server's processes end within this
START_FAILED = 1


def run(port: int | None, host: str | None, storage_url: str | None) -> int:
    """Serve until a signal; returns the exit code: 0 stopped, 1 failed, 2 something is in the way."""
    try:
        settings = read_settings(port=port, host=host, storage_url=storage_url)
        settings = settings.model_copy(update={"storage_url": absolute(settings.storage_url)})
        with _record(settings) as record, _storage_lock(settings) as locks:
            _check_port(settings)
            return _serve(settings, record, [record.descriptor, *locks])
    except Refusal as refusal:
        return refuse(refusal)


def absolute(storage_url: str) -> str:
    """The same storage, whatever the working directory. Raises Refusal for a URL of no known kind."""
    scheme, _, rest = storage_url.partition("://")
    if scheme not in ("file", "s3") or not rest:
        raise Refusal(f"LOOM_STORAGE_URL: file://… or s3://bucket/prefix, not {storage_url}")
    return storage_url if scheme == "s3" else f"file://{folder_of(storage_url)}"


@contextmanager
def _record(settings: Settings) -> Iterator[HeldRecord]:
    try:
        held, left = run_record.hold(settings.port)
    except AlreadyRunning as running:
        pid = f" (pid {running.record.pid}, {running.record.storage_url})" if running.record else ""
        raise Refusal(
            f"a server runs on port {settings.port} already{pid}.\n"
            f"Stop it with `loom-ray down --port {settings.port}`, or choose another port with --port or LOOM_PORT."
        ) from None
    except PermissionError as error:
        raise Refusal(error) from None
    if left is not None:
        _clear_up_after(left, settings)
    yield held


def _clear_up_after(left: RunRecord, settings: Settings) -> None:
    """The server before us was killed: its processes end by themselves, and it could not remove its folder."""
    console.print(f"The last server on port {left.port} (pid {left.pid}) was killed; clearing up after it.")
    deadline = time.monotonic() + LEAVINGS_S_MAX
    while processes.can_listen(settings.host, settings.port) and time.monotonic() < deadline:
        time.sleep(processes.POLL_S)
    run_record.remove_leavings(left)


@contextmanager
def _storage_lock(settings: Settings) -> Iterator[list[int]]:
    """One server a folder. An object storage needs no lock: there the log itself keeps a second writer out."""
    if not settings.storage_url.startswith("file://"):
        yield []
        return
    try:
        lock = folder_lock.hold(folder_of(settings.storage_url))
    except FolderLocked as locked:
        raise Refusal(locked) from None
    except OSError as error:
        raise Refusal(f"the data folder cannot be used: {error}") from None
    try:
        yield [lock.descriptor]
    finally:
        lock.release()


def _check_port(settings: Settings) -> None:
    try:
        error = processes.can_listen(settings.host, settings.port)
    except socket.gaierror:
        raise Refusal(f"LOOM_HOST: this machine has no address {settings.host!r}") from None
    if error is None:
        return
    holder = processes.port_holder(settings.port)
    raise Refusal(
        f"cannot listen on {settings.host}:{settings.port}: {error.strerror}"
        + (f", {holder} does.\n" if holder else ".\n")
        + ("Choose another host with --host or LOOM_HOST." if error.errno == errno.EADDRNOTAVAIL
           else "Choose another port with --port or LOOM_PORT.")
    )  # fmt: skip


def _serve(settings: Settings, record: HeldRecord, locks: list[int]) -> int:
    server = Server(settings, run_record.new_run_folder(), os.environ.get("RAY_ADDRESS", ""), locks)
    record.write(RunRecord(os.getpid(), settings.port, _url(settings), settings.storage_url, str(server.folder),
                           time.time()))  # fmt: skip
    raise_on_signals(server)
    try:
        began = time.monotonic()
        _announce_start(server)
        server.start(dict(os.environ))
        server.wait_until_answers()
        _announce(server, time.monotonic() - began)
        code = server.wait()
        return _failed(server, f"the server ended by itself (exit code {code})")
    except StartFailed as failure:
        return _failed(server, f"the server did not start: {failure}")
    except Stopped:
        console.print("stopping …")
        server.stop()
        shutil.rmtree(server.folder, ignore_errors=True)
        record.free()
        console.print("stopped; no process is left")
        return 0


def _failed(server: Server, why: str) -> int:
    server.stop()
    refuse(f"{why}\nIts log: {server.folder / LOG}")
    return START_FAILED


def _announce_start(server: Server) -> None:
    where = f"joining the Ray cluster at {server.ray_address}" if server.ray_address else "starting Ray"
    console.print(f"loom-ray: {where} …")


def _announce(server: Server, seconds: float) -> None:
    settings, url = server.settings, _url(server.settings)
    ray = server.stages.get("serve", 0.0)
    console.print(f"ready after {seconds:.1f} s (Ray and Ray Serve: {ray:.1f} s)\n")
    console.print(f"  address    {url}   (also /docs, /openapi.json)")
    console.print(f"  data       {settings.storage_url}")
    console.print(f"  embedder   {settings.embedder}")
    if not server.behind_haproxy and not server.ray_address:
        console.print("  note       no HAProxy for this platform: Ray's Python proxy serves, at a fraction of the rate")
    _announce_unready(settings)
    console.print("\ntry        " + _first_curl(url), markup=False)
    console.print(f"stop       Ctrl-C, or: loom-ray down --port {settings.port}")


def _announce_unready(settings: Settings) -> None:
    answer = get(settings.host, settings.port, "/v1/ready") or {}
    for part, why in answer.get("not_ready", {}).items():
        console.print(f"  not ready  {part}: {why}", markup=False)


def _first_curl(url: str) -> str:
    body = '{"memory_key": "backup/copies", "value": "The nightly backup keeps 14 daily copies."}'
    return f"curl -s {url}/v1/memory.set -d '{body}'"


def _url(settings: Settings) -> str:
    host = reachable(settings.host)
    return f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"
