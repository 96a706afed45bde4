"""Is a change of many rows a dry run first, one commit then, and what does its search reach?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from promises import check_state
from scene import Scene, until

KILN, OVEN = "the kiln is fired on Thursdays", "the oven is fired on Mondays"
ACTIONS: list[dict[str, Any]] = [
    {"action": "delete"},
    {"action": "expire", "ttl_seconds": 60},
    {"action": "lock"},
    {"action": "label", "add_tags": ["old"]},
    {"action": "demote"},
]
TARGETS: list[dict[str, Any]] = [
    {"memory_keys": ["kiln"]},
    {"filter": {"prefix": "kiln"}, "limit": 10},
    {"query": "fired on Thursdays", "limit": 1},
]


async def apply(scene: Scene, **asked: Any) -> dict[str, Any]:
    return await scene.ask("memory.apply", **({"reason": "spring clean", "dry_run": False} | asked))


async def reached(scene: Scene, **asked: Any) -> set[str]:
    """The keys that a search by "fired" reaches."""
    answer = await apply(scene, action="label", add_tags=["seen"], **({"query": "fired", "limit": 10} | asked))
    return {row["memory_key"] for row in answer["applied"]}


def held(scene: Scene) -> Any:
    state = scene.namespace.home.state
    return dict(state.rows), state.last_version, len(state.audits)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: next(iter(target)))
@pytest.mark.parametrize("change", ACTIONS, ids=lambda change: change["action"])
async def test_unless_told_otherwise_it_only_says_what_it_would_do(
    scene: Scene, target: dict[str, Any], change: dict[str, Any]
) -> None:
    await scene.set("kiln", KILN)
    await scene.set("oven", "rain falls on the plain")
    before = held(scene)
    tried = await scene.ask("memory.apply", reason="spring clean", **target, **change)
    assert held(scene) == before
    done = await apply(scene, **target, **change)
    assert held(scene) != before
    assert (tried["dry_run"], done["dry_run"]) == (True, False)
    assert [row["memory_key"] for row in tried["applied"]] == [row["memory_key"] for row in done["applied"]] == ["kiln"]


async def test_all_rows_change_in_one_commit_that_a_new_start_finds(scene: Scene) -> None:
    await scene.set("kiln", KILN)
    await scene.set("oven", OVEN)
    await apply(scene, memory_keys=["kiln", "oven"], action="delete")
    rows = (await scene.ask("audit.list", action="memory.apply"))["rows"]
    assert [row["memory_key"] for row in rows] == ["oven", "kiln"]
    assert len({row["commit_id"] for row in rows}) == 1
    await scene.open()
    assert (await scene.value("kiln"), await scene.value("oven")) == (None, None)


async def test_a_search_reaches_rows_of_exactly_this_agent_and_user(scene: Scene) -> None:
    await scene.ask("namespace.register", default_conflict_policy="append_only")
    for key, who in (
        ("nobody", {}),
        ("agent", {"agent": "mason"}),
        ("user", {"user_id": "u-amy"}),
        ("both", {"agent": "mason", "user_id": "u-amy"}),
    ):
        await scene.set(key, f"{KILN} says {key}", **who)
    assert await reached(scene) == {"nobody"}
    assert await reached(scene, agent="mason") == {"agent"}
    assert await reached(scene, user_id="u-amy") == {"user"}
    assert await reached(scene, agent="mason", user_id="u-amy") == {"both"}


async def test_a_search_reaches_the_session_that_is_named(scene: Scene) -> None:
    await scene.ask("namespace.register", default_conflict_policy="append_only")
    await scene.set("first", f"{KILN} says one", session_id="s1")
    await scene.set("second", f"{KILN} says another", session_id="s2")
    assert await reached(scene) == {"first", "second"}
    assert await reached(scene, session_id="s2") == {"second"}


async def test_a_search_reaches_the_best_of_ones_own_rows_up_to_the_limit(scene: Scene) -> None:
    await scene.ask("namespace.register", default_conflict_policy="append_only")
    for number in range(3):
        await scene.set(f"theirs-{number}", f"{KILN} says {number}", agent="mason")
    await scene.set("mine", f"{OVEN} in winter")
    assert await reached(scene, query=KILN, limit=1) == {"mine"}


async def test_a_search_reaches_duplicates_and_no_demoted_row(scene: Scene) -> None:
    await scene.set("kiln", KILN)
    await scene.set("again", KILN, run_id="r2")
    await scene.set("oven", "an oak shades the yard where pots are fired")
    await apply(scene, memory_keys=["oven"], action="demote")
    assert await reached(scene) == {"kiln", "again"}


async def test_what_was_demoted_is_not_found_after_a_start_either(scene: Scene) -> None:
    await scene.set("kiln", KILN)
    await apply(scene, memory_keys=["kiln"], action="demote")
    assert (await scene.ask("memory.search", query="kiln"))["results"] == []
    await scene.namespace.leave()
    await scene.open()
    assert (await scene.ask("memory.search", query="kiln"))["results"] == []
    assert await scene.value("kiln") == KILN


async def test_a_retry_under_its_key_changes_nothing_more(scene: Scene) -> None:
    await scene.set("kiln", KILN)
    asked = {"memory_keys": ["kiln"], "action": "label", "add_tags": ["old"], "reason": "spring", "dry_run": False}
    first = await scene.ask("memory.apply", "key-1", **asked)
    before = held(scene)
    assert await scene.ask("memory.apply", "key-1", **asked) == first
    assert held(scene) == before


async def test_a_batch_that_others_write_beside_is_judged_against_what_they_wrote(scene: Scene) -> None:
    """It is decided claim by claim, giving way; what was decided counts only where nothing has changed by then."""
    entries = [{"memory_key": "k0", "value": "the office lease ends in 2030"}]
    entries += [{"memory_key": f"n{number}", "value": f"word{number} alone"} for number in range(20)]
    writing = asyncio.create_task(scene.ask("memory.bulk_set", entries=entries))
    await until(lambda: any(text.startswith("word19") for text in scene.embedder.asked))
    other = await scene.set("lease", "the office lease ends in 2041")
    await writing
    check_state(scene.namespace.home.state)
    first = await scene.ask("memory.get", memory_key="k0")
    assert (first["status"], [peer["memory_id"] for peer in first["conflict_with"]]) == (
        "conflicted", [other["memory_id"]],
    )  # fmt: skip
