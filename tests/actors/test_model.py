"""Does the namespace do what its documentation says? Random programs against a small model that was written from it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from model.playing import play
from model.programs import Step, programs
from model.texts import CONFLICT, FILLED, TEXTS, relation
from scene import CALIBRATION, vector_of

from loom_ray.core.judging.pair import PairKind, judge_pair
from loom_ray.core.judging.thresholds import Threshold, Thresholds

_MEASURED = CALIBRATION.thresholds


@pytest.mark.parametrize(("ours", "theirs"), [*product(TEXTS, TEXTS)])
@pytest.mark.parametrize("same_key", [True, False])
def test_the_table_of_texts_is_what_the_judge_says(ours: str, theirs: str, same_key: bool) -> None:
    thresholds = Thresholds(*(Threshold(value, "calibration") for value in (_MEASURED.conflict, _MEASURED.duplicate)))
    one, other = TEXTS[ours], TEXTS[theirs]
    similarity = float(vector_of(one).astype(np.float32) @ vector_of(other).astype(np.float32))
    verdict = judge_pair(one, other, similarity, thresholds, same_key=same_key)
    kind = FILLED if verdict.kind is PairKind.CONFLICT and verdict.templated else str(verdict.kind)
    assert kind == relation(ours, theirs, same_key=same_key)


def test_programs_and_the_model_agree(request: pytest.FixtureRequest) -> None:
    """`pytest tests/actors/test_model.py --programs N` plays N of them."""
    count = request.config.getoption("--programs", default=80)

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=count == 80,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(programs())
    def agree(program: list[Step]) -> None:
        play(program)

    agree()


def test_conflicts_are_in_the_table() -> None:
    assert {CONFLICT, FILLED} <= {relation(one, other) for one, other in product(TEXTS, TEXTS)}
