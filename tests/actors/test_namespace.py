"""What does a namespace promise to those who call it, whatever else is going on in it?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from faulty import FaultyDisk
from scene import BagOfWords, Scene, answer_to, until

from loom_ray.actors.calls import NamespaceGone
from loom_ray.contract.errors import (
    BackendUnavailable,
    EmbedderMismatch,
    IdempotencyKeyReused,
    OutcomeUnknown,
    PreconditionFailed,
)
from loom_ray.core.records import EmbedderStamp
from loom_ray.storage.errors import BlobsUnavailable

DAY = 86_400


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
