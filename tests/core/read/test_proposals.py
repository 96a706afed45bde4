"""How could a conflict be settled, what speaks for it, and is it told alike from both sides?"""

from __future__ import annotations

from typing import Any

import pytest
from decide.scene import Scene

from loom_ray.contract.conflicts import ProposeRevisionAnswer, Suggestion
from loom_ray.core.draft import PLAIN
from loom_ray.core.read.proposals import propose

LEASE, LATER, LATEST = (f"The office lease ends in {year}." for year in (2025, 2027, 2029))
TURNED = {"revise": "contract", "contract": "revise", "allow": "allow"}
NOW = "2033-01-01T00:00:00Z"


def proposed(scene: Scene, key: str, peer: str | None = None) -> ProposeRevisionAnswer:
    named = {} if peer is None else {"peer_id": scene.row(peer).memory_id}
    request = scene.request("conflicts.propose_revision", memory_id=scene.row(key).memory_id, **named)
    return propose(scene.state, request)


def told(answer: ProposeRevisionAnswer) -> list[tuple[str, int]]:
    return [(one.decision, one.weight) for one in answer.suggestions]


def of(answer: ProposeRevisionAnswer, decision: str) -> Suggestion:
    (one,) = [one for one in answer.suggestions if one.decision == decision]
    return one


def two(first: dict[str, Any] | None = None, second: dict[str, Any] | None = None, **changed: Any) -> Scene:
    """a, written first, and b contradict each other; `changed`: what a is besides, forged."""
    scene = Scene()
    scene.set("a", LEASE, **(first or {}))
    scene.set("b", LATER, **(second or {}))
    if changed:
        draft = scene.draft("memory.forge")
        draft.change(scene.row("a"), PLAIN, **changed)
        scene.apply(draft)
    assert scene.row("a").status == "conflicted"
    return scene


# ---- each argument ---------------------------------------------------------------------------------------------------
def test_with_nothing_else_to_go_by_the_later_one_stands_and_to_allow_is_always_possible() -> None:
    scene = two()
    answer = proposed(scene, "b")
    assert told(answer) == [("revise", 1), ("allow", 0)]
    assert "'b' was written later" in answer.suggestions[0].rationale
    assert "2027" in answer.suggestions[0].rationale
    assert "2025" in answer.suggestions[0].rationale
    assert "not flagged again" in answer.suggestions[1].rationale
    assert told(proposed(scene, "a")) == [("contract", 1), ("allow", 0)]


def test_saying_it_again_does_not_make_a_statement_later_but_repeated() -> None:
    scene = two()
    for _ in range(2):
        scene.set("a", LEASE)
    answer = proposed(scene, "a")
    assert told(answer) == [("revise", 2), ("contract", 1), ("allow", 0)]
    assert "'a' was said again 2 times" in of(answer, "revise").rationale


def test_a_pin_is_the_weightiest_of_all_arguments() -> None:
    scene = two({"valid_at": "2030-01-01T00:00:00Z"}, {"valid_at": NOW}, pinned=True)
    answer = proposed(scene, "a")
    assert told(answer) == [("revise", 16), ("contract", 4 + 1), ("allow", 0)]
    assert of(answer, "revise").rationale == "the row at 'a' is pinned"
    assert "'a' is pinned" in of(proposed(scene, "b"), "contract").rationale


def test_two_pinned_rows_say_nothing_by_it() -> None:
    scene = two(pinned=True)
    draft = scene.draft("memory.forge")
    draft.change(scene.row("b"), PLAIN, pinned=True)
    scene.apply(draft)
    assert "pinned" not in str(proposed(scene, "a").suggestions)


def test_of_two_dated_facts_the_later_stands_although_it_was_written_first() -> None:
    answer = proposed(two({"valid_at": NOW}, {"valid_at": "2030-01-01T00:00:00Z"}), "a")
    assert told(answer) == [("revise", 4), ("contract", 1), ("allow", 0)]
    assert f"'a' says holds since {NOW}" in of(answer, "revise").rationale


@pytest.mark.parametrize(
    ("first", "second"), [({"valid_at": "2030-01-01T00:00:00Z"}, {}), ({}, {"valid_at": NOW}), ({"valid_at": NOW},) * 2]
)
def test_dates_speak_only_where_both_are_dated_and_differ(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert told(proposed(two(first, second), "b")) == [("revise", 1), ("allow", 0)]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("human", "process"), ("human", ""), ("process", "derived"), ("", "imported"), ("derived", "external")],
)
def test_a_source_that_is_trusted_more_stands_against_a_later_word(ours: str, theirs: str) -> None:
    scene = two(source_class=ours)
    draft = scene.draft("memory.forge")
    draft.change(scene.row("b"), PLAIN, source_class=theirs)
    scene.apply(draft)
    answer = proposed(scene, "a")
    assert of(answer, "revise").weight == 3
    assert f"'a' comes from a source of class {ours or 'process'}" in of(answer, "revise").rationale
    assert of(answer, "contract").weight == 1


