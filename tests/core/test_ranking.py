"""Are two ranked lists fused as Cormack et al. say, with the same answer for the same lists?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.ranking import Hit, WordHit, fuse


def meant(*ids: str) -> list[Hit]:
    return [Hit(memory_id, 0.9 - 0.1 * rank, rank) for rank, memory_id in enumerate(ids)]


def worded(*ids: str, key_words: int = 0) -> list[WordHit]:
    return [WordHit(memory_id, 9.0 - rank, key_words) for rank, memory_id in enumerate(ids)]


def ids_of(meaning: list[Hit], words: list[WordHit], k: int = 10) -> list[str]:
    return [ranked.memory_id for ranked in fuse(meaning, words, k)]


def test_the_score_is_the_sum_of_reciprocal_ranks_past_sixty() -> None:
    scores = {ranked.memory_id: ranked.rank_score for ranked in fuse(meant("a", "b"), worded("b", "c"), 10)}
    assert scores == pytest.approx({"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 62})


def test_what_both_lists_hold_comes_before_the_first_of_either() -> None:
    assert ids_of(meant("a", "x"), worded("b", "x"))[0] == "x"


def test_a_hit_keeps_its_similarity_and_its_piece_and_words_alone_have_none() -> None:
    by_id = {ranked.memory_id: ranked for ranked in fuse(meant("a", "b"), worded("c"), 10)}
    assert (by_id["b"].similarity, by_id["b"].piece) == (0.8, 1)
    assert (by_id["c"].similarity, by_id["c"].piece) == (None, 0)


def test_words_in_the_key_break_a_tie_and_never_more() -> None:
    tied = [WordHit("b", 5.0, 2)]
    assert ids_of(meant("a"), tied) == ["b", "a"]
    assert ids_of(meant("a"), [WordHit("x", 9.0, 0), *tied]) == ["a", "x", "b"]


def test_equal_hits_come_in_the_order_of_their_ids() -> None:
    assert ids_of([Hit("b", -1.0, 0)], [WordHit("a", 1.0, 0)]) == ["a", "b"]


def test_no_more_than_k_and_nothing_from_nothing() -> None:
    assert len(fuse(meant("a", "b", "c"), worded("d", "e"), 2)) == 2
    assert fuse([], [], 5) == []


@given(st.lists(st.sampled_from("abcdefgh"), unique=True), st.lists(st.sampled_from("abcdefgh"), unique=True))
def test_every_memory_once_and_scores_fall(meaning: list[str], words: list[str]) -> None:
    ranked = fuse(meant(*meaning), worded(*words), 20)
    assert sorted(each.memory_id for each in ranked) == sorted({*meaning, *words})
    assert [each.rank_score for each in ranked] == sorted((each.rank_score for each in ranked), reverse=True)
