"""What does a namespace promise to those who call it, whatever else is going on in it?"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest
from faulty import FaultyDisk
from scene import BagOfWords, Scene, answer_to, until, vector_of

from loom_ray.actors.calls import NamespaceGone
from loom_ray.contract.errors import (
    BackendUnavailable,
    EmbedderMismatch,
    IdempotencyKeyReused,
    LoomError,
    OutcomeUnknown,
    PreconditionFailed,
)
from loom_ray.core.records import EmbedderStamp
from loom_ray.storage.errors import BlobsUnavailable
from loom_ray.storage.words import BACKLOG_ROWS_MAX, WordIndex

DAY = 86_400


@pytest.fixture
def disk() -> FaultyDisk:
    return FaultyDisk(seed=1)


@pytest.fixture
async def scene(disk: FaultyDisk) -> Scene:
    return await Scene(disk.blobs()).open()


def fail_every_put(disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise BlobsUnavailable("log", "the disk is gone")

    monkeypatch.setattr(disk, "apply", refuse)


# ---- waiting ------------------------------------------------------------------------------------------------------
async def test_a_slow_call_is_pending_and_holds_up_no_other(scene: Scene):
    await scene.set("a", "the kiln is fired on Thursdays")
    scene.embedder.answers.clear()
    slow = scene.call("memory.set", memory_key="b", value="the guild meets in the old hall")
    fast = scene.call("memory.get", memory_key="a")
    pending, answered = await scene.namespace.serve([slow, fast])
    assert pending.pending
    assert answered.answer is not None
    assert answered.answer["value"] == "the kiln is fired on Thursdays"
    assert await scene.value("b") is None
    scene.embedder.answers.set()
    reply = await scene.namespace.finish(slow.call_id)
    assert reply.answer is not None
    assert reply.answer["conflict_verdict"] == "clear"
    assert await scene.value("b") == "the guild meets in the old hall"


async def test_the_reply_of_a_call_that_an_earlier_incarnation_took_is_not_to_be_had_here(scene: Scene):
    scene.embedder.answers.clear()
    call = scene.call("memory.set", memory_key="b", value="the guild meets in the old hall")
    assert (await scene.namespace.serve([call]))[0].pending
    await scene.open()
    with pytest.raises(NamespaceGone) as gone:
        await scene.namespace.finish(call.call_id)
    assert gone.value.looked_at


async def test_without_the_embedder_what_needs_no_vector_goes_on_and_the_rest_is_refused_in_time(scene: Scene):
    row = await scene.set("a", "the kiln is fired on Thursdays")
    scene.settings = scene.settings.model_copy(update={"embedder_deadline_s": 0.01})
    await scene.open()
    scene.embedder.answers.clear()
    with pytest.raises(BackendUnavailable):
        await scene.set("b", "the guild meets in the old hall")
    assert (await scene.set("a", "the kiln is fired on Thursdays"))["rule"] == "restatement"
    assert (await scene.set("c", "seen at noon", memory_type="episodic"))["conflict_verdict"] == ""
    retagged = await scene.set("a", "the kiln is fired on Thursdays", tags=["craft"])
    assert (retagged["noop"], retagged["memory_id"]) == (False, row["memory_id"])
    assert (await scene.ask("memory.delete", memory_key="a"))["tombstoned"]
    assert (await scene.ask("memory.restore", memory_key="a"))["restored"]
    assert (await scene.ask("memory.list", count_only=True))["count"] == 2
    assert await scene.history("b") == []


async def test_another_embedder_is_refused_where_vectors_are_needed_and_nowhere_else(scene: Scene):
    await scene.set("a", "the kiln is fired on Thursdays")
    scene.embedder = BagOfWords()
    scene.embedder.stamp = EmbedderStamp("another", 32, "none")
    await scene.open()
    with pytest.raises(EmbedderMismatch, match="another"):
        await scene.set("b", "the guild meets in the old hall")
    assert await scene.value("a") == "the kiln is fired on Thursdays"
    assert await scene.value("b") is None


# ---- exactly once -------------------------------------------------------------------------------------------------
async def test_parallel_requests_under_one_key_are_one_write_with_one_answer(scene: Scene):
    scene.embedder.answers.clear()
    calls = [scene.call("memory.set", "key-1", memory_key="a", value="the kiln is hot") for _ in range(8)]
    replies = [asyncio.create_task(answer_to(scene.namespace, call)) for call in calls]
    await until(lambda: bool(scene.embedder.asked))
    scene.embedder.answers.set()
    answers = [reply.answer for reply in await asyncio.gather(*replies)]
    assert answers == [answers[0]] * 8
    assert scene.embedder.asked == ["the kiln is hot"]
    assert await scene.history("a") == ["the kiln is hot"]


async def test_a_retry_answers_as_the_first_did_although_the_world_went_on(scene: Scene):
    first = await scene.ask("memory.set", "key-1", memory_key="a", value="the kiln is hot")
    await scene.set("a", "the kiln is cold")
    assert await scene.ask("memory.set", "key-1", memory_key="a", value="the kiln is hot") == first
    assert await scene.value("a") == "the kiln is cold"


@pytest.mark.parametrize("leaves", [True, False])
async def test_a_retry_after_a_new_start_answers_as_the_first_did(scene: Scene, leaves: bool):
    bulk: dict[str, Any] = {"entries": [{"memory_key": "a", "value": "hot"}, {"memory_key": "b", "value": "cold"}]}
    first = await scene.ask("memory.bulk_set", "key-1", **bulk)
    await scene.ask("memory.delete", memory_key="a")
    if leaves:
        await scene.namespace.leave()
    await scene.open()
    assert await scene.ask("memory.bulk_set", "key-1", **bulk) == first
    assert await scene.value("a") is None


async def test_another_body_under_a_known_key_is_refused_also_while_the_first_is_under_way(scene: Scene):
    scene.embedder.answers.clear()
    call = scene.call("memory.set", "key-1", memory_key="a", value="the kiln is hot")
    first = asyncio.create_task(answer_to(scene.namespace, call))
    await until(lambda: bool(scene.embedder.asked))
    with pytest.raises(IdempotencyKeyReused):
        await scene.ask("memory.set", "key-1", memory_key="a", value="the kiln is cold")
    scene.embedder.answers.set()
    assert (await first).error is None
    with pytest.raises(IdempotencyKeyReused):
        await scene.ask("memory.delete", "key-1", memory_key="a")
    assert await scene.value("a") == "the kiln is hot"


async def test_a_refusal_is_not_remembered(scene: Scene):
    wanted = {"memory_key": "a", "value": "the kiln is hot", "if_match_sha256": "0" * 64}
    with pytest.raises(PreconditionFailed):
        await scene.ask("memory.set", "key-1", **wanted)
    scene.embedder.failure = BackendUnavailable("down")
    with pytest.raises(BackendUnavailable):
        await scene.ask("memory.set", "key-2", memory_key="b", value="the kiln is cold")
    scene.embedder.failure = None
    assert not (await scene.ask("memory.set", "key-2", memory_key="b", value="the kiln is cold"))["noop"]


async def test_answers_are_remembered_for_a_day_and_then_forgotten(scene: Scene):
    await scene.ask("memory.set", "key-1", memory_key="a", value="the kiln is hot")
    scene.clock.advance(DAY + 1)
    await scene.namespace.leave()
    await scene.open()
    assert (await scene.ask("memory.set", "key-1", memory_key="a", value="the kiln is hot"))["rule"] == "restatement"


# ---- failing ------------------------------------------------------------------------------------------------------
async def test_when_the_log_fails_the_write_is_unknown_and_nothing_is_shown_that_may_be_lost(
    scene: Scene, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
):
    await scene.set("a", "the kiln is hot")
    with monkeypatch.context() as broken:
        fail_every_put(disk, broken)
        with pytest.raises(OutcomeUnknown):
            await scene.set("a", "the kiln is cold")
    assert scene.namespace.broken
    for op, arguments in (
        ("memory.get", {"memory_key": "a"}),
        ("memory.list", {}),
        ("memory.search", {"query": "kiln"}),
        ("memory.history", {"memory_key": "a"}),
        ("conflicts.list", {}),
        ("namespace.info", {}),
        ("memory.set", {"memory_key": "b", "value": "late"}),
    ):
        with pytest.raises(BackendUnavailable):
            await scene.ask(op, **arguments)
    await scene.open()
    assert await scene.value("a") == "the kiln is hot"
    assert await scene.value("b") is None


async def test_a_retry_of_what_the_failing_log_took_is_unknown_too(
    scene: Scene, disk: FaultyDisk, monkeypatch: pytest.MonkeyPatch
):
    fail_every_put(disk, monkeypatch)
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            await scene.ask("memory.set", "key-1", memory_key="a", value="the kiln is hot")


async def test_an_old_incarnation_is_fenced_and_the_new_ones_writes_stand(scene: Scene):
    await scene.set("a", "the kiln is hot")
    old = scene.namespace
    await scene.open()
    await scene.set("a", "the kiln is warm")
    reply = await answer_to(old, scene.call("memory.set", memory_key="a", value="the kiln is cold"))
    assert isinstance(reply.error, OutcomeUnknown)
    assert old.broken
    await scene.open()
    assert await scene.history("a") == ["the kiln is hot", "the kiln is warm"]


async def test_a_history_that_cannot_be_read_is_unavailable(scene: Scene, monkeypatch: pytest.MonkeyPatch):
    await scene.set("a", "the kiln is hot")
    await scene.namespace.leave()
    await scene.open()

    async def fail(path: str) -> bytes:
        raise BlobsUnavailable(path, "the disk is gone")

    with monkeypatch.context() as broken:
        broken.setattr(scene.blobs, "get", fail)
        with pytest.raises(BackendUnavailable, match="history"):
            await scene.history("a")
        assert await scene.value("a") == "the kiln is hot"
    assert await scene.history("a") == ["the kiln is hot"]


# ---- leaving ------------------------------------------------------------------------------------------------------
async def test_who_leaves_ends_what_is_under_way_and_sends_later_calls_elsewhere(scene: Scene, disk: FaultyDisk):
    scene.embedder.answers.clear()
    call = scene.call("memory.set", memory_key="a", value="the kiln is hot")
    assert (await scene.namespace.serve([call]))[0].pending
    leaving = asyncio.create_task(scene.namespace.leave())
    await asyncio.sleep(0)
    assert all(reply.moved for reply in await scene.namespace.serve([scene.call("memory.list")] * 3))
    finishing = asyncio.create_task(scene.namespace.finish(call.call_id))
    await asyncio.sleep(0)
    assert not leaving.done()
    scene.embedder.answers.set()
    assert (await finishing).error is None
    await leaving
    assert any("/snapshot/" in path for path in disk.durable)
    await scene.open()
    assert await scene.value("a") == "the kiln is hot"


async def test_who_leaves_waits_for_pending_replies_to_be_fetched(scene: Scene):
    scene.embedder.answers.clear()
    call = scene.call("memory.set", memory_key="a", value="the kiln is hot")
    assert (await scene.namespace.serve([call]))[0].pending
    scene.embedder.answers.set()
    await until(lambda: scene.namespace.idle)
    leaving = asyncio.create_task(scene.namespace.leave())
    for _ in range(50):
        await asyncio.sleep(0)
    assert not leaving.done()
    assert (await scene.namespace.finish(call.call_id)).error is None
    await leaving


# ---- the right vector for every text ------------------------------------------------------------------------------
def vector_held(scene: Scene, memory_id: str) -> Any:
    vectors = scene.namespace.home.vectors
    assert vectors is not None
    return vectors.vectors_of(memory_id)[0]


async def test_a_retagging_that_loses_the_race_against_a_new_text_brings_its_own_vector_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    row = await scene.set("a", "the kiln is hot")
    home, gate, waiting = scene.namespace.home, asyncio.Event(), asyncio.Event()
    search = home.search

    async def held(question: Any) -> Any:
        waiting.set()
        await gate.wait()
        return await search(question)

    with monkeypatch.context() as patched:
        patched.setattr(home, "search", held)
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
    await until(lambda: not scene.namespace.home.words.is_behind)
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
