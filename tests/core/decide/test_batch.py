"""Do the entries of a batch settle as separate writes, one after another, would?"""

from __future__ import annotations

from typing import Any

import pytest

from .scene import SECOND, Scene

YEARS = [f"The office lease ends in {year}." for year in range(2025, 2031)]
POLICIES = ["auto_reinforce", "manual_review", "newest_wins", "append_only"]


def entries(*values: str, same_key: bool) -> list[dict[str, Any]]:
    return [
        {"memory_key": "lease" if same_key else f"lease/{number}", "value": value}
        for number, value in enumerate(values)
    ]


def outcome(scene: Scene) -> list[tuple[str, Any, str, int, str]]:
    """What every row came to, without ids and times."""
    rows = scene.state.rows
    return sorted(
        (
            row.memory_key,
            row.value,
            row.status.value,
            row.reinforcements,
            rows[row.superseded_by].memory_key if row.superseded_by else "",
        )
        for row in rows.values()
    )


def settled(policy: str, given: list[dict[str, Any]], *, together: bool) -> list[tuple[str, Any, str, int, str]]:
    scene = Scene(default_conflict_policy=policy)
    if together:
        scene.bulk(*given)
    else:
        for entry in given:
            scene.set(**entry)
    return outcome(scene)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.parametrize("same_key", [False, True])
def test_what_contradicts_an_entry_before_it_settles_alike(policy: str, count: int, same_key: bool) -> None:
    given = entries(*YEARS[:count], same_key=same_key)
    assert settled(policy, given, together=True) == settled(policy, given, together=False)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("same_key", [False, True])
def test_what_repeats_an_entry_before_it_settles_alike(policy: str, same_key: bool) -> None:
    given = entries(YEARS[0], YEARS[0], YEARS[0], same_key=same_key)
    assert settled(policy, given, together=True) == settled(policy, given, together=False)


def test_a_clock_that_steps_back_makes_no_fact_one_about_a_later_time() -> None:
    scene = Scene(default_conflict_policy="newest_wins")
    scene.set("lease", YEARS[0])
    scene.now -= 60 * SECOND
    assert scene.set("lease/new", YEARS[1]).outcome.verdict == "refines"
