"""How do people settle what waits for them? The queue of conflicts, and rows that say the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice

from loom_ray.actors.changing import by
from loom_ray.actors.home import Home
from loom_ray.actors.writing import Remember, carry_out
from loom_ray.contract.conflicts import (
    AllowlistListAnswer,
    AllowlistListRequest,
    ConflictsListAnswer,
    ConflictsListRequest,
    ProposeRevisionAnswer,
    ProposeRevisionRequest,
    ResolveRequest,
)
from loom_ray.contract.duplicates import (
    DedupCollapseRequest,
    DedupListAnswer,
    DedupListRequest,
    ResolveOrphansRequest,
)
from loom_ray.contract.scope import Receipt
from loom_ray.core.decide.duplicates import decide_dedup_collapse, decide_orphans
from loom_ray.core.decide.resolve import decide_resolve, decide_resolve_group
from loom_ray.core.draft import By
from loom_ray.core.read.allowlist import list_allowed
from loom_ray.core.read.conflicts import (
    Cause,
    Pair,
    conflicted_rows,
    conflicting_pairs,
    list_conflicts,
    list_groups,
)
from loom_ray.core.read.duplicates import duplicates_under, list_clusters, orphans
from loom_ray.core.read.proposals import propose

CAUSES_AT_ONCE = 100  # about 20 ms of a thread


# ---- conflicts -----------------------------------------------------------------------------------------------------
async def conflicts(home: Home, request: ConflictsListRequest) -> ConflictsListAnswer:
    if request.group_by or request.group_id:
        await _learn_causes(home, request.user_id)
    rows = conflicted_rows(home.state, request.user_id, home.now())
    if request.group_by:
        answer = list_groups(_groups(home, request.user_id), request)
    else:
        if request.group_id:
            wanted = {row.memory_id for pair in _pairs_of(home, request) for row in pair}
            rows = [row for row in rows if row.memory_id in wanted]
        answer = list_conflicts(home.state, request, rows, home.namespace, home.settings.list_limit_max)
    await home.durable()
    return answer


async def propose_revision(home: Home, request: ProposeRevisionRequest) -> ProposeRevisionAnswer:
    answer = propose(home.state, request)
    await home.durable()
    return answer


async def resolve(home: Home, request: ResolveRequest, remember: Remember) -> Receipt:
    """A group is the pairs that it holds in the turn that decides."""
    who = by("conflicts.resolve", request)
    if request.resolved_by != "-":
        who = By(who.action, f"human:{request.resolved_by}", who.run_id)
    if not request.group_id:
        draft = home.draft(who)
        return await carry_out(home, draft, decide_resolve(draft, request), remember)
    await _learn_causes(home, request.user_id)
    draft = home.draft(who)
    pairs = [(pair.row.memory_id, pair.peer.memory_id) for pair in _pairs_of(home, request)]
    answer = decide_resolve_group(draft, request, pairs, home.settings.resolve_pairs_max)
    return await carry_out(home, draft, answer, remember)


async def _learn_causes(home: Home, user_id: str) -> None:
    """Works out in a thread, a slice at a time, what the turn that answers would have to work out by itself."""
    rows = conflicted_rows(home.state, user_id, home.now())
    unknown = iter(home.causes.unknown(conflicting_pairs(home.state, rows)))
    while part := list(islice(unknown, CAUSES_AT_ONCE)):
        await asyncio.to_thread(home.causes.learn, part)


def _groups(home: Home, user_id: str) -> dict[Cause, list[Pair]]:
    rows = conflicted_rows(home.state, user_id, home.now())
    return home.causes.by_group(conflicting_pairs(home.state, rows))


def _pairs_of(home: Home, request: ConflictsListRequest | ResolveRequest) -> Sequence[Pair]:
    groups = _groups(home, request.user_id).items()
    return next((pairs for cause, pairs in groups if cause.group_id == request.group_id), ())


async def allowlist(home: Home, request: AllowlistListRequest) -> AllowlistListAnswer:
    answer = list_allowed(home.state, request)
    await home.durable()
    return answer


# ---- duplicates ----------------------------------------------------------------------------------------------------
async def dedup_list(home: Home, request: DedupListRequest) -> DedupListAnswer:
    answer = list_clusters(home.state, request, home.now())
    await home.durable()
    return answer


async def dedup_collapse(home: Home, request: DedupCollapseRequest, remember: Remember) -> Receipt:
    draft = home.draft(by("memory.dedup_collapse", request))
    rows = duplicates_under(home.state, request.prefix, draft.now)
    answer = decide_dedup_collapse(draft, request, rows, home.settings.resolve_pairs_max)
    return await carry_out(home, draft, answer, remember, request.dry_run)


async def resolve_orphans(home: Home, request: ResolveOrphansRequest, remember: Remember) -> Receipt:
    draft = home.draft(by("memory.resolve_orphan_duplicates", request))
    answer = decide_orphans(draft, request, orphans(home.state, request.prefix))
    return await carry_out(home, draft, answer, remember, request.dry_run)
