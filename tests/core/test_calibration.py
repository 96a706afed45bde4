"""Do the thresholds follow from the probe, and does the packaged probe hold what it must?"""

from __future__ import annotations

from collections import Counter
from importlib.resources import files
from typing import get_args

import pytest

from loom_ray.core.calibration import Label, calibrate, parse_probe
from loom_ray.core.records import EmbedderStamp

STAMP = EmbedderStamp("e", 4, "p")
LABELS: list[Label] = [label for label in get_args(Label) for _ in range(2)]


def similarities(**by_label: tuple[float, float]) -> list[float]:
    given = {
        "paraphrase": (0.7, 0.8),
        "restatement": (0.98, 1.0),
        "update": (0.8, 0.9),
        "contradiction": (0.85, 0.9),
        "compatible": (0.3, 0.5),
        "unrelated": (0.0, 0.1),
    } | by_label
    return [value for label in get_args(Label) for value in given[label]]


def test_the_conflict_threshold_lies_equally_many_deviations_from_both():
    calibration = calibrate(LABELS, similarities(), STAMP, True)
    assert calibration.thresholds is not None
    same = [0.7, 0.8, 0.8, 0.9, 0.85, 0.9]
    mean = sum(same) / 6
    deviation = (sum((value - mean) ** 2 for value in same) / 6) ** 0.5
    threshold = calibration.thresholds.conflict
    assert (threshold - 0.4) / 0.1 == pytest.approx((mean - threshold) / deviation, abs=0.01)


def test_the_duplicate_threshold_is_three_deviations_below_the_restatements():
    calibration = calibrate(LABELS, similarities(), STAMP, True)
    assert calibration.thresholds is not None
    assert calibration.thresholds.duplicate == pytest.approx(0.99 - 3 * 0.01)


def test_the_duplicate_threshold_is_never_below_the_conflict_threshold():
    calibration = calibrate(LABELS, similarities(restatement=(0.3, 1.0)), STAMP, True)
    assert calibration.thresholds is not None
    assert calibration.thresholds.duplicate == calibration.thresholds.conflict


def test_what_was_measured_is_told():
    calibration = calibrate(LABELS, similarities(), STAMP, True)
    assert (calibration.origin, calibration.embedder, calibration.pairs) == ("calibration", STAMP, 12)
    assert calibration.groups["compatible"].mean == pytest.approx(0.4)
    assert calibration.groups["compatible"].deviation == pytest.approx(0.1)
    assert calibration.balanced_accuracy == 1.0
    assert calibration.note == ""


def test_an_embedder_of_spelling_gets_thresholds_and_a_warning():
    calibration = calibrate(LABELS, similarities(), STAMP, False)
    assert calibration.thresholds is not None
    assert "spelling" in calibration.note


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_an_embedder_that_tells_nothing_apart_leaves_the_settings_in_force(value):
    calibration = calibrate(LABELS, [value] * len(LABELS), STAMP, True)
    assert calibration.thresholds is None
    assert "settings" in calibration.note


def test_an_embedder_without_any_spread_still_gets_a_middle():
    values = similarities(
        paraphrase=(1, 1), restatement=(1, 1), update=(1, 1), contradiction=(1, 1), compatible=(0, 0), unrelated=(0, 0)
    )
    calibration = calibrate(LABELS, values, STAMP, True)
    assert calibration.thresholds is not None
    assert calibration.thresholds.conflict == 0.5


def test_a_probe_with_a_label_missing_is_refused():
    with pytest.raises(ValueError, match="update"):
        calibrate(["paraphrase"], [0.5], STAMP, True)
    with pytest.raises(ValueError, match="unknown"):
        parse_probe('{"label": "odd", "a": "x", "b": "y"}')


def test_the_packaged_probe_is_varied():
    text = files("loom_ray.core").joinpath("probe.jsonl").read_text(encoding="utf-8")
    pairs = parse_probe(text)
    counts = Counter(pair.label for pair in pairs)
    assert 70 <= len(pairs) <= 100
    assert all(counts[label] >= 10 for label in get_args(Label))
    assert text.count('"lang": "en"') <= 0.7 * len(pairs)
    assert all(pair.a != pair.b for pair in pairs)
