"""Do conflicts and duplicates that people settle stay settled, through snapshots and new starts, and by groups?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from scene import Scene

LEASE, LATER, LATEST = (f"the office lease ends in {year}" for year in (2025, 2027, 2029))


async def fold(scene: Scene) -> None:
    """A snapshot is written, and a new start reads it."""
    await scene.namespace.home.write_down()
    await scene.open()


async def crash(scene: Scene) -> None:
    """A new start replays the log."""
    await scene.open()


async def nothing(scene: Scene) -> None:
    pass


THEN = pytest.mark.parametrize("then", [nothing, fold, crash], ids=lambda then: then.__name__)
Then = Callable[[Scene], Awaitable[None]]


async def contradict(scene: Scene, *keys: str) -> str:
    """Rows under these keys contradict each other; the first one's id."""
    for key, value in zip(keys, (LEASE, LATER, LATEST), strict=False):
        await scene.set(key, value)
    rows = (await scene.ask("conflicts.list"))["rows"]
    return next(row["memory_id"] for row in rows if row["memory_key"] == keys[0])


async def status(scene: Scene, key: str) -> str:
    return (await scene.ask("memory.get", memory_key=key))["status"]


def held(scene: Scene) -> Any:
    state = scene.namespace.home.state
    return dict(state.rows), dict(state.allowed), state.last_version, len(state.audits)


@THEN
async def test_an_allowed_pair_stays_allowed(scene: Scene, then: Then) -> None:
    first = await contradict(scene, "b", "a")
    await scene.ask("conflicts.resolve", memory_id=first, decision="allow", reason="two floors", resolved_by="ida")
    await then(scene)
    answer = await scene.ask("conflicts.allowlist_list")
    (pair,) = answer["rows"]
    assert (pair["memory_key_a"], pair["memory_key_b"], answer["count"]) == ("a", "b", 1)
    assert (pair["reason"], pair["resolved_by"]) == ("two floors", "human:ida")
    assert pair["created_at"]
    for key in "ab":
        assert (await scene.set(key, LATEST))["conflict_verdict"] != "conflict"


@THEN
async def test_a_removed_pair_stays_removed(scene: Scene, then: Then) -> None:
    first = await contradict(scene, "b", "a")
    await scene.ask("conflicts.resolve", memory_id=first, decision="allow")
    await scene.namespace.home.write_down()
    assert (await scene.ask("conflicts.allowlist_remove", memory_key_a="b", memory_key_b="a"))["removed"]
    await then(scene)
    assert (await scene.ask("conflicts.allowlist_list"))["count"] == 0
    assert (await scene.set("a", LATEST))["conflict_verdict"] == "conflict"


async def test_the_allowlist_is_read_by_pages_and_by_key(scene: Scene) -> None:
    first = await contradict(scene, "b", "a", "c")
    await scene.ask("conflicts.resolve", memory_id=first, decision="allow")
    page = await scene.ask("conflicts.allowlist_list", limit=1)
    rest = await scene.ask("conflicts.allowlist_list", limit=1, cursor=page["next_cursor"])
    pairs = [(row["memory_key_a"], row["memory_key_b"]) for row in page["rows"] + rest["rows"]]
    assert (pairs, page["count"], rest["next_cursor"]) == ([("a", "b"), ("b", "c")], 2, "")
    of_c = await scene.ask("conflicts.allowlist_list", memory_key="c")
    assert ([row["memory_key_a"] for row in of_c["rows"]], of_c["count"]) == (["b"], 1)


@THEN
@pytest.mark.parametrize(("resolved_by", "actor"), [("ida", "human:ida"), ("-", None)])
async def test_the_audit_names_who_decided_and_why(
    scene: Scene, then: Then, resolved_by: str, actor: str | None
) -> None:
    first = await contradict(scene, "a", "b")
    asked = {"memory_id": first, "decision": "revise", "reason": "renewed", "resolved_by": resolved_by}
    await scene.ask("conflicts.resolve", **asked)
    await then(scene)
    (told,) = (await scene.ask("audit.list", action="conflicts.resolve"))["rows"]
    assert (told["memory_key"], told["verdict"], told["reason"]) == ("b", "revise", "renewed")
    assert told["actor"] == actor if actor else not told["actor"].startswith("human:")


