import socket
from pathlib import Path

import pytest

from loom_ray.serve import processes
from loom_ray.serve.processes import free_ports


def _kernels_own() -> range:
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    return range(low, high + 1)


def test_ports_are_neighbours_that_the_kernel_gives_to_nobody():
    ports = free_ports(104)
    assert len(ports) == 104
    assert not set(ports) & set(_kernels_own())


def test_neither_a_taken_nor_a_promised_port_is_given(monkeypatch: pytest.MonkeyPatch):
    first = free_ports(4)[0]
    monkeypatch.setattr(processes, "_OURS", range(first, first + 4))  # the only choices: three ports from `first` on
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", first))
        taken.listen()
        assert {free_ports(1, apart_from=first + 1)[0] for _ in range(50)} == {first + 2}
    with pytest.raises(OSError, match="no 3 neighbouring ports are free"):
        free_ports(3, apart_from=first + 1)
