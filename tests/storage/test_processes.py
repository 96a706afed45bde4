"""What do real processes do to a real folder? kill -9 in a write storm, and two servers that want one folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scenes import PREFIX, numbers_of, opened

from loom_ray.storage.errors import FolderLocked
from loom_ray.storage.file_blobs import FileBlobs
from loom_ray.storage.folder_lock import hold

HERE = Path(__file__).parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent.parent}"}

WRITER = """
import asyncio, sys
from pathlib import Path
from scenes import image, opened, written
from loom_ray.storage.file_blobs import FileBlobs

async def write():
    store, recovered = await opened(FileBlobs(Path(sys.argv[1])), sys.argv[2])
    start = int(sys.argv[3])
    rows = list(recovered.image.rows) + [record.row for record in recovered.records if hasattr(record, "row")]
    done = [int(row.memory_id[1:]) for row in rows]
    for number in range(start, start + 10_000):
        await store.commit.submit([written(number)])
        done.append(number)
        print(number, flush=True)
        if number % 7 == 0:
            await store.snapshot(image(*done))

asyncio.run(write())
"""

HOLDER = """
import sys
from pathlib import Path
from loom_ray.storage.folder_lock import hold
lock = hold(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)


async def test_kill_9_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    for life in range(4):
        with start(WRITER, tmp_path, f"life-{life}", life * 10_000) as writer:
            assert writer.stdout is not None
            heard = [writer.stdout.readline() for _ in range(11 + 5 * life)]
            writer.send_signal(signal.SIGKILL)
            heard += writer.stdout.readlines()
        acknowledged += [f"m{int(line)}" for line in heard if line.endswith("\n")]
    store, recovered = await opened(FileBlobs(tmp_path), "last")
    found = numbers_of(recovered)
    assert len(found) == len(set(found))
    assert set(acknowledged) <= set(found)
    assert len(found) <= len(acknowledged) + 4  # at most one write a life was under way
    assert [number for number in found if number in set(acknowledged)] == acknowledged
    await store.close(recovered.image)


def test_a_second_server_is_refused_and_told_who_holds_the_folder(tmp_path: Path) -> None:
    with start(HOLDER, tmp_path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderLocked, match=rf"pid {holder.pid} on .*holds {tmp_path}"):
            hold(tmp_path)
        holder.kill()
    lock = hold(tmp_path)
    lock.release()
    hold(tmp_path).release()


async def test_the_lock_is_no_blob(tmp_path: Path) -> None:
    lock = hold(tmp_path)
    assert await FileBlobs(tmp_path).list("") == []
    lock.release()
    assert PREFIX.startswith("ns/")
