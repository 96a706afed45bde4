"""How much may one request have its texts looked at by regexes?"""

from __future__ import annotations

from dataclasses import dataclass

from loom_ray.core.refusal.pattern import CHECK_BUDGET


@dataclass(slots=True)
class Budget:
    """Of one request; `spent` are the bytes times the instructions that were checked so far."""

    spent: int = 0

    def spend(self, cost: int) -> str:
        """Why there is not enough left, or nothing. What is not checked costs nothing: smaller values still fit."""
        if cost > CHECK_BUDGET:
            return "too long to check against the regexes that hold here: shorten the value"
        if self.spent + cost > CHECK_BUDGET:
            return "too long to check together with the rest of the request: send it in a smaller request"
        self.spent += cost
        return ""
