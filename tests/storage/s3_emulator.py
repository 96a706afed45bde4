"""How does a test reach an S3 emulator? moto's server in its own process, on a free loopback port."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from urllib.request import Request, urlopen
from uuid import uuid4

KEYS = {"aws_region": "us-east-1", "aws_access_key_id": "test", "aws_secret_access_key": "test"}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def await_answer(endpoint: str, server: subprocess.Popen[bytes]) -> None:
    """Return once the server answers; RuntimeError if it dies first."""
    while True:
        try:
            urlopen(endpoint + "/moto-api/", timeout=1).close()
            return
        except OSError:
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise RuntimeError(f"moto's server ended with {server.wait(timeout=0.05)}") from None


@contextlib.contextmanager
def serve_s3() -> Iterator[str]:
    """The address of an S3 emulator that lives as long as the block."""
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        endpoint = f"http://127.0.0.1:{port}"
        await_answer(endpoint, server)
        yield endpoint
    finally:
        server.terminate()
        server.wait()


def new_bucket(endpoint: str) -> str:
    """The URL of a fresh bucket."""
    bucket = f"loom-{uuid4().hex}"
    urlopen(Request(f"{endpoint}/{bucket}", method="PUT"), timeout=10).close()
    return f"s3://{bucket}/some/prefix"
