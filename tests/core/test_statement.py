"""What is read out of a text: language, values, names, negations, and where the predicate begins?"""

from __future__ import annotations

import english_stems
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.text.statement import ANALYSED_CHARS_MAX, analyse, in_one_language
from loom_ray.core.text.words import Kind, Word

LANGUAGES = [
    ("en", "The ferry to the island was delayed by fog."),
    ("de", "Die Fähre zur Insel ist wegen des Nebels verspätet."),
    ("fr", "Le bac pour l'île est en retard à cause du brouillard."),
    ("es", "El transbordador de la isla está retrasado por la niebla."),
    ("it", "Il traghetto per l'isola è in ritardo per la nebbia."),
    ("pt", "A balsa para a ilha está atrasada por causa do nevoeiro."),
    ("nl", "De veerboot naar het eiland is vertraagd door de mist."),
    ("pl", "Prom na wyspę jest opóźniony przez mgłę."),
    ("ru", "Паром на остров опаздывает из-за тумана."),
    ("uk", "Пором на острів запізнюється через туман і вітер."),
    ("ja", "島へのフェリーは霧で遅れています。"),
    ("zh", "去岛上的渡轮因雾晚点。"),
    ("ko", "섬으로 가는 배가 안개로 늦습니다."),
    ("ar", "العبارة إلى الجزيرة متأخرة بسبب الضباب."),
    ("th", "เรือไปเกาะล่าช้าเพราะหมอก"),
]

VALUES = [
    ("The buoy weighs 1,250 kg.", "quantity", "quantity:mass:1250000"),
    ("Die Boje wiegt 1.250 kg und ist neu.", "quantity", "quantity:mass:1250000"),
    ("The buoy weighs 1.25 t.", "quantity", "quantity:mass:1250000"),
    ("The pump runs two hours.", "quantity", "quantity:time:7200"),
    ("The pump runs 120 minutes.", "quantity", "quantity:time:7200"),
    ("The fee is $1.5 million.", "quantity", "quantity:usd:1500000"),
    ("The fee is 1,500,000 dollars.", "quantity", "quantity:usd:1500000"),
    ("Occupancy is 85%.", "quantity", "quantity:share:85"),
    ("There are twenty-five berths.", "number", "number:25"),
    ("Es gibt fünfundzwanzig Liegeplätze.", "number", "number:25"),
    ("Il y a douze places.", "number", "number:12"),
    ("Hay quince amarres.", "number", "number:15"),
    ("Ci sono undici posti.", "number", "number:11"),
    ("Há quinze vagas.", "number", "number:15"),
    ("Er zijn dertien plaatsen.", "number", "number:13"),
    ("Są cztery miejsca w porcie.", "number", "number:4"),
    ("Есть восемь мест.", "number", "number:8"),
    ("码头有三十五个泊位。", "number", "number:35"),
    ("هناك ١٢ رصيفا.", "number", "number:12"),
    ("ท่าเรือมี ๑๒ ช่อง", "number", "number:12"),
    ("बंदरगाह में १२ घाट हैं।", "number", "number:12"),
    ("The frost alarm is at -5.", "number", "number:-5"),
    ("She was the third skipper.", "number", "number:#3"),
    ("The dredger comes on 12 March 2031.", "date", "date:2031-3-12"),
    ("The dredger comes on March 12th, 2031.", "date", "date:2031-3-12"),
    ("The dredger comes on 2031-03-12.", "date", "date:2031-3-12"),
    ("Der Bagger kommt am 12. März 2031.", "date", "date:2031-3-12"),
    ("Der Bagger kommt am 12.03.2031.", "date", "date:2031-3-12"),
    ("La draga llega el 12 de marzo de 2031.", "date", "date:2031-3-12"),
    ("La drague arrive le 12 mars 2031.", "date", "date:2031-3-12"),
    ("Землечерпалка придёт 12 марта 2031 года.", "date", "date:2031-3-12"),
    ("Pogłębiarka przypłynie 12 marca 2031.", "date", "date:2031-3-12"),
    ("疏浚船2031年3月12日到。", "date", "date:2031-3-12"),
    ("준설선은 2031년 3월 12일에 온다.", "date", "date:2031-3-12"),
    ("The lock opens at 7:30 pm.", "time", "time:19:30"),
    ("The lock opens at 19:30.", "time", "time:19:30"),
    ("The lock opens at 7pm.", "time", "time:19:00"),
    ("L'écluse ouvre à 19h30.", "time", "time:19:30"),
    ("Die Schleuse öffnet um 19 Uhr.", "time", "time:19:00"),
    ("水門は午後7時30分に開く。", "time", "time:19:30"),
    ("船闸晚上7点开。", "time", "time:19:00"),
    ("Deliveries come on Wednesdays.", "weekday", "weekday:2"),
    ("Lieferungen kommen mittwochs.", "weekday", "weekday:2"),
    ("货物星期三到。", "weekday", "weekday:2"),
    ("荷物は水曜日に届く。", "weekday", "weekday:2"),
    ("화물은 수요일에 온다.", "weekday", "weekday:2"),
    ("Поставки приходят в среду.", "weekday", "weekday:2"),
    ("The chart server runs v3.10.2 now.", "version", "version:3.10.2"),
    ("The spare part is QK-2207.", "identifier", "identifier:qk-2207"),
    ("Read https://tides.example.org/north?day=2.", "url", "url:https://tides.example.org/north?day=2"),
    ("Write to pilot@harbour.example.org.", "url", "url:pilot@harbour.example.org"),
    ("Logs are under /var/log/tides.", "url", "url:/var/log/tides"),
]

