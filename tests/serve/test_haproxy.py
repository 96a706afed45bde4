"""Does HAProxy get the configuration that we want, from the template that this Ray ships?"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from jinja2 import Environment
from ray.serve._private.haproxy import BackendConfig, HAProxyConfig, ServerConfig, _haproxy_fmt_literal
from ray.serve._private.haproxy_templates import HAPROXY_CONFIG_TEMPLATE
from ray.serve.config import HTTPOptions

from loom_ray.contract.settings import Settings
from loom_ray.serve import haproxy
from loom_ray.serve.haproxy_launcher import corrected


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    haproxy.install_launcher(tmp_path, "/bin/true", Settings())
    return tmp_path / "pages"


def rendered(host: str, *, deployed: bool = True) -> str:
    """What Serve writes for one replica behind `host`:7777, or before there is an app."""
    config = HAProxyConfig(http_options=HTTPOptions(host=host, port=7777), socket_path="/tmp/a.sock")
    config.error_file_path = "/nowhere/500.http"
    backend = BackendConfig(
        name="http-loom", path_prefix="/", app_name="loom", servers=[ServerConfig("replica", "127.0.0.1", 20100)]
    )
    environment = Environment()
    environment.filters["haproxy_fmt"] = _haproxy_fmt_literal
    health = backend.build_health_check_config(config)
    backends = [backend] if deployed else []
    checked = [{"backend": each, "health_config": health} for each in backends]
    return environment.from_string(HAPROXY_CONFIG_TEMPLATE).render(
        config=config, backends=backends, grpc_backends=[], grpc_backends_with_health_config=[], healthz_rules="",
        backends_with_health_config=checked, grpc_healthz_rules="",
        route_info=config.build_health_route_info(backends), has_ingress_request_router=False,
        metrics_socket_path="/tmp/m.sock",
    )  # fmt: skip


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_only_the_public_address_is_reachable_from_outside(pages: Path, host: str) -> None:
    binds = [line.split()[1] for line in corrected(rendered(host), pages).splitlines() if line.split()[:1] == ["bind"]]
    public = "*:7777" if host == "0.0.0.0" else "127.0.0.1:7777"
    assert sorted(binds) == sorted([public, "127.0.0.1:8404", "127.0.0.1:9101"])


def test_its_own_failures_are_our_error_shape_under_a_retryable_status(pages: Path) -> None:
    for status, code in ((502, "OUTCOME_UNKNOWN"), (503, "BACKEND_UNAVAILABLE"), (504, "OUTCOME_UNKNOWN")):
        assert f"errorfile {status} {pages / f'{status}.http'}" in corrected(rendered("127.0.0.1"), pages)
        head, body = (pages / f"{status}.http").read_bytes().split(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert f"Content-Length: {len(body)}".encode() in head
        detail = json.loads(body)["detail"]
        assert (detail["code"], detail["retryable"]) == (code, True)


def test_before_there_is_an_app_everyone_hears_503_and_health_too(pages: Path) -> None:
    refusal = "http-request deny deny_status 503"
    starting = corrected(rendered("127.0.0.1", deployed=False), pages)
    assert starting.index(refusal) < starting.index("path /v1/health")
    assert refusal not in corrected(rendered("127.0.0.1"), pages)


def test_nothing_of_serves_own_error_page_or_syslog_is_left(pages: Path) -> None:
    configuration = corrected(rendered("127.0.0.1"), pages)
    assert "/nowhere/500.http" not in configuration
    assert "514" not in configuration


def test_correcting_twice_keeps_it_valid(pages: Path) -> None:
    """A reload may find the file as the last start left it."""
    binary = haproxy.find_binary()
    if binary is None:
        pytest.skip("no HAProxy for this platform")
    path = pages / "c.cfg"
    path.write_text(corrected(corrected(rendered("127.0.0.1"), pages), pages))
    checked = subprocess.run([binary, "-c", "-f", str(path)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
