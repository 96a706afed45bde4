"""Does the nearest origin of a threshold win, in the pages' order?"""

from __future__ import annotations

import pytest

from loom_ray.core.judging.thresholds import Threshold, ThresholdValues, resolve_thresholds
from loom_ray.core.row import MemoryType

SETTING = ThresholdValues(0.85, 0.97)
MEASURED = ThresholdValues(0.64, 0.9)


@pytest.mark.parametrize(
    ("by_type", "namespace", "calibration", "adaptive", "expected"),
    [
        ({"semantic": 0.5}, {"conflict_threshold": 0.6}, MEASURED, True, Threshold(0.5, "type")),
        ({"decision": 0.5}, {"conflict_threshold": 0.6}, MEASURED, True, Threshold(0.6, "namespace")),
        ({}, {"conflict_threshold": None}, MEASURED, True, Threshold(0.64, "calibration")),
        ({}, {}, MEASURED, False, Threshold(0.85, "setting")),
        ({}, {}, None, True, Threshold(0.85, "setting")),
        ({"semantic": 0.0}, {"conflict_threshold": 0.6}, None, True, Threshold(0.0, "type")),
    ],
)
def test_the_conflict_threshold_comes_from_the_nearest_origin(by_type, namespace, calibration, adaptive, expected):
    resolved = resolve_thresholds(MemoryType.SEMANTIC, by_type, namespace, calibration, SETTING, adaptive)
    assert resolved.conflict == expected


@pytest.mark.parametrize(
    ("namespace", "calibration", "adaptive", "expected"),
    [
        ({"duplicate_threshold": 0.99}, MEASURED, True, Threshold(0.99, "namespace")),
        ({}, MEASURED, True, Threshold(0.9, "calibration")),
        ({}, MEASURED, False, Threshold(0.97, "setting")),
    ],
)
def test_the_duplicate_threshold_skips_the_type(namespace, calibration, adaptive, expected):
    resolved = resolve_thresholds(MemoryType.SEMANTIC, {"semantic": 0.1}, namespace, calibration, SETTING, adaptive)
    assert resolved.duplicate == expected
