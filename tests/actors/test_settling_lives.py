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


def settle_duplicates(random: Random, state: State) -> tuple[str, dict[str, Any]]:
    duplicates = sorted((row for row in state.rows.values() if row.status is Status.DUPLICATE), key=by_id)
    if not duplicates or random.random() < 0.3:
        op = random.choice(["memory.dedup_collapse", "memory.resolve_orphan_duplicates"])
        return op, {"dry_run": random.random() < 0.3}
    row = random.choice(duplicates)
    return "memory.dedup_resolve", {
        "canonical_id": row.duplicate_of, "duplicate_id": row.memory_id,
        "decision": random.choice(["keep_canonical", "keep_duplicate", "keep_both"]),
        "confirm_canonical_key": state.rows[row.duplicate_of].memory_key,
    }  # fmt: skip


def settle_conflicts(random: Random, state: State) -> tuple[str, dict[str, Any]]:
    if state.allowed and random.random() < 0.2:
        one, other = random.choice(list(state.allowed))
        return "conflicts.allowlist_remove", {"memory_key_a": other, "memory_key_b": one}
    flagged = [memory_id for _, memory_id in state.conflicted] or sorted(state.rows) or ["none"]
    chosen = random.choice(flagged)
    if random.random() < 0.2:
        return "conflicts.propose_revision", {"memory_id": chosen}
    asked = {"memory_id": chosen, "decision": random.choice(["revise", "contract", "allow"])}
    peers = state.rows[chosen].conflict_with if chosen in state.rows else ()
    return "conflicts.resolve", asked | ({"peer_id": random.choice(peers)} if peers and random.random() < 0.5 else {})


def undo(random: Random, state: State) -> tuple[str, dict[str, Any]]:
    retired = sorted((row for row in state.rows.values() if row.status is Status.SUPERSEDED), key=by_id)
    if not retired:
        return remove(random, state)
    row = random.choice(retired)
    who = {"user_id": row.user_id, "agent": row.agent, "session_id": row.session_id}
    return "memory.restore", {"memory_key": row.memory_key, "if_superseded_by": row.superseded_by} | who


def by_id(row: Row) -> str:
    return row.memory_id


REPERTOIRE = [write] * 8 + [remove] * 3 + [move, mark] + [settle_conflicts, settle_duplicates, undo] * 2


class Life(Scene):
    """Its ids follow from its seed: ties are broken by ids, and a life that fails does so again."""

    def __init__(self, disk: Any, seed: str) -> None:
        super().__init__(disk.blobs())
        self.ids = Random(f"ids of {seed}")

    async def open(self) -> Scene:
        opened = await super().open()
        self.namespace.home.fresh_ids = lambda count: [f"{self.ids.getrandbits(64):016x}" for _ in range(count)]
        return opened


async def step(scene: Scene, random: Random, run_id: str) -> None:
    op, asked = random.choice(REPERTOIRE)(random, scene.namespace.home.state)
    scene.clock.advance(1)
    before = dict(scene.namespace.home.state.rows)
    with suppress(Conflict, Locked):  # pins, locks, keys that hold a fact: each is tested where it belongs
        answer = await scene.ask(op, **asked | {"run_id": run_id})
        promised(op, asked, answer, before, scene.namespace.home.state)