NEGATIONS = [
    ("The crane is not certified.", "not"),
    ("The crane isn’t certified.", "isn't"),
    ("Der Kran hat keine Zulassung.", "keine"),
    ("La grue n'est pas homologuée.", "pas"),
    ("La grúa no está homologada.", "no"),
    ("La gru non è omologata.", "non"),
    ("O guindaste não está homologado.", "não"),
    ("De kraan is niet gekeurd.", "niet"),
    ("Dźwig nie ma atestu.", "nie"),
    ("Кран не прошёл проверку.", "не"),
    ("起重机没有通过检查。", "没"),
    ("クレーンは検査に合格していません。", "ません"),
    ("크레인은 검사를 통과하지 못했다.", "못"),
    ("الرافعة ليست مرخصة.", "ليست"),
    ("เครนไม่ผ่านการตรวจ", "ไม่"),
]

DENYING_NOTHING = [
    "Not only the crane was certified.",
    "Der Kran ist nicht nur neu.",
    "起重机非常好，不过很贵。",
    "クレーンは使えるかもしれない。",
]

SUBJECTS = [
    ("The harbour master lives in Skagen.", "The harbour master"),
    ("Berth 12 of the north quay is taken.", "Berth 12 of the north quay"),
    ("Favourite knot: bowline", "Favourite knot:"),
    ("Der Hafenmeister von Skagen wohnt am Kai.", "Der Hafenmeister von Skagen"),
    ("Le capitaine du port habite à Brest.", "Le capitaine du port"),
    ("Начальник порта живёт в Мурманске.", "Начальник порта"),
    ("港長は函館に住んでいる。", "港長"),
    ("The bus that stops at the quay is green.", "The bus that stops at the quay"),
]


def of_kind(text: str, *kinds: Kind) -> list[Word]:
    return [word for word in analyse(text).words if word.kind in kinds]


@pytest.mark.parametrize(("language", "text"), LANGUAGES)
def test_the_language_is_told_by_script_and_function_words(language: str, text: str) -> None:
    assert analyse(text).language == language


