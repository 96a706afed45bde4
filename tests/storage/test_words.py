"""Are rows found by their words, in every script, with the filter first and whatever the text holds?"""

from __future__ import annotations

import math
import threading

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from loom_ray.core.row import LIVE, MemoryType, Status
from loom_ray.core.text.terms import QUERY_TERMS_MAX, TERM_CHARS_MAX, meaning_of_query, query_terms, terms
from loom_ray.storage.facets import Facets, Where
from loom_ray.storage.postings import Postings
from loom_ray.storage.words import BACKLOG_ROWS_MAX, DEAD_ROWS_MIN, K1, B, WordIndex

ANYONE = Facets(MemoryType.SEMANTIC, "-", Status.ACTIVE)


def index_of(**texts: str) -> WordIndex:
    index = WordIndex()
    for memory_id, text in texts.items():
        index.put(memory_id, text, f"k/{memory_id}", ANYONE)
    return index


def found(index: WordIndex, query: str, where: Where | None = None, k: int = 10) -> list[str]:
    return [hit.memory_id for hit in index.search(query, k, where or Where())]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The ferries were running late", "does the ferry run"),
        ("Wir treffen uns im Café Münchner Freiheit", "cafe munchner"),
        ("Wir treffen uns im Café", "ＣＡＦÉ"),
        ("東京タワーの近くに住んでいる", "タワー"),
        ("白い猫が好き", "猫"),
        ("会议改到星期四下午", "星期四"),
        ("우리는 제주도에서 만난다", "제주도"),
        ("ประชุมย้ายไปวันพฤหัสบดี", "วันพฤหัส"),
        ("الاجتماعُ في القاهرة", "الاجتماع"),
        ("पुस्तकालय में बैठक", "पुस्तकालय"),
        ("פגישה בירושלים", "בירושלים"),
        ("Встреча в Ёлках", "елках"),
        ("call getUserById before cache_key_of", "user id"),
        ("call getUserById before cache_key_of", "cache key"),
        ("pinned to v1.2.3 since 2024-05-01", "v1.2.3"),
        ("pinned to v1.2.3 since 2024-05-01", "2024-05-01"),
        ("the proxy listens on 10.0.0.7:8443", "10.0.0.7:8443"),
    ],
)
def test_a_text_is_found_by_a_part_of_it(text: str, query: str) -> None:
    index = index_of(wanted=text, other="nothing of the kind", more="another line, quite unlike")
    assert found(index, query) == ["wanted"]


def test_the_rarer_word_counts_more() -> None:
    index = index_of(a="boat harbour", b="boat quay", c="boat pier", d="lantern quay pier")
    assert found(index, "boat lantern")[0] == "d"


def test_function_words_are_asked_for_only_when_there_is_nothing_else() -> None:
    index = index_of(a="what is the who of it", b="the ferry leaves")
    assert found(index, "when does the ferry leave?") == ["b"]
    assert found(index, "who is it?") == ["a"]


def test_a_word_in_the_key_counts_less_than_one_in_the_text_and_is_reported() -> None:
    index = WordIndex()
    index.put("in text", "the deploy happens on Tuesday", "x/1", ANYONE)
    index.put("in key", "it happens on Tuesday noon", "deployWindow/prod", ANYONE)
    hits = index.search("deploy", 5, Where())
    assert [(hit.memory_id, hit.key_words) for hit in hits] == [("in text", 0), ("in key", 1)]


def test_the_filter_comes_before_the_best_are_taken() -> None:
    index = WordIndex()
    for number in range(300):
        index.put(f"big{number}", "boat " * 5, "k", Facets(MemoryType.SEMANTIC, "big", Status.ACTIVE))
    index.put(
        "small", "one boat among very many other things", "k", Facets(MemoryType.SEMANTIC, "small", Status.ACTIVE)
    )
    assert found(index, "boat", Where(user_ids=frozenset({"small"})), k=3) == ["small"]


