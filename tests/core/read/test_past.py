"""What was true, and what was known, at a time?"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from decide.scene import SECOND, Scene

from loom_ray.contract.fields import to_ns
from loom_ray.core.decide.remove import decide_reject
from loom_ray.core.read.past import held_by_each, held_last
from loom_ray.core.row import Row

GREEN, RED, BLUE = "The gate is painted green.", "The gate is painted red.", "The gate is painted blue."
DAY_S = 86_400


def at(year: int) -> int:
    """Its beginning, in ns."""
    time = to_ns(datetime.fromisoformat(f"{year}-01-01T00:00:00Z"))
    assert time is not None
    return time


def day(year: int) -> str:
    return f"{year}-01-01T00:00:00Z"


def held(scene: Scene, as_of: int, basis: Any = "valid_time", key: str = "gate") -> Row | None:
    images = [image for images in scene.state.recent.values() for image in images if image.memory_key == key]
    return held_last(held_by_each(images, as_of, basis))


def told(scene: Scene, *times: int, basis: Any = "valid_time", key: str = "gate") -> list[Any]:
    """The values that held at these times."""
    rows = [held(scene, time, basis, key) for time in times]
    return [row.value if row else None for row in rows]


def known(scene: Scene, *times: int, key: str = "gate") -> list[Any]:
    return told(scene, *times, basis="knowledge_time", key=key)


def said(scene: Scene, *values: str, **more: Any) -> list[int]:
    """Says one after another, a day apart; when (ns)."""
    times: list[int] = []
    for value in values:
        scene.pass_time(DAY_S)
        scene.set("gate", value, **more)
        times.append(scene.row("gate").version)
    return times


# ---- what was true ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)], ids=str)
def test_in_whatever_order_they_were_said_statements_hold_from_when_they_began(order: tuple[int, ...]) -> None:
    scene = Scene()
    statements = [(GREEN, 2020), (RED, 2024), (BLUE, 2028)]
    for place in order:
        value, year = statements[place]
        scene.set("gate", value, valid_at=day(year))
    assert told(scene, at(2020) - 1, at(2020), at(2024) - 1, at(2024), at(2028) - 1, at(2028), scene.now) == [
        None,
        GREEN,
        GREEN,
        RED,
        RED,
        BLUE,
        BLUE,
    ]


def test_without_a_time_a_statement_holds_from_when_it_was_said() -> None:
    scene = Scene()
    first, second = said(scene, GREEN, RED)
    assert told(scene, first - 1, first, second - 1, second) == [None, GREEN, GREEN, RED]


def test_what_was_said_of_a_time_later_than_that_is_not_true_before() -> None:
    scene = Scene()
    scene.set("gate", GREEN, valid_at=day(2020))
    scene.set("gate", RED, valid_at=day(2040))
    assert told(scene, scene.now, at(2040)) == [GREEN, RED]


def test_of_two_statements_about_one_time_the_later_said_holds() -> None:
    scene = Scene()
    scene.set("gate", GREEN, valid_at=day(2020))
    scene.set("gate", RED, valid_at=day(2020))
    assert told(scene, at(2020), scene.now) == [RED, RED]


def test_new_tags_begin_no_new_statement() -> None:
    scene = Scene()
    (first,) = said(scene, GREEN)
    scene.pass_time(DAY_S)
    scene.set("gate", GREEN, tags=["paint"])
    row = held(scene, first)
    assert row is not None
    assert (row.value, row.tags) == (GREEN, ("paint",)), "as the row was last described"


def test_a_statement_ends_with_its_valid_to_and_nothing_holds_until_the_next() -> None:
    scene = Scene()
    scene.set("gate", GREEN, valid_at=day(2020), valid_to=day(2022))
    scene.set("gate", RED, valid_at=day(2024))
    assert told(scene, at(2022) - 1, at(2022), at(2024) - 1, at(2024)) == [GREEN, None, None, RED]


def test_an_end_that_has_been_carried_out_takes_nothing_from_before_it() -> None:
    scene = Scene()
    scene.set("gate", GREEN, valid_at=day(2020), valid_to=day(2034))
    scene.end("gate", 366 * DAY_S)
    assert told(scene, at(2034) - 1, at(2034)) == [GREEN, None]


# ---- what took its place ---------------------------------------------------------------------------------------------
def superseded(valid_at: str | None = None) -> Scene:
    scene = Scene(default_conflict_policy="newest_wins")
    scene.set("gate", GREEN, valid_at=day(2020), agent="first")
    scene.pass_time(DAY_S)
    scene.set("gate", RED, agent="second", **({} if valid_at is None else {"valid_at": valid_at}))
    return scene


def test_a_retired_row_holds_until_its_successor_begins_and_names_it() -> None:
    scene = superseded(day(2024))
    assert told(scene, at(2024) - 1, at(2024), scene.now) == [GREEN, RED, RED]
    row = held(scene, at(2022))
    assert row is not None
    assert scene.state.rows[row.superseded_by].value == RED


def test_from_when_its_successor_begins_a_retired_row_holds_no_longer() -> None:
    scene = superseded(day(2024))
    images = [image for images in scene.state.recent.values() for image in images]
    for time, values in ((at(2024) - 1, [GREEN]), (at(2024), [RED])):
        assert [one.image.value for one in held_by_each(images, time, "valid_time")] == values


def test_a_successor_without_a_time_begins_when_it_was_said() -> None:
    scene = superseded()
    began = max(row.version for row in scene.state.rows.values() if row.value == RED)
    assert told(scene, began - 1, began) == [GREEN, RED]


def test_a_row_stays_retired_from_then_on_whatever_becomes_of_its_successor() -> None:
    scene = superseded(day(2024))
    (old,) = (row for row in scene.state.rows.values() if row.value == GREEN)
    scene.state.forget(old.superseded_by)
    del scene.state.recent[old.superseded_by]
    assert told(scene, at(2024) - 1, at(2024), old.version) == [GREEN, None, None]


def test_a_retired_row_is_known_until_it_was_retired() -> None:
    scene = superseded(day(2024))
    (old,) = (row for row in scene.state.rows.values() if row.value == GREEN)
    assert known(scene, at(2024), old.version - SECOND, old.version) == [None, GREEN, RED]


# ---- what moved ------------------------------------------------------------------------------------------------------
def moved(**more: Any) -> tuple[Scene, int]:
    """And when (ns)."""
    scene = Scene()
    scene.set("gate", GREEN, valid_at=day(2020))
    scene.pass_time(DAY_S)
    scene.move("gate", "door", **more)
    return scene, scene.row("gate").version


def test_a_moved_fact_is_known_under_its_old_key_until_then_and_under_the_new_one_since() -> None:
    scene, when = moved()
    assert known(scene, when - 1, when) == [GREEN, None]
    assert known(scene, when - 1, scene.now + SECOND, key="door") == [None, GREEN]


def test_a_moved_fact_is_true_under_its_new_key_from_when_it_began() -> None:
    scene, _ = moved()
    assert told(scene, at(2020) - 1, at(2020), scene.now, key="door") == [None, GREEN, GREEN]


def test_the_old_key_says_nothing_true_once_its_fact_has_moved() -> None:
    scene, when = moved()
    assert told(scene, when, scene.now) == [None, None]


def test_what_moved_without_a_redirect_is_as_if_deleted_at_its_old_key() -> None:
    scene, when = moved(keep_redirect=False)
    assert told(scene, at(2022), when - 1) == [None, None]
    assert known(scene, when - 1, when) == [GREEN, None]


# ---- what was deleted ------------------------------------------------------------------------------------------------
def reject(scene: Scene) -> None:
    scene.change("memory.reject", decide_reject, memory_key="gate", reason="a misreading")


RETRACTIONS = pytest.mark.parametrize(
    "retract", [lambda scene: scene.delete("gate"), reject], ids=["deleted", "rejected"]
)


@RETRACTIONS
def test_what_was_retracted_was_never_true_and_known_until_then(retract: Any) -> None:
    scene = Scene()
    said_at, _ = said(scene, GREEN, RED)
    scene.pass_time(DAY_S)
    retract(scene)
    when = scene.row("gate").version
    assert told(scene, said_at, when - 1, when) == [None, None, None]
    assert known(scene, said_at, when - 1, when, scene.now) == [GREEN, RED, None, None]


@RETRACTIONS
def test_what_came_back_was_true_all_along_and_unknown_in_between(retract: Any) -> None:
    scene = Scene()
    (said_at,) = said(scene, GREEN)
    scene.pass_time(DAY_S)
    retract(scene)
    retracted_at = scene.row("gate").version
    scene.pass_time(DAY_S)
    scene.restore("gate")
    back_at = scene.row("gate").version
    assert told(scene, said_at, retracted_at, back_at) == [GREEN, GREEN, GREEN]
    assert known(scene, retracted_at - 1, retracted_at, back_at - 1, back_at) == [GREEN, None, None, GREEN]


def test_what_expired_is_known_until_then() -> None:
    scene = Scene()
    scene.set("gate", GREEN, ttl_seconds=DAY_S)
    when = scene.end("gate", DAY_S).version
    assert known(scene, when - 1, when) == [GREEN, None]


# ---- what was known --------------------------------------------------------------------------------------------------
def test_what_was_known_goes_by_when_it_was_recorded() -> None:
    scene = Scene()
    times = [said(scene, value, valid_at=day(year))[0] for value, year in ((RED, 2024), (GREEN, 2020))]
    assert known(scene, at(2024), times[0] - 1, times[0], times[1] - 1, times[1]) == [None, None, RED, RED, GREEN]


def test_a_flagged_row_and_a_duplicate_are_known_too() -> None:
    scene = Scene()
    scene.set("gate", GREEN)
    scene.set("gate/two", GREEN, run_id="r2")
    scene.set("gate/three", RED)
    assert scene.row("gate").status == "conflicted"
    assert [known(scene, scene.now, key=key) for key in ("gate", "gate/two", "gate/three")] == [[GREEN], [GREEN], [RED]]


@pytest.mark.parametrize("basis", ["valid_time", "knowledge_time"])
def test_of_several_rows_of_a_key_the_one_that_began_last_is_meant(basis: str) -> None:
    scene = Scene(default_conflict_policy="append_only")
    scene.set("gate", GREEN, agent="first")
    scene.set("gate", RED, agent="second")
    between = min(row.version for row in scene.state.rows.values())
    assert told(scene, between, scene.now + SECOND, basis=basis) == [GREEN, RED]


def test_each_memory_that_held_is_told_once_and_others_not_at_all() -> None:
    scene = Scene()
    scene.set("gate", GREEN, valid_at=day(2020))
    scene.set("gate", RED, valid_at=day(2024))
    scene.set("moat", "Pike swim in the moat.", valid_at=day(2022))
    scene.set("well", "The well is forty feet deep.", valid_at=day(2026))
    images = [image for images in scene.state.recent.values() for image in images]
    found = held_by_each(images, at(2025), "valid_time")
    assert sorted((one.image.memory_key, one.image.value, one.began) for one in found) == [
        ("gate", RED, at(2024)),
        ("moat", "Pike swim in the moat.", at(2022)),
    ]


@pytest.mark.parametrize("basis", ["valid_time", "knowledge_time"])
def test_where_there_is_no_image_nothing_held(basis: Any) -> None:
    assert held(Scene(), at(2030), basis) is None
