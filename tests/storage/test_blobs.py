"""Do all backends keep the port's promises? One suite, run over a folder, memory and S3."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from proxy import LosesFirstAnswer
from s3_emulator import KEYS, free_port, new_bucket

from loom_ray.storage.blobs import Blobs, folder_of, open_blobs
from loom_ray.storage.errors import BlobExists, BlobMissing, BlobsUnavailable
from loom_ray.storage.file_blobs import UNFINISHED, FileBlobs
from loom_ray.storage.s3_blobs import S3Blobs

STRANGE = ["ns/%41cme/x%2fy/log/1", "ns/a~b/ü/log/1", "ns/a b/c+d/log/1", "ns/-/_/log/=1"]


async def test_what_was_put_is_got(blobs: Blobs) -> None:
    await blobs.put_new("a/b/one", b"\x00\xff" * 1000)
    assert await blobs.get("a/b/one") == b"\x00\xff" * 1000


async def test_an_empty_blob_is_a_blob(blobs: Blobs) -> None:
    await blobs.put_new("a/empty", b"")
    assert await blobs.get("a/empty") == b""


async def test_put_new_never_replaces(blobs: Blobs) -> None:
    await blobs.put_new("a/one", b"first")
    for data in (b"second", b"first", b""):
        with pytest.raises(BlobExists, match="a/one"):
            await blobs.put_new("a/one", data)
    assert await blobs.get("a/one") == b"first"


async def test_of_many_racing_put_news_one_wins(blobs: Blobs) -> None:
    outcomes = await asyncio.gather(
        *(blobs.put_new("race/1", str(writer).encode()) for writer in range(12)), return_exceptions=True
    )
    winners = [writer for writer, outcome in enumerate(outcomes) if outcome is None]
    assert len(winners) == 1
    assert sum(isinstance(outcome, BlobExists) for outcome in outcomes) == 11
    assert await blobs.get("race/1") == str(winners[0]).encode()


async def test_put_replaces(blobs: Blobs) -> None:
    await blobs.put("a/one", b"first")
    await blobs.put("a/one", b"second")
    assert await blobs.get("a/one") == b"second"
    assert await blobs.list("") == ["a/one"]


async def test_what_is_not_there_is_missing(blobs: Blobs) -> None:
    await blobs.put("a/b/one", b"1")
    for path in ("nothing", "a/b/two", "a/b", "a/b/one/deeper"):
        with pytest.raises(BlobMissing):
            await blobs.get(path)


async def test_a_list_is_sorted_and_reaches_every_depth(blobs: Blobs) -> None:
    for path in ("a/c/2", "a/b/1", "a/z", "a/b/10"):
        await blobs.put(path, b"")
    assert await blobs.list("a/") == ["a/b/1", "a/b/10", "a/c/2", "a/z"]


async def test_folders_are_compared_for_equality(blobs: Blobs) -> None:
    for path in ("ns/acme/1", "ns/acme-2/1", "ns/acm/1", "ns/acme.d/1"):
        await blobs.put(path, b"")
    assert await blobs.list("ns/acme/") == ["ns/acme/1"]
    assert await blobs.list("ns/ac/") == []
    with pytest.raises(ValueError, match="ends in"):
        await blobs.list("ns/acme")


async def test_more_than_a_page_is_listed(blobs: Blobs) -> None:
    paths = [f"many/{number:05d}" for number in range(1005)]
    for start in range(0, len(paths), 67):
        await asyncio.gather(*(blobs.put(path, b"") for path in paths[start : start + 67]))
    assert await blobs.list("many/") == paths


async def test_delete_removes_and_forgives(blobs: Blobs) -> None:
    await blobs.put("a/one", b"1")
    await blobs.put("a/two", b"2")
    await blobs.delete(["a/one", "a/never", "b/never"])
    await blobs.delete([])
    assert await blobs.list("") == ["a/two"]
    await blobs.put_new("a/one", b"again")
    assert await blobs.get("a/one") == b"again"


async def test_a_folder_can_be_emptied_and_filled_again(blobs: Blobs) -> None:
    await blobs.put("a/b/one", b"1")
    await blobs.delete(["a/b/one"])
    await blobs.put_new("a/b/two", b"2")
    assert await blobs.list("a/") == ["a/b/two"]


@pytest.mark.parametrize("path", STRANGE)
async def test_strange_names_stay_themselves(blobs: Blobs, path: str) -> None:
    await blobs.put_new(path, b"1")
    assert await blobs.get(path) == b"1"
    assert await blobs.list("ns/") == [path]
    await blobs.delete([path])
    assert await blobs.list("ns/") == []


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b", "../a", "a/../b", "./a", ".a", "a/.b", "a\0"])
async def test_no_path_leaves_its_root(blobs: Blobs, path: str) -> None:
    with pytest.raises(ValueError, match="not a blob path"):
        await blobs.put_new(path, b"")
    with pytest.raises(ValueError, match="not a blob path"):
        await blobs.get(path)


async def test_two_handles_on_one_folder_agree(tmp_path: Path) -> None:
    one, two = FileBlobs(tmp_path), FileBlobs(tmp_path)
    await one.put_new("a/1", b"1")
    with pytest.raises(BlobExists):
        await two.put_new("a/1", b"2")
    assert await two.get("a/1") == b"1"


async def test_leftovers_of_dead_writers_are_ignored_and_old_ones_removed(tmp_path: Path) -> None:
    (tmp_path / UNFINISHED).mkdir()
    old, young = tmp_path / UNFINISHED / "old", tmp_path / UNFINISHED / "young"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    blobs = FileBlobs(tmp_path)
    await blobs.put_new("a/1", b"1")
    assert await blobs.list("") == ["a/1"]
    assert not old.exists()
    assert young.exists()


async def test_every_byte_and_every_new_folder_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real = os.fsync

    def watch(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watch)
    root = tmp_path / "new" / "root"
    await FileBlobs(root).put_new("a/b/1", b"1")
    assert {str(root.parent), str(root), f"{root}/a", f"{root}/a/b"} <= set(synced)
    assert synced[-1] == f"{root}/a/b"  # the link last
    assert UNFINISHED in synced[-2]  # after the bytes


async def test_a_disk_that_fails_is_unavailable_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = FileBlobs(tmp_path)
    await blobs.put("a/1", b"1")

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(BlobsUnavailable, match="No space left"):
        await blobs.put_new("a/2", b"2")
    assert await blobs.list("") == ["a/1"]
    assert list((tmp_path / UNFINISHED).iterdir()) == []


async def test_a_folder_that_cannot_be_read_does_not_look_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = FileBlobs(tmp_path)
    await blobs.put("a/1", b"1")

    def broken(path: object) -> object:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "scandir", broken)
    with pytest.raises(BlobsUnavailable, match="Input/output"):
        await blobs.list("a/")


async def test_the_echo_of_our_own_put_is_success(s3_endpoint: str) -> None:
    """The first answer is lost and obstore tries again: the 412 that the retry gets is ours."""
    bucket = new_bucket(s3_endpoint)
    async with LosesFirstAnswer(s3_endpoint) as lossy:
        blobs = open_blobs(bucket, {**KEYS, "aws_endpoint": lossy.endpoint})
        await blobs.put_new("log/1", b"ours")
        assert lossy.puts == 2
        with pytest.raises(BlobExists):
            await blobs.put_new("log/1", b"ours")
    assert await open_blobs(bucket, {**KEYS, "aws_endpoint": s3_endpoint}).get("log/1") == b"ours"


async def test_a_dead_endpoint_answers() -> None:
    blobs = open_blobs("s3://bucket", {**KEYS, "aws_endpoint": f"http://127.0.0.1:{free_port()}"})
    for call in (blobs.put_new("a", b""), blobs.get("a"), blobs.list("")):
        with pytest.raises(BlobsUnavailable):
            await asyncio.wait_for(call, timeout=60)


def test_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder_of("file://./loom data") == tmp_path / "loom data"
    assert folder_of("file:///var/lib/loom%20ray") == Path("/var/lib/loom ray")
    assert isinstance(open_blobs("file://./x"), FileBlobs)
    assert isinstance(open_blobs("s3://bucket/prefix", {"aws_region": "eu-central-1"}), S3Blobs)
    for url in ("gs://bucket", "/var/lib/loom", "file://", "s3:bucket"):
        with pytest.raises(ValueError, match=url):
            open_blobs(url)
