"""Does the vector index find what a look at every row would find, while rows come and go?"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from loom_ray.core.ranking import Hit
from loom_ray.core.row import LIVE, MemoryType, Status
from loom_ray.core.similarity import Matrix, similarities
from loom_ray.storage import vectors as vectors_module
from loom_ray.storage.facets import Facets, Where, peers_where
from loom_ray.storage.vectors import VectorIndex

DIMENSIONS = 16
ANYONE = Facets(MemoryType.SEMANTIC, "-", Status.ACTIVE)


def unit_vectors(rows: int, seed: int, dimensions: int = DIMENSIONS) -> Matrix:
    drawn = np.random.default_rng(seed).standard_normal((rows, dimensions))
    return (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float16)


def ids_of(hits: Sequence[Hit]) -> list[str]:
    return [hit.memory_id for hit in hits]


def filled(rows: int, dimensions: int = DIMENSIONS) -> tuple[VectorIndex, Matrix]:
    index, matrix = VectorIndex(dimensions), unit_vectors(rows, 1, dimensions)
    for number, vector in enumerate(matrix):
        index.put(f"{number:06}", vector[None, :], ANYONE)
    return index, matrix


class Naive:
    """What the index should answer: a dictionary, and a look at every row."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[Matrix, Facets]] = {}

    def search(self, query: Matrix, k: int, where: Where, *, excerpts_only: bool) -> list[Hit]:
        hits: list[Hit] = []
        for memory_id, (vectors, facets) in self.held.items():
            if where.admits(facets):
                near = similarities(query[None, :], vectors[:1] if excerpts_only else vectors)[0]
                hits.append(Hit(memory_id, float(near.max()), int(near.argmax())))
        return sorted(hits, key=lambda hit: (-hit.similarity, hit.memory_id))[:k]


facets = st.builds(
    Facets,
    memory_type=st.sampled_from(list(MemoryType)[:2]),
    user_id=st.sampled_from(["-", "ada", "ben"]),
    status=st.sampled_from(list(Status)),
    tags=st.lists(st.sampled_from(["red", "green", "blue"]), max_size=2).map(tuple),
    until=st.none() | st.integers(1, 9),
)
wheres = st.builds(
    Where,
    memory_types=st.none() | st.frozensets(st.sampled_from(list(MemoryType)[:3])),
    user_ids=st.none() | st.frozensets(st.sampled_from(["-", "ada", "ben", "nobody-known"])),
    statuses=st.none() | st.just(LIVE) | st.frozensets(st.sampled_from(list(Status))),
    tags=st.frozensets(st.sampled_from(["red", "blue", "unknown"])),
    at=st.none() | st.integers(0, 10),
)
# Few directions, so that equal vectors and equal similarities are common.
directions = st.integers(0, 11).map(lambda seed: unit_vectors(1, seed)[0])
rows = st.lists(directions, min_size=1, max_size=4).map(np.stack)


