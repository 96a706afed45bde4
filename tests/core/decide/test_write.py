"""How is a write judged, and what does it leave behind? Scenes without waiting."""

from __future__ import annotations

from typing import Any

import pytest

from loom_ray.contract.errors import CharLimitExceeded, PreconditionFailed
from loom_ray.core.decide.answer import bulk_answer, set_answer
from loom_ray.core.read.listing import list_rows

from .scene import DIMENSIONS, SECOND, Scene

LEASE, LATER = "The office lease ends in 2025.", "The office lease ends in 2027."


def test_a_first_fact_is_clear_and_active() -> None:
    scene = Scene()
    written = scene.set("lease", LEASE, tags=["office"])
    answer = set_answer(written, "local", False)
    assert (answer.conflict_verdict, answer.status, answer.noop, answer.merged_into_key) == (
        "clear",
        "active",
        False,
        "",
    )
    assert scene.row("lease").tags == ("office",)
    assert scene.vectors[written.row.memory_id].shape == (1, DIMENSIONS)


def test_a_different_value_is_a_conflict_that_both_rows_know() -> None:
    scene = Scene()
    first, second = scene.set("lease", LEASE), scene.set("lease/new", LATER)
    assert second.outcome.verdict == "conflict"
    assert scene.row("lease").conflict_with == (second.row.memory_id,)
    assert scene.row("lease/new").conflict_with == (first.row.memory_id,)
    (difference,) = set_answer(second, "local", False).peers[0].differences
    assert (difference.ours, difference.theirs) == ("2027", "2025")


def test_the_same_fact_elsewhere_merges_and_leaves_no_row() -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    written = scene.set("other", "  the office lease ends in 2025 ")
    answer = set_answer(written, "local", False)
    assert (answer.conflict_verdict, answer.noop, answer.merged_into_key) == ("merge", True, "lease")
    assert not scene.state.ids_of_key("other", "*")
    assert scene.row("lease").reinforcements == 1


def test_a_merge_asks_for_no_vector() -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    scene.embedded = pytest.fail  # type: ignore[method-assign, assignment]
    assert scene.set("other", LEASE.upper()).outcome.verdict == "merge"
    assert scene.set("lease", LEASE).outcome.rule == "restatement"


def test_a_restatement_only_counts() -> None:
    scene = Scene()
    version = scene.set("lease", LEASE).row.version
    written = scene.set("lease", LEASE)
    assert written.outcome.rule == "restatement"
    assert scene.row("lease").version == version
    assert scene.row("lease").reinforcements == 1


@pytest.mark.parametrize(
    "more",
    [
        {"tags": ["new"]},
        {"confidence": 0.5},
        {"valid_at": "2031-01-01T00:00:00Z"},
        {"ttl_seconds": 60},
        {"files": ["a.py"]},
    ],
)
def test_the_same_value_with_something_new_beside_it_is_a_version(more: dict[str, Any]) -> None:
    scene = Scene()
    first = scene.set("lease", LEASE).row
    second = scene.set("lease", LEASE, **more).row
    assert second.version > first.version
    assert second.memory_id == first.memory_id


def test_a_new_value_for_a_key_that_holds_a_row_never_merges_away() -> None:
    """Else the key would go on serving its old value although its writer took it back."""
    scene = Scene()
    scene.set("lease", LEASE)
    scene.set("roof", "The roof garden is open to guests.")
    written = scene.set("roof", LEASE)
    assert written.outcome.verdict == "duplicate"
    assert scene.row("roof").value == LEASE
    assert scene.row("roof").duplicate_of == scene.row("lease").memory_id


def test_another_run_keeps_its_own_duplicate() -> None:
    scene = Scene()
    scene.set("one", LEASE, run_id="run-one")
    assert scene.set("two", LEASE, run_id="run-two").outcome.verdict == "duplicate"
    assert scene.set("three", LEASE, run_id="run-one").outcome.verdict == "merge"
    assert scene.set("four", LEASE).outcome.verdict == "merge"


def test_a_rewrite_of_a_flagged_row_takes_its_flags_back() -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    scene.set("lease/new", LATER)
    scene.set("lease/new", "Bees are kept behind the chapel.")
    assert scene.row("lease").status == "active"
    assert scene.row("lease").conflict_with == ()


