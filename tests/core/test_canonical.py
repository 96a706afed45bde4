"""Which spellings are one fact, and which only look alike?"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.text.canonical import canonical_form

LIGHTHOUSE = "The lighthouse crêperie opens at nine on Saturdays."

SAME: list[tuple[str, str, str]] = [
    ("case", LIGHTHOUSE, "THE LIGHTHOUSE CRÊPERIE OPENS AT NINE ON SATURDAYS"),
    ("white space", LIGHTHOUSE, "  The lighthouse\tcrêperie opens\n at nine on  Saturdays. "),
    ("decomposed accents", LIGHTHOUSE, "The lighthouse cre\u0302perie opens at nine on Saturdays."),
    ("curly quotes around", LIGHTHOUSE, "“The lighthouse crêperie opens at nine on Saturdays.”"),
    ("guillemets and exclamation", LIGHTHOUSE, "« The lighthouse crêperie opens at nine on Saturdays!!! »"),
    ("full-width letters", "Pier 4 is closed", "Ｐｉｅｒ ４ ｉｓ ｃｌｏｓｅｄ…"),
    ("bullet", "The anchor is new.", "- The anchor is new"),
    ("emphasis", "The anchor is new.", "**The anchor is new.**"),
    ("zero-width space and byte-order mark", "Tide table", "\ufeffTide\u200b table"),
    ("curly apostrophe inside", "The pilot's boat", "The pilot’s boat"),
    ("sharp s", "Die Straße ist gesperrt.", "DIE STRASSE IST GESPERRT"),
    ("Japanese half-width kana", "ガレージの鍵", "ｶﾞﾚｰｼﾞの鍵。"),
    ("Chinese full stop and digits", "码头有12个泊位。", "码头有１２个泊位"),
    ("Arabic presentation forms", "ميناء", "ﻣﻴﻨﺎء"),
    ("Arabic question comma edges", "الميناء مغلق", "الميناء مغلق،"),
    ("Thai sara am", "น้ำมัน", "น้\u0e4dามัน"),
    ("Thai tone after nikhahit", "น้ำมัน", "น\u0e4d้ามัน"),
    ("Korean jamo", "항구", "항구"),
    ("Greek final sigma", "ΛΙΜΑΝΙ ΤΗΣ", "λιμανι τησ"),
    ("Hindi danda", "बंदरगाह बंद है।", "बंदरगाह बंद है"),
    ("Spanish marks", "¡El puerto abre hoy!", "el puerto abre hoy"),
]

DIFFERENT: list[tuple[str, Any, Any]] = [
    ("a sign", "-5 degrees on deck", "5 degrees on deck"),
    ("a typographic sign", "−5 degrees on deck", "5 degrees on deck"),
    ("a percent", "Fill level 50%", "Fill level 50"),
    ("a currency", "€50 a berth", "50 a berth"),
    ("a currency behind", "A berth costs 50€", "A berth costs 50"),
    ("a degree", "The sauna is at 90°", "The sauna is at 90"),
    ("a plus of a language", "It is written in C++", "It is written in C"),
    ("a number sign", "Berth #4", "Berth 4"),
    ("a leading point", ".5 bar is the limit", "5 bar is the limit"),
    ("a hidden file", ".env is tracked", "env is tracked"),
    ("a port", ":8080 is taken", "8080 is taken!x"),
    ("a negated flag", "!sealed", "sealed"),
    ("a foot mark", "The mast is 50'", "The mast is 50"),
    ("a question", "The harbour is closed?", "The harbour is closed."),
    ("digits", "Berth 11", "Berth 1 1"),
    ("an accent", "año nuevo", "ano nuevo"),
    ("8 and 80", {"seats": 8}, {"seats": 80}),
    ("one and true", {"on": 1}, {"on": True}),
    ("a number and its text", {"on": 1}, {"on": "1"}),
    ("zero and false and null", [0, False], [0, None]),
    ("list order", ["bow", "stern"], ["stern", "bow"]),
    ("an object and its text", {"a": 1}, '{"a":1}'),
    ("a number alone and its text", 8, "8"),
    ("keys of another case", {"Seats": 8}, {"seats": 8}),
    ("large integers", {"n": 2**63}, {"n": 2**63 + 1}),
]


@pytest.mark.parametrize(("first", "second"), [pair[1:] for pair in SAME], ids=[pair[0] for pair in SAME])
def test_spellings_of_one_fact_have_one_form(first: str, second: str) -> None:
    assert canonical_form(first) == canonical_form(second)


@pytest.mark.parametrize(("first", "second"), [pair[1:] for pair in DIFFERENT], ids=[pair[0] for pair in DIFFERENT])
def test_what_carries_meaning_keeps_its_own_form(first: Any, second: Any) -> None:
    assert canonical_form(first) != canonical_form(second)


def test_json_is_equal_whatever_the_order_of_its_keys_and_the_case_of_its_strings() -> None:
    first = {"berth": "B12", "moored": {"name": "Petrel ", "length": 8.0}, "flags": ["Green", "white"]}
    second = {"flags": ["green", "White."], "moored": {"length": 8, "name": "petrel"}, "berth": "b12"}

    assert canonical_form(first) == canonical_form(second)


def test_a_text_of_punctuation_alone_keeps_it() -> None:
    assert canonical_form("!!!") != canonical_form("...")


@given(st.text())
def test_the_form_of_a_form_is_itself(text: str) -> None:
    form = canonical_form(text)

    assert canonical_form(form) == form


@given(st.text(min_size=1), st.sampled_from(["", " ", "\t", "\n"]), st.sampled_from(["", ".", "!", "…", " ,"]))
def test_white_space_and_final_marks_around_a_word_make_no_other_fact(text: str, before: str, after: str) -> None:
    stated = f"x{text}x"

    assert canonical_form(before + stated + after) == canonical_form(stated)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values.filter(lambda value: not isinstance(value, str)), st.text())
def test_no_text_has_the_form_of_a_structure(value: Any, text: str) -> None:
    assert canonical_form(value) != canonical_form(text.replace("\x01", ""))
