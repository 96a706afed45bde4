"""Is a text brought into one form before it is embedded, and is a meaningless one recognised?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.text.preparation import has_meaning, prepare


@pytest.mark.parametrize(
    ("text", "prepared"),
    [
        ("  The Server runs on Port 80.  ", "the server runs on port 80"),
        ("Ｐｏｒｔ ８０", "port 80"),
        ("会议在三点。", "会议在三点"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("Is it 3.5?", "is it 3.5?"),
        ("", ""),
    ],
)
def test_prepare(text, prepared):
    assert prepare(text) == prepared


@given(st.text())
def test_prepare_is_idempotent(text):
    assert prepare(prepare(text)) == prepare(text)


@pytest.mark.parametrize("text", ["", "  ", "...", "!?", "—«»", "。"])
def test_punctuation_alone_has_no_meaning(text):
    assert not has_meaning(text)


@pytest.mark.parametrize("text", ["a", "7", "好", "٣", "...x"])
def test_a_letter_or_digit_has(text):
    assert has_meaning(text)


def test_spaced_stops_are_all_dropped():
    assert prepare("wait . . .") == "wait"
