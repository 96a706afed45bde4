"""Who answers which op of a namespace? One handler a row of the op table; a test walks the table and misses none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from loom_ray.actors import changing, past, reading, rollback, settling, sweeping, writing
from loom_ray.actors.changing import at_once
from loom_ray.actors.home import Home
from loom_ray.contract.scope import Receipt
from loom_ray.core.decide.duplicates import decide_dedup_resolve
from loom_ray.core.decide.mark import decide_lock, decide_touch, decide_unlock, decide_unpin
from loom_ray.core.decide.remove import decide_delete, decide_delete_version, decide_reject
from loom_ray.core.decide.resolve import decide_allowlist_remove

Reader = Callable[[Home, Any], Awaitable[Receipt]]
Writer = Callable[[Home, Any, writing.Remember], Awaitable[Receipt]]

READERS: dict[str, Reader] = {
    "namespace.info": reading.info,
    "memory.get": reading.get_,
    "memory.get_by_id": reading.get_by_id_,
    "memory.list": reading.list_,
    "memory.search": reading.search,
    "memory.timeline": reading.timeline_,
    "memory.statuses": reading.statuses_,
    "memory.history": past.history,
    "memory.auto_retirements": past.auto_retirements,
    "memory.dedup_list": settling.dedup_list,
    "conflicts.list": settling.conflicts,
    "conflicts.propose_revision": settling.propose_revision,
    "conflicts.allowlist_list": settling.allowlist,
    "audit.list": past.audit_list,
    "blacklist.report": sweeping.report,
    "drops.list": sweeping.drops,
}
WRITERS: dict[str, Writer] = {
    "namespace.register": changing.register,
    "memory.set": writing.set_,
    "memory.bulk_set": writing.bulk_set,
    "memory.pin": writing.set_,
    "memory.update": writing.update,
    "memory.update_by_id": writing.update,
    "memory.unpin": at_once("memory.unpin", decide_unpin),
    "memory.touch": at_once("memory.touch", decide_touch),
    "memory.lock": at_once("memory.lock", decide_lock),
    "memory.unlock": at_once("memory.unlock", decide_unlock),
    "memory.delete": at_once("memory.delete", decide_delete),
    "memory.delete_version": at_once("memory.delete_version", decide_delete_version),
    "memory.reject": at_once("memory.reject", decide_reject),
    "memory.restore": changing.restore,
    "memory.move": changing.move,
    "memory.apply": changing.apply,
    "memory.clear": changing.clear,
    "memory.dedup_resolve": at_once("memory.dedup_resolve", decide_dedup_resolve),
    "memory.dedup_collapse": settling.dedup_collapse,
    "memory.resolve_orphan_duplicates": settling.resolve_orphans,
    "memory.rollback": rollback.rollback,
    "blacklist.sweep": sweeping.sweep,
    "conflicts.resolve": settling.resolve,
    "conflicts.allowlist_remove": at_once("conflicts.allowlist_remove", decide_allowlist_remove),
}
