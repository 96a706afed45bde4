"""How is the past read? What the live state holds, and below it what was folded into Parquet."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Collection, Iterable

import numpy as np

from loom_ray.actors.home import Home
from loom_ray.actors.refusals import storage_refusal
from loom_ray.contract.auditing import (
    AuditListAnswer,
    AuditListRequest,
    AutoRetirementsAnswer,
    AutoRetirementsRequest,
)
from loom_ray.contract.fields import to_ns
from loom_ray.contract.reading import GetRequest, HistoryAnswer, HistoryRequest, SearchAnswer, SearchRequest
from loom_ray.core.decide.rules import DAY_NS
from loom_ray.core.ranking import Ranked
from loom_ray.core.read.auditing import SUPERSEDED, audit_page, retirements_page
from loom_ray.core.read.cursor import read_cursor
from loom_ray.core.read.listing import ANYBODY
from loom_ray.core.read.one import is_meant
from loom_ray.core.read.past import held_by_each, moment
from loom_ray.core.read.searching import fits, past_answer
from loom_ray.core.read.view import row_view
from loom_ray.core.records import Audited, Vectors
from loom_ray.core.row import Row, Status
from loom_ray.core.text.chunks import excerpt
from loom_ray.core.text.preparation import has_meaning
from loom_ray.storage.audits import AuditWanted
from loom_ray.storage.errors import StorageError
from loom_ray.storage.facets import Where, facets_of
from loom_ray.storage.retrieval import retrieve
from loom_ray.storage.vectors import VectorIndex
from loom_ray.storage.words import WordIndex

RETIREMENT_DAYS = 30  # the pages: what auto_retirements shows where no time is named


# ---- images of rows --------------------------------------------------------------------------------------------------
async def history(home: Home, request: HistoryRequest) -> HistoryAnswer:
    newest = sorted(await images_meant(home, request), key=lambda image: -image.version)[: request.limit]
    answer = HistoryAnswer(rows=[row_view(image, home.state, home.namespace) for image in newest])
    await home.durable()
    return answer


async def images_meant(home: Home, request: HistoryRequest | GetRequest) -> list[Row]:
    """Every image of the key's rows that fit the identity given, also of those that the state has forgotten: those of
    the live state, then what was folded into history.

    Raises BackendUnavailable and StorageDamaged where the history cannot be read.
    """
    recent = [image for image in home.images_in_memory() if is_meant(image, request)]
    folded = await _read(home.store.history(request.memory_key))
    return _merged(recent, (image for image in folded if is_meant(image, request)))


async def images_of(home: Home, memory_ids: Collection[str]) -> list[Row]:
    """Every image of these memories. Raises as `images_meant`."""
    recent = [image for image in home.images_in_memory() if image.memory_id in memory_ids]
    return _merged(recent, await _read(home.store.images_of(memory_ids)))


async def every_image(home: Home) -> AsyncIterator[list[Row]]:
    """Of all memories, part by part. Raises as `images_meant`."""
    recent = home.images_in_memory()
    known = {(image.memory_id, image.version) for image in recent}
    yield recent
    try:
        async for part in home.store.each_part_of_history():
            yield [image for image in part if (image.memory_id, image.version) not in known]
    except StorageError as failure:
        raise storage_refusal("the history cannot be read", failure) from failure


async def _read(folded: Awaitable[list[Row]]) -> list[Row]:
    try:
        return await folded
    except StorageError as failure:  # also where another incarnation has taken over, merged the files and gone on
        raise storage_refusal("the history cannot be read", failure) from failure


def _merged(recent: list[Row], folded: Iterable[Row]) -> list[Row]:
    known = {(image.memory_id, image.version) for image in recent}
    return [*recent, *(image for image in folded if (image.memory_id, image.version) not in known)]


# ---- search in the past ----------------------------------------------------------------------------------------------
async def search_as_of(home: Home, request: SearchRequest, query: str, vector: Vectors) -> SearchAnswer:
    """By meaning and by words among what held then, ranked as a search of today's rows would be."""
    as_of = moment(request)
    recent = home.images_in_memory()
    folded = await _read(home.store.images_at(as_of, request.as_of_basis))
    held = held_by_each(_merged(recent, folded), as_of, request.as_of_basis)
    images = {one.image.memory_id: one.image for one in held if fits(one.image, request) and _may_show(home, one.image)}
    if not images:
        return SearchAnswer(results=[])
    words = await home.indexes.in_thread(lambda: _words_of(images.values()))
    vectors = await _vectors_of(home, images, words, request.query)
    ranked = await home.indexes.in_thread(lambda: _ranked(images, words, vectors, query, vector, request.top_k))
    return past_answer(images, ranked, request.top_k)


