"""Which thresholds suit an embedder? Measured on labelled probe pairs, so that a model brings its own numbers.

The pages' fallbacks (0.85 and 0.97) suit no embedder that we measured: at 0.85 the local one finds a third of what
it should. The probe set is ours, made for this package: `probe.jsonl` beside this file, one pair a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from loom_ray.core.judging.thresholds import ThresholdValues
from loom_ray.core.records import EmbedderStamp

Label = Literal["paraphrase", "restatement", "update", "contradiction", "compatible", "unrelated"]

_ABOUT_THE_SAME: tuple[Label, ...] = ("paraphrase", "update", "contradiction")
_APART: tuple[Label, ...] = ("compatible", "unrelated")
_USABLE_FROM = 0.6  # balanced accuracy; a coin gets 0.5
_DEVIATIONS = 3.0

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ProbePair:
    """Two statements and how they stand to each other."""

    label: Label
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Group:
    """The similarities of one label's pairs: mean, population standard deviation, number."""

    mean: float
    deviation: float
    pairs: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the probe set says of an embedder. `thresholds` is None where it cannot tell the pairs apart.

    `balanced_accuracy` is of the conflict threshold on the probe itself: the mean of the share of pairs about the same
    thing at or past it and of the share of other pairs below it. `note` is empty, or a warning to show.
    """

    embedder: EmbedderStamp
    semantic: bool
    pairs: int
    thresholds: ThresholdValues | None
    balanced_accuracy: float
    groups: dict[str, Group]
    note: str
    origin: Literal["calibration"] = "calibration"


def parse_probe(text: str) -> list[ProbePair]:
    """The pairs of a probe file: JSON lines with `label`, `lang`, `a` and `b`.

    Raises:
        ValueError: a line that is no such object, or a label that is none of ours.
    """
    pairs = [json.loads(line) for line in text.splitlines() if line.strip()]
    unknown = {pair["label"] for pair in pairs} - set(get_args(Label))
    if unknown:
        raise ValueError(f"unknown probe labels: {sorted(unknown)}")
    return [ProbePair(pair["label"], pair["a"], pair["b"]) for pair in pairs]


def calibrate(
    labels: Sequence[Label], similarities: Iterable[float], embedder: EmbedderStamp, semantic: bool
) -> Calibration:
    """Thresholds from the similarity of each probe pair, in the order of the labels; every label must occur.

    Conflict: where pairs about the same thing and compatible pairs lie equally many standard deviations away,
    `(mean_compat·sd_same + mean_same·sd_compat) / (sd_same + sd_compat)` (it transfers: 0.92 on 412 pairs).
    Duplicate: `mean - 3·sd` of the restatements, and no less than the conflict threshold. By Cantelli's inequality
    nine in ten restatements pass such a bound whatever their distribution. It is a gate only: similarity cannot tell
    "Debian 11" from "Debian 12", so the words decide behind it.
    """
    by_label = _grouped(labels, similarities)
    same = np.concatenate([by_label[label] for label in _ABOUT_THE_SAME])
    apart = np.concatenate([by_label[label] for label in _APART])
    conflict = _between(by_label["compatible"], same)
    restated = by_label["restatement"]
    duplicate = max(conflict, float(restated.mean() - _DEVIATIONS * restated.std()))
    accuracy = float((np.mean(same >= conflict) + np.mean(apart < conflict)) / 2)
    usable = accuracy >= _USABLE_FROM
    return Calibration(
        embedder=embedder,
        semantic=semantic,
        pairs=len(labels),
        thresholds=ThresholdValues(_clipped(conflict), _clipped(duplicate)) if usable else None,
        balanced_accuracy=round(accuracy, 4),
        groups={label: _group(values) for label, values in by_label.items()},
        note=_note(usable, semantic),
    )


def _grouped(labels: Sequence[Label], similarities: Iterable[float]) -> dict[Label, Floats]:
    grouped: dict[Label, list[float]] = {label: [] for label in get_args(Label)}
    for label, similarity in zip(labels, similarities, strict=True):
        grouped[label].append(similarity)
    missing = [label for label, values in grouped.items() if not values]
    if missing:
        raise ValueError(f"the probe has no pair labelled {', '.join(missing)}")
    return {label: np.asarray(values, dtype=np.float64) for label, values in grouped.items()}


def _between(low: Floats, high: Floats) -> float:
    """The point equally many standard deviations above `low` and below `high`; the middle where neither spreads."""
    spread = float(low.std() + high.std())
    if spread == 0.0:
        return float(low.mean() + high.mean()) / 2
    return float(low.mean() * high.std() + high.mean() * low.std()) / spread


def _group(values: Floats) -> Group:
    return Group(round(float(values.mean()), 4), round(float(values.std()), 4), len(values))


def _clipped(value: float) -> float:
    return round(min(max(value, 0.0), 1.0), 4)


def _note(usable: bool, semantic: bool) -> str:
    if not usable:
        return "this embedder does not tell the probe pairs apart: the settings' thresholds are used"
    return "" if semantic else "this embedder compares spelling, not meaning: judge verdicts only with a real one"