wheres = st.builds(
    Where,
    memory_types=st.none() | st.frozensets(st.sampled_from(list(MemoryType)[:3])),
    user_ids=st.none() | st.frozensets(st.sampled_from(["-", "ada", "unknown"])),
    statuses=st.none() | st.just(LIVE) | st.frozensets(st.sampled_from(list(Status))),
    tags=st.frozensets(st.sampled_from(["red sea", "blue", "unknown"])),
    at=st.none() | st.integers(-1, 4),
)
facets = st.builds(
    Facets,
    memory_type=st.sampled_from(list(MemoryType)[:2]),
    user_id=st.sampled_from(["-", "ada", "a b"]),
    status=st.sampled_from(list(Status)),
    tags=st.lists(st.sampled_from(["red sea", "blue", ""]), max_size=2).map(tuple),
    until=st.none() | st.integers(0, 3),
)
WORDS = ["boat", "quay", "lamp", "猫が好き", "Ёлка"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
changes = st.tuples(st.integers(0, 7), st.none() | st.tuples(texts, facets))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(changes, max_size=8), max_size=4), st.sampled_from(WORDS), wheres)
def test_it_finds_what_a_dictionary_finds(
    batches: list[list[tuple[int, tuple[str, Facets] | None]]], word: str, where: Where
) -> None:
    index, held = WordIndex(), dict[str, tuple[str, Facets]]()
    for batch in batches:
        for number, content in batch:
            if content is None:
                index.remove(str(number))
                held.pop(str(number), None)
            else:
                index.put(str(number), content[0], "k", content[1])
                held[str(number)] = content
        expected = {each for each, (text, given) in held.items() if word in text.split() and where.admits(given)}
        assert set(found(index, word, where)) == expected


@pytest.mark.parametrize(
    "nasty",
    [
        "text:boat AND (",
        '"',
        "*",
        "boat^2~",
        "[a TO b]",
        "\\",
        "-boat",
        "+",
        "../../etc",
        "\x00",
        "🐢",
        "\u202e",
        " ",
        "",
    ],
)
def test_what_users_type_is_never_syntax(nasty: str) -> None:
    index = index_of(a="one boat", nasty=f"boat {nasty}")
    assert set(found(index, f"{nasty} boat")) == {"a", "nasty"}
    assert all(isinstance(hit, str) for hit in found(index, nasty))


@example("𠀀\U0003134b")  # a Han letter beside one that Unicode gained after Python's tables
@example("字\ufe0f")
@example("\u2f00 ﾀ")  # in other letters after NFKC
@given(st.text(max_size=200))
def test_terms_hold_no_white_space_and_a_text_is_found_by_itself(text: str) -> None:
    assert all(term and not any(map(str.isspace, term)) and len(term) <= TERM_CHARS_MAX for term in terms(text))
    assert set(query_terms(text)) <= set(terms(text))
    assert bool(query_terms(text)) == bool(terms(text))


def test_endless_words_and_queries_are_cut() -> None:
    assert terms("x" * 100_000) == ["x" * TERM_CHARS_MAX]
    assert len(query_terms(" ".join(map(str, range(10_000))))) == QUERY_TERMS_MAX


@pytest.mark.parametrize("part", ["a:", "字", "e\u0301", "aB", "a_", "ก็", "1.2.", " \u0301", "a@"])
def test_terms_take_time_in_proportion(part: str) -> None:
    """Quadratic work on this many characters would take hours and hang the run."""
    assert len(terms(part * 300_000)) >= 1


def test_a_question_is_embedded_by_its_content_words() -> None:
    assert meaning_of_query("When did Mara visit the lighthouse?") == "mara visit lighthouse"
    assert meaning_of_query("The lighthouse is closed") == "The lighthouse is closed"
    assert meaning_of_query("Who is it?") != ""


def test_the_end_of_a_long_value_is_found() -> None:
    index = index_of(long="The rope store lists hemp lines. " * 1900 + "A brass quadrant lies on top.", short="a rope")
    assert found(index, "brass quadrant") == ["long"]


def test_searches_and_puts_from_many_threads_lose_nothing() -> None:
    index, start = WordIndex(), threading.Barrier(4)

    def put(thread: int) -> None:
        start.wait()
        for number in range(200):
            index.put(f"{thread}-{number}", "boat", "k", ANYONE)

    def search() -> None:
        start.wait()
        for _ in range(20):
            index.search("boat", 10, Where())

    threads = [threading.Thread(target=put, args=(0,)), threading.Thread(target=put, args=(1,))]
    threads += [threading.Thread(target=search), threading.Thread(target=search)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found(index, "boat", k=1000)) == 400


