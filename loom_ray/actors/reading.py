"""How does a read wait? Nothing is shown that may still be lost."""

from __future__ import annotations

from dataclasses import asdict

from loom_ray.actors.home import Home
from loom_ray.actors.refusals import storage_refusal
from loom_ray.contract.namespaces import Counts, EmbedderView, InfoAnswer, InfoRequest, NamespaceSettings
from loom_ray.contract.reading import (
    ConflictsListAnswer,
    ConflictsListRequest,
    GetAnswer,
    GetByIdRequest,
    GetRequest,
    HistoryAnswer,
    HistoryRequest,
    ListAnswer,
    ListRequest,
    SearchAnswer,
    SearchRequest,
)
from loom_ray.contract.writing import ThresholdView
from loom_ray.core.read.listing import list_conflicts, list_rows
from loom_ray.core.read.one import found, get, get_by_id, image_as_of, rows_meant
from loom_ray.core.read.searching import ANYBODY, search_answer, searched_statuses
from loom_ray.core.read.view import row_view
from loom_ray.core.row import MemoryType, Row, Status
from loom_ray.core.text.terms import meaning_of_query
from loom_ray.storage.errors import StorageError
from loom_ray.storage.facets import Where


async def get_(home: Home, request: GetRequest) -> GetAnswer:
    if request.as_of is None:
        answer = get(home.state, request, home.namespace, home.now())
    else:
        images = [image for row in rows_meant(home.state, request) for image in await images_of(home, row.memory_id)]
        answer = found(home.state, image_as_of(images, request), request, home.namespace)
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


async def conflicts(home: Home, request: ConflictsListRequest) -> ConflictsListAnswer:
    answer = list_conflicts(home.state, request, home.namespace, home.now())
    await home.durable()
    return answer


async def search(home: Home, request: SearchRequest) -> SearchAnswer:
    """By meaning and by words; a query without a letter or digit is sought by words alone."""
    query = meaning_of_query(request.query)
    vector = await home.embed([query], home.settings.embedder_deadline_s)
    where = _where(home, request)
    k = request.top_k
    while True:
        ranked = await home.retrieve(request.query, vector, k, where)
        answer = search_answer(home.state, ranked, request, home.now())
        if len(answer.results) == request.top_k or len(ranked) < k:
            break
        k *= 2  # duplicates fell together with their canonicals: look further
    await home.durable()
    return answer


async def history(home: Home, request: HistoryRequest) -> HistoryAnswer:
    images = [image for row in rows_meant(home.state, request) for image in await images_of(home, row.memory_id)]
    newest = sorted(images, key=lambda image: -image.version)[: request.limit]
    answer = HistoryAnswer(rows=[row_view(image, home.state, home.namespace) for image in newest])
    await home.durable()
    return answer


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


async def images_of(home: Home, memory_id: str) -> list[Row]:
    """Every image of the row, newest first: those of the live state, then what was folded into history.

    Raises BackendUnavailable and StorageDamaged where the history cannot be read.
    """
    recent = home.images_in_memory(memory_id)
    try:
        folded = await home.store.history(memory_id)
    except StorageError as failure:  # also where another incarnation has taken over, merged the files and gone on
        raise storage_refusal("the history cannot be read", failure) from failure
    known = {image.version for image in recent}
    return [*recent, *(image for image in folded if image.version not in known)]


def _where(home: Home, request: SearchRequest) -> Where:
    return Where(
        memory_types=frozenset({MemoryType(request.memory_type)}) if request.memory_type else None,
        user_ids=None if request.user_id in ANYBODY else frozenset({request.user_id}),
        statuses=searched_statuses(request),
        tags=frozenset(request.tags),
        at=home.now(),
    )
