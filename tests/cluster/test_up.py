"""What does `loom-ray up` promise about processes, ports and folders?"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from loom_server import GONE_S_MAX, LoomServer, wait_until

from loom_ray.serve.processes import descendants


def loom_ray(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "loom_ray.cli", *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def refusal_of(*arguments: str) -> str:
    done = loom_ray("up", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    return done.stderr


class TestOneServer:
    def test_its_first_curl_works_as_printed(self, server: LoomServer) -> None:
        curl = next(line for line in server.text().splitlines() if line.startswith("try")).removeprefix("try")
        assert f"{server.base_url}/v1/memory.set" in curl
        status, answer = server.post("memory.set", memory_key="backup/copies", value="The nightly backup keeps copies.")
        assert (status, answer["conflict_verdict"]) == (200, "clear")

    def test_it_listens_on_loopback_alone(self, server: LoomServer) -> None:
        """Beyond it only Ray's own gRPC ports are open, which ask for the cluster's token."""
        names = {Path(f"/proc/{pid}/comm").read_text().strip() for pid in descendants(server.process.pid)}
        assert any("haproxy" in name for name in names)
        assert set(_listening(server, ("haproxy", "ray::ServeRepli"))) == {"127.0.0.1"}

    def test_a_second_one_on_its_port_is_told_who_is_there(self, server: LoomServer, tmp_path: Path) -> None:
        said = refusal_of("--port", str(server.port), "--storage-url", f"file://{tmp_path}")
        assert f"port {server.port}" in said
        assert f"pid {server.process.pid}" in said
        assert "loom-ray down" in said

    def test_a_second_one_on_its_folder_is_told_who_is_there(self, server: LoomServer) -> None:
        said = refusal_of("--port", "7", "--storage-url", server.storage_url)
        assert f"pid {server.process.pid}" in said

    def test_status_lists_it(self, server: LoomServer) -> None:
        done = loom_ray("status")
        assert done.returncode == 0
        assert server.base_url in done.stdout

    def test_an_answer_comes_before_an_oversized_body_is_read(self, server: LoomServer) -> None:
        head = b"POST /v1/memory.set HTTP/1.1\r\nHost: test\r\nContent-Length: 34603008\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
            connection.sendall(head + b'{"value": "')
            assert connection.recv(12) == b"HTTP/1.1 413"

    def test_the_demo_plays(self, server: LoomServer) -> None:
        done = loom_ray("demo", "--url", server.base_url)
        assert done.returncode == 0, done.stderr
        for word in ("clear", "merge", "duplicate", "conflict", "14", "30"):
            assert word in done.stdout


class TestTheEnd:
    def test_killed_it_leaves_nothing_and_the_next_one_starts(self, tmp_path: Path) -> None:
        first = LoomServer(tmp_path).start().wait_until_ready()
        _, stored = first.post("memory.set", memory_key="kept", value="The harbour crane lifts 40 tonnes.")
        first.note_processes()
        first.process.kill()
        assert first.wait_until_gone() == -signal.SIGKILL

        second = LoomServer(tmp_path, first.port).start().wait_until_ready()
        assert "was killed; clearing up after it" in second.text()
        assert second.post("memory.get", memory_key="kept")[1]["version"] == stored["version"]
        os.kill(second.driver(), signal.SIGKILL)
        assert second.wait_until_gone() == 1
        assert "ended by itself" in second.text()

    @pytest.mark.parametrize("presses", [1, 2])
    def test_ctrl_c_while_it_starts(self, tmp_path: Path, presses: int) -> None:
        starting = LoomServer(tmp_path).start()
        wait_until(lambda: len(starting.note_processes()) > 3, GONE_S_MAX, "the first processes of Ray")
        for _ in range(presses):
            os.killpg(starting.process.pid, signal.SIGINT)
        assert starting.wait_until_gone() in ((0,) if presses == 1 else (0, 130))

    def test_a_foreign_port_is_named_with_its_holder(self, tmp_path: Path) -> None:
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))
            holder.listen()
            port = holder.getsockname()[1]
            said = refusal_of("--port", str(port), "--storage-url", f"file://{tmp_path}")
        assert f"127.0.0.1:{port}: Address already in use" in said
        assert f"(pid {os.getpid()})" in said
        assert "LOOM_PORT" in said


def _listening(server: LoomServer, names: tuple[str, ...]) -> list[str]:
    """The addresses on which the processes of these names listen."""
    inodes = set()
    for pid in server.seen:
        process = Path(f"/proc/{pid}")
        if process.exists() and (process / "comm").read_text().strip().startswith(names):
            inodes |= {str(link.readlink()) for link in (process / "fd").iterdir() if link.is_symlink()}
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = [row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in inodes]
    return [socket.inet_ntoa(bytes.fromhex(address)[::-1]) for address in listening]
