"""Does no text get past a pattern that it holds, plain or in disguise, and is no other text refused?"""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loom_ray.core.refusal.matching import Budget, Matcher, Refused, texts_of
from loom_ray.core.refusal.pattern import CHECK_BUDGET, Pattern, PatternScope, instructions_of

from .test_pattern import pattern, regex


def refusal(matcher: Matcher, value: object, *names: str, budget: Budget | None = None) -> Refused | None:
    return matcher.check(texts_of(value, names), budget or Budget())


def refuses(matcher: Matcher, value: object, *names: str) -> bool:
    found = refusal(matcher, value, *names)
    assert found is None or found.pattern is not None
    return found is not None


# ---- plain -----------------------------------------------------------------------------------------------------------
LETTERS = st.text("abÄß👩😀\u0301\u200dy ", max_size=12)


@given(st.lists(LETTERS.filter(str.strip), min_size=1, max_size=8, unique=True), LETTERS)
@example(["aa", "a"], "baa")
@example(["\u0301"], "a\u0301")
def test_one_pass_finds_what_looking_for_each_finds(needles: list[str], text: str) -> None:
    patterns = [pattern(needle, created_at=place) for place, needle in enumerate(needles)]
    held = [one for one in patterns if one.pattern in text]
    matcher = Matcher(patterns)
    assert matcher.matches(texts_of(text)) == held
    found = refusal(matcher, text)
    assert (found and found.pattern) == (held[0] if held else None)


def test_case_and_names_count_as_the_page_says() -> None:
    matcher = Matcher([pattern("Falkenberg")])
    assert refuses(matcher, "Codename: Falkenberg.")
    assert not refuses(matcher, "the word falkenberg is written small")
    assert not refuses(matcher, "nothing in it", "key/Falkenberg")


@pytest.mark.parametrize(
    "value",
    [
        {"notes": ["one", {"code": "Falkenberg"}]},
        {"Falkenberg": 1},
        ["a", ["b", ["xFalkenbergx"]]],
        {"где": "Falkenberg"},
    ],
)
def test_json_is_looked_into(value: object) -> None:
    assert refuses(Matcher([pattern("Falkenberg")]), value)
    assert refuses(Matcher([regex("F[a-z]{8}g")]), value)


def test_a_string_of_json_is_seen_as_what_it_says() -> None:
    matcher = Matcher([pattern('say "no"\nnow')])
    assert refuses(matcher, {"a": ['they say "no"\nnow']})
    assert refuses(Matcher([regex("^code$")]), {"a": ["x", "code", "y", "z", "w", "v"]})


def test_the_widest_then_the_oldest_is_named() -> None:
    ours = pattern("a1", scope=PatternScope.NAMESPACE, created_at=1)
    orgs = [pattern(f"o{at}", scope=PatternScope.ORG, created_at=at) for at in (3, 2)]
    world = pattern("g9", scope=PatternScope.GLOBAL, created_at=9)
    matcher = Matcher([ours, *orgs, world])
    named = [one.pattern_id for one in matcher.matches(texts_of("g9 o2 a1 o3"))]
    assert named == ["g9", "o2", "o3", "a1"]
    assert matcher.with_patterns([ours, orgs[0]]).matches(texts_of("g9 o2 a1 o3")) == [orgs[0], ours]


def test_a_backtracking_engine_would_hang_here() -> None:
    matcher = Matcher([regex("(a+)+b"), regex(r"(\w*\s*)*!x")])
    assert not refuses(matcher, "a" * 20_000)


# ---- the budget ------------------------------------------------------------------------------------------------------
LONG = regex("z{255}")
BYTES = CHECK_BUDGET // instructions_of(LONG)


def test_the_budget_is_bytes_times_instructions_at_the_limit_and_one_past() -> None:
    matcher = Matcher([LONG])
    assert refusal(matcher, "x" * BYTES) is None
    found = refusal(matcher, "x" * (BYTES + 1))
    assert found is not None
    assert found.pattern is None
    assert "shorten" in found.reason


def test_a_request_shares_one_budget_and_smaller_values_still_fit() -> None:
    matcher, budget = Matcher([LONG]), Budget()
    assert refusal(matcher, "x" * (BYTES - 10), budget=budget) is None
    found = refusal(matcher, "é" * 6, budget=budget)
    assert found is not None
    assert (found.pattern, "smaller request" in found.reason) == (None, True)
    assert refusal(matcher, "x" * 10, budget=budget) is None


def test_a_substring_is_named_whatever_the_length() -> None:
    word = pattern("needle")
    found = refusal(Matcher([LONG, word]), "x" * BYTES + "needle")
    assert found is not None
    assert found.pattern == word