class IndexAgainstNaive(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.index, self.naive = VectorIndex(DIMENSIONS), Naive()
        self.views: list[tuple[vectors_module.View, Naive]] = []

    @rule(number=st.integers(0, 30), vectors=rows, given=facets)
    def put(self, number: int, vectors: Matrix, given: Facets) -> None:
        self.index.put(f"m{number:02}", vectors, given)
        self.naive.held[f"m{number:02}"] = (vectors, given)

    @rule(start=st.integers(0, 9), vectors=directions, given=facets)
    def put_many(self, start: int, vectors: Matrix, given: Facets) -> None:
        for number in range(start * 10, start * 10 + 10):
            self.put(number, vectors[None, :], given)

    @rule(number=st.integers(0, 99))
    def remove(self, number: int) -> None:
        self.index.remove(f"m{number:02}")
        self.naive.held.pop(f"m{number:02}", None)

    @rule(number=st.integers(0, 99), given=facets)
    def change_facets(self, number: int, given: Facets) -> None:
        memory_id = f"m{number:02}"
        if memory_id in self.naive.held:
            self.index.put(memory_id, None, given)
            self.naive.held[memory_id] = (self.naive.held[memory_id][0], given)
        else:
            with pytest.raises(KeyError):
                self.index.put(memory_id, None, given)

    @rule()
    def take_view(self) -> None:
        frozen = Naive()
        frozen.held = dict(self.naive.held)
        self.views = [*self.views[-2:], (self.index.view(), frozen)]

    @rule(queries=st.lists(directions, min_size=1, max_size=3), k=st.integers(0, 12), where=wheres, deep=st.booleans())
    def search(self, queries: list[Matrix], k: int, where: Where, deep: bool) -> None:
        for view, naive in [*self.views, (self.index.view(), self.naive)]:
            found = view.search(np.stack(queries), k, where, excerpts_only=not deep)
            assert found == [naive.search(query, k, where, excerpts_only=not deep) for query in queries]

    @rule()
    def what_is_newer_than_a_view(self) -> None:
        for view, frozen in self.views:
            ids, matrix = self.index.newer_than(view.mark)
            changed = {each for each, held in self.naive.held.items() if frozen.held.get(each) is not held}
            assert changed <= set(ids) <= set(self.naive.held)
            assert (matrix == np.array([self.naive.held[each][0][0] for each in ids]).reshape(-1, DIMENSIONS)).all()

    @invariant()
    def vectors_come_back_bit_for_bit(self) -> None:
        assert len(self.index) == len(self.naive.held)
        for memory_id, (vectors, _) in self.naive.held.items():
            assert self.index.vectors_of(memory_id).tobytes() == vectors.tobytes()

    @invariant()
    def the_mean_is_that_of_the_excerpts_to_the_last_bit(self) -> None:
        excerpts = [vectors[0].astype(np.float64) for vectors, _ in self.naive.held.values()]
        expected = sum(excerpts, np.zeros(DIMENSIONS)) / max(len(excerpts), 1)
        assert self.index.view().mean.tobytes() == expected.tobytes()


IndexAgainstNaive.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestIndexAgainstNaive = IndexAgainstNaive.TestCase


def test_what_load_fills_answers_as_what_was_put_one_by_one() -> None:
    counts = [1, 3, 1, 2] * 50
    matrix, ids = unit_vectors(sum(counts), 3), [f"{number:03}" for number in range(200)]
    loaded, put, end = VectorIndex(DIMENSIONS), VectorIndex(DIMENSIONS), 0
    loaded.load(ids, counts, matrix, [ANYONE] * 200)
    for memory_id, count in zip(ids, counts, strict=True):
        put.put(memory_id, matrix[end : end + count], ANYONE)
        end += count
    queries = unit_vectors(5, 4)
    answers = [index.view().search(queries, 10, Where(), excerpts_only=False) for index in (loaded, put)]
    assert answers[0] == answers[1]
    assert loaded.newer_than(0)[0] == []


def test_a_centred_query_passes_over_what_all_rows_have_in_common() -> None:
    common, own = np.eye(DIMENSIONS)[0], np.eye(DIMENSIONS)[1:]
    index = VectorIndex(DIMENSIONS)
    index.put("plain", common[None, :].astype(np.float16), ANYONE)
    for number in range(8):
        index.put(f"{number}", ((0.8 * common + 0.6 * own[number])[None, :]).astype(np.float16), ANYONE)
    view, query = index.view(), ((0.9 * common + 0.4 * own[3])[None, :]).astype(np.float16)
    assert ids_of(view.search(query, 1, Where(), excerpts_only=True)[0]) == ["3"]
    query = ((0.98 * common + 0.2 * own[3])[None, :]).astype(np.float16)
    assert ids_of(view.search(query, 1, Where(), excerpts_only=True)[0]) == ["plain"]
    assert ids_of(view.search(view.centred(query), 1, Where(), excerpts_only=True)[0]) == ["3"]


def test_a_centred_query_is_as_long_as_any_other_and_finite_where_it_is_the_mean() -> None:
    index, matrix = filled(1)
    assert index.view().centred(matrix).tobytes() == matrix.tobytes()
    index, matrix = filled(50)
    centred = index.view().centred(unit_vectors(1, 7))
    assert np.linalg.norm(centred.astype(np.float64)) == pytest.approx(1.0, abs=1e-3)


def test_load_refuses_what_does_not_fit() -> None:
    index, matrix = VectorIndex(DIMENSIONS), unit_vectors(3, 1)
    with pytest.raises(ValueError, match="2 vectors counted"):
        index.load(["a", "b"], [1, 1], matrix, [ANYONE] * 2)
    index.put("a", matrix[:1], ANYONE)
    with pytest.raises(ValueError, match="given"):
        index.load(["b"], [1], matrix[:1], [ANYONE])


@pytest.mark.parametrize(
    "vectors",
    [
        unit_vectors(1, 1).astype(np.float32),
        unit_vectors(1, 1, 8),
        unit_vectors(1, 1)[0],
        np.empty((0, DIMENSIONS), dtype=np.float16),
        np.full((1, DIMENSIONS), np.nan, dtype=np.float16),
    ],
)
def test_vectors_of_another_kind_are_refused(vectors: Matrix) -> None:
    index, _ = filled(1)
    with pytest.raises(ValueError, match=r"expected float16|not finite"):
        index.put("x", vectors, ANYONE)
    assert "x" not in index


def test_a_small_user_is_not_starved_by_a_large_one() -> None:
    index, matrix = filled(3000)
    far = -matrix[7][None, :]
    index.put("small", far, Facets(MemoryType.SEMANTIC, "small", Status.ACTIVE))
    hits = index.view().search(matrix[7][None, :], 3, Where(user_ids=frozenset({"small"})), excerpts_only=True)[0]
    assert ids_of(hits) == ["small"]


def test_peers_are_live_rows_of_the_type_of_mine_or_of_nobody() -> None:
    index, vector = VectorIndex(DIMENSIONS), unit_vectors(1, 1)
    for name, memory_type, user_id, status in [
        ("mine", MemoryType.SEMANTIC, "ada", Status.ACTIVE),
        ("disputed", MemoryType.SEMANTIC, "ada", Status.CONFLICTED),
        ("nobody's", MemoryType.SEMANTIC, "-", Status.ACTIVE),
        ("another's", MemoryType.SEMANTIC, "ben", Status.ACTIVE),
        ("other type", MemoryType.DECISION, "ada", Status.ACTIVE),
        ("gone", MemoryType.SEMANTIC, "ada", Status.TOMBSTONED),
    ]:
        index.put(name, vector, Facets(memory_type, user_id, status))

    def peers(user_id: str) -> list[str]:
        where = peers_where(MemoryType.SEMANTIC, user_id)
        return ids_of(index.view().search(vector, 24, where, excerpts_only=True)[0])

    assert peers("ada") == ["disputed", "mine", "nobody's"]
    assert peers("-") == ["another's", "disputed", "mine", "nobody's"]


def test_thousands_of_equal_rows_still_give_the_first_ids() -> None:
    index, vector = VectorIndex(DIMENSIONS), unit_vectors(1, 1)
    for number in reversed(range(2000)):
        index.put(f"{number:04}", vector, ANYONE)
    hits = index.view().search(vector, 3, Where(), excerpts_only=True)[0]
    assert ids_of(hits) == ["0000", "0001", "0002"]


def test_a_value_of_many_chunks_takes_one_place() -> None:
    index, query = VectorIndex(DIMENSIONS), unit_vectors(1, 1)
    index.put("book", np.repeat(query, 300, axis=0), ANYONE)
    index.put("note", unit_vectors(1, 2), ANYONE)
    hits = index.view().search(query, 2, Where(), excerpts_only=False)[0]
    assert [(hit.memory_id, hit.piece) for hit in hits] == [("book", 0), ("note", 0)]


def test_faiss_rounds_far_less_than_the_search_allows_for() -> None:
    index, _ = filled(3000, 512)
    queries = unit_vectors(20, 9, 512)
    [block] = index.view().excerpts[:1]
    near, found = block.nearest(queries.astype(np.float32), 50, np.ones(len(block.facts), dtype=np.bool_))
    exact = np.take_along_axis(similarities(queries, block.block.vectors), found, axis=1)
    assert np.abs(near - exact).max() < vectors_module.ROUNDING / 10


def test_a_dead_majority_is_swept_away() -> None:
    index, matrix = filled(3000)
    for number in range(3000):
        if number % 100:
            index.remove(f"{number:06}")
    rows_kept = sum(block.block.count for block in index.view().excerpts)
    assert rows_kept < 200
    hits = index.view().search(matrix[100:101], 1, Where(), excerpts_only=True)[0]
    assert ids_of(hits) == ["000100"]


def test_a_view_in_another_thread_never_sees_what_comes_after_it() -> None:
    index, matrix = filled(500)
    view, ready = index.view(), threading.Barrier(2)
    answers: list[list[list[Hit]]] = []

    def search_again_and_again() -> None:
        answers.append(view.search(matrix[:20], 10, Where(), excerpts_only=False))
        ready.wait()
        answers.extend(view.search(matrix[:20], 10, Where(), excerpts_only=False) for _ in range(60))

    searcher = threading.Thread(target=search_again_and_again)
    searcher.start()
    ready.wait()
    for number in range(3000):
        nearer = matrix[number % 20][None, :]
        index.put(f"new{number}", nearer, ANYONE)
        index.put(f"{number % 500:06}", None, Facets(MemoryType.DECISION, "x", Status.TOMBSTONED, ("t",), 5))
        index.remove(f"{(number * 7) % 500:06}")
        index.put(f"{(number * 7) % 500:06}", nearer, ANYONE)
    searcher.join()
    assert answers == [answers[0]] * 61
    assert len(index.newer_than(view.mark)[0]) == 3500
