"""Is a similarity exact, whatever sums it?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from loom_ray.core.similarity import similarities


def unit_vectors(rows: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((rows, 512))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


def test_it_is_the_scalar_product_without_any_rounding() -> None:
    queries, rows = unit_vectors(3, 1), unit_vectors(4, 2)
    exact = [
        [sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(q, r, strict=True)) for r in rows] for q in queries
    ]
    assert similarities(queries, rows).tolist() == [[float(value) for value in line] for line in exact]


def test_neither_order_nor_company_changes_it() -> None:
    query, rows = unit_vectors(1, 3), unit_vectors(1000, 4)
    order = np.random.default_rng(5).permutation(512)
    together = similarities(query, rows)
    assert (together == similarities(query[:, order], rows[:, order])).all()
    assert together[0].tolist() == [similarities(row[None, :], query)[0, 0] for row in rows]


def test_it_never_leaves_its_range() -> None:
    rows = unit_vectors(200, 6)
    near = similarities(rows, np.concatenate((rows, -rows)))
    assert near.max() <= 1.0
    assert near.min() >= -1.0