# ---- what each op of settling promises -------------------------------------------------------------------------------
def promised(op: str, asked: dict[str, Any], answer: dict[str, Any], before: dict[str, Row], state: State) -> None:
    rows = state.rows
    if asked.get("dry_run") or op == "conflicts.propose_revision":
        assert rows == before, f"{op} changed something"
    elif op == "conflicts.resolve" and answer["resolved"] and not answer["refused"]:
        row = before[asked["memory_id"]]
        peers = [asked["peer_id"]] if "peer_id" in asked else list(row.conflict_with)
        losers = {"revise": peers, "contract": [row.memory_id], "allow": []}[asked["decision"]]
        assert {rows[loser].status for loser in losers} <= {Status.TOMBSTONED}
        if asked["decision"] == "allow":
            assert not set(peers) & set(rows[row.memory_id].conflict_with)
            assert all(tuple(sorted((row.memory_key, rows[peer].memory_key))) in state.allowed for peer in peers)
    elif op == "memory.dedup_resolve" and answer["resolved"]:
        canonical, duplicate = rows[asked["canonical_id"]], rows[asked["duplicate_id"]]
        gone = {"keep_canonical": [duplicate], "keep_duplicate": [canonical], "keep_both": []}[asked["decision"]]
        assert {row.status for row in gone} <= {Status.TOMBSTONED}
        assert all(row.is_live for row in (canonical, duplicate) if row not in gone)
    elif op == "memory.dedup_collapse":
        assert not [row for row in rows.values() if row.status is Status.DUPLICATE]
    elif op == "memory.resolve_orphan_duplicates":
        assert answer["reactivated"] == 0, "a duplicate had lost its canonical"  # `check` saw none
    elif op == "conflicts.allowlist_remove":
        assert answer["removed"]
        assert tuple(sorted(asked.values())) not in state.allowed
    elif op == "memory.restore" and "if_superseded_by" in asked and answer["restored"]:
        row = rows[answer["memory_id"]]
        assert (row.restored_from, row.status.value) == (asked["if_superseded_by"], answer["status"])


async def listed(scene: Scene) -> None:
    """The listings say what the rows say."""
    rows = scene.namespace.home.state.rows.values()
    queue = await scene.ask("conflicts.list", user_id="*", limit=1000)
    assert {row["memory_id"] for row in queue["rows"]} == {one.memory_id for one in rows if one.conflict_with}
    assert (await scene.ask("conflicts.list", user_id="*", count_only=True))["count"] == len(queue["rows"])
    pages, cursor = [], ""
    while True:
        page = await scene.ask("conflicts.list", user_id="*", limit=1, cursor=cursor)
        pages.append({row["memory_id"] for row in page["rows"]})
        cursor = page["next_cursor"]
        if not cursor:
            break
    by_page = {name: place for place, names in enumerate(pages) for name in names}
    assert by_page.keys() == {row["memory_id"] for row in queue["rows"]}
    for row in queue["rows"]:
        assert {by_page[peer["memory_id"]] for peer in row["peers"]} == {by_page[row["memory_id"]]}, "a pair is split"
    clusters = (await scene.ask("memory.dedup_list", user_id="*", limit=1000))["clusters"]
    told = {one["duplicate_id"]: cluster["canonical_id"] for cluster in clusters for one in cluster["duplicates"]}
    assert told == {one.memory_id: one.duplicate_of for one in rows if one.status is Status.DUPLICATE}
    for retired in (await scene.ask("memory.auto_retirements", user_id="*", limit=1000))["rows"]:
        assert retired["superseded_by"] in scene.namespace.home.state.rows


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
    scene = await Life(disk, f"{policy} {seed}").open()
    await scene.ask("namespace.register", default_conflict_policy=policy)
    for number in range(STEPS):
        await step(scene, random, random.choice(RUNS))
        check(scene)
        if random.random() < 0.1:
            await scene.namespace.home.write_down()
        if random.random() < 0.1:
            await scene.open()
        if number in (STEPS // 2, STEPS - 1):
            await listed(scene)
            await assert_exact(scene, run_id=random.choice(RUNS))


async def test_all_that_one_run_did_goes_and_nothing_else(disk: Any) -> None:
    """Others came first and have not touched anything since."""
    for seed in range(30):
        random = Random(seed)
        scene = await Life(disk, str(seed)).open()
        for _ in range(8):
            await step(scene, random, random.choice(RUNS))
        before = held(scene)
        for _ in range(8):
            await step(scene, random, f"bad-{seed}")
        answer = await scene.ask("memory.rollback", run_id=f"bad-{seed}", dry_run=False)
        after = held(scene)
        allowed = bool(scene.namespace.home.state.allowed)
        assert not [row for row in answer["rows"] if row["becomes"] == "kept"], seed
        if not allowed:  # what a person allowed stays allowed, and unflagged
            assert {name: after[name] for name in before} == before, seed
        assert {row.status for name, row in after.items() if name not in before} <= {Status.TOMBSTONED}
