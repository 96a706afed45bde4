"""Does every limit of writing hold at its bound and one past it?"""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from faulty import FaultyDisk
from scene import DIMENSIONS, SECOND, Scene, call_of, until

from loom_ray.actors.embedding.batching import MicroBatcher
from loom_ray.contract.changing import TTL_SECONDS_MAX
from loom_ray.contract.errors import AmbiguousKey, CharLimitExceeded, InvalidRequest, Overloaded
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings
from loom_ray.contract.writing import CHAR_LIMIT_MAX
from loom_ray.core.decide.addressing import CANDIDATES_MAX

FACT = {"memory_key": "gate", "value": "the gate is painted green"}


async def opened(disk: FaultyDisk, **settings: Any) -> Scene:
    return await Scene(disk.blobs(), **settings).open()


async def fill(scene: Scene, count: int, **more: Any) -> None:
    entries = [
        {"memory_key": f"key-{number}", "value": f"seen at {number}", "memory_type": "episodic"}
        for number in range(count)
    ]
    await scene.ask("memory.bulk_set", entries=entries, **more)


# ---- fields of requests ----------------------------------------------------------------------------------------------
KEYED = {"memory_key": "gate"}
REASONED: dict[str, dict[str, Any]] = {
    "memory.reject": KEYED,
    "memory.lock": KEYED,
    "memory.unlock": KEYED,
    "memory.apply": {"memory_keys": ["gate"], "action": "delete"},
    "memory.clear": {"user_id": "u-amy", "confirm_subject": "u-amy"},
}
TIMED: dict[str, dict[str, Any]] = {
    "memory.set": FACT,
    "memory.pin": FACT,
    "memory.update": KEYED,
    "memory.update_by_id": {"memory_id": "id-1"},
    "memory.touch": KEYED,
    "memory.lock": KEYED,
    "memory.apply": {"memory_keys": ["gate"], "action": "expire", "reason": "old"},
}
LIMITED: dict[str, dict[str, Any]] = {name: TIMED[name] for name in ("memory.set", "memory.pin", "memory.update")}
MANY: dict[str, tuple[str, dict[str, Any]]] = {
    "memory.touch": ("memory_keys", {"clear_expiry": True}),
    "memory.apply": ("memory_keys", {"action": "delete", "reason": "old"}),
    "memory.statuses": ("memory_ids", {}),
}


def accepts(op: str, settings: Settings, **arguments: Any) -> bool:
    """Whether the door lets it in."""
    try:
        return bool(call_of(op, settings, **arguments))
    except InvalidRequest:
        return False


@pytest.mark.parametrize("owners", [None, 5])
@pytest.mark.parametrize("op", REASONED)
def test_a_reason_is_of_at_most_so_many_characters(op: str, owners: int | None) -> None:
    settings = Settings() if owners is None else Settings(reason_chars_max=owners)
    most = settings.reason_chars_max
    assert accepts(op, settings, reason="r" * most, **REASONED[op])
    assert not accepts(op, settings, reason="r" * (most + 1), **REASONED[op])


@pytest.mark.parametrize("owners", [None, 5])
@pytest.mark.parametrize("op", MANY)
def test_many_are_at_most_a_thousand(op: str, owners: int | None) -> None:
    settings = Settings() if owners is None else Settings(bulk_entries_max=owners)
    most = 1000 if owners is None else owners
    field, more = MANY[op]
    assert accepts(op, settings, **{field: [f"key-{number}" for number in range(most)]}, **more)
    assert not accepts(op, settings, **{field: [f"key-{number}" for number in range(most + 1)]}, **more)


@pytest.mark.parametrize("op", TIMED)
@pytest.mark.parametrize(("seconds", "accepted"), [(0, False), (1, True), (TTL_SECONDS_MAX, True)])
def test_a_time_to_live_is_from_a_second_to_a_century(op: str, seconds: int, accepted: bool) -> None:
    assert accepts(op, Settings(), ttl_seconds=seconds, **TIMED[op]) is accepted


@pytest.mark.parametrize("op", TIMED)
def test_a_time_to_live_past_a_century_is_refused(op: str) -> None:
    assert not accepts(op, Settings(), ttl_seconds=TTL_SECONDS_MAX + 1, **TIMED[op])