@pytest.mark.parametrize(("ours", "theirs"), [("", "process"), ("derived", "imported"), ("human", "human")])
def test_sources_trusted_alike_say_nothing(ours: str, theirs: str) -> None:
    scene = two(source_class=ours)
    draft = scene.draft("memory.forge")
    draft.change(scene.row("b"), PLAIN, source_class=theirs)
    scene.apply(draft)
    assert told(proposed(scene, "a")) == [("contract", 1), ("allow", 0)]


@pytest.mark.parametrize("who", [{"agent": "other"}, {"session_id": "s-2"}, {"user_id": "u-amy"}], ids=str)
def test_two_writers_under_two_keys_may_both_be_right(who: dict[str, str]) -> None:
    answer = proposed(two({}, who), "a")
    assert told(answer)[0] == ("allow", 3)
    assert "two writers" in answer.suggestions[0].rationale


def test_two_writers_of_one_key_are_not_thought_to_mean_two_things() -> None:
    scene = Scene()
    scene.set("lease", LEASE, session_id="s-1")
    row = scene.set("lease", LATER, session_id="s-2").row
    request = scene.request("conflicts.propose_revision", memory_id=row.memory_id)
    assert told(propose(scene.state, request)) == [("revise", 1), ("allow", 0)]


def test_what_one_denies_is_not_thought_to_hold_beside_what_the_other_says() -> None:
    scene = Scene()
    scene.set("a", "The crane at the quay is safe.", agent="one")
    scene.set("b", "The crane at the quay is not safe.", agent="other")
    answer = proposed(scene, "a")
    assert answer.peers[0].rule == "negation"
    assert told(answer) == [("contract", 1), ("allow", 0)]


def test_arguments_for_one_decision_add_up_in_one_suggestion() -> None:
    scene = two({"valid_at": "2030-01-01T00:00:00Z"}, {"valid_at": NOW})
    scene.set("b", LATER)
    answer = proposed(scene, "b")
    assert told(answer) == [("revise", 4 + 2 + 1), ("allow", 0)]
    assert answer.suggestions[0].rationale.count("; ") == 2


# ---- the whole -------------------------------------------------------------------------------------------------------
SCENES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ({}, {}, {}),
    ({}, {"agent": "other"}, {}),
    ({"valid_at": NOW}, {"valid_at": "2030-01-01T00:00:00Z"}, {"pinned": True}),
    ({}, {"source_class": "derived"}, {"source_class": "external", "reinforcements": 7}),
]


@pytest.mark.parametrize(("first", "second", "changed"), SCENES)
def test_from_the_other_side_the_same_is_proposed_turned_round(
    first: dict[str, Any], second: dict[str, Any], changed: dict[str, Any]
) -> None:
    scene = two(first, second, **changed)
    ours, theirs = (dict(told(proposed(scene, key))) for key in "ab")
    assert ours == {TURNED[decision]: weight for decision, weight in theirs.items()}


@pytest.mark.parametrize(("first", "second", "changed"), SCENES)
def test_the_weightiest_is_first_and_nothing_is_changed(
    first: dict[str, Any], second: dict[str, Any], changed: dict[str, Any]
) -> None:
    scene = two(first, second, **changed)
    before = dict(scene.state.rows), scene.state.last_version, len(scene.state.audits), dict(scene.state.allowed)
    answer = proposed(scene, "a")
    weights = [weight for _, weight in told(answer)]
    assert weights == sorted(weights, reverse=True)
    assert proposed(scene, "a") == answer
    assert (dict(scene.state.rows), scene.state.last_version, len(scene.state.audits), dict(scene.state.allowed)) == (
        before
    )


def test_peers_with_one_answer_share_a_suggestion_and_others_have_their_own() -> None:
    scene = two()
    scene.set("c", LATEST)
    answer = proposed(scene, "a")
    a, b, c = (scene.row(key).memory_id for key in "abc")
    assert (answer.found, answer.memory_id, answer.memory_key) == (True, a, "a")
    assert [peer.memory_id for peer in answer.peers] == [b, c]
    assert of(answer, "allow").peer_ids == [b, c]
    assert [one.peer_ids for one in answer.suggestions if one.decision == "contract"] == [[b], [c]]
    only = proposed(scene, "a", peer="c")
    assert [peer.memory_id for peer in only.peers] == [c]
    assert {peer_id for one in only.suggestions for peer_id in one.peer_ids} == {c}


def test_what_waits_for_no_decision_gets_no_proposal() -> None:
    scene = two()
    scene.set("moat", "Pike swim in the moat.")
    for answer in (proposed(scene, "moat"), proposed(scene, "a", peer="moat")):
        assert (answer.found, answer.suggestions, answer.peers) == (False, [], [])
    unknown = propose(scene.state, scene.request("conflicts.propose_revision", memory_id="never"))
    assert (unknown.found, unknown.memory_id, unknown.suggestions) == (False, "never", [])


@pytest.mark.parametrize("key", ["a", "b"])
def test_nothing_of_a_secret_is_told(key: str) -> None:
    scene = two(value="The office lease ends in 4711 Zebra.", sensitivity="high")
    answer = proposed(scene, key)
    assert answer.suggestions
    text = answer.model_dump_json()
    assert "4711" not in text
    assert "Zebra" not in text