@THEN
async def test_a_loser_comes_back_into_the_queue(scene: Scene, then: Then) -> None:
    first = await contradict(scene, "a", "b")
    await scene.ask("conflicts.resolve", memory_id=first, decision="revise")
    await then(scene)
    assert await scene.value("b") is None
    assert (await status(scene, "a")) == "active"
    assert (await scene.ask("memory.restore", memory_key="b"))["status"] == "conflicted"
    assert (await scene.ask("conflicts.list", count_only=True))["count"] == 2


# ---- groups ----------------------------------------------------------------------------------------------------------
async def two_causes(scene: Scene) -> dict[str, str]:
    """Two pairs of one sentence, one of another; the group ids by template."""
    for subject in ("p1", "p2"):
        await scene.set(f"{subject}/a", f"Printer {subject} is leased from Nordholt.")
        await scene.set(f"{subject}/b", f"Printer {subject} is leased from Sandvik.")
    await scene.set("gate/a", "The gate is painted green.")
    await scene.set("gate/b", "The gate is painted red.")
    groups = (await scene.ask("conflicts.list", group_by="cause"))["groups"]
    assert [group["pairs"] for group in groups] == [2, 1]
    return {group["template"]: group["group_id"] for group in groups}


@THEN
async def test_a_group_is_listed_and_settled_as_one(scene: Scene, then: Then) -> None:
    group_id = (await two_causes(scene))["printer … is leased from …."]
    await then(scene)
    rows = (await scene.ask("conflicts.list", group_id=group_id))["rows"]
    assert [row["memory_key"] for row in rows] == ["p1/a", "p1/b", "p2/a", "p2/b"]
    assert {peer["group_id"] for row in rows for peer in row["peers"]} == {group_id}
    answer = await scene.ask("conflicts.resolve", group_id=group_id, decision="revise", reason="a new lessor")
    assert (answer["pairs"], answer["remaining"], answer["refused"]) == (2, 0, [])
    await then(scene)
    for subject in ("p1", "p2"):
        assert await scene.value(f"{subject}/a") is None
        assert await status(scene, f"{subject}/b") == "active"
    assert (await scene.ask("conflicts.list", keys_only=True))["keys"] == ["gate/a", "gate/b"]
    assert (await scene.ask("conflicts.list", group_id=group_id))["rows"] == []
    again = await scene.ask("conflicts.resolve", group_id=group_id, decision="revise")
    assert (again["resolved"], again["reason"]) == (False, "not_found")


async def test_a_group_larger_than_the_bound_is_settled_by_calls_until_nothing_remains(disk: Any) -> None:
    scene = await Scene(disk.blobs(), resolve_pairs_max=1).open()
    group_id = (await two_causes(scene))["printer … is leased from …."]
    remaining = [
        (await scene.ask("conflicts.resolve", group_id=group_id, decision="revise"))["remaining"] for _ in range(2)
    ]
    assert remaining == [1, 0]
    assert (await scene.ask("conflicts.list", count_only=True))["count"] == 2


async def test_a_group_of_a_named_user_is_settled_for_that_user_alone(scene: Scene) -> None:
    for user_id in ("u-amy", "u-ben"):
        await scene.set(f"{user_id}/a", LEASE, user_id=user_id)
        await scene.set(f"{user_id}/b", LATER, user_id=user_id)
    (group,) = (await scene.ask("conflicts.list", group_by="cause"))["groups"]
    asked = {"group_id": group["group_id"], "decision": "revise", "user_id": "u-amy"}
    assert (await scene.ask("conflicts.resolve", **asked))["pairs"] == 1
    assert (await scene.ask("conflicts.list", keys_only=True))["keys"] == ["u-ben/a", "u-ben/b"]


