"""What does a read of one key or one id answer, now or as of a time?"""

from __future__ import annotations

from collections.abc import Iterable

from loom_ray.contract.fields import to_ns
from loom_ray.contract.reading import GetAnswer, GetByIdRequest, GetRequest, HistoryRequest
from loom_ray.core.read.view import row_view
from loom_ray.core.row import LIVE, Row, Status
from loom_ray.core.state import State


def rows_meant(state: State, request: GetRequest | HistoryRequest) -> list[Row]:
    """The rows of the key that fit the identity given, whatever their status, newest first; `*` fits any."""
    wanted = (request.agent, request.user_id, request.session_id)
    rows = (state.rows[memory_id] for memory_id in state.ids_of_key(request.memory_key, request.user_id))
    fitting = [row for row in rows if all(want in ("*", have) for want, have in zip(wanted, row.identity, strict=True))]
    return sorted(fitting, key=lambda row: -row.version)


def get(state: State, request: GetRequest, namespace: str, now: int) -> GetAnswer:
    """The readable row of the key; of several that fit, the one written last."""
    row = next((row for row in rows_meant(state, request) if row.is_readable(now)), None)
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

    valid_time: what was true then, said to begin at `valid_at` or else when it was first recorded; of two, the one that
    began last. knowledge_time: of each row the newest image recorded by then; of those that stood, the newest.
    """
    as_of = to_ns(request.as_of)
    assert as_of is not None
    if request.as_of_basis == "knowledge_time":
        known = _newest(image for image in images if image.version <= as_of)
        return max((image for image in known if _is_standing(image)), key=_recorded, default=None)
    true_then = [(began, image) for began, image in _statements(images) if began <= as_of and _ends_after(image, as_of)]
    return max(true_then, key=lambda held: (held[0], held[1].version), default=(0, None))[1]


def _newest(images: Iterable[Row]) -> list[Row]:
    newest: dict[str, Row] = {}
    for image in images:
        if image.memory_id not in newest or newest[image.memory_id].version < image.version:
            newest[image.memory_id] = image
    return list(newest.values())


def _statements(images: Iterable[Row]) -> list[tuple[int, Row]]:
    """Each statement that a row made, with its beginning: what was last said of it says whether it still stands."""
    said: dict[tuple[str, str, int | None], list[Row]] = {}
    for image in images:
        said.setdefault((image.memory_id, image.content_sha256, image.valid_at), []).append(image)
    statements: list[tuple[int, Row]] = []
    for (_, _, valid_at), of_one in said.items():
        first, last = min(of_one, key=_recorded), max(of_one, key=_recorded)
        if _is_standing(last):
            statements.append((first.version if valid_at is None else valid_at, last))
    return statements


def _recorded(image: Row) -> int:
    return image.version


def _ends_after(image: Row, as_of: int) -> bool:
    return image.valid_to is None or image.valid_to > as_of


def _is_standing(image: Row) -> bool:
    return image.status in LIVE or image.status is Status.DUPLICATE
