"""Which rules hold in this namespace now? What decisions need to know beside the state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loom_ray.contract.settings import Settings
from loom_ray.core.judging.thresholds import Thresholds, ThresholdValues, resolve_thresholds
from loom_ray.core.row import MemoryType

DAY_NS = 86_400 * 1_000_000_000


@dataclass(frozen=True, slots=True)
class Rules:
    """The server's settings, the namespace's own (as registered) and the live embedder's calibration."""

    settings: Settings
    registered: Mapping[str, Any] = field(default_factory=dict[str, Any])
    calibration: ThresholdValues | None = None

    @property
    def policy(self) -> str:
        return str(self.registered.get("default_conflict_policy") or "auto_reinforce")

    def thresholds(self, memory_type: MemoryType) -> Thresholds:
        by_type: dict[str, float] = self.registered.get("dedup_thresholds") or {}
        fallback = ThresholdValues(self.settings.conflict_threshold, self.settings.duplicate_threshold)
        return resolve_thresholds(
            memory_type, by_type, self.registered, self.calibration, fallback, self.settings.adaptive_thresholds
        )
