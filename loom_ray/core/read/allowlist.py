"""Which pairs of keys are never flagged?"""

from __future__ import annotations

from loom_ray.contract.conflicts import AllowedPair, AllowlistListAnswer, AllowlistListRequest
from loom_ray.contract.fields import to_rfc3339
from loom_ray.core.read.cursor import read_cursor, write_cursor
from loom_ray.core.records import Allowed
from loom_ray.core.state import State


def list_allowed(state: State, request: AllowlistListRequest) -> AllowlistListAnswer:
    """One page, in the order of the keys."""
    after = read_cursor(request.cursor, str, str)
    key = request.memory_key
    fitting = [pair for pair in state.allowed.values() if key is None or key in (pair.key_a, pair.key_b)]
    rest = [pair for pair in fitting if after is None or (pair.key_a, pair.key_b) > after]
    page = rest[: request.limit]
    more = len(rest) > len(page)
    return AllowlistListAnswer(
        rows=[_shown(pair) for pair in page],
        count=len(fitting),
        next_cursor=write_cursor((page[-1].key_a, page[-1].key_b)) if page and more else "",
    )


def _shown(pair: Allowed) -> AllowedPair:
    return AllowedPair(
        memory_key_a=pair.key_a,
        memory_key_b=pair.key_b,
        reason=pair.reason,
        resolved_by=pair.actor,
        created_at=to_rfc3339(pair.at),
    )
