"""How does a rollback wait? It reads what the cause did, has the earlier texts embedded, and decides in one turn."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import NamedTuple

from loom_ray.actors.home import Home
from loom_ray.actors.past import audits, images_of
from loom_ray.actors.refusing import Gate
from loom_ray.actors.turns import at_once, giving_way, moment
from loom_ray.actors.writing import Looked, Remember, carry_out, look_up
from loom_ray.contract.errors import PayloadTooLarge
from loom_ray.contract.fields import to_ns
from loom_ray.contract.rollback import RollbackRequest
from loom_ray.contract.scope import Receipt
from loom_ray.core.decide.claim import Settled, actor_of, pieces_of, settled_of
from loom_ray.core.decide.rollback import Judged, decide_rollback, judged_one_by_one
from loom_ray.core.decide.rollback_plan import BLACKLISTED, Plan, images_after, needs_vectors, planned, says_anew
from loom_ray.core.decide.trail import AUTO_SUPERSEDE, EXPIRE, ROLLBACK, caused_by, trails
from loom_ray.core.decide.write import Embedded
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
        ready = await _judged(home, by, plan)
        if ready is not None:
            answer = decide_rollback(ready.draft, request, ready.judged, ready.found)
            return await carry_out(home, ready.draft, answer, remember, request.dry_run)


class Ready(NamedTuple):
    """All that judging needs, as of the turn in which it is returned."""

    draft: Draft
    plan: Plan
    found: dict[str, Embedded]


class Decided(NamedTuple):
    """How all that returns stands to what is newer, as of the turn in which it is returned."""

    draft: Draft
    judged: Judged
    found: dict[str, Embedded]


async def _judged(home: Home, by: By, plan: Plan) -> Decided | None:
    """None where one of the memories has changed since the plan. Judged memory by memory, giving way after each; where
    something has changed by the end, once more in one turn, so that a busy namespace cannot put it off for ever."""
    looked: dict[str, Looked] = {}
    ready = await _ready(home, by, plan, looked)
    if ready is None:
        return None
    began = moment(home)
    judged = await giving_way(judged_one_by_one(*ready, home.rules))
    home.carry_out_ends()
    if moment(home) != began:
        ready = await _ready(home, by, plan, looked)
        if ready is None:
            return None
        judged = at_once(judged_one_by_one(*ready, home.rules))
    return Decided(ready.draft, judged, ready.found)


async def _ready(home: Home, by: By, plan: Plan, looked: dict[str, Looked]) -> Ready | None:
    """None where one of the memories has changed since the plan. What the blacklist refuses stays as it is. What it
    looks up is kept in `looked`."""
    gate = Gate(home.refusals)
    while True:
        draft = home.draft(by)
        if not plan.is_current(home.state):
            return None
        images = images_after(draft, plan).values()
        coming = [settled_of(image) for image in images if says_anew(draft, image)]
        marked = gate.marked(coming)
        if marked is None:
            await gate.look(coming)
            continue
        plan = plan.without([one.base.memory_id for one in marked if one.refused and one.base], BLACKLISTED)
        wanted = [image for image in images if image.memory_id in plan.bases and needs_vectors(draft, image)]
        unknown = [image for image in wanted if image.memory_id not in looked]
        if not unknown:
            return Ready(draft, plan, {name: one.now(home) for name, one in looked.items()})
        found = await look_up(home, [_claim(image) for image in unknown], list(range(len(unknown))))
        looked |= {unknown[place].memory_id: one for place, one in found.items()}


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
    """What fits the request. What time did by itself never comes back, least of all what was anonymised; and an earlier
    rollback is named by its commit_id alone."""
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
    return each.action != EXPIRE and (bool(request.commit_id) or each.action != ROLLBACK)
