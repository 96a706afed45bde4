"""How does a rollback wait? It reads what the cause did, has the earlier texts embedded, and decides in one turn."""

from __future__ import annotations

import sys
from dataclasses import replace

from loom_ray.actors.home import Home
from loom_ray.actors.past import audits, images_of
from loom_ray.actors.writing import Looked, Remember, carry_out, look_up
from loom_ray.contract.errors import PayloadTooLarge
from loom_ray.contract.fields import to_ns
from loom_ray.contract.rollback import RollbackRequest
from loom_ray.contract.scope import Receipt
from loom_ray.core.decide.claim import Settled, actor_of, pieces_of, settled_of
from loom_ray.core.decide.rollback import decide_rollback
from loom_ray.core.decide.rollback_plan import Plan, images_after, needs_vectors, planned
from loom_ray.core.decide.trail import AUTO_SUPERSEDE, EXPIRE, ROLLBACK, caused_by, trails
from loom_ray.core.draft import By, Draft
from loom_ray.core.records import Audited
from loom_ray.core.row import Row
from loom_ray.storage.audits import AuditWanted

ALL = sys.maxsize


async def rollback(home: Home, request: RollbackRequest, remember: Remember) -> Receipt:
    """Planned anew whenever one of the memories changes while the texts are looked up."""
    by = By(ROLLBACK, actor_of(request.agent))
    await home.calibrated()
    while True:
        plan = await _plan(home, request)
        looked: dict[str, Looked] = {}
        draft = home.draft(by)
        while plan.is_current(home.state):
            unknown = [image for image in _to_look_up(draft, plan) if image.memory_id not in looked]
            if not unknown:
                found = {name: one.now(home) for name, one in looked.items()}
                answer = decide_rollback(draft, request, plan, found, home.rules)
                return await carry_out(home, draft, answer, remember, request.dry_run)
            found_now = await look_up(home, [_claim(image) for image in unknown], list(range(len(unknown))))
            looked |= {unknown[place].memory_id: one for place, one in found_now.items()}
            draft = home.draft(by)


def _to_look_up(draft: Draft, plan: Plan) -> list[Row]:
    return [image for image in images_after(draft, plan).values() if needs_vectors(draft, image)]


def _claim(image: Row) -> Settled:
    return replace(settled_of(image), pieces=pieces_of(image.value, image.memory_key))


async def _plan(home: Home, request: RollbackRequest) -> Plan:
    """Raises PayloadTooLarge where the cause did more than one rollback may concern."""
    caused = await _caused(home, request)
    if len(caused) > home.settings.rollback_changes_max:
        raise PayloadTooLarge(
            f"run_id, actor, source or time: more than {home.settings.rollback_changes_max} changes fit"
            " (rollback_changes_max); name less at a time"
        )
    memory_ids = frozenset(each.memory_id for each in caused)
    if not memory_ids:
        return Plan({}, {}, {})
    images = await images_of(home, memory_ids)  # before their audits: none of them must lack its own
    since = AuditWanted(actions=None, effects=True, memory_ids=memory_ids, since=min(each.at for each in caused))
    return planned(trails(caused, images, await audits(home, since, None, ALL)), home.state)


async def _caused(home: Home, request: RollbackRequest) -> list[Audited]:
    """What fits the request. What time did by itself is nobody's; and an earlier rollback, only its commit_id names."""
    by_source = bool(request.source_class or request.source_resource_id)
    wanted = AuditWanted(
        actions=None,
        effects=not by_source,  # other memories, that were flagged by the way, come from other sources
        commit_ids=frozenset({int(request.commit_id)}) if request.commit_id else None,
        actor=request.actor,
        run_id=request.run_id,
        source_class=request.source_class,
        source_resource_id=request.source_resource_id,
        since=to_ns(request.since),
        until=to_ns(request.until),
    )
    found = await audits(home, wanted, None, home.settings.rollback_changes_max + 1)
    seeds = [each for each in found if each.memory_id and _is_cause(each, request)]
    if not by_source:
        return seeds
    seeds = [each for each in seeds if each.action != AUTO_SUPERSEDE]
    commits = AuditWanted(actions=None, effects=True, commit_ids=frozenset(each.commit_id for each in seeds))
    return caused_by(seeds, await audits(home, commits, None, ALL))


def _is_cause(each: Audited, request: RollbackRequest) -> bool:
    return bool(request.commit_id) or each.action not in (EXPIRE, ROLLBACK)