@pytest.mark.parametrize(("text", "kind", "key"), VALUES)
def test_a_value_is_read_in_every_writing(text: str, kind: str, key: str) -> None:
    assert (kind, key) in [(word.kind.value, word.key) for word in analyse(text).content]


@pytest.mark.parametrize(("text", "negator"), NEGATIONS)
def test_a_negation_is_heard_in_every_language(text: str, negator: str) -> None:
    assert [word.text for word in analyse(text).negations] == [negator]


@pytest.mark.parametrize("text", DENYING_NOTHING)
def test_a_phrase_that_denies_nothing_is_no_negation(text: str) -> None:
    assert analyse(text).negations == ()


@pytest.mark.parametrize(("text", "subject"), SUBJECTS)
def test_the_subject_ends_where_something_is_said_of_it(text: str, subject: str) -> None:
    statement = analyse(text)

    assert statement.text[: statement.subject_end].strip() == subject


def test_names_are_capitals_inside_a_sentence_and_not_in_headlines() -> None:
    assert [word.text for word in of_kind("The pilot is Runa Holm of Esbjerg.", Kind.NAME)] == [
        "Runa",
        "Holm",
        "Esbjerg",
    ]
    assert of_kind("Harbour Master Closes North Quay After Storm", Kind.NAME) == []


def test_a_value_keeps_the_words_that_it_is_written_in() -> None:
    words = analyse("Cleaning is due on March 12th, 2031 and costs 1,200 kr.").content

    assert [word.text for word in words if word.kind == Kind.DATE] == ["March 12th, 2031"]


def test_persons_and_things_that_nothing_names_are_indefinite() -> None:
    assert analyse("A sailor is mending a net.").is_indefinite
    assert analyse("Two sailors are mending a net.").is_indefinite
    assert analyse("The small dog is barking.").is_indefinite
    assert not analyse("The harbour office has a new roof.").is_indefinite
    assert not analyse("Runa is mending a net.").is_indefinite


def test_the_packaged_stems_are_those_that_the_stemmer_gives() -> None:
    assert english_stems.PATH.read_text(encoding="utf-8") == english_stems.lines(), english_stems.__doc__


def test_a_name_tells_no_language() -> None:
    assert analyse("Runa Costa was born in Faro.").language == "en"
    assert analyse("With Casa and Costa, Runa mends nets.").language == "en"


def test_two_texts_are_read_in_one_language() -> None:
    ours, theirs = in_one_language(analyse("De kade is nat."), analyse("Kade nat."))

    assert (ours.language, theirs.language) == ("nl", "nl")


def test_a_text_past_the_bound_is_cut_and_says_so() -> None:
    at_bound, past_it = "a" * ANALYSED_CHARS_MAX, "a" * (ANALYSED_CHARS_MAX + 1)

    assert not analyse(at_bound).is_truncated
    assert analyse(past_it).is_truncated
    assert len(analyse(past_it).text) == ANALYSED_CHARS_MAX


@given(st.text())
def test_any_text_is_read_and_its_words_lie_in_order_within_it(text: str) -> None:
    statement = analyse(text)

    assert all(0 <= word.start < word.end <= len(statement.text) for word in statement.words)
    assert all(a.start <= b.start for a, b in zip(statement.words, statement.words[1:], strict=False))


@given(st.text(alphabet="0123456789.,:-/+%$€kgmhT #'年月日点時", max_size=60))
def test_any_heap_of_digits_and_signs_is_read(text: str) -> None:
    assert len(analyse(text).words) <= len(text)


@pytest.mark.parametrize(
    "piece", ["a.", "1,", "1:", "a-1", "_a", "不", "三个", "one ", "never ", "'a", "@", "1 000 ", "/x"]
)
def test_the_number_of_words_grows_no_faster_than_the_text(piece: str) -> None:
    short, long = analyse(piece * 100), analyse(piece * 400)

    assert len(long.words) <= 4 * len(short.words) + 4
