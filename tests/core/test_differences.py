"""In what do two statements differ? Kind and readable text of each difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.judging.differences import Difference, differences
from loom_ray.core.text.statement import analyse

ONE_DIFFERENCE = [
    ("The quay has 14 bollards.", "The quay has 30 bollards.", "number", "30", "14"),
    ("The quay has two cranes.", "The quay has seven cranes.", "number", "seven", "two"),
    ("The sling lifts 900 kg at most.", "The sling lifts 900 lb at most.", "quantity", "900 lb", "900 kg"),
    ("The valve opens at 1.5 bar.", "The valve opens at 15 bar.", "quantity", "15 bar", "1.5 bar"),
    ("The mooring fee is 40 euros.", "The mooring fee is $40.", "quantity", "$40", "40 euros"),
    ("Refit starts on 4 June 2031.", "Refit starts on 9 June 2031.", "date", "9 June 2031", "4 June 2031"),
    ("The lease ends in 2031.", "The lease ends in 2034.", "date", "2034", "2031"),
    ("The ferry leaves at 07:35.", "The ferry leaves at 08:10.", "time", "08:10", "07:35"),
    ("Nets are mended on Monday.", "Nets are mended on Thursday.", "weekday", "Thursday", "Monday"),
    ("The plotter runs release 5.1.0.", "The plotter runs release 5.10.0.", "version", "5.10.0", "5.1.0"),
    ("Its hull number is NK-881.", "Its hull number is NK-818.", "identifier", "NK-818", "NK-881"),
    (
        "See https://a.example.org/x daily.",
        "See https://a.example.org/y daily.",
        "url",
        "https://a.example.org/y",
        "https://a.example.org/x",
    ),
    ("The cook is Runa Holm.", "The cook is Runa Holt.", "name", "Holt", "Holm"),
    ("The hull is painted blue.", "The hull is painted ochre.", "word", "ochre", "blue"),
    ("The winch is safe.", "The winch is not safe.", "negation", "not", ""),
    ("The winch is on.", "The winch is off.", "negation", "off", "on"),
    ("The depth alarm is enabled.", "The depth alarm is disabled.", "negation", "disabled", "enabled"),
    ("Die Kabine hat 4 Kojen.", "Die Kabine hat 6 Kojen.", "number", "6", "4"),
    ("Le quai ferme à 19h30.", "Le quai ferme à 21h00.", "time", "21h00", "19h30"),
    ("La grúa no está homologada.", "La grúa está homologada.", "negation", "", "no"),
    ("Il molo è lungo 120 metri.", "Il molo è lungo 210 metri.", "quantity", "210 metri", "120 metri"),
    ("Prom odpływa w środę.", "Prom odpływa w piątek.", "weekday", "piątek", "środę"),
    ("Паром уходит 5 мая.", "Паром уходит 6 мая.", "date", "6 мая", "5 мая"),
    ("渡轮下午3点开。", "渡轮下午5点开。", "time", "下午5点", "下午3点"),
    ("船は水曜日に出ます。", "船は木曜日に出ます。", "weekday", "木曜日", "水曜日"),
    ("배는 30분마다 떠난다.", "배는 45분마다 떠난다.", "quantity", "45분", "30분"),
    ("تغادر العبارة بعد ٣٠ دقيقة.", "تغادر العبارة بعد ٤٥ دقيقة.", "quantity", "45 دقيقة", "30 دقيقة"),
    ("เรือออกทุก 30 นาที", "เรือออกทุก 45 นาที", "quantity", "45 นาที", "30 นาที"),
]

NO_DIFFERENCE = [
    ("The warranty of the winch lasts two years.", "The warranty of the winch lasts 2 years."),
    ("The lock opens at 7 pm.", "The lock opens at 19:00."),
    ("Refit starts on 4 June 2031.", "Refit starts on June 4th, 2031."),
    ("The tank holds 1.5 t.", "The tank holds 1,500 kg."),
    ("A keel is laid.", "The keel is laid."),
    ("The cook peels an onion.", "The onion is peeled by the cook."),
    ("General Maritime buys a tug.", "GM buys a tug."),
    ("The mate begins the watch.", "The mate starts the watch."),
]


@pytest.mark.parametrize(("theirs", "ours", "kind", "our_text", "their_text"), ONE_DIFFERENCE)
def test_the_difference_is_named_as_it_stands_on_either_side(
    theirs: str, ours: str, kind: str, our_text: str, their_text: str
) -> None:
    assert differences(analyse(ours), analyse(theirs)) == (Difference(kind, our_text, their_text),)


@pytest.mark.parametrize(("ours", "theirs"), NO_DIFFERENCE)
def test_other_spellings_of_one_value_are_no_difference(ours: str, theirs: str) -> None:
    assert differences(analyse(ours), analyse(theirs)) == ()


def test_what_one_side_adds_has_nothing_opposite() -> None:
    found = differences(analyse("The ferry carries 40 bicycles in summer."), analyse("The ferry carries bicycles."))

    assert found == (Difference("number", "40", ""), Difference("word", "summer", ""))


def test_a_value_told_at_another_place_stands_against_its_like() -> None:
    found = differences(analyse("In 2034 the lease of the slip ends."), analyse("The lease of the slip ends in 2031."))

    assert found == (Difference("date", "2034", "2031"),)


def test_several_values_are_paired_by_kind() -> None:
    found = differences(
        analyse("Berth fee: 40 euros until 9 June."),
        analyse("Berth fee: 55 euros until 4 July."),
    )

    assert {(one.kind, one.ours, one.theirs) for one in found} == {
        ("quantity", "40 euros", "55 euros"),
        ("date", "9 June", "4 July"),
    }


@given(st.text(max_size=80), st.text(max_size=80))
def test_swapping_the_sides_swaps_the_texts(first: str, second: str) -> None:
    forth = differences(analyse(first), analyse(second))
    back = differences(analyse(second), analyse(first))

    assert bool(forth) == bool(back)


@given(st.text(max_size=120))
def test_a_text_differs_in_nothing_from_itself(text: str) -> None:
    assert differences(analyse(text), analyse(text)) == ()