def test_a_canonical_that_changes_hands_its_place_to_the_oldest_duplicate() -> None:
    scene = Scene()
    scene.set("one", LEASE, run_id="r1")
    scene.set("two", LEASE, run_id="r2")
    scene.set("three", LEASE, run_id="r3")
    scene.set("one", "Bees are kept behind the chapel.")
    assert scene.row("two").status == "active"
    assert scene.row("three").duplicate_of == scene.row("two").memory_id


def test_two_sessions_of_one_key_contradict_each_other() -> None:
    scene = Scene()
    scene.set("berth", "The barge lies at berth 4.", session_id="s1")
    written = scene.set("berth", "The barge lies at berth 11.", session_id="s2")
    assert written.outcome.verdict == "conflict"
    assert {row.status.value for row in scene.state.rows.values()} == {"conflicted"}


def test_users_are_judged_apart_and_nobody_is_a_peer_of_all() -> None:
    scene = Scene()
    scene.set("amy", LEASE, user_id="u-amy")
    assert scene.set("ben", LEASE, user_id="u-ben").outcome.verdict == "clear"
    assert scene.set("all", LEASE).outcome.verdict == "merge"


def test_facts_of_other_times_are_both_true() -> None:
    scene = Scene()
    scene.set("past", LEASE, valid_at="2020-01-01T00:00:00Z", valid_to="2023-01-01T00:00:00Z")
    assert scene.set("now", LATER, valid_at="2023-01-01T00:00:00Z").outcome.verdict == "clear"
    assert scene.set("undated", "The office lease ends in 2031.").outcome.peers[0].row.memory_key == "now"


def test_append_only_judges_nothing() -> None:
    scene = Scene(default_conflict_policy="append_only")
    scene.set("one", LEASE)
    for key, value in (("two", LEASE), ("three", LATER)):
        assert scene.set(key, value).outcome.verdict == "clear"
        assert scene.row(key).status == "active"


def test_decisions_are_told_apart_by_their_keys() -> None:
    scene = Scene()
    scene.set("decision/hull", LEASE, memory_type="decision")
    assert scene.set("decision/deck", LEASE, memory_type="decision").outcome.verdict == "clear"
    (folded,) = scene.bulk({"memory_key": "decision/mast", "value": LEASE, "memory_type": "decision"})
    assert folded.outcome.verdict == "merge"


@pytest.mark.parametrize("memory_type", ["episodic", "profile"])
def test_types_that_are_not_searched_get_no_verdict_and_no_vector(memory_type: str) -> None:
    scene = Scene()
    scene.set("one", LEASE, memory_type=memory_type)
    written = scene.set("two", LEASE, memory_type=memory_type)
    assert written.outcome.verdict == ""
    assert not scene.vectors


def test_a_row_that_becomes_secret_loses_its_vector() -> None:
    scene = Scene()
    written = scene.set("lease", LEASE)
    scene.set("lease", LEASE, sensitivity="high")
    assert not scene.row("lease").is_searched
    assert scene.set("lease", LEASE).row.is_searched
    assert len(scene.vectors[written.row.memory_id]) == 1


def test_a_secret_is_nobody_s_peer() -> None:
    scene = Scene()
    scene.set("door", LEASE, session_id="s1", sensitivity="high")
    for value in (LEASE, LATER):
        written = scene.set("door", value, session_id="s2")
        assert (written.outcome.verdict, written.outcome.peers) == ("clear", ())


def test_char_limit_counts_characters_and_persists() -> None:
    scene = Scene()
    scene.set("sign", "ü" * 40, char_limit=40)
    with pytest.raises(CharLimitExceeded):
        scene.set("sign", "é" * 41)
    assert scene.row("sign").value == "ü" * 40
    scene.set("sign", "é" * 41, char_limit=50)
    assert scene.row("sign").char_limit == 50


def test_a_precondition_lets_only_the_content_it_names_be_replaced() -> None:
    scene = Scene()
    held = scene.set("slot", "Slot one is free.").row.content_sha256
    scene.set("slot", "Slot one is taken.", if_match_sha256=held)
    with pytest.raises(PreconditionFailed) as refusal:
        scene.set("slot", "Slot one is sold.", if_match_sha256=held)
    assert refusal.value.extra["current_sha256"] == scene.row("slot").content_sha256
    with pytest.raises(PreconditionFailed):
        scene.set("never", "There was none.", if_match_sha256=held)


