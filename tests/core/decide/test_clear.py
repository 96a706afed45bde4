"""What does it retire that a user or an agent is cleared?"""

from __future__ import annotations

from typing import Any

import pytest

from loom_ray.contract.errors import LoomError
from loom_ray.contract.many import ClearAnswer
from loom_ray.core.decide.many import decide_clear, rows_of_subject
from loom_ray.core.row import Status

from .scene import Scene

FACTS = {
    "gate": "The gate is painted green.",
    "moat": "Pike swim in the moat.",
    "tower": "Pigeons roost in the tower.",
    "well": "The well is forty feet deep.",
}
LEASE = "The office lease ends in 2025."


def clear(scene: Scene, rows_max: int = 5000, **arguments: Any) -> ClearAnswer:
    def decide(draft: Any, request: Any) -> ClearAnswer:
        return decide_clear(draft, request, rows_of_subject(scene.state, request), rows_max)

    return scene.change("memory.clear", decide, **arguments)


def two_users() -> Scene:
    scene = Scene()
    scene.set("gate", FACTS["gate"], user_id="u-amy", agent="mason")
    scene.set("moat", FACTS["moat"], user_id="u-amy", session_id="s1")
    scene.set("tower", FACTS["tower"], user_id="u-ben", agent="mason")
    scene.set("well", FACTS["well"])
    return scene


def gone(scene: Scene) -> list[str]:
    return sorted(row.memory_key for row in scene.state.rows.values() if row.status is Status.TOMBSTONED)


@pytest.mark.parametrize(
    ("subject", "keys"),
    [
        ({"user_id": "u-amy", "confirm_subject": "u-amy"}, ["gate", "moat"]),
        ({"user_id": "u-amy", "agent": "mason", "confirm_subject": "u-amy"}, ["gate", "moat"]),
        ({"agent": "mason", "confirm_subject": "mason"}, ["gate", "tower"]),
        ({"user_id": "u-cat", "confirm_subject": "u-cat"}, []),
    ],
)
def test_clear_retires_all_rows_of_a_user_or_of_an_agent_where_no_user_is_named(
    subject: dict[str, Any], keys: list[str]
) -> None:
    scene = two_users()
    answer = clear(scene, **subject)
    assert (gone(scene), answer.cleared, answer.remaining) == (keys, len(keys), 0)
    assert answer.subject == subject["confirm_subject"]


@pytest.mark.parametrize(
    "subject",
    [
        {"user_id": "u-amy"},
        {"user_id": "u-amy", "confirm_subject": "u-ben"},
        {"user_id": "u-amy", "agent": "mason", "confirm_subject": "mason"},
        {"user_id": "u-amy", "confirm_subject": "U-AMY"},
        {"confirm_subject": "-"},
        {"agent": "*", "confirm_subject": "*"},
    ],
)
def test_clear_without_the_very_name_of_its_subject_is_refused(subject: dict[str, Any]) -> None:
    scene = two_users()
    with pytest.raises(LoomError):
        clear(scene, **subject)
    assert gone(scene) == []


def test_clear_lists_what_is_locked_and_leaves_it() -> None:
    scene = two_users()
    scene.lock("moat", mode="no_delete", user_id="u-amy", session_id="s1")
    answer = clear(scene, user_id="u-amy", confirm_subject="u-amy")
    assert [(row.memory_key, row.code) for row in answer.refused] == [("moat", "LOCKED")]
    assert (gone(scene), answer.cleared) == (["gate"], 1)


def test_clear_takes_duplicates_too() -> None:
    scene = Scene()
    scene.set("one", LEASE, user_id="u-amy", run_id="r1")
    scene.set("two", LEASE, user_id="u-amy", run_id="r2")
    assert clear(scene, user_id="u-amy", confirm_subject="u-amy").cleared == 2
    assert gone(scene) == ["one", "two"]


def test_clear_is_bounded_and_goes_on_at_the_next_call() -> None:
    scene = Scene()
    for key, value in FACTS.items():
        scene.set(key, value, user_id="u-amy")
    scene.set("roof", "Slates cover the roof.", user_id="u-amy")
    asked = {"user_id": "u-amy", "confirm_subject": "u-amy", "rows_max": 2}
    told = [(answer.cleared, answer.remaining) for answer in (clear(scene, **asked) for _ in range(4))]
    assert told == [(2, 3), (2, 1), (1, 0), (0, 0)]


def test_clear_tells_the_audit_why() -> None:
    scene = two_users()
    clear(scene, user_id="u-amy", confirm_subject="u-amy", reason="the account was closed")
    told = [(audit.memory_key, audit.action, audit.reason) for audit in scene.audits[-2:]]
    assert told == [(key, "memory.clear", "the account was closed") for key in ("gate", "moat")]


def test_what_was_cleared_comes_back_like_what_was_deleted() -> None:
    scene = two_users()
    clear(scene, user_id="u-ben", confirm_subject="u-ben")
    assert scene.restore("tower", user_id="u-ben", agent="mason").restored
