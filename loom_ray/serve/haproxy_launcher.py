"""What stands between Serve and HAProxy? A stand-in for its binary: it corrects the configuration, then becomes it.

    python haproxy_launcher.py PAGES HAPROXY [the arguments that Serve gives HAProxy]

Serve 2.60 renders the configuration from a fixed template without a hook. Six things in it do not do for us:
- its statistics and metrics listen on every interface, without a password: here they listen on loopback alone;
- its own failures are plain text under a 500: here they are our error shape, under the status that tells what to do;
- before an app is deployed it answers 404 in plain text: here it is 503, so that who waits for health finds a server;
- a replica whose loop is busy cannot say that the server is alive: here HAProxy answers GET /v1/health itself;
- a client's header may shorten Serve's own timeout, whose refusal is plain text: here the header is dropped;
- it waits for a slow head of a request for ever, and logs each request to a syslog that nobody runs.
And HAProxy outlives a killed parent, holding our port: here the kernel ends it with its parent (prctl(2), PDEATHSIG).

Runs before each start and reload, so it imports only the standard library (`python -I -S`: 15 ms).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

PR_SET_PDEATHSIG = 1
LOOPBACK_ONLY = ("frontend prometheus", "listen stats")
REQUEST_HEAD_S_MAX = 30
HEALTH = "health.json"
BACKEND_OF_AN_APP = "backend http-"
SERVES_OWN = "{ path_beg /-/ }"  # what Serve asks HAProxy itself
SERVE_TIMEOUT = "x-request-timeout-seconds"
ASKS_HEALTH = "{ path /v1/health } { method GET HEAD }"


def corrected(configuration: str, pages: Path) -> str:
    """The configuration that HAProxy gets to read. `pages` holds health.json, and whole answers such as 503.http."""
    return "\n".join(_lines(configuration, pages)) + "\n"


def _lines(configuration: str, pages: Path) -> Iterator[str]:
    section = ""
    deployed = any(line.startswith(BACKEND_OF_AN_APP) for line in configuration.splitlines())
    for line in configuration.splitlines():
        words = line.split()
        if line[:1].strip() and not line.startswith("#"):
            section = line.strip()
        if words[:1] == ["bind"] and section in LOOPBACK_ONLY:
            yield f"    bind 127.0.0.1:{words[1].rpartition(':')[2]}"
        elif not (words[:1] == ["errorfile"] or (section == "global" and words[:1] == ["log"])):
            yield line
        if words[:1] == ["bind"] and section == "frontend http_frontend":
            if not deployed:
                yield f"    http-request deny deny_status 503 unless {SERVES_OWN}"
            answer = f"return status 200 content-type application/json file {pages / HEALTH}"
            yield f"    http-request {answer} if {ASKS_HEALTH}"
            yield f"    http-request del-header {SERVE_TIMEOUT}"
        if line.strip() == "defaults":
            yield f"    timeout http-request {REQUEST_HEAD_S_MAX}s"
            yield from (f"    errorfile {page.stem} {page}" for page in sorted(pages.glob("*.http")))


def main(arguments: list[str]) -> None:
    pages, binary, *rest = arguments
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if "-f" in rest:
        path = Path(rest[rest.index("-f") + 1])
        path.write_text(corrected(path.read_text("utf-8"), Path(pages)), "utf-8")
    os.execv(binary, [binary, *rest])


if __name__ == "__main__":
    main(sys.argv[1:])