def test_a_rewrite_keeps_expiry_and_a_clearing_drops_it() -> None:
    scene = Scene()
    scene.set("pass", "The pass is green.", ttl_seconds=60)
    expires_at = scene.row("pass").expires_at
    scene.set("pass", "The pass is blue.")
    assert scene.row("pass").expires_at == expires_at
    scene.set("pass", "The pass is red.", clear_expiry=True)
    assert scene.row("pass").expires_at is None


def test_a_batch_settles_in_order_each_with_the_earlier_ones_in_place() -> None:
    scene = Scene()
    answer = bulk_answer(
        scene.bulk(
            {"memory_key": "a", "value": LEASE},
            {"memory_key": "b", "value": LEASE.upper()},
            {"memory_key": "c", "value": LATER},
            {"memory_key": "a", "value": "Bees are kept behind the chapel."},
        ),
        scene.draft(),
        False,
    )
    assert [entry.memory_key for entry in answer.written] == ["a", "c", "a"]
    assert [(entry.memory_key, entry.merged_into_key) for entry in answer.merged] == [("b", "a")]
    assert answer.conflicted == ["c"]
    assert scene.row("c").status == "active", "the peer took its statement back later in the batch"


def test_a_refused_entry_refuses_the_whole_batch() -> None:
    scene = Scene()
    with pytest.raises(CharLimitExceeded, match=r"entries\[1\]"):
        scene.bulk({"memory_key": "a", "value": LEASE}, {"memory_key": "b", "value": "too long", "char_limit": 3})
    assert not scene.state.rows


def test_a_dry_run_sees_everything_and_leaves_nothing() -> None:
    scene = Scene()
    scene.set("lease", LEASE)
    before = dict(scene.state.rows)
    (written,) = scene.write("memory.set", dry_run=True, memory_key="new", value=LATER)
    answer = set_answer(written, "local", True)
    assert (answer.conflict_verdict, answer.noop, answer.dry_run) == ("conflict", True, True)
    assert scene.state.rows == before


def test_at_most_five_peers_are_shown_and_flagged() -> None:
    scene = Scene()
    for number in range(8):
        scene.set(f"stock/{number}", f"The cold room holds {number + 10} pallets of butter.")
    last = scene.set("stock/last", "The cold room holds 41 pallets of butter.")
    assert len(set_answer(last, "local", False).peers) == 5
    assert len(scene.row("stock/last").conflict_with) == 5


def test_punctuation_alone_is_stored_without_a_vector() -> None:
    scene = Scene()
    assert scene.set("dots", "… !?").outcome.verdict == "clear"
    assert scene.set("more", "!!").outcome.verdict in ("clear", "merge")
    assert all(not len(vectors) for vectors in scene.vectors.values())


def test_replaying_the_records_gives_the_same_state() -> None:
    scene = Scene()
    records: list[Any] = []
    apply = scene.apply
    scene.apply = lambda draft: (records.extend(draft.records), apply(draft))[1]  # type: ignore[method-assign]
    scene.set("a", LEASE)
    scene.set("b", LATER)
    scene.set("c", LEASE, run_id="r")
    scene.delete("b")
    scene.restore("b")
    scene.set("a", "Bees are kept behind the chapel.")
    replayed = Scene().state
    for record in records:
        replayed.apply(record)
    assert replayed.rows == scene.state.rows
    assert replayed.conflicted == scene.state.conflicted
    assert replayed.counts == scene.state.counts


# ---- what a severe reader found -------------------------------------------------------------------------------------
def test_a_key_whose_row_expired_begins_anew() -> None:
    scene = Scene()
    scene.set("k", LEASE, ttl_seconds=1)
    scene.now += 5 * SECOND
    again = scene.set("k", LEASE)
    assert not set_answer(again, "local", False).noop
    assert scene.row("k").expires_at is None
    scene.set("k2", LATER, ttl_seconds=1)
    scene.now += 5 * SECOND
    scene.set("k2", "Bees are kept behind the chapel.")
    assert scene.row("k2").is_readable(scene.now)


