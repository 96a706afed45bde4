"""How does a namespace find what a pattern matches? In threads and in slices, so that others are served meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from loom_ray.actors.calls import SweepOrder
from loom_ray.actors.home import Home
from loom_ray.actors.past import audits, every_image
from loom_ray.actors.writing import Remember, carry_out
from loom_ray.contract.blacklist import (
    BlacklistReportAnswer,
    BlacklistReportRequest,
    DropsListAnswer,
    DropsListRequest,
    Swept,
)
from loom_ray.contract.errors import InvalidRequest, Locked
from loom_ray.contract.fields import to_ns
from loom_ray.contract.scope import Receipt
from loom_ray.core.decide.many import refused_row
from loom_ray.core.decide.refuse import texts_of_row
from loom_ray.core.decide.remove import bury
from loom_ray.core.draft import By, Note
from loom_ray.core.read.auditing import drops_page
from loom_ray.core.read.cursor import read_cursor
from loom_ray.core.refusal.matching import Matcher
from loom_ray.core.refusal.pattern import Pattern, PatternRefused, check_pattern
from loom_ray.core.refusal.registry import pattern_of
from loom_ray.core.row import Row, Status
from loom_ray.storage.audits import AuditWanted

SLICE_ROWS = 500  # milliseconds of a thread, and of the loop where all of them match
SWEEP = "blacklist.sweep"
KEYS_SHOWN = 100


async def sweep(home: Home, order: SweepOrder, remember: Remember) -> Receipt:
    """Tombstones for the live rows that match, as many as the order has room for. Locked rows stay and are named."""
    by = By(SWEEP, order.actor, home.fresh_ids(1)[0])  # its own run: what `drops.list` groups by
    note = Note(reason=order.pattern.reason, related_id=order.pattern.pattern_id)
    matches = _matches(order.pattern)
    answer = Swept(pattern_id=order.pattern.pattern_id)
    rows = iter(_served(home))
    while (part := list(islice(rows, SLICE_ROWS))) and not answer.swept_truncated:
        found = await home.refusals.in_thread(lambda part=part: [row for row in part if matches(row)])
        answer.swept_truncated = len(found) > order.rows_max - answer.swept
        await _bury(home, by, note, found[: order.rows_max - answer.swept], answer)
    return await carry_out(home, home.draft(by), answer, remember)


async def _bury(home: Home, by: By, note: Note, rows: Sequence[Row], answer: Swept) -> None:
    draft = home.draft(by)
    for row in rows:
        current = draft.row(row.memory_id)
        if current is None or not _is_served(current) or current.content_sha256 != row.content_sha256:
            continue  # it left meanwhile, or says something else, which was checked as it was written
        try:
            bury(draft, current, note)
            answer.swept += 1
        except Locked as refusal:
            answer.refused.append(refused_row(row.memory_key, refusal, row.memory_id))
    await home.commit(draft.records)


async def report(home: Home, request: BlacklistReportRequest) -> BlacklistReportAnswer:
    """Raises InvalidRequest for a pattern that `blacklist.add` would refuse."""
    pattern = pattern_of(request, "", 0)
    try:
        check_pattern(pattern, [])
    except PatternRefused as refusal:
        raise InvalidRequest(f"pattern: {refusal}") from None
    matches = _matches(pattern)
    rows = await _matching(home, matches, _served(home))
    said: set[tuple[str, str]] = set()
    async for images in every_image(home):
        said |= {(image.memory_id, image.content_sha256) for image in await _matching(home, matches, images)}
    await home.durable()
    said -= {(row.memory_id, row.content_sha256) for row in rows}
    keys = sorted(row.memory_key for row in rows)[:KEYS_SHOWN]
    return BlacklistReportAnswer(rows=len(rows), versions=len(said), memory_keys=keys)


async def _matching(home: Home, matches: Callable[[Row], bool], rows: Iterable[Row]) -> list[Row]:
    found: list[Row] = []
    rest = iter(rows)
    while part := list(islice(rest, SLICE_ROWS)):
        found += await home.refusals.in_thread(lambda part=part: [row for row in part if matches(row)])
    return found


def _matches(pattern: Pattern) -> Callable[[Row], bool]:
    matcher = Matcher((pattern,))
    return lambda row: bool(matcher.matches(texts_of_row(row)))


def _served(home: Home) -> list[Row]:
    """As they are when it begins: what is written later is refused by then."""
    return [row for row in home.state.rows.values() if _is_served(row)]


def _is_served(row: Row) -> bool:
    return row.is_live or row.status is Status.DUPLICATE


async def drops(home: Home, request: DropsListRequest) -> DropsListAnswer:
    place = read_cursor(request.cursor, int)
    wanted = AuditWanted(actions=frozenset({SWEEP}), effects=False, since=to_ns(request.since))
    count = home.settings.sweep_rows_max * 2
    while True:
        rows = await audits(home, wanted, place[0] if place else None, count)
        answer = drops_page(rows, request.limit, more=len(rows) == count)
        if answer is not None:
            await home.durable()
            return answer
        count *= 4
