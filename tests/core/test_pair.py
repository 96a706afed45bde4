"""What is a new statement to a stored one? Scenes of merge, duplicate, conflict, elaboration and clear."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from loom_ray.core.judging import pair
from loom_ray.core.judging.pair import PairKind, PairVerdict, judge_pair
from loom_ray.core.judging.thresholds import Source, Threshold, Thresholds

NEAR = 0.9  # a pair that the embedder finds close
FAR = 0.2


def thresholds(conflict: float = 0.65, duplicate: float = 0.9, source: Source = "calibration") -> Thresholds:
    return Thresholds(Threshold(conflict, source), Threshold(duplicate, source))


def judged(
    stored: str,
    new: str,
    similarity: float | None = NEAR,
    given_thresholds: Thresholds | None = None,
    *,
    same_key: bool = False,
) -> PairVerdict:
    return judge_pair(new, stored, similarity, given_thresholds or thresholds(), same_key=same_key)


DUPLICATES = [
    ("The spare anchor is stored in a locker by the mast.", "The spare anchor is stored in the locker by the mast."),
    ("The crew had lunch at the pier.", "Our crew has had lunch at the pier."),
    ("On Sundays the museum ship is open.", "The museum ship is open on Sundays."),
    ("The harbour pilot steers the tanker.", "The tanker is steered by the harbour pilot."),
    ("The warranty of the winch lasts two years.", "Warranty of the winch lasts 2 years."),
    ("The mate buys paint.", "The mate purchases paint."),
    ("Der Lotse wohnt in einem Haus am Deich.", "Der Lotse wohnt in dem Haus am Deich."),
    ("Le pilote habite une maison près du phare.", "Le pilote habite la maison près du phare."),
    ("El práctico vive en una casa junto al faro.", "El práctico vive en la casa junto al faro."),
    ("Il pilota abita in una casa vicino al faro.", "Il pilota abita nella casa vicino al faro."),
    ("O prático mora numa casa perto do farol.", "O prático mora na casa perto do farol."),
    ("De loods woont in een huis bij de dijk.", "De loods woont in het huis bij de dijk."),
]

CONFLICTS = [
    ("The slipway is 40 metres long.", "The slipway is 55 metres long.", "value_differs"),
    ("The sling lifts 900 kg.", "The sling lifts 900 lb.", "value_differs"),
    ("The dredger comes on 4 June 2031.", "The dredger comes on 9 June 2031.", "value_differs"),
    ("The ferry leaves at 07:35 from the old pier.", "The ferry leaves at 08:10 from the old pier.", "value_differs"),
    ("Nets are mended on Monday evenings.", "Nets are mended on Thursday evenings.", "value_differs"),
    ("The chart plotter runs release 4.2.1.", "The chart plotter runs release 4.3.0.", "value_differs"),
    ("The engineer on call is Runa Holm.", "The engineer on call is Runa Holt.", "value_differs"),
    ("Runa Holm is the engineer on call.", "Tove Lind is the engineer on call.", "value_differs"),
    ("Favourite knot: bowline", "Favourite knot: sheet bend", "one_slot_differs"),
    ("The logbook database is stored in Ceph.", "The logbook database is stored in MinIO.", "value_differs"),
    ("14 copies of the chart are kept.", "30 copies of the chart are kept.", "value_differs"),
    ("The depth alarm is enabled.", "The depth alarm is disabled.", "opposite"),
    ("The west gate is open at night.", "The west gate is closed at night.", "opposite"),
    ("The crane accepts remote commands.", "The crane does not accept remote commands.", "negation"),
    ("Alva calls Bram before each tide.", "Bram calls Alva before each tide.", "roles_swapped"),
    ("The mail boat sails from Lerwick to Bergen.", "The mail boat sails from Bergen to Lerwick.", "roles_swapped"),
    ("Der Kran trägt 12 Tonnen.", "Der Kran trägt 20 Tonnen.", "value_differs"),
    ("Der Kran ist zugelassen.", "Der Kran ist nicht zugelassen.", "negation"),
    ("Le quai ferme à 19h30.", "Le quai ferme à 21h00.", "value_differs"),
    ("La grúa está homologada.", "La grúa no está homologada.", "negation"),
    ("Il traghetto parte alle 14:00.", "Il traghetto parte alle 15:30.", "value_differs"),
    ("A balsa custa 12 euros.", "A balsa custa 15 euros.", "value_differs"),
    ("De veerboot kost 12 euro.", "De veerboot kost 15 euro.", "value_differs"),
    ("Prom odpływa w środę.", "Prom odpływa w piątek.", "value_differs"),
    ("Пропуск действует до 5 мая.", "Пропуск действует до 6 мая.", "value_differs"),
    ("渡轮每天下午3点开。", "渡轮每天下午5点开。", "value_differs"),
    ("渡轮每天开。", "渡轮不每天开。", "negation"),
    ("船は18時に出港します。", "船は20時に出港します。", "value_differs"),
    ("船は18時に出港します。", "船は18時に出港しません。", "negation"),
    ("배는 매일 30분마다 떠난다.", "배는 매일 45분마다 떠난다.", "value_differs"),
    ("تغادر العبارة في الساعة ٨.", "تغادر العبارة في الساعة ٩.", "value_differs"),
    ("เรือออกจากท่าทุก 30 นาที", "เรือออกจากท่าทุก 45 นาที", "value_differs"),
    ("नाव सुबह ८ बजे निकलती है।", "नाव सुबह ९ बजे निकलती है।", "value_differs"),
]

PEOPLE = [
    ("Runa Holm was born in Bodø.", "Runa Costa was born in Bodø."),
    ("Runa Holm was born in Bodø.", "Runa Costa was born in Faro."),
    ("Skipper Runa Holm sleeps in cabin two.", "Skipper Runa Casa sleeps in cabin two."),
    ("Runa Holm, 34, sleeps in cabin two.", "Runa Costa, 29, sleeps in cabin two."),
    ("In 2019 Runa Holm moved to Bodø.", "In 2019 Runa Costa moved to Faro."),
    (
        "Runa Holm graduated from Bodø School in 2001.",
        "Runa Lind graduated from Bodø School in 2004.",
    ),
    ("Runa Holm wurde 1980 geboren.", "Runa Lind wurde 1985 geboren."),
    ("Runa Holm nació en 1980.", "Runa Lind nació en 1985."),
    ("Runa Holm naquit en 1980.", "Runa Lind naquit en 1985."),
    ("Рина Хольм родилась в 1980 году.", "Рина Линд родилась в 1985 году."),
]

OTHER_SUBJECTS = [
    ("Winch w1 is rented from Nordkap.", "Winch w2 is rented from Nordkap."),
    ("Winch w1 is looked after by crew c1.", "Winch w2 is looked after by crew c2."),
    ("Runa Holm sleeps in cabin two.", "Tove Lind sleeps in cabin two."),
    ("The capital of Norway is Oslo.", "The capital of Portugal is Lisbon."),
    ("Berth 12 is reserved for tugs.", "Berth 14 is reserved for tugs."),
    ("The tram on the green line stops at the quay.", "The tram on the blue line stops at the quay."),
    ("Favourite knot: bowline", "Favourite rope: hemp"),
    ("Kran K1 gehört der Werft.", "Kran K2 gehört der Werft."),
    ("Начальник порта Иванов живёт в Мурманске.", "Начальник порта Петров живёт в Мурманске."),
]

ELABORATIONS = [
    ("The boathouse has a stove.", "The boathouse by the old lock has an iron stove."),
    ("Die Werft hat eine Kantine.", "Die Werft am Nordkai hat eine kleine Kantine."),
    ("Regatta on 12 March at the north pier.", "Regatta on 12 March 2031 at the north pier."),
]


@pytest.mark.parametrize(("stored", "new"), DUPLICATES)
def test_the_same_words_under_another_key_are_a_duplicate(stored: str, new: str) -> None:
    verdict = judged(stored, new)

    assert (verdict.kind, verdict.differences) == (PairKind.DUPLICATE, ())


@pytest.mark.parametrize(("stored", "new", "rule"), CONFLICTS)
def test_what_cannot_both_be_true_is_a_conflict(stored: str, new: str, rule: str) -> None:
    verdict = judged(stored, new)

    assert (verdict.kind, verdict.rule) == (PairKind.CONFLICT, rule)
    assert judged(new, stored).kind is PairKind.CONFLICT


@pytest.mark.parametrize(("stored", "new", "rule"), CONFLICTS)
def test_under_one_key_it_is_a_conflict_without_the_embedder(stored: str, new: str, rule: str) -> None:
    assert judged(stored, new, None, same_key=True).kind is PairKind.CONFLICT
    assert judged(stored, new, FAR, same_key=True).rule == rule


@pytest.mark.parametrize(("stored", "new"), OTHER_SUBJECTS)
def test_another_subject_is_clear_however_near(stored: str, new: str) -> None:
    assert judged(stored, new, 0.99).kind is PairKind.CLEAR
    assert judged(new, stored, 0.99).kind is PairKind.CLEAR


@pytest.mark.parametrize(("stored", "new"), PEOPLE)
def test_two_people_who_share_a_name_are_two_subjects(stored: str, new: str) -> None:
    assert judged(stored, new, 0.99).rule == "other_subject"
    assert judged(new, stored, 0.99).rule == "other_subject"


def test_one_person_of_whom_another_value_is_told_is_one_subject() -> None:
    verdict = judged("Runa Costa was born in 1980.", "Runa Costa was born in 1985.")

    assert (verdict.kind, verdict.rule) == (PairKind.CONFLICT, "value_differs")


@pytest.mark.parametrize(("stored", "new"), ELABORATIONS)
def test_one_that_only_says_more_is_an_elaboration(stored: str, new: str) -> None:
    assert judged(stored, new).kind is PairKind.ELABORATION
    assert judged(new, stored).kind is PairKind.ELABORATION
    assert judged(stored, new, None, same_key=True).kind is PairKind.ELABORATION
    assert judged(stored, new, FAR).kind is PairKind.CLEAR


def test_the_same_form_merges_whatever_the_similarity() -> None:
    verdict = judged("The Tide Table is new.", "the tide table is NEW!", FAR)

    assert verdict == PairVerdict(PairKind.MERGE, "canonical_form", (), False, None)


def test_other_words_for_the_same_matter_name_the_peer_and_flag_nothing() -> None:
    verdict = judged("A sailor is mending a torn sail.", "A sailor is repairing ripped canvas on deck.")

    assert (verdict.kind, verdict.rule) == (PairKind.ELABORATION, "reworded")


def test_a_question_is_no_restatement_of_its_answer() -> None:
    assert judged("The gate is locked.", "The gate is locked?").kind is PairKind.ELABORATION


def test_two_scenes_that_nothing_names_do_not_contradict_each_other() -> None:
    assert judged("A man is peeling an onion.", "A man is peeling a carrot.").kind is not PairKind.CONFLICT


MANY_AT_ONCE = [
    ("Drinks I like: cocoa", "Drinks I like: cider"),
    ("Runa likes herring.", "Runa likes mackerel."),
    ("Runa speaks Danish.", "Runa speaks Faroese."),
    ("Runa mag Hering.", "Runa mag Makrele."),
]


@pytest.mark.parametrize(("stored", "new"), MANY_AT_ONCE)
def test_a_relation_to_many_things_is_not_contradicted_by_another_of_them(stored: str, new: str) -> None:
    verdict = judged(stored, new)

    assert (verdict.kind, verdict.rule) == (PairKind.ELABORATION, "multi_valued")
    assert judged(stored, new, same_key=True).kind is PairKind.CONFLICT


def test_labels_that_say_more_than_each_other_are_not_set_against_each_other() -> None:
    stored = "winner of the regatta: Petrel"

    assert judged(stored, "winner of the junior regatta: Kestrel").kind is not PairKind.CONFLICT
    assert judged(stored, "winner of the regatta: Kestrel").kind is PairKind.CONFLICT


def test_nothing_in_common_is_clear_even_for_an_embedder_that_sees_spelling_only() -> None:
    assert judged("The choir sings on deck.", "Diesel prices rose.", 0.99).kind is PairKind.CLEAR


def test_a_denial_of_all_contradicts_one_event_however_differently_told() -> None:
    stored = "Runa and I attended a splicing course at the Skagen yard on 8 March."
    new = "I have never attended any splicing course."

    assert judged(stored, new, 0.45).rule == "denial"


def test_words_of_change_make_up_for_a_similarity_below_the_threshold() -> None:
    stored = "Mooring fee at the north quay: 400 euros."
    changed = "The mooring fee was raised after the refit and is now 420 euros."
    unchanged = "A mooring fee of another yard, seen in Porto, is 420 euros."

    assert judged(stored, changed, 0.55).kind is PairKind.CONFLICT
    assert judged(stored, unchanged, 0.55).kind is PairKind.CLEAR


def test_a_moved_date_is_a_conflict_although_the_old_one_is_repeated() -> None:
    stored = "Tove invited me to the regatta on March 28."
    new = "The regatta with Tove on March 28 was rescheduled to April 4."

    assert judged(stored, new).rule == "value_changed"


@pytest.mark.parametrize(
    ("stored", "new"),
    [
        ("Put aside 150 euros for rope in the spring.", "The fund for rope was increased to 180 euros in the spring."),
        ("Spent 8 hours splicing rope with Tove in May.", "I increased splicing rope with Tove to 11 hours in May."),
    ],
)
def test_a_change_is_one_wherever_the_two_values_stand(stored: str, new: str) -> None:
    assert judged(stored, new, 0.55).rule == "value_changed"


def test_a_change_of_one_dimension_says_nothing_against_a_value_of_another() -> None:
    stored = "Spent 8 hours splicing rope with Tove in May."

    assert judged(stored, "I increased splicing rope with Tove to 11 metres in May.").kind is not PairKind.CONFLICT


def test_a_label_that_speaks_of_somebody_has_one_value() -> None:
    assert judged("who won the men's regatta: Sula", "who won the men's regatta: Petrel").kind is PairKind.CONFLICT


def test_one_slot_decides_a_little_below_a_derived_threshold_and_never_below_an_owners() -> None:
    pair = ("The logbook is stored in Ceph.", "The logbook is stored in MinIO.")

    assert judged(*pair, 0.6).kind is PairKind.CONFLICT
    assert judged(*pair, 0.4).kind is PairKind.CLEAR
    assert judged(*pair, 0.6, thresholds(source="namespace")).kind is PairKind.CLEAR
    assert judged(*pair, 0.6, thresholds(source="type")).kind is PairKind.CLEAR


def test_the_deciding_threshold_is_named() -> None:
    verdict = judged("The fee is 12 euros.", "The fee is 15 euros.", 0.9, thresholds(0.8, source="namespace"))

    assert verdict.threshold == Threshold(0.8, "namespace")


def test_a_threshold_of_one_flags_nothing_and_makes_no_duplicate_of_a_changed_value() -> None:
    disabled = thresholds(conflict=1.0)

    assert judged("The permit ends in 2031.", "The permit ends in 2033.", 0.99, disabled).rule == "flagging_disabled"
    assert judged(
        "The permit ends in 2031.", "The permit ends in 2033.", same_key=True, given_thresholds=disabled
    ).kind is (PairKind.CLEAR)


def test_an_owners_duplicate_threshold_binds() -> None:
    pair = DUPLICATES[0]

    assert judged(*pair, 0.95, thresholds(duplicate=0.99, source="namespace")).kind is PairKind.ELABORATION
    assert judged(*pair, 0.95, thresholds(duplicate=0.99)).kind is PairKind.DUPLICATE


def test_one_shape_filled_otherwise_is_templated_and_nothing_else_is() -> None:
    assert judged("The permit ends in 2031.", "The permit ends in 2033.").templated
    assert judged("Favourite knot: bowline", "Favourite knot: sheet bend").templated
    assert not judged("The permit ends in 2031.", "The permit for the yard ends in 2033.").templated
    assert not judged("The crane is safe.", "The crane is not safe.").templated
    assert not judged("Winch w1 is rented.", "Winch w2 is rented.").templated


def test_a_text_past_the_analysed_bound_is_never_a_duplicate() -> None:
    body = "The inventory lists rope. " * 400

    assert judged(body + "It lists 14 blocks.", body + "It lists 41 blocks.").kind is PairKind.ELABORATION


def test_bicycles_of_two_json_values_differ_by_name_of_the_value() -> None:
    verdict = judged('{"berth": "B12", "seats": 8}', '{"berth": "B12", "seats": 80}')

    assert [(one.kind, one.ours, one.theirs) for one in verdict.differences] == [("number", "80", "8")]


any_similarity = st.none() | st.floats(-1, 1)
words = st.sampled_from(
    "the a quay crane 12 30 kg not never is was owned by Runa Oslo 2031 Monday 08:10 open closed 不 三点 は не".split()
)
phrases = st.lists(words, min_size=1, max_size=9).map(" ".join)


@given(st.text() | phrases, st.text() | phrases, any_similarity, st.booleans())
def test_any_two_texts_are_judged(ours: str, theirs: str, similarity: float | None, same_key: bool) -> None:
    verdict = judge_pair(ours, theirs, similarity, thresholds(), same_key=same_key)

    assert judge_pair(ours, theirs, similarity, thresholds(), same_key=same_key) == verdict


@given(st.text() | phrases, st.text() | phrases, any_similarity)
def test_same_and_duplicate_hold_in_both_directions(first: str, second: str, similarity: float | None) -> None:
    forth = judge_pair(first, second, similarity, thresholds(), same_key=False).kind
    back = judge_pair(second, first, similarity, thresholds(), same_key=False).kind

    for kind in (PairKind.MERGE, PairKind.DUPLICATE):
        assert (forth is kind) == (back is kind)


DIGITS = "0123456789٠١٢٣٤٥٦٧٨٩०१२३४५६७८९๐๑๒๓๔๕๖๗๘๙０１２３４５６７８９"
PIECES = [
    "berth",
    " ",
    " ",
    "-",
    ".",
    ",",
    ":",
    "/",
    "kg",
    "%",
    "€",
    "No",
    "v",
    "pm",
    "年",
    "月",
    "点",
    "รู",
    "м",
    " Mai ",
    "th",
]


@given(
    st.lists(st.sampled_from(list(DIGITS) + PIECES), min_size=1, max_size=14).map("".join),
    st.data(),
    st.booleans(),
)
def test_a_changed_digit_anywhere_never_merges_nor_duplicates(text: str, data: st.DataObject, same_key: bool) -> None:
    places = [at for at, character in enumerate(text) if character in DIGITS]
    assume(places)
    at = data.draw(st.sampled_from(places))
    zero = DIGITS.index(text[at]) // 10 * 10
    other = DIGITS[zero + (DIGITS.index(text[at]) % 10 + data.draw(st.integers(1, 9))) % 10]

    kind = judge_pair(text[:at] + other + text[at + 1 :], text, 1.0, thresholds(), same_key=same_key).kind

    assert kind not in (PairKind.MERGE, PairKind.DUPLICATE)


@pytest.mark.parametrize(
    ("ours", "theirs", "reach"),
    [
        ("The kiln holds 30 pots.", "The kiln holds 14 pots.", 0.12),
        ("The kiln was moved to Turin and holds 30 pots now.", "The kiln in Ghent holds 14 pots.", 0.18),
        ("The kiln was never fired.", "The kiln was fired in May.", 0.35),
    ],
)
def test_words_are_compared_as_far_down_as_they_can_decide_and_no_farther(
    ours: str, theirs: str, reach: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[float] = []
    real = pair.align
    monkeypatch.setattr(pair, "align", lambda *both: compared.append(1) or real(*both))
    edge = thresholds().conflict.value - reach
    judge_pair(ours, theirs, edge + 0.001, thresholds(), same_key=False)
    assert compared
    compared.clear()
    assert judge_pair(ours, theirs, edge - 0.001, thresholds(), same_key=False).kind is PairKind.CLEAR
    assert not compared
    assert judge_pair(ours, theirs, edge - 0.001, thresholds(), same_key=True).kind is PairKind.CONFLICT


def test_who_tells_of_a_change_is_told_apart_from_who_only_says_otherwise() -> None:
    stored = "Tove invited me to the regatta on March 28."
    new = "The regatta with Tove on March 28 was rescheduled to April 4."

    assert judged(stored, new).told
    assert not judged(new, stored).told
    assert not judged("Tove invited me to the regatta on March 28.", "The regatta with Tove is on April 4.").told
