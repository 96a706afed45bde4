"""What does a read of one key or one id answer, now or as of a time?"""

from __future__ import annotations

from collections.abc import Iterable

from loom_ray.contract.fields import to_ns
from loom_ray.contract.reading import GetAnswer, GetByIdRequest, GetRequest, HistoryRequest
from loom_ray.core.read.view import is_readable, row_view
from loom_ray.core.row import LIVE, Row, Status
from loom_ray.core.state import State


def rows_meant(state: State, request: GetRequest | HistoryRequest) -> list[Row]:
    """The rows of the key that fit the identity given, whatever their status, newest first; `*` fits any."""
    wanted = (request.agent, request.user_id, request.session_id)
    rows = (state.rows[memory_id] for memory_id in state.ids_of_key(request.memory_key))
    fitting = [row for row in rows if all(want in ("*", have) for want, have in zip(wanted, row.identity, strict=True))]
    return sorted(fitting, key=lambda row: -row.version)


def get(state: State, request: GetRequest, namespace: str, now: int) -> GetAnswer:
    """The readable row of the key; of several that fit, the one written last."""
    row = next((row for row in rows_meant(state, request) if is_readable(row, now)), None)
    if row is not None and request.follow and row.duplicate_of:
        row = state.rows.get(row.duplicate_of, row)
    return found(state, row, request, namespace)


def get_by_id(state: State, request: GetByIdRequest, namespace: str) -> GetAnswer:
    """The row whatever its status: who holds an id may see what became of it."""
    return found(state, state.rows.get(request.memory_id), request, namespace)


def found(state: State, row: Row | None, request: GetRequest | GetByIdRequest, namespace: str) -> GetAnswer:
    if row is None:
        return GetAnswer(found=False, memory_key=request.memory_key if isinstance(request, GetRequest) else "")
    if request.if_version == row.version:
        same = {"memory_id": row.memory_id, "version": row.version, "version_text": str(row.version)}
        return GetAnswer.model_validate({"found": True, "unchanged": True, "memory_key": row.memory_key, **same})
    shown = row_view(row, state, namespace).model_dump()
    if request.fields is not None:
        shown = {name: shown[name] for name in dict.fromkeys(("memory_key", *request.fields))}
    return GetAnswer.model_validate({"found": True, **shown})


def image_as_of(images: Iterable[Row], request: GetRequest) -> Row | None:
    """Which of the images of the rows that fit held at `as_of`?

    valid_time: what was true then, said to begin at `valid_at` or else when it was recorded; of two, the one that began
    last. knowledge_time: the newest image recorded by then, unless it retired or deleted the row.
    """
    as_of = to_ns(request.as_of)
    assert as_of is not None
    if request.as_of_basis == "knowledge_time":
        known = max((image for image in images if image.version <= as_of), key=_recorded, default=None)
        return known if known is not None and _is_standing(known) else None
    true_then = [image for image in _last_words(images) if _began(image) <= as_of and _ends_after(image, as_of)]
    return max(true_then, key=lambda image: (_began(image), image.version), default=None)


def _last_words(images: Iterable[Row]) -> list[Row]:
    """Of the images that date one statement alike, the last one said: it says whether the statement still stands."""
    last: dict[tuple[str, str, int], Row] = {}
    for image in images:
        statement = (image.memory_id, image.content_sha256, _began(image))
        if statement not in last or last[statement].version < image.version:
            last[statement] = image
    return [image for image in last.values() if _is_standing(image)]


def _recorded(image: Row) -> int:
    return image.version


def _began(image: Row) -> int:
    return image.valid_at if image.valid_at is not None else image.created_at


def _ends_after(image: Row, as_of: int) -> bool:
    return image.valid_to is None or image.valid_to > as_of


def _is_standing(image: Row) -> bool:
    return image.status in LIVE or image.status is Status.DUPLICATE
