"""Does nothing that a pattern refuses ever get into a namespace, by whatever op, at whatever moment?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scene import Scene, until

from loom_ray.actors.handlers import WRITERS
from loom_ray.contract.errors import BackendUnavailable, Blacklisted, Overloaded
from loom_ray.core.refusal.pattern import Pattern

SECRET = "Falkenberg"
TEXT = f"the codename is {SECRET}"
PLAIN = "the kettle is blue"


async def refuse(scene: Scene, pattern: str = SECRET, **more: Any) -> Pattern:
    """Kept, and the namespace knows."""
    made = scene.keeper.add(pattern, **more)
    await scene.namespace.home.refusals.learn(await scene.keeper.effective())
    return made


def everything_kept(scene: Scene) -> str:
    home = scene.namespace.home
    return repr((home.images_in_memory(), home.audits_in_memory(), home.state.answers, home.state.settings))


# ---- one gate for all ops --------------------------------------------------------------------------------------------
async def stored(scene: Scene) -> dict[str, str]:
    """Ids: of a row that may stay, of one whose text is refused by now, and of one like it that was deleted."""
    ids = {name: (await scene.set(name, value))["memory_id"] for name, value in {"plain": PLAIN, "old": TEXT}.items()}
    ids["gone"] = (await scene.set("gone", f"{TEXT} indeed", run_id="r1"))["memory_id"]
    await scene.ask("memory.delete", memory_key="gone", run_id="r2")
    await refuse(scene)
    return ids


BY_OP: dict[str, dict[str, Any]] = {
    "memory.set": {"memory_key": "k", "value": TEXT},
    "memory.pin": {"memory_key": "k", "value": TEXT},
    "memory.update": {"memory_key": "plain", "value": TEXT},
    "memory.update_by_id": {"memory_id": "plain", "value": TEXT},
    "memory.restore": {"memory_key": "gone"},
    "memory.move": {"memory_key": "old", "new_memory_key": "k"},
    "memory.lock": {"memory_key": "plain", "mode": "read_only", "reason": TEXT},
    "memory.reject": {"memory_key": "plain", "reason": TEXT},
    "memory.apply": {"memory_keys": ["plain"], "action": "delete", "dry_run": False, "reason": TEXT},
    "memory.clear": {"agent": "a", "confirm_subject": "a", "subject": "a", "reason": TEXT},
    "memory.rollback": {"run_id": "r1", "dry_run": False, "reason": TEXT},
    "memory.dedup_collapse": {"dry_run": False, "reason": TEXT},
    "memory.dedup_resolve": {
        "canonical_id": "plain", "duplicate_id": "old", "decision": "keep_both", "confirm_canonical_key": "plain",
        "reason": TEXT,
    },
    "conflicts.resolve": {"memory_id": "plain", "decision": "allow", "reason": TEXT},
}  # fmt: skip
WRITES_NO_TEXT = {
    "namespace.register", "memory.unpin", "memory.touch", "memory.unlock", "memory.delete", "memory.delete_version",
    "memory.resolve_orphan_duplicates", "conflicts.allowlist_remove", "blacklist.sweep",
}  # fmt: skip
SAID_OTHERWISE = {"memory.bulk_set"}  # the entry is skipped: see below


def test_every_writing_op_is_looked_at_here() -> None:
    assert WRITERS.keys() == BY_OP.keys() | WRITES_NO_TEXT | SAID_OTHERWISE


@pytest.mark.parametrize("op", BY_OP)
async def test_every_op_that_writes_text_refuses_it(scene: Scene, op: str) -> None:
    ids = await stored(scene)
    before = everything_kept(scene)
    scene.embedder.asked.clear()
    named = {name: ids.get(str(value), value) if name.endswith("_id") else value for name, value in BY_OP[op].items()}
    with pytest.raises(Blacklisted) as refusal:
        await scene.ask(op, **named)
    assert refusal.value.extra["pattern_id"].startswith("p-")
    assert SECRET not in refusal.value.message
    assert everything_kept(scene) == before
    assert not [text for text in scene.embedder.asked if SECRET in text]


async def test_a_batch_goes_on_without_the_entries_that_are_refused(scene: Scene) -> None:
    pattern = await refuse(scene, reason="no codenames")
    entries = [{"memory_key": "a", "value": PLAIN}, {"memory_key": "b", "value": TEXT}]
    answer = await scene.ask("memory.bulk_set", entries=entries)
    assert [entry["memory_key"] for entry in answer["written"]] == ["a"]
    (skipped,) = answer["skipped_blacklisted"]
    told = {name: skipped[name] for name in ("memory_key", "index", "pattern_id", "scope", "reason")}
    assert told == {
        "memory_key": "b", "index": 1, "pattern_id": pattern.pattern_id, "scope": "namespace", "reason": "no codenames"
    }  # fmt: skip
    assert not skipped["blacklist_unchecked"]
    assert not [text for text in scene.embedder.asked if SECRET in text]
    assert SECRET not in everything_kept(scene)


async def test_a_rollback_leaves_what_may_not_come_back(scene: Scene) -> None:
    await scene.set("k", TEXT)
    await scene.ask("memory.update", memory_key="k", value=PLAIN, run_id="r1")
    await refuse(scene)
    answer = await scene.ask("memory.rollback", run_id="r1", dry_run=False)
    assert [(row["becomes"], row["reason"]) for row in answer["rows"]] == [("kept", "blacklisted")]
    assert await scene.value("k") == PLAIN


async def test_a_pattern_that_folds_meets_keys_tags_and_sources_too(scene: Scene) -> None:
    await refuse(scene, fold=True)
    disguised = "f\u200balk\u0435nb\u00aderg"  # a zero-width space, a Cyrillic letter, a soft hyphen
    for claim in (
        {"memory_key": f"note/{disguised}"},
        {"tags": [disguised]},
        {"entities": [disguised]},
        {"source_resource_id": disguised},
        {"value": f"about {disguised}"},
        {"value": {"notes": [{"code": disguised}]}},
    ):
        with pytest.raises(Blacklisted):
            await scene.ask("memory.set", **({"memory_key": "k", "value": PLAIN} | claim))
    await scene.set("label", PLAIN)
    with pytest.raises(Blacklisted, match="add_tags"):
        await scene.ask(
            "memory.apply", memory_keys=["label"], action="label", add_tags=[disguised], dry_run=False, reason="x"
        )


async def test_a_plain_pattern_leaves_keys_and_tags_alone(scene: Scene) -> None:
    await refuse(scene)
    assert (await scene.set(f"note/{SECRET}", PLAIN, tags=[SECRET]))["status"] == "active"


async def test_who_repeats_what_is_stored_already_stores_nothing(scene: Scene) -> None:
    await scene.set("old", TEXT)
    await refuse(scene)
    assert (await scene.set("old", TEXT))["noop"]


# ---- at every moment -------------------------------------------------------------------------------------------------
async def test_a_write_that_waits_for_its_vector_meets_the_pattern_that_came_meanwhile(scene: Scene) -> None:
    scene.embedder.answers.clear()
    writing = asyncio.create_task(scene.set("k", TEXT))
    await until(lambda: TEXT in scene.embedder.asked)
    await refuse(scene)
    scene.embedder.answers.set()
    with pytest.raises(Blacklisted):
        await writing
    assert SECRET not in everything_kept(scene)


async def test_an_answer_that_was_overtaken_changes_nothing(scene: Scene) -> None:
    early = await scene.keeper.effective()
    await refuse(scene)
    await scene.namespace.home.refusals.learn(early)
    with pytest.raises(Blacklisted):
        await scene.set("k", TEXT)


async def test_many_long_patterns_are_made_ready_beside_the_loop(scene: Scene) -> None:
    for number in range(20):
        scene.keeper.add(f"{number:04} " + "x" * 3000)
    learning = asyncio.create_task(scene.namespace.home.refusals.learn(await scene.keeper.effective()))
    await asyncio.sleep(0)
    assert not learning.done()
    assert (await scene.set("k", PLAIN))["status"] == "active"
    await learning
    with pytest.raises(Blacklisted):
        await scene.set("k", "0007 " + "x" * 3000)


async def test_a_namespace_asks_before_its_first_write_and_not_before_a_read(scene: Scene) -> None:
    scene.keeper.add(SECRET)
    await scene.open()
    asked = scene.keeper.asked
    assert await scene.value("k") is None
    assert scene.keeper.asked == asked
    with pytest.raises(Blacklisted):
        await scene.set("k", TEXT)
    assert scene.keeper.asked == asked + 1


async def test_known_patterns_serve_for_a_time_without_their_keeper(scene: Scene) -> None:
    await scene.set("a", PLAIN)
    scene.keeper.away = True
    scene.clock.advance(299)
    await scene.set("b", "rain in May")
    scene.clock.advance(2)
    with pytest.raises(BackendUnavailable):
        await scene.set("c", "the cat sleeps")
    assert await scene.value("b") == "rain in May"
    scene.keeper.away = False
    await scene.set("c", "the cat sleeps")


async def test_without_its_keeper_a_namespace_that_knows_nothing_stores_nothing(scene: Scene) -> None:
    await scene.open()
    scene.keeper.away = True
    with pytest.raises(BackendUnavailable):
        await scene.set("a", PLAIN)
    assert await scene.value("a") is None


async def test_an_older_list_is_asked_for_anew_by_the_way(scene: Scene) -> None:
    await scene.set("a", PLAIN)
    scene.keeper.add(SECRET)  # and the namespace was not told
    scene.clock.advance(3)
    await scene.set("b", "rain in May")
    await until(lambda: not scene.namespace.home.refusals.is_empty)
    with pytest.raises(Blacklisted):
        await scene.set("k", TEXT)


async def test_nothing_passes_unchecked_where_no_thread_is_free(disk: Any) -> None:
    scene = await Scene(disk.blobs(), blacklist_wait_s=0.01).open()
    await refuse(scene)
    refusals = scene.namespace.home.refusals
    hold, held = asyncio.Event(), []

    async def busy() -> None:
        async with refusals._lanes:
            held.append(1)
            await hold.wait()

    lanes = [asyncio.create_task(busy()) for _ in range(2)]
    await until(lambda: len(held) == 2)
    with pytest.raises(Overloaded):
        await scene.set("k", PLAIN)
    hold.set()
    await asyncio.gather(*lanes)
    assert (await scene.set("k", PLAIN))["status"] == "active"


async def test_refused_writes_are_counted(scene: Scene) -> None:
    pattern = await refuse(scene)
    for number in range(3):
        with pytest.raises(Blacklisted):
            await scene.set(f"k{number}", TEXT)
    await scene.ask("memory.bulk_set", entries=[{"memory_key": "b", "value": TEXT}])
    await until(lambda: scene.keeper.hits.get(pattern.pattern_id) == 4)


# ---- what could not be checked ---------------------------------------------------------------------------------------
async def test_what_is_too_long_to_check_is_refused_and_so_is_what_follows_it_in_its_key(scene: Scene) -> None:
    await refuse(scene, "z{255}", pattern_type="regex")
    long = "ebb and flow " * 90_000
    with pytest.raises(Blacklisted) as refusal:
        await scene.set("k", long, memory_type="episodic")
    assert (refusal.value.extra["pattern_id"], refusal.value.extra["scope"]) == ("", "")
    entries = [
        {"memory_key": "a", "value": PLAIN, "memory_type": "episodic"},
        {"memory_key": "b", "value": long, "memory_type": "episodic"},
        {"memory_key": "b", "value": PLAIN, "memory_type": "episodic"},
        {"memory_key": "c", "value": "rain in May", "memory_type": "episodic"},
    ]
    answer = await scene.ask("memory.bulk_set", entries=entries)
    skipped = [(one["index"], one["blacklist_unchecked"], one["pattern_id"]) for one in answer["skipped_blacklisted"]]
    assert skipped[:2] == [(1, True, ""), (2, True, "")]
    assert await scene.value("b") is None
    assert await scene.value("a") == PLAIN