@pytest.mark.parametrize("op", LIMITED)
@pytest.mark.parametrize(
    ("limit", "accepted"), [(0, False), (1, True), (CHAR_LIMIT_MAX, True), (CHAR_LIMIT_MAX + 1, False)]
)
def test_a_char_limit_is_what_32_bits_hold(op: str, limit: int, accepted: bool) -> None:
    assert accepts(op, Settings(), char_limit=limit, **LIMITED[op]) is accepted


def test_every_op_that_takes_a_time_to_live_is_tried_here() -> None:
    assert {name for name, op in OPS.items() if "ttl_seconds" in op.request.model_fields} == TIMED.keys()


async def test_the_longest_time_to_live_is_kept_to_the_second(scene: Scene) -> None:
    answer = await scene.set("gate", FACT["value"], ttl_seconds=TTL_SECONDS_MAX)
    (row,) = scene.namespace.home.state.rows.values()
    assert row.memory_id == answer["memory_id"]
    assert row.expires_at == scene.clock() + TTL_SECONDS_MAX * SECOND
    scene.clock.advance(TTL_SECONDS_MAX - 1)
    assert await scene.value("gate") == FACT["value"]
    scene.clock.advance(1)
    assert await scene.value("gate") is None


@pytest.mark.parametrize(("chars", "fits"), [(25, True), (24, False)])
async def test_a_value_of_just_the_limit_is_kept_and_one_longer_is_not(scene: Scene, chars: int, fits: bool) -> None:
    if fits:
        await scene.set("gate", FACT["value"], char_limit=chars)
    else:
        with pytest.raises(CharLimitExceeded):
            await scene.set("gate", FACT["value"], char_limit=chars)
    assert await scene.value("gate") == (FACT["value"] if fits else None)


# ---- memory.clear ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("rows", "remaining"), [(3, 0), (4, 1)])
async def test_one_clear_retires_at_most_so_many_rows(disk: FaultyDisk, rows: int, remaining: int) -> None:
    scene = await opened(disk, clear_rows_max=3)
    await fill(scene, rows, user_id="u-amy")
    answer = await scene.ask("memory.clear", user_id="u-amy", confirm_subject="u-amy")
    assert (answer["cleared"], answer["remaining"]) == (3, remaining)
    assert (await scene.ask("memory.list", count_only=True))["count"] == remaining


# ---- memory.apply ----------------------------------------------------------------------------------------------------
async def test_a_thousand_keys_are_changed_in_one_commit(scene: Scene) -> None:
    await fill(scene, 1000)
    keys = [f"key-{number}" for number in range(1000)]
    answer = await scene.ask("memory.apply", memory_keys=keys, action="delete", reason="old", dry_run=False)
    assert (len(answer["applied"]), answer["refused"]) == (1000, [])
    told = {audit.commit_id for audit in scene.namespace.home.state.audits if audit.action == "memory.apply"}
    assert len(told) == 1


# ---- candidates ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("rows", [2, CANDIDATES_MAX, CANDIDATES_MAX + 1])
@pytest.mark.parametrize("op", ["memory.delete", "memory.update"])
async def test_of_the_rows_of_an_ambiguous_key_so_many_are_named_and_all_are_counted(
    scene: Scene, op: str, rows: int
) -> None:
    await scene.ask("namespace.register", default_conflict_policy="append_only")
    for number in range(rows):
        await scene.set("gate", f"seen at {number}", memory_type="episodic", agent=f"a{number}")
    more = {"value": "seen at night"} if op == "memory.update" else {}
    with pytest.raises(AmbiguousKey, match=f"{rows} rows") as refusal:
        await scene.ask(op, memory_key="gate", **more)
    named = {one["agent"] for one in refusal.value.extra["candidates"]}
    assert len(named) == min(rows, CANDIDATES_MAX)


