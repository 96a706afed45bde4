"""Who keeps the refused patterns of a namespace under test? Nobody far away: the test adds them itself."""

from __future__ import annotations

from loom_ray.contract.blacklist import BlacklistAddRequest
from loom_ray.contract.errors import BackendUnavailable
from loom_ray.core.refusal.pattern import Pattern
from loom_ray.core.refusal.registry import Effective, Registry, pattern_of


class Patterns:
    """The keeper as one namespace sees it."""

    def __init__(self) -> None:
        self.registry = Registry()
        self.hits: dict[str, int] = {}
        self.asked = 0
        self.away = False

    async def effective(self) -> Effective:
        self.asked += 1
        if self.away:
            raise BackendUnavailable("the keeper is away")
        return self.registry.effective("dev", "local")

    async def note_hits(self, hits: dict[str, int]) -> None:
        for name, count in hits.items():
            self.hits[name] = self.hits.get(name, 0) + count

    def add(self, pattern: str, **more: object) -> Pattern:
        """Kept; the namespace is told by the test, or asks."""
        asked = BlacklistAddRequest.model_construct(pattern=pattern, **more)
        made = pattern_of(asked, asked.reason, self.registry.version + 1)
        self.registry.apply(made)
        return made
