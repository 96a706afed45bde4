"""In which order are facts told, which of them, and what became of memories?"""

from __future__ import annotations

from typing import Any

import pytest
from decide.scene import Scene

from loom_ray.contract.errors import InvalidRequest
from loom_ray.contract.fields import to_rfc3339
from loom_ray.core.read.timeline import statuses, timeline

FACTS = {
    "gate": "The gate is painted green.",
    "moat": "Pike swim in the moat.",
    "tower": "Pigeons roost in the tower.",
    "well": "The well is forty feet deep.",
}
BEGAN = {"gate": 2026, "moat": 2020, "well": 2024}  # the tower's fact names no time: it is recorded in 2033


def day(year: int) -> str:
    return f"{year}-01-01T00:00:00Z"


def castle() -> Scene:
    scene = Scene()
    for key, value in FACTS.items():
        scene.set(key, value, **({"valid_at": day(BEGAN[key])} if key in BEGAN else {}))
    return scene


def page(scene: Scene, **asked: Any) -> Any:
    return timeline(scene.state, scene.request("memory.timeline", **asked), "local", scene.now)


def keys(scene: Scene, **asked: Any) -> list[str]:
    return [row.memory_key for row in page(scene, **asked).rows]


# ---- the order -------------------------------------------------------------------------------------------------------
def test_facts_come_by_when_they_began_or_else_were_recorded() -> None:
    assert keys(castle()) == ["moat", "well", "gate", "tower"]


def test_the_newest_may_come_first() -> None:
    assert keys(castle(), newest_first=True) == ["tower", "gate", "well", "moat"]


def test_a_later_version_does_not_begin_the_fact_anew() -> None:
    scene = castle()
    scene.set("oak", "An oak shades the yard.")
    scene.set("tower", "Owls nest in the tower.")
    assert keys(scene)[-2:] == ["tower", "oak"]


@pytest.mark.parametrize("newest_first", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_pages_show_every_fact_once_also_those_that_began_together(limit: int, newest_first: bool) -> None:
    scene = Scene()
    for key, value in FACTS.items():
        scene.set(key, value, valid_at=day(2020))
    shown: list[str] = []
    cursor = ""
    while True:
        answer = page(scene, limit=limit, newest_first=newest_first, cursor=cursor)
        assert len(answer.rows) <= limit
        shown += [row.memory_key for row in answer.rows]
        cursor = answer.next_cursor
        if not cursor:
            break
    assert shown == keys(scene, newest_first=newest_first)
    assert sorted(shown) == list(FACTS)


def test_what_is_written_between_two_pages_moves_nothing() -> None:
    scene = castle()
    first = page(scene, limit=2)
    scene.set("oak", "An oak shades the yard.", valid_at=day(2010))
    scene.delete("well")
    assert keys(scene, cursor=first.next_cursor) == ["gate", "tower"]


def test_another_listings_cursor_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        page(castle(), cursor="WyJnYXRlIiwgImlkLTEiXQ==")


# ---- which facts -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"since": day(2024)}, ["well", "gate", "tower"]),
        ({"until": day(2024)}, ["moat"]),
        ({"since": day(2024), "until": day(2026)}, ["well"]),
        ({"since": day(2040)}, []),
        ({"prefix": "t"}, ["tower"]),
        ({"prefix": "_"}, []),
    ],
    ids=str,
)
def test_since_counts_until_does_not_and_a_prefix_is_literal(asked: dict[str, Any], found: list[str]) -> None:
    assert keys(castle(), **asked) == found


def test_an_entity_is_found_whatever_its_case() -> None:
    scene = castle()
    scene.set("oak", "Anna planted the oak.", entities=["Anna"])
    assert keys(scene, entity="ANNA") == ["oak"]
    assert keys(scene, entity="ann") == []


def test_a_user_is_told_what_is_the_users_and_nobody_in_particular_of_everybody() -> None:
    scene = castle()
    scene.set("oak", "An oak shades the yard.", user_id="u-amy")
    assert keys(scene, user_id="u-amy") == ["oak"]
    assert keys(scene) == keys(scene, user_id="*") == ["moat", "well", "gate", "tower", "oak"]


def test_a_run_is_told_what_it_wrote() -> None:
    scene = castle()
    scene.set("oak", "An oak shades the yard.", run_id="r1")
    assert keys(scene, run_id="r1") == ["oak"]


def test_what_was_deleted_expired_ended_or_repeats_another_is_not_told() -> None:
    scene = castle()
    scene.delete("moat")
    scene.set("tower", FACTS["tower"], ttl_seconds=10)
    scene.set("well", FACTS["well"], valid_at=day(2024), valid_to="2033-05-18T03:33:40Z")
    scene.set("door", FACTS["gate"], run_id="r2")
    assert scene.row("door").status == "duplicate"
    scene.pass_time(20)
    assert keys(scene) == ["gate"]


def test_what_was_retired_is_told_only_if_asked_for_and_names_its_successor() -> None:
    scene = Scene(default_conflict_policy="newest_wins")
    scene.set("gate", FACTS["gate"], agent="first")
    scene.set("gate", "The gate is painted red.", agent="second")
    assert [row.agent for row in page(scene).rows] == ["second"]
    old, new = page(scene, include_superseded=True).rows
    assert (old.agent, old.status, old.superseded_by) == ("first", "superseded", new.memory_id)


def test_a_secret_is_told_without_its_value() -> None:
    scene = Scene()
    scene.set("safe", "The safe opens with a word.", sensitivity="high")
    assert [row.value for row in page(scene).rows] == [None]


# ---- what became of memories -----------------------------------------------------------------------------------------
def status_rows(scene: Scene, *memory_ids: str) -> list[Any]:
    return statuses(scene.state, scene.request("memory.statuses", memory_ids=list(memory_ids))).rows


def test_statuses_come_in_the_order_asked_without_unknown_ids() -> None:
    scene = castle()
    scene.delete("moat")
    gate, moat = scene.row("gate"), scene.row("moat")
    told = status_rows(scene, moat.memory_id, "id-nobody", gate.memory_id)
    assert [(row.memory_id, row.status) for row in told] == [
        (moat.memory_id, "tombstoned"),
        (gate.memory_id, "active"),
    ]


def test_a_status_names_key_version_and_successor() -> None:
    scene = Scene(default_conflict_policy="newest_wins")
    scene.set("gate", FACTS["gate"], agent="first")
    old = scene.row("gate")
    scene.set("gate", "The gate is painted red.", agent="second")
    (told,) = status_rows(scene, old.memory_id)
    row = scene.state.rows[old.memory_id]
    assert row.version > old.version
    assert (told.memory_key, told.status, told.superseded_by) == ("gate", "superseded", row.superseded_by)
    assert (told.version, told.version_text) == (row.version, str(row.version))


def test_asked_once_or_twice_a_memory_is_told_once() -> None:
    scene = castle()
    memory_id = scene.row("gate").memory_id
    assert len(status_rows(scene, memory_id, memory_id)) == 1


def test_the_page_tells_when_facts_began() -> None:
    scene = castle()
    told = {row.memory_key: row.valid_at or row.created_at for row in page(scene).rows}
    tower = to_rfc3339(scene.row("tower").created_at)
    assert told == {key: day(year) for key, year in BEGAN.items()} | {"tower": tower}
