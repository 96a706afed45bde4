"""Are long values cut into verbatim pieces that a reader would recognise?"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.row import text_of
from loom_ray.core.text.chunks import EXCERPT_CHARS_MAX, chunks, excerpt

KEY = "deploy/window/prod"
ROOM = EXCERPT_CHARS_MAX - len(f" (#{KEY})")

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).flatmap(
    lambda text: st.integers(1, 200).map(lambda times: text * times)
)


def measure(text: str) -> int:
    return len(json.dumps(text))


@given(texts)
def test_pieces_are_the_text_in_order_and_each_fits(text: str) -> None:
    pieces = chunks(text, KEY)
    if measure(text) <= ROOM:
        assert pieces == []
    else:
        assert "".join(pieces) == text
        assert len(pieces) >= 2
        assert max(map(measure, pieces)) <= ROOM


@given(texts)
def test_the_excerpt_is_the_beginning_and_all_of_a_short_text(text: str) -> None:
    start = excerpt(text)
    assert text.startswith(start)
    assert measure(start) <= EXCERPT_CHARS_MAX
    assert (start == text) == (measure(text) <= EXCERPT_CHARS_MAX)


def test_a_value_is_long_one_character_past_the_excerpt_less_the_suffix() -> None:
    assert chunks("x" * (ROOM - 2), KEY) == []
    assert len(chunks("x" * (ROOM - 1), KEY)) == 2


def test_text_beyond_ascii_is_long_at_about_200_characters() -> None:
    assert chunks("ö" * 190, KEY) == []
    assert len(chunks("ö" * 200, KEY)) == 2


def test_an_imported_key_leaves_no_suffix() -> None:
    imported = "import:" + "0af1" * 6
    assert chunks("x" * 1198, imported) == []
    assert chunks("x" * 1198, imported + "0") != []


def test_a_long_json_value_is_cut_as_the_text_it_is_read_by() -> None:
    value = {"steps": [f"Öffne Ventil {number}" for number in range(200)]}
    assert "".join(chunks(value, KEY)) == text_of(value)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("A dam holds the lake. " * 100, ". "),
        ("One line without a full stop\n" * 100, "\n"),
        ("words and nothing else " * 100, " "),
        ("湖は静かだ。" * 100, "。"),
        ("line\r\n" * 400, "\r\n"),
    ],
)
def test_pieces_end_where_a_line_a_sentence_or_a_word_does(text: str, end: str) -> None:
    assert all(piece.endswith(end) for piece in chunks(text, KEY))


@pytest.mark.parametrize("cluster", ["e\u0301", "👨‍👩‍👧", "🇩🇪", "👍🏽", "\u1112\u1161\u11ab", "กำ่", " \u0301"])
def test_what_a_reader_sees_as_one_character_stays_whole(cluster: str) -> None:
    pieces = chunks(cluster * 1500, KEY)
    assert len(pieces) > 2
    assert all(len(piece) % len(cluster) == 0 for piece in pieces)


def test_a_cluster_longer_than_a_piece_is_cut_all_the_same() -> None:
    text = "e" + "\u0301" * 1000
    assert "".join(chunks(text, KEY)) == text


def test_past_the_cap_the_beginning_is_covered() -> None:
    text = "Every stone of the quay was numbered. " * 1000
    pieces = chunks(text, KEY, chunks_max=5)
    assert len(pieces) == 5
    assert text.startswith("".join(pieces))


def test_sixty_thousand_characters_of_any_script_are_covered() -> None:
    for letter in ("a", "ö", "字", "🐢"):
        assert sum(map(len, chunks(letter * 60_000, KEY))) == 60_000