def _may_show(home: Home, image: Row) -> bool:
    """Not what has become a secret since, and not the old key of a fact that moved: it is found where it is now."""
    row = home.state.rows.get(image.memory_id)
    return row is None or (row.sensitivity != "high" and row.status is not Status.REDIRECT)


def _words_of(images: Iterable[Row]) -> WordIndex:
    words = WordIndex()
    for image in images:
        words.put(image.memory_id, image.text, image.memory_key, facets_of(image))
    words.catch_up()
    return words


async def _vectors_of(home: Home, images: dict[str, Row], words: WordIndex, query: str) -> dict[str, Vectors]:
    """A row's vectors where it still says the same; the excerpts of others are embedded now, those that share words
    with the query first, up to the bound. What is past it is found by words alone."""
    vectors: dict[str, Vectors] = {}
    for memory_id, image in images.items():
        row = home.state.rows.get(memory_id)
        same = row is not None and row.content_sha256 == image.content_sha256
        stored = home.indexes.vectors_of(memory_id) if same else None
        if stored is not None:
            vectors[memory_id] = stored
    bound = home.settings.as_of_embedded_max
    worded = [hit.memory_id for hit in await home.indexes.in_thread(lambda: words.search(query, bound, Where()))]
    unknown = [each for each in dict.fromkeys([*worded, *images]) if each not in vectors]
    unknown = [each for each in unknown if has_meaning(images[each].text)][:bound]
    if unknown:
        matrix = await home.embed([excerpt(images[each].text) for each in unknown], home.settings.request_deadline_s)
        vectors |= {each: matrix[place : place + 1] for place, each in enumerate(unknown)}
    return vectors


def _ranked(
    images: dict[str, Row], words: WordIndex, vectors: dict[str, Vectors], query: str, vector: Vectors, k: int
) -> list[Ranked]:
    index = VectorIndex(vector.shape[1])
    for memory_id, one in vectors.items():
        index.put(memory_id, one, facets_of(images[memory_id]))
    return retrieve(index.view(), words, query, np.ascontiguousarray(vector), k, Where())


# ---- what was done ---------------------------------------------------------------------------------------------------
async def audit_list(home: Home, request: AuditListRequest) -> AuditListAnswer:
    place = read_cursor(request.cursor, int)
    wanted = AuditWanted(
        actions=frozenset({request.action}) if request.action else None,
        effects=request.include_effects,
        memory_key=request.memory_key or "",
        memory_ids=frozenset({request.memory_id}) if request.memory_id else None,
        user_id=_user_of(request),
        actor=request.actor,
        run_id=request.run_id,
        since=to_ns(request.since),
        until=to_ns(request.until),
    )
    rows = await audits(home, wanted, place[0] if place else None, request.limit + 1)
    await home.durable()
    return audit_page(rows, request.limit)


def _user_of(request: AuditListRequest | AutoRetirementsRequest) -> str:
    return "" if request.user_id in ANYBODY else request.user_id


async def auto_retirements(home: Home, request: AutoRetirementsRequest) -> AutoRetirementsAnswer:
    place = read_cursor(request.cursor, int)
    since = home.now() - RETIREMENT_DAYS * DAY_NS if request.since is None else to_ns(request.since)
    wanted = AuditWanted(actions=frozenset({SUPERSEDED}), effects=False, user_id=_user_of(request), since=since)
    count = 2 * request.limit
    while True:
        rows = await audits(home, wanted, place[0] if place else None, count)
        answer = retirements_page(rows, request, more=len(rows) == count)
        if answer is not None:
            await home.durable()
            return answer
        count *= 4


async def audits(home: Home, wanted: AuditWanted, before: int | None, limit: int) -> list[Audited]:
    """Newest first, of those in memory and then of those folded."""
    recent = [one for one in home.audits_in_memory() if wanted.admits(one) and (before is None or one.stamp < before)]
    if len(recent) >= limit:
        return recent[:limit]
    oldest = recent[-1].stamp if recent else before
    try:
        folded = await home.store.audits(wanted, oldest, limit - len(recent))
    except StorageError as failure:
        raise storage_refusal("the audit cannot be read", failure) from failure
    return [*recent, *folded]
