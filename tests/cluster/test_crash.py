"""What survives when processes are killed, stopped and cut off from each other? On real Ray, with real signals."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from loom_server import LoomServer, wait_until
from storm import Storm

from loom_ray.actors.calls import Call, Reply
from loom_ray.actors.directory import Place
from loom_ray.actors.embedding.actor import Description, EmbedderService
from loom_ray.actors.opening import open_namespace
from loom_ray.contract.arguments import read_request
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings
from loom_ray.core.records import Vectors
from loom_ray.core.refusal.registry import Effective
from loom_ray.storage.blobs import open_blobs

LIVE_MAX = 8
ANSWER_S_MAX = 60.0


@pytest.fixture(scope="module")
def crashing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoomServer]:
    """A server of this file's own, whose parts are killed one after another."""
    folder = tmp_path_factory.mktemp("crash")
    settings = {"LOOM_EMBEDDER": "fake", "LOOM_NAMESPACES_LIVE_MAX": str(LIVE_MAX), "LOOM_SNAPSHOT_SEGMENTS": "50"}
    running = LoomServer(folder, **settings).start()
    try:
        yield running.wait_until_ready()
    finally:
        code = running.stop()
    assert code == 0, running.text()


def kill_all(pids: Sequence[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


# ---- one process is killed ----------------------------------------------------------------------------------------
async def test_a_namespace_killed_again_and_again_under_sixteen_writers_loses_and_doubles_nothing(
    crashing: LoomServer, request: pytest.FixtureRequest
):
    """`pytest tests/cluster --kills 20` kills it so often."""
    kills = request.config.getoption("--kills", default=10)
    storm = Storm(crashing.base_url, "storm")
    gaps: list[float] = []

    async def killings() -> None:
        for _ in range(kills):
            before = storm.facts
            await until(lambda: storm.facts > before + storm.writers)  # noqa: B023 - awaited within the turn
            kill_all(await asyncio.to_thread(crashing.processes_of, "NamespaceActor"))
            killed_at = time.monotonic()
            await until(lambda: storm.answered_at > killed_at)  # noqa: B023
            gaps.append(time.monotonic() - killed_at)

    await storm.blow(killings)
    await storm.finish()
    await storm.check()
    print(
        f"\n{kills} kills: {storm.facts} facts acknowledged, {storm.refused} refusals met; from a kill to the first "
        f"answer {min(gaps):.1f} to {max(gaps):.1f} s, median {statistics.median(gaps):.1f} s"
    )


async def until(condition: Any) -> None:
    async with asyncio.timeout(ANSWER_S_MAX):
        while not condition():  # noqa: ASYNC110 - of other processes, which tell nobody
            await asyncio.sleep(0.01)


def test_a_killed_embedder_is_a_refusal_to_retry_and_nothing_is_stored_unjudged(crashing: LoomServer):
    refused: list[str] = []
    killed = crashing.processes_of("EmbedderActor")
    kill_all(killed)
    for turn in range(200):
        status, answer = crashing.post(
            "memory.set", namespace="cut", memory_key=f"k{turn}", value=f"fact {turn} stands"
        )
        assert status in (200, 503), answer
        assert crashing.get("/v1/health")[0] == 200
        without = {"memory_key": f"e{turn}", "value": "seen", "memory_type": "episodic"}
        assert crashing.post("memory.set", namespace="cut", **without)[0] == 200
        if status == 200 and crashing.processes_of("EmbedderActor"):
            break
        refused += [f"k{turn}"] if status == 503 else []
        time.sleep(0.05)
    else:
        pytest.fail("the embedder did not come back")
    for key in refused:
        assert not crashing.post("memory.get", namespace="cut", memory_key=key)[1]["found"]
    assert not set(crashing.processes_of("EmbedderActor")) & set(killed)


def test_a_killed_directory_comes_back_and_knows_who_is_awake(crashing: LoomServer):
    kill_all(crashing.processes_of("DirectoryActor"))
    statuses: list[int] = []

    def woken() -> bool:
        statuses.append(crashing.post("memory.list", namespace="after-directory")[0])
        return statuses[-1] == 200

    wait_until(woken, ANSWER_S_MAX, "a namespace that is woken by the new directory")
    assert set(statuses) <= {200, 503}


# ---- one that was taken for dead ----------------------------------------------------------------------------------
class LocalEmbedder:
    """The server's embedder, in this process."""

    def __init__(self, settings: Settings) -> None:
        self.service = EmbedderService(settings)

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors:
        return await self.service.embed(texts, deadline_s)

    async def describe(self) -> Description:
        return self.service.describe()


class Patternless:
    """A keeper of refused patterns that has none."""

    async def effective(self) -> Effective:
        return Effective(0, ())

    async def note_hits(self, hits: dict[str, int]) -> None:
        raise AssertionError("nothing is refused")


async def test_a_paused_incarnation_that_comes_back_is_refused_and_ends(crashing: LoomServer):
    post = crashing.post
    known = set(crashing.processes_of("NamespaceActor"))
    assert post("memory.set", namespace="paused", memory_key="a", value="the kiln is hot")[0] == 200
    (old,) = set(crashing.processes_of("NamespaceActor")) - known
    os.kill(old, signal.SIGSTOP)
    settings = Settings(embedder="fake")
    blobs, embedder = open_blobs(crashing.storage_url), LocalEmbedder(settings)
    heir = await open_namespace(Place("dev", "paused"), settings, blobs, embedder, Patternless(), "heir", time.time_ns)
    written = await heir.serve([set_call("a", "the kiln is warm")])
    assert written[0].error is None
    os.kill(old, signal.SIGCONT)
    status, answer = await asyncio.to_thread(post, "memory.set", namespace="paused", memory_key="a", value="it is cold")
    assert status == 503, answer
    assert answer["detail"]["code"] == "OUTCOME_UNKNOWN"
    await until(lambda: not is_running(old))
    rows = await asyncio.to_thread(history_once_it_answers, crashing, "paused", "a")
    assert [row["value"] for row in rows][::-1] == ["the kiln is hot", "the kiln is warm"]
    late = await final_reply(heir, set_call("a", "the kiln is out"))
    assert late.error is not None
    assert late.error.code == "OUTCOME_UNKNOWN"
    assert len(await asyncio.to_thread(history_once_it_answers, crashing, "paused", "a")) == 2
    await embedder.service.close()


def set_call(memory_key: str, value: str) -> Call:
    body = f'{{"namespace": "paused", "memory_key": "{memory_key}", "value": "{value}"}}'
    request = read_request(OPS["memory.set"], body.encode(), Settings()).request
    return Call(f"{memory_key} {value}", "memory.set", request)


async def final_reply(namespace: Any, call: Call) -> Reply:
    reply = (await namespace.serve([call]))[0]
    return await namespace.finish(call.call_id) if reply.pending else reply


def history_once_it_answers(server: LoomServer, namespace: str, memory_key: str) -> list[Any]:
    answers: list[Any] = []

    def answered() -> bool:
        status, answer = server.post("memory.history", namespace=namespace, memory_key=memory_key)
        assert status in (200, 503), answer
        answers.append(answer)
        return status == 200

    wait_until(answered, ANSWER_S_MAX, "the history")
    return answers[-1]["rows"]


def test_a_second_server_on_the_folder_refuses_and_harms_nothing(crashing: LoomServer):
    crashing.post("memory.set", namespace="shared", memory_key="a", value="the kiln is hot")
    before = files_of(crashing)
    second = subprocess.run(
        [sys.executable, "-m", "loom_ray.cli", "up", "--port", "7", "--storage-url", crashing.storage_url],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert second.returncode == 2
    assert f"another server (pid {crashing.process.pid}" in second.stderr
    assert "Traceback" not in second.stderr
    assert files_of(crashing) >= before
    assert crashing.post("memory.set", namespace="shared", memory_key="a", value="the kiln is warm")[0] == 200
    rows = crashing.post("memory.history", namespace="shared", memory_key="a")[1]["rows"]
    assert [row["value"] for row in rows] == ["the kiln is warm", "the kiln is hot"]


def files_of(server: LoomServer) -> set[str]:
    return {str(path) for path in (server.folder / "data" / "ns" / "dev" / "shared").rglob("*") if path.is_file()}


# ---- more namespaces than room ------------------------------------------------------------------------------------
def test_fresh_namespaces_pass_through_few_rooms(crashing: LoomServer, request: pytest.FixtureRequest):
    """`pytest tests/cluster --namespaces 200` touches as many."""
    count = request.config.getoption("--namespaces", default=20)
    began, most, slowest = time.monotonic(), 0, 0.0
    for number in range(count):
        asked_at = time.monotonic()
        status, answer = crashing.post(
            "memory.set", namespace=f"fresh-{number}", memory_key="a", value="the kiln is hot"
        )
        assert status == 200, f"namespace {number}: {answer}"
        slowest = max(slowest, time.monotonic() - asked_at)
        most = max(most, len(crashing.processes_of("NamespaceActor")))
    assert most <= LIVE_MAX + 1, "one may be on its way out"
    for number in (0, count // 2, count - 1):
        status, answer = crashing.post("memory.get", namespace=f"fresh-{number}", memory_key="a")
        assert (status, answer["value"]) == (200, "the kiln is hot")
    seconds = time.monotonic() - began
    print(f"\n{count} namespaces in {seconds:.0f} s, the slowest {slowest:.1f} s, at most {most} processes")


# ---- everything is killed -----------------------------------------------------------------------------------------
async def test_a_server_killed_in_a_storm_has_every_acknowledged_fact_when_it_starts_again(tmp_path: Path):
    first = LoomServer(tmp_path, LOOM_EMBEDDER="fake", LOOM_SNAPSHOT_SEGMENTS="50").start()
    await asyncio.to_thread(first.wait_until_ready)
    storm = Storm(first.base_url, "storm")

    async def power_cut() -> None:
        await until(lambda: storm.facts > 20 * storm.writers)
        storm.blowing = False
        kill_all(sorted(await asyncio.to_thread(first.note_processes)))
        await asyncio.to_thread(first.wait_until_gone)

    await storm.blow(power_cut)
    told = storm.facts
    second = LoomServer(tmp_path, first.port, LOOM_EMBEDDER="fake", LOOM_SNAPSHOT_SEGMENTS="50").start()
    try:
        await asyncio.to_thread(second.wait_until_ready)
        await storm.finish()
        await storm.check()
    finally:
        code = await asyncio.to_thread(second.stop)
    assert code == 0, second.text()
    print(f"\n{told} facts acknowledged before the kill, {storm.facts - told} requests finished after it")


# ---- an embedder that takes everything and answers nothing --------------------------------------------------------
@pytest.fixture
def black_hole() -> Iterator[str]:
    """An endpoint that accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def test_a_black_holed_embedder_refuses_what_needs_a_vector_and_holds_up_nothing_else(tmp_path: Path, black_hole: str):
    server = LoomServer(
        tmp_path, LOOM_EMBEDDER="openai", LOOM_EMBEDDER_BASE_URL=black_hole, LOOM_EMBEDDER_API_KEY="none",
        LOOM_EMBEDDER_DEADLINE_S="3",
    ).start()  # fmt: skip
    try:
        wait_until(lambda: server.get("/v1/health")[0] == 200, ANSWER_S_MAX, "GET /v1/health")
        assert server.get("/v1/ready")[0] == 503
        server.post("memory.list")  # the namespace is awake from here on
        check_black_hole(server)
    finally:
        code = server.stop()
    assert code == 0, server.text()


def check_black_hole(server: LoomServer) -> None:
    """What waits for the embedder is refused all at once when an attempt to load it fails; a round in which that falls
    shows nothing, and is played again."""
    rounds = [round_of_writes(server, number) for number in range(3)]
    shown = next((figures for figures in rounds if figures), None)
    assert shown, "the writes waited for no embedder"
    assert server.post("memory.list", count_only=True)[1]["count"] == len(rounds)
    print(f"\nwhile 16 writes waited: health at most {shown[0]:.2f} s, a write without a vector {shown[1]:.2f} s")


def round_of_writes(server: LoomServer, number: int) -> tuple[float, float] | None:
    """The longest health and the write without a vector, in seconds, if all 16 writes waited meanwhile."""
    with ThreadPoolExecutor(16) as writers:
        texts = (f"fact {number} {writer} stands" for writer in range(16))
        waiting = [writers.submit(server.post, "memory.set", memory_key=text, value=text) for text in texts]
        healths = [timed(lambda: server.get("/v1/health")) for _ in range(20)]
        plain = {"memory_key": f"e{number}", "value": "seen", "memory_type": "episodic"}
        write = timed(lambda: server.post("memory.set", **plain))
        read = timed(lambda: server.post("memory.get", memory_key=plain["memory_key"]))
        all_waited = not any(write.done() for write in waiting)
        refusals = [write.result() for write in waiting]
    assert {result[0] for _, result in [*healths, write, read]} == {200}
    assert {(status, answer["detail"]["code"]) for status, answer in refusals} == {(503, "BACKEND_UNAVAILABLE")}
    return (max(seconds for seconds, _ in healths), write[0]) if all_waited else None


def timed(ask: Any) -> tuple[float, tuple[int, Any]]:
    began = time.monotonic()
    answer = ask()
    return time.monotonic() - began, answer
