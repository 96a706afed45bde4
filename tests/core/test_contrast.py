"""What do pairs of rows that contradict each other have in common, in whichever order and language they are said?"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.judging.contrast import GAP, contrast


class Sentence(NamedTuple):
    """One sentence with two gaps to fill, or with one, and two pairs of what fills them."""

    words: str
    first: tuple[tuple[str, ...], tuple[str, ...]]
    second: tuple[tuple[str, ...], tuple[str, ...]]
    template: str


SENTENCES = {
    "numbers": Sentence("The quay has {} bollards.", (("14",), ("30",)), (("6",), ("9",)), "the quay has … bollards."),
    "dates": Sentence("The lease ends in {}.", (("2025",), ("2027",)), (("2031",), ("2034",)), "the lease ends in …."),
    "names": Sentence(
        "The kiln in {} is fired by {}.",
        (("Oslo", "Runa"), ("Oslo", "Bert")),
        (("Bergen", "Otto"), ("Bergen", "Ida")),
        "the kiln in … is fired by ….",
    ),
    "names at the start": Sentence(
        "{} runs the kiln in {}.",
        (("Runa Holm", "Bergen"), ("Runa Holm", "Oslo")),
        (("Bert Falk", "Molde"), ("Bert Falk", "Paris")),
        "… runs the kiln in ….",
    ),
    "identifiers": Sentence(
        "Printer {} is leased from {}.",
        (("p1", "Nordholt"), ("p1", "Sandvik")),
        (("p7", "Kessel"), ("p7", "Brandt")),
        "printer … is leased from ….",
    ),
    "common words": Sentence(
        "The hull is painted {}.", (("blue",), ("ochre",)), (("green",), ("red",)), "the hull is painted …."
    ),
    "German": Sentence("Die Kabine hat {} Kojen.", (("4",), ("6",)), (("8",), ("9",)), "die kabine hat … kojen."),
    "French": Sentence("Le quai ferme à {}.", (("19h30",), ("21h00",)), (("18h30",), ("20h00",)), "le quai ferme à …."),
    "Polish": Sentence(
        "Prom odpływa w {}.", (("środę",), ("piątek",)), (("sobotę",), ("wtorek",)), "prom odpływa w …."
    ),
    "Russian": Sentence("Паром уходит {}.", (("5 мая",), ("6 мая",)), (("8 июня",), ("9 июня",)), "паром уходит …."),
    "Chinese": Sentence("渡轮{}开。", (("下午3点",), ("下午5点",)), (("下午2点",), ("下午6点",)), "渡轮…开。"),
    "Japanese": Sentence("船は{}に出ます。", (("水曜日",), ("木曜日",)), (("月曜日",), ("金曜日",)), "船は…に出ます。"),
    "Korean": Sentence(
        "배는 {} 떠난다.", (("30분마다",), ("45분마다",)), (("20분마다",), ("50분마다",)), "배는 …마다 떠난다."
    ),
    "Arabic": Sentence("تغادر العبارة بعد {} دقيقة.", (("٣٠",), ("٤٥",)), (("٢٠",), ("٥٥",)), "تغادر العبارة بعد …."),
    "Thai": Sentence("เรือออกทุก {} นาที", (("30",), ("45",)), (("20",), ("50",)), "เรือออกทุก …"),
}
EACH = pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES)
ALL = [said for one in SENTENCES.values() for said in (one.words.format(*side) for side in (*one.first, *one.second))]
DENIALS = [
    ("The winch is safe.", "The winch is not safe."),
    ("La grúa está homologada.", "La grúa no está homologada."),
]


def pair(sentence: Sentence, sides: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[str, str]:
    ours, theirs = (sentence.words.format(*side) for side in sides)
    return ours, theirs


@EACH
def test_the_template_is_the_sentence_that_both_fill(sentence: Sentence) -> None:
    assert contrast(*pair(sentence, sentence.first)).template == sentence.template


@EACH
def test_other_names_and_values_in_one_sentence_are_one_group(sentence: Sentence) -> None:
    first, second = contrast(*pair(sentence, sentence.first)), contrast(*pair(sentence, sentence.second))
    assert first.template == second.template
    assert first.group_id == second.group_id


def test_another_sentence_is_another_group() -> None:
    groups = {contrast(*pair(sentence, sentence.first)).group_id for sentence in SENTENCES.values()}
    assert len(groups) == len(SENTENCES)


@pytest.mark.parametrize(("ours", "theirs"), [*DENIALS, *(pair(one, one.first) for one in SENTENCES.values())])
def test_whichever_text_comes_first_the_cause_is_one_and_the_differences_turn_round(ours: str, theirs: str) -> None:
    there, back = contrast(ours, theirs), contrast(theirs, ours)
    assert (there.template, there.group_id, there.rule) == (back.template, back.group_id, back.rule)
    assert there.differences
    assert [(one.kind, one.ours, one.theirs) for one in there.differences] == [
        (one.kind, one.theirs, one.ours) for one in back.differences
    ]


@given(st.sampled_from(ALL), st.sampled_from(ALL))
def test_of_any_two_statements_the_template_does_not_depend_on_their_order(ours: str, theirs: str) -> None:
    assert contrast(ours, theirs).template == contrast(theirs, ours).template


@given(st.text(max_size=60), st.text(max_size=60))
def test_of_any_two_texts_neither_does_it(ours: str, theirs: str) -> None:
    there, back = contrast(ours, theirs), contrast(theirs, ours)
    assert (there.template, there.group_id) == (back.template, back.group_id)


@pytest.mark.parametrize(("ours", "theirs"), DENIALS)
def test_where_one_side_denies_the_template_shows_both_sentences(ours: str, theirs: str) -> None:
    """One with a gap would not say which of them is denied."""
    denied = contrast(ours, theirs)
    assert denied.rule == "negation"
    assert denied.template == " / ".join(sorted((ours.casefold(), theirs.casefold())))


def test_opposites_are_a_difference_like_any_other() -> None:
    found = contrast("The depth alarm is enabled.", "The depth alarm is disabled.")
    assert (found.rule, found.template) == ("opposite", "the depth alarm is ….")


def test_what_differs_is_a_gap_though_it_is_a_function_word() -> None:
    assert contrast("The winch is on.", "The winch is off.").template == "the winch is …."


def test_what_is_left_of_a_difference_is_a_gap_and_neighbouring_gaps_are_one() -> None:
    found = contrast("The keys hang beside 12 Oslo, Bergen.", "The keys hang beside 14 Molde, Paris.")
    assert found.template == f"the keys hang beside {GAP}."


def test_spaces_and_the_case_of_the_first_letter_make_no_other_group() -> None:
    plain = contrast("The lease ends in 2025.", "The lease ends in 2027.")
    assert contrast("The  lease ends\nin 2031.", "the lease ends in 2034.").group_id == plain.group_id


def test_the_rule_and_the_differences_are_those_of_the_words() -> None:
    found = contrast("The lease ends in 2025.", "The lease ends in 2027.")
    assert found.rule == "value_differs"
    assert [(one.kind, one.ours, one.theirs) for one in found.differences] == [("date", "2025", "2027")]
