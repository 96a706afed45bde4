"""What must be in the environment before Ray starts? Ray and Serve read it once, at import, in every process of theirs.

Names and defaults: ray/serve/_private/constants.py and ray/_private/ray_constants.py of 2.60. Every port and path below
has a fixed default there, so two servers on one machine would meet without this.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from loom_ray.contract.settings import Settings
from loom_ray.serve import haproxy
from loom_ray.serve.processes import free_ports

REPLICA_PORTS = 100
HAPROXY_THREADS_MAX = 4
DRAIN_S = 1  # how long a leaving replica still takes requests, so that HAProxy can forget it (default 30)


def own_cluster(folder: Path, settings: Settings) -> dict[str, str]:
    """For a cluster of our own whose files all lie in `folder` (its path at most 27 characters, for the sockets)."""
    binary = haproxy.find_binary()
    ports = free_ports(REPLICA_PORTS + 4, apart_from=settings.port)
    environment = _ray(folder) | _serve(ports[:-2])
    if binary:
        environment |= _haproxy(folder, binary, settings, ports[-2:])
    return environment


def uses_haproxy(environment: dict[str, str]) -> bool:
    return environment.get("RAY_SERVE_ENABLE_HA_PROXY") == "1"


def _ray(folder: Path) -> dict[str, str]:
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    return {
        "RAY_AUTH_MODE": "token",  # Ray's ports are open on every interface: without the token nobody may speak there
        "RAY_AUTH_TOKEN_PATH": str(token),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }


def _serve(ports: range) -> dict[str, str]:
    *replicas, fallback_http, fallback_grpc = ports
    return {
        "RAY_SERVE_THROUGHPUT_OPTIMIZED": "1",
        "RAY_SERVE_ENABLE_DIRECT_INGRESS": "0",  # without HAProxy the Python proxy is the way in
        "RAY_SERVE_DIRECT_INGRESS_MIN_HTTP_PORT": str(replicas[0]),
        "RAY_SERVE_DIRECT_INGRESS_MAX_HTTP_PORT": str(replicas[-1]),
        "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": str(DRAIN_S),
        "RAY_SERVE_FALLBACK_PROXY_HTTP_PORT": str(fallback_http),
        "RAY_SERVE_FALLBACK_PROXY_GRPC_PORT": str(fallback_grpc),
    }


def _haproxy(folder: Path, binary: str, settings: Settings, ports: range) -> dict[str, str]:
    metrics, stats = ports
    sockets = folder / "h"
    return {
        "RAY_SERVE_ENABLE_HA_PROXY": "1",
        "RAY_SERVE_ENABLE_DIRECT_INGRESS": "1",
        "RAY_SERVE_HAPROXY_BINARY_PATH": str(haproxy.install_launcher(folder, binary, settings)),
        "RAY_SERVE_HAPROXY_NBTHREAD": str(min(HAPROXY_THREADS_MAX, os.cpu_count() or 1)),
        "RAY_SERVE_HAPROXY_METRICS_PORT": str(metrics),
        "RAY_SERVE_HAPROXY_STATS_PORT": str(stats),
        "RAY_SERVE_HAPROXY_METRICS_ENABLED": "0",  # a datagram to a Python actor for each request
        "RAY_SERVE_HAPROXY_HARD_STOP_AFTER_S": str(int(settings.request_deadline_s) + 1),
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": str(sockets / "c.cfg"),
        "RAY_SERVE_HAPROXY_SOCKET_PATH": str(sockets / "a.sock"),
        "RAY_SERVE_HAPROXY_METRICS_SOCKET_PATH": str(sockets / "m.sock"),
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": str(sockets),
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": str(sockets / "state"),
    }