def test_a_failure_in_the_middle_loses_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    index = index_of(a="boat", b="boat")
    assert found(index, "boat") == ["a", "b"]
    index.remove("a")
    index.put("b", "quay", "k", ANYONE)
    index.put("c", "boat", "k", ANYONE)
    with monkeypatch.context() as broken:
        broken.setattr(Postings, "add", lambda *_: (_ for _ in ()).throw(MemoryError()))
        with pytest.raises(MemoryError):
            index.search("boat", 5, Where())
    assert found(index, "boat") == ["c"]
    assert found(index, "quay") == ["b"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(changes, max_size=8), max_size=4), st.lists(st.sampled_from(WORDS), min_size=1), wheres)
def test_scores_are_those_of_an_index_that_never_held_anything_else(
    batches: list[list[tuple[int, tuple[str, Facets] | None]]], words: list[str], where: Where
) -> None:
    index, held, query = WordIndex(), dict[str, tuple[str, Facets]](), " ".join(words)
    for batch in batches:
        for number, content in batch:
            if content is None:
                index.remove(str(number))
                held.pop(str(number), None)
            else:
                index.put(str(number), content[0], "k/boat", content[1])
                held[str(number)] = content
        fresh = WordIndex()
        for memory_id, (text, given_facets) in held.items():
            fresh.put(memory_id, text, "k/boat", given_facets)
        assert index.search(query, 3, where) == fresh.search(query, 3, where)


def test_the_score_is_bm25() -> None:
    index = index_of(a="boat boat quay", b="quay lamp", c="lamp lamp lamp lamp")
    score = {hit.memory_id: hit.score for hit in index.search("boat quay", 5, Where())}

    def bm25(count: int, rows: int, length: int) -> float:
        rarity = math.log(1 + (3 - rows + 0.5) / (rows + 0.5))
        return rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * length / 3))

    assert score == pytest.approx({"a": bm25(2, 1, 3) + bm25(1, 2, 3), "b": bm25(1, 2, 2)})


def test_rows_asked_for_are_scored_too_if_they_share_a_word_and_the_filter_admits_them() -> None:
    index = index_of(a="boat boat", b="boat and quay", c="lamp")
    index.put("d", "boat in a long and wordy text", "k", Facets(MemoryType.SEMANTIC, "ada", Status.ACTIVE))
    where = Where(user_ids=frozenset({"-"}))
    assert [hit.memory_id for hit in index.search("boat", 1, where, also=["b", "a", "c", "d", "gone"])] == ["a", "b"]


def test_rows_are_found_the_same_after_most_of_the_others_were_forgotten() -> None:
    index, kept = WordIndex(), WordIndex()
    for number in range(3 * DEAD_ROWS_MIN):
        index.put(f"{number}", f"boat {number} at quay {number % 7}", f"k/{number % 5}", ANYONE)
        if number % 4 == 0:
            kept.put(f"{number}", f"boat {number} at quay {number % 7}", f"k/{number % 5}", ANYONE)
    index.catch_up()
    for number in range(3 * DEAD_ROWS_MIN):
        if number % 4:
            index.remove(f"{number}")
    for query in ("quay 3", "boat 8", "boat 9", "k"):
        assert index.search(query, 20, Where()) == kept.search(query, 20, Where())


def test_a_backlog_is_told_of_and_caught_up_with() -> None:
    index = index_of(**{f"m{number}": "boat" for number in range(BACKLOG_ROWS_MAX + 1)})
    assert index.is_behind
    index.catch_up()
    assert not index.is_behind
    assert len(found(index, "boat", k=1000)) == BACKLOG_ROWS_MAX + 1


def test_catching_up_ends_when_the_index_is_closed() -> None:
    index = index_of(**{f"m{number}": "boat" for number in range(BACKLOG_ROWS_MAX + 1)})
    index.close()
    index.catch_up()
    assert index.is_behind


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Sie besuchte die alten Häuser am Hafen", "Haus"),
        ("Nous préférons les chevaux noirs du moulin", "préférer"),
        ("Мы встретились в библиотеке у реки", "библиотека"),
        ("She went to the children's museum", "child goes"),
        ("明日は Ferries で帰る", "ferry"),
    ],
)
def test_forms_of_a_word_are_found_in_the_language_of_the_row(text: str, query: str) -> None:
    index = index_of(wanted=text, other="nothing of the kind", more="eine andere Zeile, die nichts damit zu tun hat")
    assert found(index, query)[0] == "wanted"