def test_a_row_that_revives_in_a_batch_is_a_peer_of_later_entries() -> None:
    scene = Scene()
    scene.set("a", LEASE)
    scene.delete("a")
    first, second = scene.bulk({"memory_key": "a", "value": LEASE}, {"memory_key": "b", "value": LATER})
    assert (first.outcome.verdict, second.outcome.verdict) == ("clear", "conflict")


def test_an_heir_within_a_batch_is_a_peer_of_later_entries() -> None:
    scene = Scene()
    scene.set("a", LEASE, run_id="r1")
    scene.set("heir", LEASE, run_id="r2")
    _, second = scene.bulk(
        {"memory_key": "a", "value": "Bees are kept behind the chapel."},
        {"memory_key": "b", "value": LATER},
        run_id="r1",
    )
    assert [peer.row.memory_key for peer in second.outcome.peers] == ["heir"]


def test_a_label_is_kept_where_a_batch_repeats_the_value() -> None:
    scene = Scene()
    scene.set("s", LEASE, sensitivity="high")
    (entry,) = scene.bulk({"memory_key": "s", "value": LEASE, "tags": ["x"]})
    assert entry.outcome.rule == "restatement"
    assert scene.row("s").sensitivity == "high"
    assert not scene.vectors


def test_a_restatement_does_not_pass_a_precondition_on_other_content() -> None:
    scene = Scene()
    free = scene.set("slot", "Slot one is free.").row.content_sha256
    scene.set("slot", "Slot one is taken.", if_match_sha256=free)
    with pytest.raises(PreconditionFailed):
        scene.set("slot", "Slot one is taken.", if_match_sha256=free)


def test_a_fact_never_merges_into_a_row_that_will_not_last() -> None:
    scene = Scene()
    scene.set("short", LEASE, ttl_seconds=10)
    assert scene.set("long", LEASE).outcome.verdict == "duplicate"
    assert scene.set("shorter", LEASE, ttl_seconds=5).outcome.verdict == "merge"
    request = scene.request("memory.list")
    scene.now += 60 * SECOND
    assert [row.memory_key for row in list_rows(scene.state, request, "local", scene.now).rows] == ["long"]


def test_a_canonical_that_turns_secret_hands_its_place_on() -> None:
    scene = Scene()
    scene.set("a", LEASE, run_id="r1")
    scene.set("b", LEASE, run_id="r2")
    scene.set("a", LEASE, run_id="r1", sensitivity="high")
    assert scene.row("b").status == "active"


def test_an_heir_takes_the_contradictions_over() -> None:
    scene = Scene()
    scene.set("rival", LATER)
    scene.set("a", LEASE, run_id="r1")
    scene.set("b", LEASE, run_id="r2")
    scene.delete("a")
    assert scene.row("b").status == "conflicted"
    assert scene.row("rival").conflict_with == (scene.row("b").memory_id,)


def test_append_only_takes_the_same_bytes_as_another_event() -> None:
    scene = Scene(default_conflict_policy="append_only")
    first = scene.set("event", LEASE)
    second = scene.set("event", LEASE)
    assert second.row.version > first.row.version
    assert second.outcome.held_by is None


@pytest.mark.parametrize("memory_type", ["episodic", "decision", "semantic"])
def test_a_batch_folds_identical_bytes_whatever_their_type(memory_type: str) -> None:
    scene = Scene()
    _, second = scene.bulk(
        {"memory_key": "a", "value": LEASE, "memory_type": memory_type},
        {"memory_key": "b", "value": LEASE, "memory_type": memory_type},
    )
    assert second.outcome.held_by is not None


def test_an_entry_is_answered_as_the_whole_batch_leaves_it() -> None:
    scene = Scene()
    request = [{"memory_key": "a", "value": LEASE}, {"memory_key": "b", "value": LATER}]
    written = scene.bulk(*request)
    first, _ = bulk_answer(written, scene.draft(), False).written
    assert (first.status, first.version) == ("conflicted", scene.row("a").version)


def test_a_canonical_that_changes_is_judged_against_its_own_heir() -> None:
    scene = Scene()
    scene.set("a", LEASE, run_id="r1")
    scene.set("heir", LEASE, run_id="r2")
    written = scene.set("a", LATER, run_id="r1")
    assert written.outcome.verdict == "conflict"
    assert scene.row("heir").status == "conflicted"
    assert scene.row("heir").conflict_with == (scene.row("a").memory_id,)
