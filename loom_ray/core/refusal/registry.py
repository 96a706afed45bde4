"""Which patterns are there, which hold where, how often was each met? Changed by nothing but the keeper's log."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from loom_ray.contract.blacklist import PatternFields
from loom_ray.core.decide.claim import actor_of
from loom_ray.core.records import PatternHits, PatternRemoved, Record
from loom_ray.core.refusal.pattern import Pattern, PatternScope, PatternType, precedence


@dataclass(frozen=True, slots=True)
class Effective:
    """The patterns that hold in one namespace, widest scope first and oldest first within one, as of `version`."""

    version: int
    patterns: tuple[Pattern, ...]


class Registry:
    """Not thread-safe: it belongs to one actor's loop."""

    def __init__(self) -> None:
        self.patterns: dict[str, Pattern] = {}
        self.hits: Counter[str] = Counter()
        self.version = 0  # of the newest change: ns, strictly rising

    def load(self, patterns: Iterable[tuple[Pattern, int]], version: int) -> None:
        """As a snapshot holds them, each with its hits."""
        for pattern, hits in patterns:
            self.patterns[pattern.pattern_id] = pattern
            self.hits[pattern.pattern_id] = hits
        self.version = version

    def apply(self, record: Record) -> None:
        match record:
            case Pattern():
                self.patterns[record.pattern_id] = record
                self.version = max(self.version, record.created_at)
            case PatternRemoved(pattern_id, at):
                self.patterns.pop(pattern_id, None)
                self.hits.pop(pattern_id, None)
                self.version = max(self.version, at)
            case PatternHits(hits):
                self.hits.update({name: count for name, count in hits.items() if name in self.patterns})
            case _:
                pass

    def effective(self, org: str, namespace: str) -> Effective:
        held = [pattern for pattern in self.patterns.values() if holds_in(pattern, org, namespace)]
        return Effective(self.version, tuple(sorted(held, key=precedence)))

    def of_scope(self, like: Pattern) -> list[Pattern]:
        """Those of exactly the same scope."""
        place = (like.scope, like.org, like.namespace)
        return [one for one in self.patterns.values() if (one.scope, one.org, one.namespace) == place]


def holds_in(pattern: Pattern, org: str, namespace: str) -> bool:
    match pattern.scope:
        case PatternScope.GLOBAL:
            return True
        case PatternScope.ORG:
            return pattern.org == org
        case PatternScope.NAMESPACE:
            return (pattern.org, pattern.namespace) == (org, namespace)


def pattern_of(asked: PatternFields, reason: str, created_at: int) -> Pattern:
    """What a request describes. The same pattern in the same scope has the same id, whoever adds it how often."""
    scope = PatternScope(asked.scope)
    org = "" if scope is PatternScope.GLOBAL else asked.org
    namespace = asked.namespace if scope is PatternScope.NAMESPACE else ""
    told = (scope, org, namespace, asked.pattern_type, "fold" if asked.fold else "", asked.pattern)
    return Pattern(
        pattern_id="p-" + hashlib.sha256("\0".join(told).encode("utf-8")).hexdigest()[:24],
        pattern=asked.pattern,
        pattern_type=PatternType(asked.pattern_type),
        scope=scope,
        org=org,
        namespace=namespace,
        reason=reason,
        fold=asked.fold,
        created_at=created_at,
        actor=actor_of(asked.agent),
    )
