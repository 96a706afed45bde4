"""How do the ops wait that change stored rows without a new value? Most not at all; what comes back is judged first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from loom_ray.actors.home import Home
from loom_ray.actors.reading import best_of
from loom_ray.actors.refusing import Gate
from loom_ray.actors.writing import Looked, Remember, carry_out, home_vectors, look
from loom_ray.contract.changing import MoveAnswer, MoveRequest, RestoreRequest
from loom_ray.contract.many import ApplyRequest, ClearRequest
from loom_ray.contract.namespaces import NamespaceSettings, RegisterAnswer, RegisterRequest
from loom_ray.contract.reading import SearchRequest
from loom_ray.contract.scope import Receipt, Writes
from loom_ray.core.decide.arrive import Arriving, decide_move, decide_restore, movable, not_restored, restorable
from loom_ray.core.decide.claim import actor_of
from loom_ray.core.decide.guards import blacklisted
from loom_ray.core.decide.many import decide_apply, decide_clear, filtered, may_apply, rows_of_subject
from loom_ray.core.draft import By, Draft

Decision = Callable[[Draft, Any], Receipt]


def at_once(op: str, decide: Decision) -> Callable[[Home, Any, Remember], Any]:
    """The handler of an op that needs nothing but the state: decided and applied in one turn."""

    async def handle(home: Home, request: Writes, remember: Remember) -> Receipt:
        draft = home.draft(by(op, request))
        return await carry_out(home, draft, decide(draft, request), remember)

    return handle


def by(op: str, request: Writes) -> By:
    return By(op, actor_of(request.agent), request.run_id)


async def restore(home: Home, request: RestoreRequest, remember: Remember) -> Receipt:
    """Judged like a write, by the vectors that the row kept."""
    who = by("memory.restore", request)
    looked: Looked | None = None
    gate = Gate(home.refusals)
    while True:
        draft = home.draft(who)
        arriving = restorable(draft, request, home.rules)
        if arriving is None:
            return await carry_out(home, draft, not_restored(draft, request, home.rules), remember)
        if not await _passes(home, gate, arriving):
            continue
        if looked is not None and looked.serves(arriving.settled):
            answer = decide_restore(draft, arriving, looked.now(home).near, home.rules)
            return await carry_out(home, draft, answer, remember)
        looked = await _look_around(home, arriving)


async def move(home: Home, request: MoveRequest, remember: Remember) -> Receipt:
    """The row takes its vectors along."""
    who, fresh_id = by("memory.move", request), home.fresh_ids(1)[0]
    looked: Looked | None = None
    gate = Gate(home.refusals)
    while True:
        draft = home.draft(who)
        arriving = movable(draft, request, fresh_id)
        if arriving is None:
            none = MoveAnswer(moved=False, memory_key=request.memory_key, reason="not_found")
            return await carry_out(home, draft, none, remember)
        if not await _passes(home, gate, arriving):
            continue
        if looked is not None and looked.serves(arriving.settled):
            vectors = looked.vectors if arriving.row.is_searched else None
            answer = decide_move(draft, request, arriving, looked.now(home).near, vectors, home.rules)
            return await carry_out(home, draft, answer, remember)
        looked = await _look_around(home, arriving)


async def _passes(home: Home, gate: Gate, arriving: Arriving) -> bool:
    """False where it had to be looked at first. Raises Blacklisted, of what may not come back."""
    marked = gate.marked([arriving.settled])
    if marked is None:
        await gate.look([arriving.settled])
        return False
    (claim,) = marked
    if claim.refused is not None:
        home.refusals.note(claim.refused)
        raise blacklisted(claim.refused, "memory_key")
    return True


async def _look_around(home: Home, arriving: Arriving) -> Looked:
    await home.calibrated()
    return await look(home, arriving.settled, home_vectors(home, arriving.row), stored=True)


async def apply(home: Home, request: ApplyRequest, remember: Remember) -> Receipt:
    found = [] if request.query is None else await _searched(home, request)
    draft = home.draft(by("memory.apply", request))
    targets = [row for row in (draft.row(memory_id) for memory_id in found) if row is not None]
    targets = [row for row in targets if may_apply(row, request, draft.now)]
    if request.filter is not None:
        targets = filtered(home.state, request, request.filter, draft.now)
    answer = decide_apply(draft, request, targets, home.settings)
    return await carry_out(home, draft, answer, remember, request.dry_run)


async def _searched(home: Home, request: ApplyRequest) -> list[str]:
    """The best of the rows that the request may reach: it looks further until it has as many as asked for."""
    assert request.query is not None
    assert request.limit is not None
    search = SearchRequest.model_construct(query=request.query, user_id=request.user_id, include_duplicates=True)
    k = request.limit
    while True:
        hits = await best_of(home, search, k)
        rows = ((hit.memory_id, home.state.rows.get(hit.memory_id)) for hit in hits)
        mine = [name for name, row in rows if row is not None and may_apply(row, request, home.now())]
        if len(mine) >= request.limit or len(hits) < k:
            return mine[: request.limit]
        k *= 4


async def clear(home: Home, request: ClearRequest, remember: Remember) -> Receipt:
    draft = home.draft(by("memory.clear", request))
    rows = rows_of_subject(home.state, request)
    return await carry_out(home, draft, decide_clear(draft, request, rows, home.settings.clear_rows_max), remember)


async def register(home: Home, request: RegisterRequest, remember: Remember) -> Receipt:
    named = request.model_dump(include=request.model_fields_set & NamespaceSettings.model_fields.keys())
    settings = NamespaceSettings(**(home.state.settings | {name: v for name, v in named.items() if v is not None}))
    draft = home.draft(by("namespace.register", request))
    draft.register(settings.model_dump())
    answer = RegisterAnswer(org=home.org, namespace=home.namespace, settings=settings)
    return await carry_out(home, draft, answer, remember)