# ---- Idempotency-Keys ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("keys", "remembered"), [(2, True), (3, False)])
async def test_so_many_answers_are_remembered_and_the_oldest_is_forgotten_first(
    disk: FaultyDisk, keys: int, remembered: bool
) -> None:
    scene = await opened(disk, idempotency_keys_max=2)
    first = await scene.ask("memory.set", "key-0", **FACT)
    for number in range(1, keys):
        await scene.ask("memory.set", f"key-{number}", memory_key=f"k{number}", value=f"pike number {number}")
    await scene.namespace.leave()
    await scene.open()
    again = await scene.ask("memory.set", "key-0", **FACT)
    assert (again == first) is remembered
    if not remembered:
        assert again["rule"] == "restatement"


# ---- the embedder's queue --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("texts", "taken"), [(2, True), (3, False)])
async def test_the_embedders_queue_takes_texts_up_to_its_bound(texts: int, taken: bool) -> None:
    go_on = asyncio.Event()

    async def encode(asked: Any) -> Any:
        await go_on.wait()
        return np.ones((len(asked), DIMENSIONS), np.float16)

    batcher = MicroBatcher(encode, DIMENSIONS, batch_max=1, queue_max=3)
    ahead = asyncio.create_task(batcher.embed(["in work", "waits"], 10))
    await until(lambda: batcher.waiting == 1)
    asked = asyncio.create_task(batcher.embed(["x"] * texts, 10))
    await until(lambda: asked.done() or batcher.waiting == 1 + texts)
    go_on.set()
    await ahead
    if taken:
        assert (await asked).vectors.shape == (texts, DIMENSIONS)
    else:
        with pytest.raises(Overloaded):
            await asked


# ---- snapshots -------------------------------------------------------------------------------------------------------
def snapshots(disk: FaultyDisk) -> int:
    return sum("/manifest/" in path for path in disk.durable)


@pytest.mark.parametrize(("seconds", "taken"), [(59, 0), (60, 1)])
async def test_a_snapshot_is_taken_once_so_much_time_has_passed(disk: FaultyDisk, seconds: int, taken: int) -> None:
    scene = await opened(disk, snapshot_seconds=60)
    await scene.set(**FACT)
    scene.clock.advance(seconds)
    await scene.value("gate")
    await until(lambda: not scene.namespace.home.store.snapshotting)
    assert snapshots(disk) == taken


async def test_time_alone_makes_no_snapshot_of_what_is_written_down(disk: FaultyDisk) -> None:
    scene = await opened(disk, snapshot_seconds=60)
    await scene.set(**FACT)
    for _ in range(3):
        scene.clock.advance(60)
        await scene.value("gate")
        await until(lambda: not scene.namespace.home.store.snapshotting)
    assert scene.namespace.home.store.segments_since_snapshot == 0
    assert snapshots(disk) == 1


# ---- texts of the past -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("bound", "near"), [(3, 3), (2, 2), (0, 0)])
async def test_past_texts_beyond_the_bound_are_found_by_words_alone(disk: FaultyDisk, bound: int, near: int) -> None:
    scene = await opened(disk, as_of_embedded_max=bound)
    for animal in ("pike", "carp", "frogs"):
        await scene.set(animal, f"{animal} live in the moat")
    scene.clock.advance(60)
    for animal in ("pike", "carp", "frogs"):
        await scene.set(animal, f"herons ate all {animal}")
    before = len(scene.embedder.asked)
    as_of = "2033-05-18T03:33:30Z"
    hits = (await scene.ask("memory.search", query="what lives in the moat", as_of=as_of))["results"]
    assert sorted(hit["memory_key"] for hit in hits) == ["carp", "frogs", "pike"]
    assert sum(hit["similarity"] is not None for hit in hits) == near
    assert len(scene.embedder.asked) - before == 1 + near, "the query, and so many texts"


async def test_those_that_share_words_with_the_query_are_embedded_first(disk: FaultyDisk) -> None:
    scene = await opened(disk, as_of_embedded_max=1)
    for key, value in (("hall", "lanterns hang there"), ("moat", "pike live in it"), ("yard", "an oak grows there")):
        await scene.set(key, value)
    scene.clock.advance(60)
    for key in ("hall", "moat", "yard"):
        await scene.set(key, f"the {key} burnt down")
    as_of = "2033-05-18T03:33:30Z"
    hits = (await scene.ask("memory.search", query="pike live where", as_of=as_of))["results"]
    assert [hit["memory_key"] for hit in hits if hit["similarity"] is not None] == ["moat"]
