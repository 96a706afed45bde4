"""Who keeps the patterns that no write may store? One keeper for all orgs, with a fenced log of its own.

A pattern is added when its log has it and every namespace that is awake knows it: whoever writes after the answer is
refused. A namespace that wakes asks the keeper before its first write.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from loom_ray.actors.directory import Place
from loom_ray.actors.refusals import storage_refusal
from loom_ray.contract.blacklist import (
    BlacklistAddAnswer,
    BlacklistAddRequest,
    BlacklistListAnswer,
    BlacklistListRequest,
    BlacklistRemoveAnswer,
    BlacklistRemoveRequest,
    BlacklistSweepAnswer,
    BlacklistSweepRequest,
    PatternFields,
    PatternRow,
    Swept,
)
from loom_ray.contract.errors import BackendUnavailable, InvalidRequest, LoomError
from loom_ray.contract.fields import to_rfc3339
from loom_ray.contract.settings import Settings
from loom_ray.core.decide.claim import actor_of
from loom_ray.core.read.cursor import read_cursor, write_cursor
from loom_ray.core.records import PatternHits, PatternRemoved, Record
from loom_ray.core.refusal.pattern import Pattern, PatternRefused, check_pattern
from loom_ray.core.refusal.registry import Effective, Registry, holds_in, pattern_of
from loom_ray.storage.blobs import Blobs
from loom_ray.storage.errors import StorageError
from loom_ray.storage.paths import BLACKLIST_PREFIX
from loom_ray.storage.snapshot import OffLoop, StateImage
from loom_ray.storage.store import NamespaceStore

_log = logging.getLogger(__name__)
HITS_S = 1.0  # how often the hits that came in are written down


class Namespaces(Protocol):
    """How the keeper reaches the namespaces (cluster/ does it over Ray)."""

    async def awake(self) -> list[Place]: ...

    async def tell(self, place: Place, effective: Effective) -> None:
        """Returns when the namespace knows, or has ended: it asks when it wakes. Raises BackendUnavailable where that
        cannot be told."""
        ...

    async def sweep(self, place: Place, pattern: Pattern, actor: str, rows_max: int) -> Swept:
        """Wakes the namespace where it sleeps."""
        ...


class Blacklist:
    """A plain class: cluster/ makes it an actor, tests call it as it is. Everything between two awaits is one turn."""

    def __init__(
        self,
        store: NamespaceStore,
        registry: Registry,
        namespaces: Namespaces,
        settings: Settings,
        now: Callable[[], int],
    ) -> None:
        self.broken = False  # the log failed: the registry is ahead of it and must be read anew
        self._store = store
        self._registry = registry
        self._namespaces = namespaces
        self._settings = settings
        self._now = now
        self._hits = Counter[str]()
        self._noting: asyncio.Task[None] | None = None
        self._ops: dict[str, Callable[[Any], Awaitable[Any]]] = {
            "blacklist.add": self._add,
            "blacklist.sweep": self._sweep,
            "blacklist.remove": self._remove,
            "blacklist.list": self._list,
        }

    async def serve(self, op: str, request: Any) -> dict[str, Any]:
        """The op's answer. Raises the LoomError that the client is to see."""
        answer = await self._ops[op](request)
        return answer.model_dump()

    def effective(self, place: Place) -> Effective:
        return self._registry.effective(*place)

    def note_hits(self, hits: dict[str, int]) -> None:
        self._hits.update(hits)
        if self._noting is None or self._noting.done():
            self._noting = asyncio.create_task(self._write_hits())

    # ---- the ops -----------------------------------------------------------------------------------------------
    async def _add(self, request: BlacklistAddRequest) -> BlacklistAddAnswer:
        pattern = self._pattern(request, request.reason)
        known = self._registry.patterns.get(pattern.pattern_id)
        if known is None or request.reason not in ("", known.reason):
            await self._commit(pattern)
        else:
            pattern = known
            await self._store.commit.durable()  # whoever added it may wait for that still
        await self._tell_all(pattern)
        swept = await self._swept(request, pattern) if request.sweep else Swept(pattern_id=pattern.pattern_id)
        return BlacklistAddAnswer(created=known is None, **dict(swept))

    async def _sweep(self, request: BlacklistSweepRequest) -> BlacklistSweepAnswer:
        pattern = self._found(request.pattern_id, request)
        if pattern is None:
            return BlacklistSweepAnswer(found=False, pattern_id=request.pattern_id)
        return BlacklistSweepAnswer(found=True, **dict(await self._swept(request, pattern)))

    async def _remove(self, request: BlacklistRemoveRequest) -> BlacklistRemoveAnswer:
        pattern = self._found(request.pattern_id, request)
        if pattern is None:
            return BlacklistRemoveAnswer(removed=False, reason="not_found")
        await self._commit(PatternRemoved(pattern.pattern_id, self._stamp(), actor_of(request.agent)))
        await self._tell_all(pattern)
        return BlacklistRemoveAnswer(removed=True)

    async def _list(self, request: BlacklistListRequest) -> BlacklistListAnswer:
        held = self._registry.effective(request.org, request.namespace).patterns
        place = read_cursor(request.cursor, int)
        start = place[0] if place else 0
        page = held[start : start + request.limit]
        end = start + len(page)
        await self._store.commit.durable()
        return BlacklistListAnswer(
            rows=[self._row(pattern) for pattern in page],
            count=len(held),
            next_cursor=write_cursor((end,)) if end < len(held) else "",
        )

    def _pattern(self, request: PatternFields, reason: str) -> Pattern:
        """Raises InvalidRequest where the engine refuses it, or its scope has no room for it."""
        pattern = pattern_of(request, reason, self._stamp())
        others = [one for one in self._registry.of_scope(pattern) if one.pattern_id != pattern.pattern_id]
        try:
            check_pattern(pattern, others)
        except PatternRefused as refusal:
            raise InvalidRequest(f"pattern: {refusal}") from None
        return pattern

    def _found(self, pattern_id: str, request: BlacklistSweepRequest | BlacklistRemoveRequest) -> Pattern | None:
        pattern = self._registry.patterns.get(pattern_id)
        return pattern if pattern is not None and holds_in(pattern, request.org, request.namespace) else None

    def _row(self, pattern: Pattern) -> PatternRow:
        return PatternRow(
            pattern_id=pattern.pattern_id,
            pattern=pattern.pattern,
            pattern_type=pattern.pattern_type.value,
            scope=pattern.scope.value,
            fold=pattern.fold,
            reason=pattern.reason,
            hit_count=self._registry.hits[pattern.pattern_id] + self._hits[pattern.pattern_id],
            created_at=to_rfc3339(pattern.created_at),
            actor=pattern.actor,
        )

    # ---- telling the namespaces --------------------------------------------------------------------------------
    async def _tell_all(self, pattern: Pattern) -> None:
        """Of each namespace that the pattern concerns. Raises BackendUnavailable where one cannot be reached: the
        pattern is kept, and adding it again tells all again."""
        places = [place for place in await self._namespaces.awake() if holds_in(pattern, *place)]
        told = (self._namespaces.tell(place, self.effective(place)) for place in places)
        failed = [one for one in await asyncio.gather(*told, return_exceptions=True) if isinstance(one, Exception)]
        if failed:
            _log.warning("%d of %d namespaces do not know of a change: %s", len(failed), len(places), failed[0])
            raise BackendUnavailable(
                "the change is kept, but a namespace that is awake could not be told of it yet; send it again",
                retry_after_s=1.0,
            )

    async def _swept(self, request: BlacklistAddRequest | BlacklistSweepRequest, pattern: Pattern) -> Swept:
        """The namespace that asks, and for a wider pattern every other that is awake."""
        here = Place(request.org, request.namespace)
        others = [place for place in await self._namespaces.awake() if place != here and holds_in(pattern, *place)]
        total = Swept(pattern_id=pattern.pattern_id)
        for place in [here, *others]:
            room = self._settings.sweep_rows_max - total.swept
            if not room:
                return total.model_copy(update={"swept_truncated": True})
            try:
                part = await self._namespaces.sweep(place, pattern, actor_of(request.agent), room)
            except LoomError as failure:
                return total.model_copy(update={"swept_truncated": True, "sweep_error": failure.message})
            total.swept += part.swept
            total.refused += part.refused
            total.swept_truncated |= part.swept_truncated
        return total

    # ---- writing down ------------------------------------------------------------------------------------------
    def _stamp(self) -> int:
        return max(self._registry.version + 1, self._now())

    async def _commit(self, *records: Record) -> None:
        """Applied in this turn, durable when it returns. Raises BackendUnavailable; it is broken then."""
        if self.broken:
            raise BackendUnavailable("the keeper of the patterns is being restarted", retry_after_s=1.0)
        try:
            lasting = self._store.commit.submit(records)
            for record in records:
                self._registry.apply(record)
            await lasting
        except Exception as failure:
            self.broken = True
            raise BackendUnavailable("the patterns could not be written down", retry_after_s=1.0) from failure
        if self._store.segments_since_snapshot >= self._settings.snapshot_segments and not self._store.snapshotting:
            self._store.snapshot(self.image())

    async def _write_hits(self) -> None:
        while self._hits:
            await asyncio.sleep(HITS_S)
            hits, self._hits = dict(self._hits), Counter[str]()
            try:
                await self._commit(PatternHits(hits))
            except BackendUnavailable:
                _log.warning("%d hits were not written down", sum(hits.values()))

    def image(self) -> StateImage:
        patterns = [(one, self._registry.hits[one.pattern_id]) for one in self._registry.patterns.values()]
        return StateImage(patterns=patterns, last_version=self._registry.version)

    async def close(self) -> None:
        await self._store.close(self.image())


async def open_blacklist(
    blobs: Blobs,
    namespaces: Namespaces,
    settings: Settings,
    incarnation: str,
    now: Callable[[], int],
    off_loop: OffLoop = asyncio.to_thread,
) -> Blacklist:
    """Takes the patterns over from whoever kept them. Raises StorageDamaged and BackendUnavailable."""
    try:
        store, recovered = await NamespaceStore.open(blobs, BLACKLIST_PREFIX, incarnation, None, off_loop)
    except StorageError as failure:
        raise storage_refusal("the refused patterns cannot be read", failure) from failure
    registry = Registry()
    registry.load(recovered.image.patterns, recovered.image.last_version)
    for record in recovered.records:
        registry.apply(record)
    return Blacklist(store, registry, namespaces, settings, now)
