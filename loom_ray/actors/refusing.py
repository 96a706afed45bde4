"""How does a namespace know what it must not store? It is told of every change, asks when it wakes, and checks itself.

A namespace is the only writer of its rows, so what it knows in the turn that decides is what holds: there is no copy
elsewhere that could lag behind.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol, TypeVar

from loom_ray.contract.errors import BackendUnavailable, Overloaded
from loom_ray.contract.settings import Settings
from loom_ray.core.decide.claim import SECOND_NS, Settled
from loom_ray.core.decide.guards import blacklisted
from loom_ray.core.decide.refuse import marked, texts_of_claim
from loom_ray.core.refusal.matching import Budget, Matcher, Refused, Texts
from loom_ray.core.refusal.registry import Effective

_log = logging.getLogger(__name__)
T = TypeVar("T")

THREADS = 4  # the pages: per process, of their own; a namespace's process serves one org, which holds two at most
THREADS_OF_AN_ORG = 2
BUILT_AT_ONCE_CHARS = 50_000  # of patterns: milliseconds; 3,000 long ones take more than a second
HITS_S = 0.5


class Keeper(Protocol):
    """Who keeps the patterns, as one namespace sees it (cluster/ reaches it over Ray)."""

    async def effective(self) -> Effective:
        """Raises BackendUnavailable."""
        ...

    async def note_hits(self, hits: dict[str, int]) -> None: ...


class Known(NamedTuple):
    version: int
    matcher: Matcher


class Refusals:
    """The patterns of one namespace, and the threads that check texts against them."""

    def __init__(self, keeper: Keeper, settings: Settings, now: Callable[[], int]) -> None:
        self._keeper = keeper
        self._settings = settings
        self._now = now
        self._known: Known | None = None
        self._confirmed_at = 0  # ns
        self._asking: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="refusal")
        self._lanes = asyncio.Semaphore(THREADS_OF_AN_ORG)
        self._hits = Counter[str]()
        self._telling: asyncio.Task[None] | None = None

    @property
    def version(self) -> int:
        """-1 until the keeper has been asked."""
        return self._known.version if self._known else -1

    @property
    def is_empty(self) -> bool:
        return self._known is not None and self._known.matcher.is_empty

    async def learn(self, effective: Effective) -> None:
        """Once it returns every decision heeds it. What was overtaken on its way changes nothing."""
        self._confirmed_at = self._now()
        if effective.version <= self.version:
            return
        before = self._known.matcher if self._known else Matcher(())
        if sum(len(one.pattern) for one in effective.patterns) <= BUILT_AT_ONCE_CHARS:
            matcher = before.with_patterns(effective.patterns)
        else:
            matcher = await asyncio.to_thread(before.with_patterns, effective.patterns)
        if effective.version > self.version:
            self._known = Known(effective.version, matcher)

    async def current(self) -> None:
        """Returns when the known patterns may be relied on: at once, unless the keeper has not been heard of for the
        TTL. Raises BackendUnavailable when it does not answer then."""
        age = (self._now() - self._confirmed_at) / SECOND_NS
        if self._known is None or age > self._settings.blacklist_cache_ttl_seconds:
            await self._ask()
        elif age > self._settings.blacklist_version_check_interval_seconds and self._asking is None:
            self._asking = asyncio.create_task(self._ask_quietly())

    async def _ask(self) -> None:
        await self.learn(await self._keeper.effective())

    async def _ask_quietly(self) -> None:
        try:
            await self._ask()
        except BackendUnavailable as failure:
            _log.warning("the keeper of the patterns does not answer: %s", failure)
        finally:
            self._asking = None

    async def check(self, texts: Sequence[Texts]) -> tuple[int, list[Refused | None]]:
        """Of each what refuses it, within one request's budget, and the version of the patterns that were asked.

        Raises Overloaded, and BackendUnavailable as `current`.
        """
        await self.current()
        assert self._known is not None
        version, matcher = self._known
        if matcher.is_empty:
            return version, [None] * len(texts)
        return version, await self.in_thread(lambda: _check_all(matcher, texts))

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Raises Overloaded where no thread is free in time: nothing passes unchecked."""
        try:
            async with asyncio.timeout(self._settings.blacklist_wait_s):
                await self._lanes.acquire()
        except TimeoutError:
            raise Overloaded("too many writes wait to be checked against the blacklist", retry_after_s=1.0) from None
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._lanes.release()

    async def pass_words(self, request: object) -> None:
        """What a request says beside its claims, which the audit and the rows keep: reasons and tags. When it returns,
        the patterns asked are those of this turn. Raises Blacklisted, Overloaded and BackendUnavailable."""
        await self.current()
        texts = [Texts((text,), ()) for text in _words(request, "reason")]
        texts += [Texts((), (text,)) for text in _words(request, "add_tags")]
        while not self.is_empty and texts:
            version, found = await self.check(texts)
            refused = next((one for one in found if one is not None), None)
            if refused is not None:
                self.note(refused)
                raise blacklisted(refused, "reason" if texts[found.index(refused)].values else "add_tags")
            if version == self.version:
                return

    def note(self, refused: Refused) -> None:
        """A write was refused."""
        if refused.pattern is None:
            return
        self._hits[refused.pattern.pattern_id] += 1
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell_hits())

    async def _tell_hits(self) -> None:
        while self._hits:
            await asyncio.sleep(HITS_S)
            hits, self._hits = dict(self._hits), Counter[str]()
            try:
                await self._keeper.note_hits(hits)
            except BackendUnavailable:
                _log.warning("%d hits could not be told", sum(hits.values()))

    def close(self) -> None:
        self._threads.shutdown(wait=False)


def _words(request: object, name: str) -> list[str]:
    given = getattr(request, name, None) or []
    return [given] if isinstance(given, str) else list(given)


def _check_all(matcher: Matcher, texts: Sequence[Texts]) -> list[Refused | None]:
    budget = Budget()
    return [matcher.check(one, budget) for one in texts]


class Gate:
    """What the claims of one request were found to hold. It is asked again in every turn that decides: the patterns, or
    the claims, may be others by then."""

    def __init__(self, refusals: Refusals) -> None:
        self._refusals = refusals
        self._version = -1
        self._texts: list[Texts] = []
        self._found: list[Refused | None] = []

    def marked(self, claims: Sequence[Settled]) -> list[Settled] | None:
        """The claims with what refuses them; None where they must be looked at first."""
        if self._refusals.is_empty:
            return list(claims)
        texts = [texts_of_claim(one) for one in claims]
        if self._version != self._refusals.version or self._texts != texts:
            return None
        return marked(claims, self._found)

    async def look(self, claims: Sequence[Settled]) -> None:
        """Raises Overloaded and BackendUnavailable."""
        self._texts = [texts_of_claim(one) for one in claims]
        self._version, self._found = await self._refusals.check(self._texts)
