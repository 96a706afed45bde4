"""Does the keeper keep what is refused through new starts, and tell all who must know before it answers?"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from scene import Clock, Scene, inline, until

from loom_ray.actors.blacklist import Blacklist, open_blacklist
from loom_ray.actors.calls import SweepOrder
from loom_ray.actors.directory import Place
from loom_ray.contract.arguments import read_request
from loom_ray.contract.blacklist import Swept
from loom_ray.contract.errors import BackendUnavailable, InvalidRequest
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings
from loom_ray.core.refusal.pattern import Pattern
from loom_ray.core.refusal.registry import Effective

HERE, THERE, ABROAD = Place("dev", "local"), Place("dev", "other"), Place("acme", "local")


class Namespaces:
    """Three that are awake; each remembers what it was told last."""

    def __init__(self) -> None:
        self.known: dict[Place, Effective] = {}
        self.deaf: set[Place] = set()
        self.hold: asyncio.Event | None = None
        self.rows = {HERE: 7, THERE: 4, ABROAD: 2}

    async def awake(self) -> list[Place]:
        return list(self.rows)

    async def tell(self, place: Place, effective: Effective) -> None:
        if self.hold is not None:
            await self.hold.wait()
        if place in self.deaf:
            raise BackendUnavailable("it does not hear")
        self.known[place] = effective

    async def sweep(self, place: Place, pattern: Pattern, actor: str, rows_max: int) -> Swept:
        if place in self.deaf:
            raise BackendUnavailable("it does not hear")
        swept = min(rows_max, self.rows[place])
        self.rows[place] -= swept
        return Swept(pattern_id=pattern.pattern_id, swept=swept, swept_truncated=self.rows[place] > 0)


class Keeper:
    """The keeper through its incarnations."""

    def __init__(self, disk: Any, **settings: Any) -> None:
        self.disk, self.settings = disk, Settings(**settings)
        self.namespaces, self.clock, self.starts = Namespaces(), Clock(), 0
        self.blacklist: Blacklist

    async def open(self) -> Keeper:
        self.starts += 1
        self.blacklist = await open_blacklist(
            self.disk.blobs(), self.namespaces, self.settings, f"keeper-{self.starts}", self.clock, inline
        )
        return self

    async def ask(self, op: str, **arguments: Any) -> dict[str, Any]:
        request = read_request(OPS[op], orjson.dumps(arguments), self.settings).request
        return await self.blacklist.serve(op, request)

    async def patterns(self, **place: str) -> list[tuple[str, str, int]]:
        rows = (await self.ask("blacklist.list", **place))["rows"]
        return [(row["pattern"], row["scope"], row["hit_count"]) for row in rows]


@pytest.fixture
async def keeper(disk: Any) -> Keeper:
    return await Keeper(disk).open()


# ---- what it keeps ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("then", ["crash", "leave", "snapshot"])
async def test_patterns_outlive_the_keeper(keeper: Keeper, then: str) -> None:
    first = await keeper.ask("blacklist.add", pattern="Falkenberg", reason="no codenames")
    await keeper.ask("blacklist.add", pattern="x{3}", pattern_type="regex", scope="global")
    gone = await keeper.ask("blacklist.add", pattern="Moonshine", scope="org", fold=True)
    assert (await keeper.ask("blacklist.remove", pattern_id=gone["pattern_id"]))["removed"]
    keeper.blacklist.note_hits({first["pattern_id"]: 3})
    await until(lambda: not keeper.blacklist._hits)
    before = (await keeper.ask("blacklist.list"))["rows"]
    version = keeper.blacklist.effective(HERE).version
    if then == "leave":
        await keeper.blacklist.close()
    elif then == "snapshot":
        await keeper.blacklist._store.snapshot(keeper.blacklist.image())
    await keeper.open()
    assert (await keeper.ask("blacklist.list"))["rows"] == before
    assert await keeper.patterns() == [("x{3}", "global", 0), ("Falkenberg", "namespace", 3)]
    assert keeper.blacklist.effective(HERE).version >= version


async def test_the_same_pattern_again_is_the_same_one(keeper: Keeper) -> None:
    first = await keeper.ask("blacklist.add", pattern="Falkenberg", reason="a")
    again = await keeper.ask("blacklist.add", pattern="Falkenberg")
    told = await keeper.ask("blacklist.add", pattern="Falkenberg", reason="b")
    assert (first["created"], again["created"], told["created"]) == (True, False, False)
    assert len({one["pattern_id"] for one in (first, again, told)}) == 1
    (row,) = (await keeper.ask("blacklist.list"))["rows"]
    assert row["reason"] == "b"
    others = [{"fold": True}, {"scope": "org"}, {"pattern_type": "regex"}, {"namespace": "other"}]
    ids = {(await keeper.ask("blacklist.add", pattern="Falkenberg", **other))["pattern_id"] for other in others}
    assert len(ids) == 4


async def test_each_sees_its_own_its_orgs_and_the_global_patterns(keeper: Keeper) -> None:
    for pattern, scope in (("a1", "namespace"), ("b2", "org"), ("c3", "global")):
        await keeper.ask("blacklist.add", pattern=pattern, scope=scope)
    assert [row[0] for row in await keeper.patterns()] == ["c3", "b2", "a1"]
    assert [row[0] for row in await keeper.patterns(namespace="other")] == ["c3", "b2"]
    assert [row[0] for row in await keeper.patterns(org="acme")] == ["c3"]
    page = await keeper.ask("blacklist.list", limit=2)
    rest = await keeper.ask("blacklist.list", limit=2, cursor=page["next_cursor"])
    assert [row["pattern"] for row in page["rows"] + rest["rows"]] == ["c3", "b2", "a1"]
    assert (page["count"], rest["next_cursor"]) == (3, "")


async def test_what_the_engine_refuses_is_a_clear_422_and_is_not_kept(keeper: Keeper) -> None:
    for pattern in ("(?<=x)y", r"(a)\1", "(unclosed", r"end\Z", "a" * 257, "[a-z]{500}"):
        with pytest.raises(InvalidRequest, match="pattern: "):
            await keeper.ask("blacklist.add", pattern=pattern, pattern_type="regex")
    assert await keeper.patterns() == []


async def test_a_scope_has_room_for_so_many_instructions(keeper: Keeper) -> None:
    for number in range(11):
        await keeper.ask("blacklist.add", pattern=f"z{number}{{250}}", pattern_type="regex")
    with pytest.raises(InvalidRequest, match="3,000"):
        await keeper.ask("blacklist.add", pattern="y{250}", pattern_type="regex")
    await keeper.ask("blacklist.add", pattern="y{250}", pattern_type="regex", scope="org")


async def test_nobody_removes_or_sweeps_a_pattern_of_another_place(keeper: Keeper) -> None:
    added = await keeper.ask("blacklist.add", pattern="Falkenberg")
    for place in ({"namespace": "other"}, {"org": "acme"}):
        assert not (await keeper.ask("blacklist.remove", pattern_id=added["pattern_id"], **place))["removed"]
        assert not (await keeper.ask("blacklist.sweep", pattern_id=added["pattern_id"], **place))["found"]
    assert await keeper.patterns() == [("Falkenberg", "namespace", 0)]


# ---- whom it tells ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("scope", "told"), [("namespace", {HERE}), ("org", {HERE, THERE}), ("global", {HERE, THERE, ABROAD})]
)
async def test_it_answers_when_all_whom_it_concerns_know(keeper: Keeper, scope: str, told: set[Place]) -> None:
    keeper.namespaces.hold = asyncio.Event()
    adding = asyncio.create_task(keeper.ask("blacklist.add", pattern="Falkenberg", scope=scope))
    await until(lambda: bool(keeper.blacklist.effective(HERE).patterns))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not adding.done()
    keeper.namespaces.hold.set()
    added = await adding
    assert keeper.namespaces.known.keys() == told
    assert all(one.patterns[0].pattern_id == added["pattern_id"] for one in keeper.namespaces.known.values())
    await keeper.ask("blacklist.remove", pattern_id=added["pattern_id"])
    assert not any(one.patterns for one in keeper.namespaces.known.values())


async def test_one_that_cannot_be_told_keeps_the_answer_back_and_the_pattern_stays(keeper: Keeper) -> None:
    keeper.namespaces.deaf.add(THERE)
    with pytest.raises(BackendUnavailable, match="send it again"):
        await keeper.ask("blacklist.add", pattern="Falkenberg", scope="org")
    assert keeper.namespaces.known.keys() == {HERE}
    keeper.namespaces.deaf.clear()
    assert not (await keeper.ask("blacklist.add", pattern="Falkenberg", scope="org"))["created"]
    assert keeper.namespaces.known.keys() == {HERE, THERE}


# ---- sweeping --------------------------------------------------------------------------------------------------------
async def test_a_sweep_goes_on_where_the_last_one_ended(disk: Any) -> None:
    keeper = await Keeper(disk, sweep_rows_max=5).open()
    first = await keeper.ask("blacklist.add", pattern="Falkenberg", scope="org", sweep=True)
    assert (first["swept"], first["swept_truncated"]) == (5, True)
    second = await keeper.ask("blacklist.sweep", pattern_id=first["pattern_id"])
    assert (second["swept"], second["swept_truncated"]) == (5, True)
    third = await keeper.ask("blacklist.sweep", pattern_id=first["pattern_id"])
    assert (third["swept"], third["swept_truncated"], third["sweep_error"]) == (1, False, "")
    assert keeper.namespaces.rows == {HERE: 0, THERE: 0, ABROAD: 2}


async def test_a_sweep_that_fails_says_so_and_the_pattern_holds(keeper: Keeper) -> None:
    keeper.namespaces.deaf.add(HERE)
    with pytest.raises(BackendUnavailable):
        await keeper.ask("blacklist.add", pattern="Falkenberg", sweep=True)
    keeper.namespaces.deaf = {THERE}
    keeper.namespaces.known.clear()
    keeper.namespaces.rows[THERE] = 1
    with pytest.raises(BackendUnavailable):
        await keeper.ask("blacklist.add", pattern="Merlin", scope="org")
    swept = await keeper.ask(
        "blacklist.sweep", pattern_id=(await keeper.ask("blacklist.list"))["rows"][0]["pattern_id"]
    )
    assert (swept["swept"], swept["swept_truncated"], swept["sweep_error"]) == (7, True, "it does not hear")


# ---- in a namespace --------------------------------------------------------------------------------------------------
async def sweep(scene: Scene, pattern: Pattern, rows_max: int = 5000) -> dict[str, Any]:
    from scene import answer_to

    from loom_ray.actors.calls import Call

    reply = await answer_to(scene.namespace, Call("c", "blacklist.sweep", SweepOrder(pattern, "process:ida", rows_max)))
    assert reply.answer is not None
    return reply.answer


async def test_a_namespace_sweeps_what_matches_in_slices_and_lists_it(scene: Scene) -> None:
    entries = [{"memory_key": f"k{n:04}", "value": f"Falkenberg number {n}"} for n in range(700)]
    await scene.ask("memory.bulk_set", entries=entries)
    for key, value in {"plain": "the kettle is blue", "json": {"notes": ["one", {"code": "Falkenberg"}]}}.items():
        await scene.set(key, value)
    await scene.set("held", "Falkenberg is held", memory_type="episodic")
    await scene.ask("memory.lock", memory_key="held", mode="no_delete", reason="a court asked for it")
    pattern = scene.keeper.add("Falkenberg")
    await scene.namespace.home.refusals.learn(await scene.keeper.effective())
    first = await sweep(scene, pattern, 600)
    assert (first["swept"], first["swept_truncated"]) == (600, True)
    rest = await sweep(scene, pattern, 600)
    assert (rest["swept"], rest["swept_truncated"]) == (101, False)
    assert [(row["memory_key"], row["code"]) for row in rest["refused"]] == [("held", "LOCKED")]
    assert await scene.value("plain") == "the kettle is blue"
    assert await scene.value("json") is None
    drops = (await scene.ask("drops.list"))["rows"]
    assert [(row["swept"], row["pattern_id"], row["actor"]) for row in drops] == [
        (101, pattern.pattern_id, "process:ida"), (600, pattern.pattern_id, "process:ida"),
    ]  # fmt: skip
    assert len(set(drops[0]["memory_ids"]) | set(drops[1]["memory_ids"])) == 701
    page = await scene.ask("drops.list", limit=1)
    other = await scene.ask("drops.list", limit=1, cursor=page["next_cursor"])
    assert [row["swept"] for row in page["rows"] + other["rows"]] == [101, 600]


async def test_what_was_swept_comes_back_once_the_pattern_is_gone(scene: Scene) -> None:
    await scene.set("k", "the codename is Falkenberg")
    pattern = scene.keeper.add("Falkenberg")
    await sweep(scene, pattern)
    assert await scene.value("k") is None
    assert (await scene.ask("memory.restore", memory_key="k"))["restored"]


async def test_a_report_counts_rows_and_past_versions_and_changes_nothing(scene: Scene) -> None:
    await scene.set("a", "the codename is Falkenberg")
    await scene.set("a", "the codename is Merlin")
    await scene.set("b", "Falkenberg, again")
    await scene.namespace.home.write_down()
    await scene.set("c", "Falkenberg, once more")
    await scene.ask("memory.delete", memory_key="c")
    before = dict(scene.namespace.home.state.rows)
    answer = await scene.ask("blacklist.report", pattern="Falkenberg")
    assert (answer["rows"], answer["memory_keys"]) == (1, ["b"])
    assert answer["versions"] == 2  # what a said first, and what c said
    assert scene.namespace.home.state.rows == before
    assert (await scene.ask("blacklist.report", pattern="falken", fold=True))["rows"] == 1
    with pytest.raises(InvalidRequest, match="pattern: "):
        await scene.ask("blacklist.report", pattern="(a", pattern_type="regex")
