"""How close must two texts be, and who said so? The thresholds of a verdict, each with its origin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from loom_ray.core.row import MemoryType

Source = Literal["type", "namespace", "calibration", "setting"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A cosine similarity in [0, 1] from which a rule applies, and where the number came from."""

    value: float
    source: Source

    @property
    def is_owners(self) -> bool:
        """Whether an owner set it for these rows: then nothing goes below it."""
        return self.source in ("type", "namespace")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What a verdict is reached with: at or past `conflict` a peer may contradict, at or past `duplicate` restate."""

    conflict: Threshold
    duplicate: Threshold


@dataclass(frozen=True, slots=True)
class ThresholdValues:
    """A pair of plain numbers from one origin: the settings' fallbacks, or an embedder's calibration."""

    conflict: float
    duplicate: float


def resolve_thresholds(
    memory_type: MemoryType,
    type_thresholds: Mapping[str, float],
    namespace_settings: Mapping[str, object],
    calibration: ThresholdValues | None,
    setting: ThresholdValues,
    adaptive: bool,
) -> Thresholds:
    """The nearest origin that sets a number wins.

    Conflict: the type's `dedup_threshold` (`type_thresholds`, by type name), the namespace's `conflict_threshold`,
    the live embedder's calibration if `adaptive`, the setting. Duplicate: the same order without the type's step.
    """
    measured = calibration if adaptive else None
    conflict = (
        _given("type", type_thresholds.get(memory_type))
        or _given("namespace", namespace_settings.get("conflict_threshold"))
        or _given("calibration", measured and measured.conflict)
        or Threshold(setting.conflict, "setting")
    )
    duplicate = (
        _given("namespace", namespace_settings.get("duplicate_threshold"))
        or _given("calibration", measured and measured.duplicate)
        or Threshold(setting.duplicate, "setting")
    )
    return Thresholds(conflict, duplicate)


def _given(source: Source, value: object) -> Threshold | None:
    """A threshold where one is set; 0.0 is a value, not an absence."""
    return Threshold(float(value), source) if isinstance(value, int | float) else None
