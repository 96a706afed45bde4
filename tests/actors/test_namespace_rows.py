"""Has every row its own vector and its own address, whatever came at the same time?"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest
from faulty import FaultyDisk
from scene import Scene, until, vector_of

from loom_ray.contract.errors import LoomError
from loom_ray.storage.errors import BlobsUnavailable
from loom_ray.storage.words import BACKLOG_ROWS_MAX, WordIndex

DAY = 86_400


# ---- the right vector for every text ------------------------------------------------------------------------------
def vector_held(scene: Scene, memory_id: str) -> Any:
    vectors = scene.namespace.home.indexes.vectors
    assert vectors is not None
    return vectors.vectors_of(memory_id)[0]


async def test_a_retagging_that_loses_the_race_against_a_new_text_brings_its_own_vector_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    row = await scene.set("a", "the kiln is hot")
    home, gate, waiting = scene.namespace.home, asyncio.Event(), asyncio.Event()
    search = home.indexes.search

    async def held(question: Any) -> Any:
        waiting.set()
        await gate.wait()
        return await search(question)

    with monkeypatch.context() as patched:
        patched.setattr(home.indexes, "search", held)
        retagging = asyncio.create_task(scene.set("a", "the kiln is hot", tags=["craft"]))
        await waiting.wait()
    await scene.set("a", "rain falls on the plain")
    gate.set()
    await retagging
    assert await scene.value("a") == "the kiln is hot"
    np.testing.assert_array_equal(vector_held(scene, row["memory_id"]), vector_of("the kiln is hot"))
    await scene.open()
    np.testing.assert_array_equal(vector_held(scene, row["memory_id"]), vector_of("the kiln is hot"))


async def test_in_a_batch_too_a_text_that_comes_back_has_its_own_vector(scene: Scene):
    row = await scene.set("a", "the kiln is hot")
    entries = [
        {"memory_key": "a", "value": "rain falls on the plain"},
        {"memory_key": "a", "value": "the kiln is hot", "tags": ["craft"]},
    ]
    await scene.ask("memory.bulk_set", entries=entries)
    np.testing.assert_array_equal(vector_held(scene, row["memory_id"]), vector_of("the kiln is hot"))


# ---- what was deleted long ago ------------------------------------------------------------------------------------
async def test_a_key_whose_deleted_row_was_forgotten_has_one_row_whatever_the_log_replays(
    scene: Scene, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
):
    await scene.set("a", "the kiln is hot")
    await scene.ask("memory.delete", memory_key="a")
    scene.clock.advance(15 * DAY)
    with monkeypatch.context() as broken:  # the deleted row is forgotten, and the snapshot that says so fails
        fail_snapshots(disk, broken)
        with pytest.raises(BlobsUnavailable):
            await scene.namespace.home.write_down()
    row = await scene.set("a", "the kiln is cold")
    await scene.open()
    again = await scene.set("a", "the kiln is warm")
    assert again["memory_id"] == row["memory_id"]
    assert (await scene.ask("memory.list", count_only=True))["count"] == 1


def fail_snapshots(disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    apply = disk.apply

    def refuse(effect: Any) -> None:
        if "/manifest/" in effect.path:
            raise BlobsUnavailable(effect.path, "disk full")
        apply(effect)

    monkeypatch.setattr(disk, "apply", refuse)


async def test_texts_without_meaning_are_found_by_the_words_of_their_key_before_and_after_a_start(scene: Scene):
    await scene.set("kiln", "!!!")
    await scene.set("oven", "the guild meets in the old hall")
    found = [hit["memory_key"] for hit in (await scene.ask("memory.search", query="kiln"))["results"]]
    assert "kiln" in found
    await scene.namespace.leave()
    await scene.open()
    assert [hit["memory_key"] for hit in (await scene.ask("memory.search", query="kiln"))["results"]] == found


async def fill(scene: Scene, count: int) -> None:
    entries = [{"memory_key": f"key-{number}", "value": f"fact {number} of kiln {number}"} for number in range(count)]
    await scene.ask("memory.bulk_set", entries=entries)


async def test_after_a_start_words_are_indexed_before_anyone_searches(scene: Scene):
    await fill(scene, BACKLOG_ROWS_MAX + 1)
    await scene.open()
    await until(lambda: not scene.namespace.home.indexes.words.is_behind)
    hits = (await scene.ask("memory.search", query="fact 77"))["results"]
    assert hits[0]["memory_key"] == "key-77"


async def test_while_words_are_indexed_searches_wait_and_nothing_else_does(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    await fill(scene, BACKLOG_ROWS_MAX + 1)
    go_on, catch_up = threading.Event(), WordIndex.catch_up

    def wait_and_catch_up(words: WordIndex) -> None:
        go_on.wait()
        catch_up(words)

    monkeypatch.setattr(WordIndex, "catch_up", wait_and_catch_up)
    await scene.open()
    search = asyncio.create_task(scene.ask("memory.search", query="fact 77"))
    try:
        assert (await scene.set("new", "a lantern hangs in the hall"))["conflict_verdict"] == "clear"
        assert await scene.value("key-77") == "fact 77 of kiln 77"
        assert not search.done()
    finally:
        go_on.set()
    assert (await search)["results"][0]["memory_key"] == "key-77"


async def test_parallel_restores_bring_the_row_back_once(scene: Scene):
    await scene.set("a", "the kiln is hot")
    await scene.ask("memory.delete", memory_key="a")
    answers = await asyncio.gather(*(scene.ask("memory.restore", memory_key="a") for _ in range(5)))
    assert sorted(answer["reason"] for answer in answers) == ["", *["not_deleted"] * 4]
    assert len(await scene.history("a")) == 3


async def test_parallel_writes_of_one_text_leave_one_row(scene: Scene):
    answers = await asyncio.gather(*(scene.set(f"key-{number}", "the kiln is hot") for number in range(32)))
    assert [answer["noop"] for answer in answers].count(False) == 1
    assert (await scene.ask("memory.list", count_only=True))["count"] == 1


async def test_snapshots_are_taken_when_they_are_due(disk: FaultyDisk):
    scene = await Scene(disk.blobs(), snapshot_segments=3).open()
    for number in range(8):
        await scene.set(f"key-{number}", f"fact {number} of the kiln")
    await until(lambda: not scene.namespace.home.store.snapshotting)
    assert any("/manifest/" in path for path in disk.durable)
    await scene.open()
    assert (await scene.ask("memory.list", count_only=True))["count"] == 8


async def test_a_fault_of_ours_says_no_more_than_that(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    async def fail(*_: object) -> None:
        raise RuntimeError("a secret of the server")

    monkeypatch.setattr(scene.embedder, "embed", fail)
    with pytest.raises(LoomError) as fault:
        await scene.set("a", "the kiln is hot")
    assert fault.value.code == "INTERNAL"
    assert "secret" not in str(fault.value)
