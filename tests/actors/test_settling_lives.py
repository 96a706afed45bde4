"""Whatever people and runs do, in any order: do the links stay true, and is every rollback exact and undone exactly?"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from model.texts import TEXTS
from promises import check_state
from scene import Scene

from loom_ray.contract.errors import Conflict, Locked
from loom_ray.core.decide.rollback_plan import BLACKLISTED
from loom_ray.core.row import Row, Status
from loom_ray.core.state import State

POLICIES = ["auto_reinforce", "manual_review", "newest_wins", "append_only"]
KEYS = ["a", "b", "c", "d"]
RUNS = ["r1", "r2", "r3"]
STEPS = 24


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(metafunc.config.getoption("--settled", default=20)))


# ---- what may happen -------------------------------------------------------------------------------------------------
def write(random: Random, _: State) -> tuple[str, dict[str, Any]]:
    op = random.choice(["memory.set"] * 6 + ["memory.update", "memory.pin"])
    asked = {"memory_key": random.choice(KEYS), "value": random.choice(list(TEXTS.values()))}
    return op, asked | ({"user_id": random.choice("-ui")} if op == "memory.set" else {})


def remove(random: Random, _: State) -> tuple[str, dict[str, Any]]:
    op = random.choice(["memory.delete", "memory.restore", "memory.reject", "memory.unpin"])
    return op, {"memory_key": random.choice(KEYS)}


def move(random: Random, _: State) -> tuple[str, dict[str, Any]]:
    old, new = random.sample(KEYS, 2)
    return "memory.move", {"memory_key": old, "new_memory_key": new, "keep_redirect": random.random() < 0.5}


def mark(random: Random, _: State) -> tuple[str, dict[str, Any]]:
    action = random.choice(["demote", "label", "delete"])
    more = {"add_tags": [random.choice("xyz")]} if action == "label" else {}
    asked = {"memory_keys": [random.choice(KEYS)], "action": action, "dry_run": False, "reason": "x"}
    return "memory.apply", asked | more


def settle(random: Random, state: State) -> tuple[str, dict[str, Any]]:
    ids = sorted(state.rows) or ["none"]
    duplicates = [row for row in state.rows.values() if row.status is Status.DUPLICATE]
    if duplicates and random.random() < 0.4:
        row = random.choice(sorted(duplicates, key=lambda one: one.memory_id))
        canonical = state.rows[row.duplicate_of]
        decision = random.choice(["keep_canonical", "keep_duplicate", "keep_both"])
        return "memory.dedup_resolve", {
            "canonical_id": canonical.memory_id, "duplicate_id": row.memory_id, "decision": decision,
            "confirm_canonical_key": canonical.memory_key,
        }  # fmt: skip
    if random.random() < 0.2:
        return "memory.dedup_collapse", {"dry_run": False}
    decision = random.choice(["revise", "contract", "allow"])
    flagged = [memory_id for _, memory_id in state.conflicted] or ids
    return "conflicts.resolve", {"memory_id": random.choice(flagged), "decision": decision}


REPERTOIRE = [write] * 8 + [remove] * 3 + [move, mark, settle, settle, settle]


async def step(scene: Scene, random: Random) -> None:
    op, asked = random.choice(REPERTOIRE)(random, scene.namespace.home.state)
    scene.clock.advance(1)
    with suppress(Conflict, Locked):  # pins, locks, keys that hold a fact: each is tested where it belongs
        await scene.ask(op, **asked | {"run_id": random.choice(RUNS)})


# ---- what must hold --------------------------------------------------------------------------------------------------
def check(scene: Scene) -> None:
    """`check_state` knows of links and indexes; here, of what people were promised."""
    state = scene.namespace.home.state
    check_state(state)
    for row in state.rows.values():
        if row.status is Status.SUPERSEDED:
            assert row.superseded_by in state.rows, f"{row.memory_key} is retired behind nothing"
        if row.status is Status.CONFLICTED:
            assert any(state.rows[peer].is_live for peer in row.conflict_with)
        for peer in row.conflict_with:
            keys = sorted((row.memory_key, state.rows[peer].memory_key))
            assert (keys[0], keys[1]) not in state.allowed, f"{keys} are allowed, and flagged"


def held(scene: Scene) -> dict[str, Row]:
    stamps = {"version": 0, "tombstoned_at": None, "reinforcements": 0, "reinforced_at": None}
    rows = scene.namespace.home.state.rows.values()
    return {row.memory_id: replace(row, conflict_with=tuple(sorted(row.conflict_with)), **stamps) for row in rows}


async def assert_exact(scene: Scene, **cause: Any) -> None:
    """The dry run says what happens; undoing it, and undoing that, give back just what was there."""
    before = held(scene)
    dry = await scene.ask("memory.rollback", **cause)
    assert held(scene) == before
    done = await scene.ask("memory.rollback", dry_run=False, **cause)
    check(scene)
    assert dry["rows"] == done["rows"]
    assert not any(row["reason"] == BLACKLISTED for row in done["rows"])
    after = held(scene)
    if not done["commit_id"]:
        assert after == before
        return
    undone = await scene.ask("memory.rollback", dry_run=False, commit_id=done["commit_id"])
    check(scene)
    assert held(scene) == before, "the rollback of a rollback is not exact"
    await scene.ask("memory.rollback", dry_run=False, commit_id=undone["commit_id"])
    check(scene)
    assert held(scene) == after, "the rollback of a rollback's rollback is not exact"


@pytest.mark.parametrize("policy", POLICIES)
async def test_links_stay_true_and_rollbacks_are_exact(disk: Any, policy: str, seed: int) -> None:
    """`pytest tests/actors/test_settling_lives.py --settled N` plays N a policy."""
    random = Random(f"{policy} {seed}")
    scene = await Scene(disk.blobs()).open()
    await scene.ask("namespace.register", default_conflict_policy=policy)
    for number in range(STEPS):
        await step(scene, random)
        check(scene)
        if random.random() < 0.1:
            await scene.namespace.home.write_down()
        if random.random() < 0.1:
            await scene.open()
        if number in (STEPS // 2, STEPS - 1):
            await assert_exact(scene, run_id=random.choice(RUNS))


async def test_all_that_one_run_did_goes_and_nothing_else(disk: Any) -> None:
    """Others came first and have not touched anything since."""
    for seed in range(30):
        random = Random(seed)
        scene = await Scene(disk.blobs()).open()
        for _ in range(8):
            await step(scene, random)
        before = held(scene)
        for _ in range(8):
            op, asked = random.choice(REPERTOIRE)(random, scene.namespace.home.state)
            scene.clock.advance(1)
            with suppress(Conflict, Locked):
                await scene.ask(op, **asked | {"run_id": f"bad-{seed}"})
        answer = await scene.ask("memory.rollback", run_id=f"bad-{seed}", dry_run=False)
        after = held(scene)
        allowed = bool(scene.namespace.home.state.allowed)
        assert not [row for row in answer["rows"] if row["becomes"] == "kept"], seed
        if not allowed:  # what a person allowed stays allowed, and unflagged
            assert {name: after[name] for name in before} == before, seed
        assert {row.status for name, row in after.items() if name not in before} <= {Status.TOMBSTONED}