# ---- in disguise -----------------------------------------------------------------------------------------------------
FOLDED = Matcher([pattern("Quince Lane 14", fold=True)])
UNSEEN = ["\u200b", "\u200d", "\u00ad", "\u2060", "\ufe0f", "\U000e0041", "\u202e", "\u3164"]
ALIKE = {"a": "аɑα", "e": "еｅ", "c": "с", "n": "ո", "i": "і", "L": "ꓡ", "Q": "𝐐", "1": "１", "4": "𝟒", "u": "ս"}


@given(st.data())
def test_no_disguise_escapes(data: st.DataObject) -> None:
    letters = []
    for letter in "Quince Lane 14":
        changed = data.draw(st.sampled_from([letter, letter.swapcase(), *ALIKE.get(letter, "")]))
        if letter == " ":
            changed = data.draw(st.sampled_from([" ", "\n", "  \n ", "\u00a0", "\u2003", "\t"]))
        letters.append(changed + data.draw(st.sampled_from(["", "", *UNSEEN])))
    told = "".join(letters)
    assert refuses(FOLDED, f"at {told}, they say"), ascii(told)
    assert refuses(FOLDED, "nothing", f"key/{told}"), ascii(told)


@pytest.mark.parametrize(
    "told", ["Falken-\nberg", "Falken\nberg", "FALKEN-\r\n  BERG", "Fa1kenberg", "ｆａｌｋｅｎ" + "berg"]
)
def test_line_breaks_and_look_alikes_of_ascii_are_seen_through(told: str) -> None:
    assert refuses(Matcher([pattern("Falkenberg", fold=True)]), f"the word is {told}.")


def test_a_folding_regex_meets_other_scripts_and_cases() -> None:
    matcher = Matcher([regex(r"\bagent \d{3}\b", fold=True)])
    assert refuses(matcher, "АGENT\u200b 007 is here")  # a Cyrillic A
    assert refuses(matcher, "agent\n0\u00ad07")
    assert not refuses(matcher, "agent 0071")


def test_a_letter_that_looks_like_a_digit_does_not_make_a_repetition_that_re2_refuses() -> None:
    matcher = Matcher([regex("x{ЗЗЗЗ}", fold=True)])  # Cyrillic: to the engine these braces are just braces
    assert refuses(matcher, "x{ЗЗЗЗ}")
    assert not refuses(matcher, "ключ от двери")


BENIGN = [
    "Der Kessel wird um halb acht abgestellt.",
    "La llave del almacén está en el cajón azul.",
    "Ключ от двери лежит за мельницей, под камнем.",
    "يُغلق المستودع الساعة السابعة مساءً.",
    "गोदाम की चाबी नीले डिब्बे में है।",
    "กุญแจคลังสินค้าอยู่ในกล่องสีฟ้า",
    "倉庫の鍵は青い箱の中にあります。",
    "仓库的钥匙在蓝色的盒子里。",
    "창고 열쇠는 파란 상자에 있다.",
    "Το κλειδί της αποθήκης είναι στο μπλε κουτί.",
    "Khoá kho ở trong hộp màu xanh.",
    "המפתח למחסן נמצא בקופסה הכחולה.",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f 🏳️‍🌈 👩‍👩‍👧‍👦 👍🏽 🇩🇪",
    "naïve café, résumé, Zürich, Łódź, İstanbul",
]


@pytest.mark.parametrize("text", BENIGN)
def test_benign_texts_of_all_scripts_pass(text: str) -> None:
    words = ["Quince Lane", "Falkenberg", "password", "secret", "oil", "0x1", "agent", "bomb", "scam", "I/O"]
    numbers = count(1)
    patterns = [pattern(word, fold=True, created_at=next(numbers)) for word in words]
    patterns += [regex(r"\b(?:ssn|card)\b", fold=True), regex(r"[a-z]{3}\d{4}", fold=True)]
    assert not refuses(Matcher(patterns), text, text)


def test_each_benign_text_is_met_by_itself() -> None:
    for text in BENIGN:
        assert refuses(Matcher([pattern(text[:20].strip(), fold=True)]), f"… {text} …"), text


def test_a_flag_is_met_by_that_flag_alone() -> None:
    scotland, wales = (
        f"\U0001f3f4\U000e0067\U000e0062{land}\U000e007f"
        for land in ("\U000e0073\U000e0063\U000e0074", "\U000e0077\U000e006c\U000e0073")
    )
    matcher = Matcher([pattern(scotland, fold=True)])
    assert refuses(matcher, f"hello {scotland}")
    assert not refuses(matcher, f"hello {wales}")


def test_what_is_written_in_tag_characters_alone_is_read() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "Quince Lane 14")
    assert refuses(FOLDED, f"nothing to see{hidden}")
    assert refuses(Matcher([regex("lane [0-9]+", fold=True)]), f"nothing to see{hidden}")


def test_patterns_are_told_apart_by_what_they_are() -> None:
    one: Pattern = pattern("a")
    assert Matcher([one]).matches(texts_of("a")) == [one]
    assert Matcher([]).is_empty
    assert refusal(Matcher([]), "anything") is None
