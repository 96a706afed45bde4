"""Are hits by meaning and by words put into one order, with the same answer for the same hits?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.ranking import MEANING_WEIGHT, WordHit, fuse

FLOOR = 0.1


def worded(key_words: int = 0, **scores: float) -> dict[str, WordHit]:
    return {memory_id: WordHit(memory_id, score, key_words) for memory_id, score in scores.items()}


def ids_of(meaning: dict[str, float], words: dict[str, WordHit], k: int = 10) -> list[str]:
    return [memory_id for memory_id, _ in fuse(meaning, FLOOR, words, k)]


def test_each_side_counts_as_a_share_of_its_best_from_its_floor_on() -> None:
    scores = dict(fuse({"a": 0.5, "b": 0.3, "c": FLOOR}, FLOOR, worded(b=2.0, c=8.0), 10))
    expected = {
        "a": MEANING_WEIGHT,
        "b": MEANING_WEIGHT / 2 + (1 - MEANING_WEIGHT) / 4,
        "c": 1 - MEANING_WEIGHT,
    }
    assert scores == pytest.approx(expected)


def test_best_by_both_is_one_and_below_the_average_row_is_nothing() -> None:
    scores = dict(fuse({"best": 0.9, "worst": -0.5}, FLOOR, worded(best=3.0), 10))
    assert scores == {"best": 1.0, "worst": 0.0}


def test_what_both_sides_find_comes_before_the_best_of_either() -> None:
    assert ids_of({"a": 0.9, "x": 0.8}, worded(b=9.0, x=8.0))[0] == "x"


def test_where_nothing_is_nearer_than_the_average_row_words_decide() -> None:
    assert ids_of({"a": 0.1, "b": 0.05}, worded(b=1.0)) == ["b", "a"]


def test_equal_scores_are_told_apart_by_key_words_then_similarity_then_id() -> None:
    words = worded(a=1.0, d=1.0, e=1.0, b=1.0) | worded(key_words=1, c=1.0)
    assert ids_of({"d": 0.05, "a": -0.2, "b": -0.2}, words) == ["c", "d", "a", "b", "e"]


def test_no_more_than_k_and_nothing_from_nothing() -> None:
    assert len(fuse({"a": 0.9, "b": 0.8}, FLOOR, worded(c=1.0), 2)) == 2
    assert fuse({}, FLOOR, {}, 5) == []


ids = st.sampled_from("abcdefgh")


@given(st.dictionaries(ids, st.floats(-1, 1)), st.dictionaries(ids, st.floats(0.001, 50)), st.floats(-1, 1))
def test_every_memory_once_and_scores_fall_between_one_and_zero(
    meaning: dict[str, float], words: dict[str, float], floor: float
) -> None:
    ranked = fuse(meaning, floor, worded(**words), 20)
    scores = [score for _, score in ranked]
    assert sorted(memory_id for memory_id, _ in ranked) == sorted({*meaning, *words})
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 + 1e-12 for score in scores)
