"""Which rows does a search show? From the fused hits to results, with canonicals in their duplicates' slots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from loom_ray.contract.fields import to_rfc3339
from loom_ray.contract.reading import SearchAnswer, SearchHit, SearchRequest
from loom_ray.core.ranking import Ranked
from loom_ray.core.row import LIVE, Row, Status
from loom_ray.core.state import State
from loom_ray.core.text.chunks import chunks, excerpt

ANYBODY = ("-", "*")


def searched_statuses(request: SearchRequest) -> frozenset[Status]:
    """Duplicates are searched too: what they say in other words leads to their canonical."""
    if request.status:
        return frozenset({Status(request.status)})
    asked = {Status.SUPERSEDED} if request.include_superseded else frozenset[Status]()
    return LIVE | {Status.DUPLICATE} | asked


def search_hits(
    state: State, ranked: Iterable[Ranked], request: SearchRequest, now: int, limit: int
) -> list[SearchHit]:
    """At most `limit`, best first. A row that changed since it was found is judged as it is now."""
    shown: dict[str, SearchHit] = {}
    for hit in ranked:
        row = state.rows.get(hit.memory_id)
        if row is None or not admits(row, request, now):
            continue
        served, piece = _served(state, row, hit.piece, request, now)
        if served.memory_id not in shown:
            shown[served.memory_id] = _hit_view(served, piece, hit)
        if len(shown) == limit:
            break
    return list(shown.values())


def admits(row: Row, request: SearchRequest, now: int) -> bool:
    return row.status in searched_statuses(request) and row.is_current(now) and fits(row, request)


def fits(row: Row, request: SearchRequest) -> bool:
    """Whether the row, whatever became of it, is one that the search is for."""
    return (
        row.is_searched
        and request.user_id in (*ANYBODY, row.user_id)
        and (not request.run_id or row.run_id == request.run_id)
        and (request.memory_type is None or row.memory_type == request.memory_type)
        and (not request.tags or not frozenset(request.tags).isdisjoint(row.tags))
    )


def _served(state: State, row: Row, piece: int, request: SearchRequest, now: int) -> tuple[Row, int]:
    """A duplicate gives its slot to its canonical, unless the reader asked for duplicates or may not see that one."""
    if row.status is not Status.DUPLICATE or request.include_duplicates or request.status:
        return row, piece
    canonical = state.rows.get(row.duplicate_of)
    if canonical is None or canonical.status not in LIVE or not admits(canonical, request, now):
        return row, piece
    return canonical, 0


def past_answer(images: Mapping[str, Row], ranked: Iterable[Ranked], top_k: int) -> SearchAnswer:
    """Of the images that held then, by memory id; each speaks for itself."""
    found = ((images[hit.memory_id], hit) for hit in ranked)
    return SearchAnswer(results=[_hit_view(image, hit.piece, hit) for image, hit in found][:top_k])


def _hit_view(row: Row, piece: int, hit: Ranked) -> SearchHit:
    return SearchHit(
        memory_id=row.memory_id,
        memory_key=row.memory_key,
        content_excerpt=_text_of_piece(row, piece),
        similarity=None if hit.similarity is None else round(hit.similarity, 6),
        rank_score=round(hit.rank_score, 6),
        status=row.status.value,
        version=row.version,
        version_text=str(row.version),
        memory_type=row.memory_type.value,
        agent=row.agent,
        user_id=row.user_id,
        session_id=row.session_id,
        tags=list(row.tags),
        created_at=to_rfc3339(row.created_at),
        valid_at=to_rfc3339(row.valid_at),
        superseded_by=row.superseded_by,
    )


def _text_of_piece(row: Row, piece: int) -> str:
    if piece == 0:
        return excerpt(row.text)
    pieces = chunks(row.value, row.memory_key)
    return pieces[piece - 1] if piece <= len(pieces) else excerpt(row.text)