# ---- duplicates ------------------------------------------------------------------------------------------------------
async def repeat(scene: Scene, *keys: str) -> list[str]:
    """Rows that say the same, a second apart; their ids, the canonical's first."""
    ids: list[str] = []
    for key in keys:
        scene.clock.advance(1)
        ids.append((await scene.set(key, LEASE, run_id=f"r-{key}"))["memory_id"])
    return ids


@THEN
async def test_collapse_is_a_dry_run_unless_told_otherwise_and_can_be_undone(scene: Scene, then: Then) -> None:
    canonical, *_ = await repeat(scene, "one", "two", "three")
    before = held(scene)
    tried = await scene.ask("memory.dedup_collapse")
    assert held(scene) == before
    done = await scene.ask("memory.dedup_collapse", dry_run=False, reason="tidy")
    assert (tried["dry_run"], done["dry_run"]) == (True, False)
    told = [[row["memory_key"] for row in answer["rows"]] for answer in (tried, done)]
    assert told == [["two", "three"]] * 2
    assert (tried["collapsed"], done["collapsed"]) == (2, 2)
    await then(scene)
    assert (await scene.ask("memory.dedup_list"))["clusters"] == []
    undone = await scene.ask("memory.restore", memory_key="two", if_superseded_by=canonical)
    assert undone["status"] == "duplicate"
    (cluster,) = (await scene.ask("memory.dedup_list"))["clusters"]
    assert [row["memory_key"] for row in cluster["duplicates"]] == ["two"]


@THEN
async def test_a_cluster_names_what_settles_it(scene: Scene, then: Then) -> None:
    canonical, two, three = await repeat(scene, "one", "two", "three")
    await then(scene)
    answer = await scene.ask("memory.dedup_list")
    (cluster,) = answer["clusters"]
    assert (cluster["canonical_id"], cluster["canonical_key"], cluster["excerpt"]) == (canonical, "one", LEASE)
    assert [row["duplicate_id"] for row in cluster["duplicates"]] == [two, three], "the oldest first"
    assert [row["run_id"] for row in cluster["duplicates"]] == ["r-two", "r-three"]
    pair = {"canonical_id": canonical, "duplicate_id": three, "confirm_canonical_key": cluster["canonical_key"]}
    assert (await scene.ask("memory.dedup_resolve", decision="keep_duplicate", **pair))["resolved"]
    (cluster,) = (await scene.ask("memory.dedup_list"))["clusters"]
    assert (cluster["canonical_key"], cluster["duplicates"][0]["memory_key"]) == ("three", "two")


async def test_clusters_are_read_by_pages_by_prefix_and_by_user(scene: Scene) -> None:
    await repeat(scene, "house/b", "house/c")
    for key, run_id in (("castle/a", "r1"), ("castle/b", "r2")):
        await scene.set(key, "pike swim in the moat", run_id=run_id, user_id="u-amy")
    page = await scene.ask("memory.dedup_list", limit=1)
    rest = await scene.ask("memory.dedup_list", limit=1, cursor=page["next_cursor"])
    keys = [cluster["canonical_key"] for cluster in page["clusters"] + rest["clusters"]]
    assert (keys, page["count"], rest["next_cursor"]) == (["castle/a", "house/b"], 2, "")
    for asked, expected in (({"prefix": "house/"}, "house/b"), ({"user_id": "u-amy"}, "castle/a")):
        found = await scene.ask("memory.dedup_list", **asked)
        assert ([one["canonical_key"] for one in found["clusters"]], found["count"]) == ([expected], 1)


async def test_a_deleted_canonical_leaves_no_orphan(scene: Scene) -> None:
    await repeat(scene, "one", "two", "three")
    await scene.ask("memory.delete", memory_key="one")
    assert (await scene.ask("memory.resolve_orphan_duplicates", dry_run=True))["reactivated"] == 0
    assert await scene.value("two") == LEASE
