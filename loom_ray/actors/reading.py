"""How does a read wait? Nothing is shown that may still be lost."""

from __future__ import annotations

from dataclasses import asdict

from loom_ray.actors.home import Home
from loom_ray.actors.past import images_meant, search_as_of
from loom_ray.contract.namespaces import Counts, EmbedderView, InfoAnswer, InfoRequest, NamespaceSettings
from loom_ray.contract.reading import (
    GetAnswer,
    GetByIdRequest,
    GetRequest,
    ListAnswer,
    ListRequest,
    SearchAnswer,
    SearchHit,
    SearchRequest,
    StatusesAnswer,
    StatusesRequest,
    TimelineAnswer,
    TimelineRequest,
)
from loom_ray.contract.writing import ThresholdView
from loom_ray.core.read.listing import list_rows
from loom_ray.core.read.one import found, get, get_by_id
from loom_ray.core.read.past import held_by_each, held_last, moment
from loom_ray.core.read.searching import ANYBODY, search_hits, searched_statuses
from loom_ray.core.read.timeline import statuses, timeline
from loom_ray.core.records import Vectors
from loom_ray.core.row import MemoryType, Row, Status
from loom_ray.core.text.terms import meaning_of_query
from loom_ray.storage.facets import Where


async def get_(home: Home, request: GetRequest) -> GetAnswer:
    if request.as_of is None:
        answer = get(home.state, request, home.namespace, home.now())
    else:
        answer = found(home.state, await _image_as_of(home, request), request, home.namespace)
    await home.durable()
    return answer


async def get_by_id_(home: Home, request: GetByIdRequest) -> GetAnswer:
    answer = get_by_id(home.state, request, home.namespace)
    await home.durable()
    return answer


async def list_(home: Home, request: ListRequest) -> ListAnswer:
    answer = list_rows(home.state, request, home.namespace, home.now())
    await home.durable()
    return answer


async def timeline_(home: Home, request: TimelineRequest) -> TimelineAnswer:
    answer = timeline(home.state, request, home.namespace, home.now())
    await home.durable()
    return answer


async def statuses_(home: Home, request: StatusesRequest) -> StatusesAnswer:
    answer = statuses(home.state, request)
    await home.durable()
    return answer


async def search(home: Home, request: SearchRequest) -> SearchAnswer:
    """By meaning and by words; a query without a letter or digit is sought by words alone."""
    if request.as_of is None:
        answer = SearchAnswer(results=await best_of(home, request, request.top_k))
    else:
        answer = await search_as_of(home, request, request.query, await _meaning(home, request.query))
    await home.durable()
    return answer


async def best_of(home: Home, request: SearchRequest, limit: int) -> list[SearchHit]:
    """The best `limit` hits among today's rows."""
    vector = await _meaning(home, request.query)
    where = _where(home, request)
    k = limit
    while True:
        ranked = await home.indexes.retrieve(request.query, vector, k, where)
        hits = search_hits(home.state, ranked, request, home.now(), limit)
        if len(hits) == limit or len(ranked) < k:
            return hits
        k *= 2  # duplicates fell together with their canonicals: look further


async def _meaning(home: Home, query: str) -> Vectors:
    """(1, dimensions)."""
    return await home.embed([meaning_of_query(query)], home.settings.embedder_deadline_s)


async def _image_as_of(home: Home, request: GetRequest) -> Row | None:
    images = await images_meant(home, request)
    return held_last(held_by_each(images, moment(request), request.as_of_basis))


async def info(home: Home, request: InfoRequest) -> InfoAnswer:
    description, state = await home.known_embedder(), home.state
    thresholds = home.rules.thresholds(MemoryType.SEMANTIC)
    answer = InfoAnswer(
        org=home.org,
        namespace=home.namespace,
        settings=NamespaceSettings(**state.settings),
        embedder=EmbedderView(
            name=description.stamp.name,
            kind=description.kind,
            semantic=description.semantic,
            dimensions=description.stamp.dimensions,
            preparation=description.stamp.preparation,
        ),
        thresholds={
            name: ThresholdView(value=threshold.value, source=threshold.source)
            for name, threshold in (("conflict", thresholds.conflict), ("duplicate", thresholds.duplicate))
        },
        calibration=asdict(description.calibration) if description.calibration else {},
        counts=Counts(**{status.value: state.counts[status] for status in Status}),
        last_version=state.last_version,
        last_version_text=str(state.last_version),
    )
    await home.durable()
    return answer


def _where(home: Home, request: SearchRequest) -> Where:
    return Where(
        memory_types=frozenset({MemoryType(request.memory_type)}) if request.memory_type else None,
        user_ids=None if request.user_id in ANYBODY else frozenset({request.user_id}),
        statuses=searched_statuses(request),
        tags=frozenset(request.tags),
        at=home.now(),
    )
