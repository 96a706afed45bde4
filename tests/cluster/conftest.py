"""One real server for all tests that need one: starting it costs more than any of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from loom_server import LoomServer

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rounds", type=int, default=20, help="how often the race for a refused value is run")
    parser.addoption("--kills", type=int, default=10, help="how often a namespace is killed under its writers")
    parser.addoption("--namespaces", type=int, default=20, help="how many fresh namespaces the crash tests touch")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoomServer]:
    """A server with the local embedder and two gateways; `server.base_url` is its address. It must stop without leaving
    a process."""
    running = LoomServer(tmp_path_factory.mktemp("loom"), LOOM_REPLICAS="2").start()
    try:
        yield running.wait_until_ready()
    finally:
        code = running.stop()
    assert code == 0, running.text()
