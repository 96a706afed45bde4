"""Which conflicts wait, on which page, and how few causes do they have?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from decide.scene import Scene
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.contract.conflicts import ConflictsListAnswer
from loom_ray.contract.errors import InvalidRequest
from loom_ray.contract.fields import to_rfc3339
from loom_ray.core.draft import PLAIN
from loom_ray.core.read.conflicts import (
    Causes,
    conflict_row,
    conflicted_rows,
    conflicting_pairs,
    list_conflicts,
    list_groups,
)
from loom_ray.core.row import Status

LEASE, LATER, LATEST = (f"The office lease ends in {year}." for year in (2025, 2027, 2029))
PAGE_MAX = 1000
TEMPLATES = {  # of each: the sentence, and what fills its gaps: the subject, one side, the other
    "… runs the kiln in ….": ("{} runs the kiln in {}.", "Runa Holm,Bert Falk,Ida Lund", "Oslo", "Bergen"),
    "printer … is leased from ….": ("Printer {} is leased from {}.", "p1,p2,p3,p4", "Nordholt", "Sandvik"),
    "berth … has … bollards.": ("Berth {} has {} bollards.", "b1,b2", "14", "30"),
    "gate … is painted ….": ("Gate {} is painted {}.", "g1,g2,g3,g4,g5", "green", "red"),
    "kran … hebt ….": ("Kran {} hebt {} Tonnen.", "k1,k2", "14", "30"),
}


def lists(scene: Scene, page_max: int = PAGE_MAX, **asked: Any) -> ConflictsListAnswer:
    request = scene.request("conflicts.list", **asked)
    rows = conflicted_rows(scene.state, request.user_id, scene.now)
    return list_conflicts(scene.state, request, rows, "local", page_max)


def groups(scene: Scene, **asked: Any) -> ConflictsListAnswer:
    request = scene.request("conflicts.list", **({"group_by": "cause"} | asked))
    pairs = conflicting_pairs(scene.state, conflicted_rows(scene.state, request.user_id, scene.now))
    return list_groups(Causes().by_group(pairs), request)


def pages(scene: Scene, page_max: int = PAGE_MAX, **asked: Any) -> Iterator[list[str]]:
    """The keys of each page, to the last."""
    cursor = ""
    for _ in range(1 + len(scene.state.rows)):
        answer = lists(scene, page_max, cursor=cursor, **asked)
        yield answer.keys or [row.memory_key for row in answer.rows]
        cursor = answer.next_cursor
        if not cursor:
            return
    pytest.fail("more pages than rows")


def tangled(*links: str, more: str = "") -> Scene:
    """Rows whose keys are the letters; each link is two that contradict each other."""
    scene = Scene()
    for key in sorted(set("".join(links)) | set(more)):
        scene.set(key, f"Locker {key} holds the rope of {key * 4}.")
    draft = scene.draft("memory.forge")
    for link in links:
        for key, other in (link, link[::-1]):
            row = draft.row(scene.row(key).memory_id)
            assert row is not None
            peers = (*row.conflict_with, scene.row(other).memory_id)
            draft.change(row, PLAIN, status=Status.CONFLICTED, conflict_with=peers)
    scene.apply(draft)
    return scene


# ---- rows ------------------------------------------------------------------------------------------------------------
def test_a_row_is_shown_with_every_peer_and_where_they_differ() -> None:
    scene = Scene()
    for key, value in zip("abc", (LEASE, LATER, LATEST), strict=True):
        scene.set(key, value, user_id="u-amy", agent=f"agent-{key}", session_id="s-1")
    scene.set("moat", "Pike swim in the moat.", user_id="u-amy")
    answer = lists(scene)
    assert [row.memory_key for row in answer.rows] == ["a", "b", "c"]
    assert (answer.count, answer.keys, answer.groups, answer.next_cursor) == (3, [], [], "")
    first, last = answer.rows[0].peers
    assert (first.memory_id, first.memory_key, first.agent, first.user_id, first.session_id) == (
        scene.row("b").memory_id,
        "b",
        "agent-b",
        "u-amy",
        "s-1",
    )
    assert (first.excerpt, first.version_text) == (LATER, str(scene.row("b").version))
    assert [(one.kind, one.ours, one.theirs) for one in last.differences] == [("date", "2025", "2029")]
    assert {peer.rule for row in answer.rows for peer in row.peers} == {"value_differs"}
    assert len({peer.group_id for row in answer.rows for peer in row.peers}) == 1
    for row in answer.rows:
        assert [peer.memory_id for peer in row.peers] == list(scene.row(row.memory_key).conflict_with)


def test_only_rows_that_are_current_and_still_at_odds_wait() -> None:
    scene = Scene()
    scene.set("a", LEASE)
    scene.set("b", LATER, ttl_seconds=60)
    assert lists(scene).count == 2
    scene.pass_time(100)
    assert [row.memory_key for row in lists(scene).rows] == ["a"], "one whose time is up is not shown"
    scene.delete("a")
    assert (lists(scene).count, lists(scene).rows) == (0, [])


def test_what_is_tangled_over_however_many_links_stands_on_one_page() -> None:
    scene = tangled("az", "zm", "bc", "dy", more="x")
    assert list(pages(scene, limit=1)) == [["a", "m", "z"], ["b", "c"], ["d", "y"]]
    assert list(pages(scene, limit=4)) == [["a", "m", "z", "b", "c"], ["d", "y"]]
    assert list(pages(scene)) == [["a", "m", "z", "b", "c", "d", "y"]]


def test_only_a_tangle_past_the_bound_goes_over_several_pages() -> None:
    scene = tangled("ab", "bc", "cd", "de", "xy")
    assert list(pages(scene, page_max=3, limit=3)) == [["a", "b", "c"], ["d", "e"], ["x", "y"]]


@given(
    st.sets(st.sampled_from([a + b for a in "abcdefgh" for b in "abcdefgh" if a < b]), max_size=9), st.integers(1, 9)
)
def test_over_all_pages_every_row_is_shown_once_and_no_pair_is_split(links: set[str], limit: int) -> None:
    scene = tangled(*sorted(links))
    shown = list(pages(scene, limit=limit))
    assert sorted(key for page in shown for key in page) == sorted(set("".join(links)))
    for link in links:
        assert sum(link[0] in page and link[1] in page for page in shown) == 1
    assert list(pages(scene, limit=limit, keys_only=True)) == shown


def test_a_page_goes_on_behind_its_cursor_whatever_was_settled_since() -> None:
    scene = tangled("ab", "cd", "ef")
    first = lists(scene, limit=2)
    for key in "bc":
        scene.delete(key)
    rest = lists(scene, limit=2, cursor=first.next_cursor)
    assert [row.memory_key for row in rest.rows] == ["e", "f"]


@pytest.mark.parametrize("asked", [{}, {"group_by": "cause"}], ids=str)
@pytest.mark.parametrize("cursor", ["nonsense", "WyJhIiwgImIiXQ=="], ids=["no cursor", "of another listing"])
def test_a_cursor_of_something_else_is_refused(asked: dict[str, str], cursor: str) -> None:
    scene = tangled("ab")
    with pytest.raises(InvalidRequest, match="cursor"):
        (groups if asked else lists)(scene, cursor=cursor, **asked)


def test_badges_get_a_count_or_the_keys_and_no_rows() -> None:
    scene = tangled("ab", "bc", "de")
    counted = lists(scene, count_only=True, limit=1)
    assert (counted.count, counted.rows, counted.keys, counted.next_cursor) == (5, [], [], "")
    keys = lists(scene, keys_only=True, limit=3)
    assert (keys.count, keys.rows, keys.keys) == (5, [], ["a", "b", "c"])
    assert lists(scene, keys_only=True, cursor=keys.next_cursor).keys == ["d", "e"]


@pytest.mark.parametrize(("user_id", "expected"), [("u-amy", ["amy/a", "amy/b"]), ("u-ben", ["ben"]), ("u-cas", [])])
def test_a_named_user_s_rows_are_that_user_s_own(user_id: str, expected: list[str]) -> None:
    scene = Scene()
    scene.set("ben", "The gate is painted green.", user_id="u-ben")
    scene.set("nobody", "The gate is painted red.")
    scene.set("amy/a", LEASE, user_id="u-amy")
    scene.set("amy/b", LATER, user_id="u-amy")
    answer = lists(scene, user_id=user_id)
    assert ([row.memory_key for row in answer.rows], answer.count) == (expected, len(expected))
    for anybody in ("-", "*"):
        assert lists(scene, user_id=anybody).count == 4


# ---- groups ----------------------------------------------------------------------------------------------------------
def flagged() -> Scene:
    """Pairs of each template, forged: rows of this type are not judged, so that nothing else is flagged."""
    scene = Scene()
    draft = scene.draft("memory.forge")
    for words, subjects, ours, theirs in TEMPLATES.values():
        for subject in subjects.split(","):
            keys = [f"{subject}/{side}" for side in "ab"]
            for key, fill in zip(keys, (ours, theirs), strict=True):
                scene.set(key, words.format(subject, fill), memory_type="episodic")
            a, b = (scene.row(key) for key in keys)
            draft.change(a, PLAIN, status=Status.CONFLICTED, conflict_with=(b.memory_id,))
            draft.change(b, PLAIN, status=Status.CONFLICTED, conflict_with=(a.memory_id,))
    scene.apply(draft)
    return scene


def test_however_many_flags_one_template_makes_they_are_one_group() -> None:
    scene = flagged()
    found = groups(scene)
    assert {group.template: group.pairs for group in found.groups} == {
        template: len(subjects.split(",")) for template, (_, subjects, _, _) in TEMPLATES.items()
    }
    assert found.count == len(TEMPLATES)
    assert [group.pairs for group in found.groups] == [5, 4, 3, 2, 2], "the largest first"
    assert [group.rows for group in found.groups] == [10, 8, 6, 4, 4]
    assert (found.rows, found.keys) == ([], [])


def test_a_group_shows_up_to_three_pairs_and_when_its_latest_row_was_written() -> None:
    scene = flagged()
    largest = groups(scene, limit=1).groups[0]
    assert [len(sample) for sample in largest.samples] == [2, 2, 2]
    assert set(largest.samples[0]) == {"Gate g1 is painted green.", "Gate g1 is painted red."}
    gates = [row.version for row in scene.state.rows.values() if row.text.startswith("Gate")]
    assert largest.newest_at == to_rfc3339(max(gates))


def test_over_all_pages_of_groups_each_is_shown_once() -> None:
    scene, cursor, shown = flagged(), "", []
    for _ in range(len(TEMPLATES)):
        answer = groups(scene, limit=2, cursor=cursor)
        shown += [group.group_id for group in answer.groups]
        cursor = answer.next_cursor
        if not cursor:
            break
    assert len(shown) == len(set(shown)) == len(TEMPLATES)


def test_a_group_of_a_named_user_counts_that_user_s_pairs() -> None:
    scene = Scene()
    for user_id in ("u-amy", "u-ben"):
        scene.set(f"{user_id}/a", LEASE, user_id=user_id)
        scene.set(f"{user_id}/b", LATER, user_id=user_id)
    assert [group.pairs for group in groups(scene).groups] == [2]
    (mine,) = groups(scene, user_id="u-amy").groups
    assert (mine.pairs, mine.rows) == (1, 2)


def test_each_pair_is_one_whichever_side_is_met_first_and_its_row_was_said_later() -> None:
    scene = Scene()
    scene.set("z", LEASE)
    scene.set("a", LATER)
    scene.set("dated", LATEST, valid_at="2020-01-01T00:00:00Z")
    rows = conflicted_rows(scene.state, "-", scene.now)
    for order in (rows, rows[::-1]):
        pairs = conflicting_pairs(scene.state, order)
        assert {(pair.row.memory_key, pair.peer.memory_key) for pair in pairs} == {
            ("a", "z"),
            ("a", "dated"),
            ("z", "dated"),
        }
        assert len(pairs) == 3


def test_causes_are_worked_out_once_a_wording_and_forgotten_with_the_last_pair_that_needs_them() -> None:
    scene, causes = flagged(), Causes()
    pairs = conflicting_pairs(scene.state, conflicted_rows(scene.state, "-", scene.now))
    assert causes.unknown(pairs) == pairs
    causes.learn(pairs[:2])
    assert causes.unknown(pairs) == pairs[2:]
    before = causes.by_group(pairs)
    assert causes.unknown(pairs) == []
    assert causes.by_group(pairs) == before
    causes.by_group(pairs[:1])
    assert causes.unknown(pairs) == pairs[1:]


# ---- secrets ---------------------------------------------------------------------------------------------------------
def test_nothing_of_a_secret_is_shown_on_either_side_or_in_its_group() -> None:
    scene = tangled("ab")
    draft = scene.draft("memory.forge")
    draft.change(scene.row("b"), PLAIN, value="Locker b holds code 4711-Zebra.", sensitivity="high")
    scene.apply(draft)
    shown = [conflict_row(scene.row(key), scene.state, "local").model_dump_json() for key in "ab"]
    shown += [lists(scene).model_dump_json(), groups(scene).model_dump_json()]
    assert not [text for text in shown if "4711" in text or "Zebra" in text]
    row = lists(scene).rows[0]
    assert (row.memory_key, row.peers[0].memory_key) == ("a", "b"), "that they contradict each other is shown"
    assert (row.peers[0].excerpt, row.peers[0].differences) == ("", [])
    (group,) = groups(scene).groups
    assert (group.template, group.samples, group.pairs) == ("", [], 1)
