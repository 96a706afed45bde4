"""How does a write wait, and when may it decide? The awaits of the ops that store a value; the decisions are core's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from loom_ray.actors.home import Home
from loom_ray.actors.indexes import SEARCHES_MAX, Found, Search
from loom_ray.actors.refusing import Gate
from loom_ray.actors.turns import moment
from loom_ray.contract.errors import LoomError
from loom_ray.contract.scope import Receipt
from loom_ray.contract.writing import BulkSetRequest, Claim, PinRequest, SetRequest, UpdateByIdRequest, UpdateRequest
from loom_ray.core.decide.answer import bulk_answer, not_updated, set_answer, update_answer
from loom_ray.core.decide.claim import Settled, actor_of, settle
from loom_ray.core.decide.correct import corrected, row_to_correct
from loom_ray.core.decide.peers import NEIGHBOURS, is_peer
from loom_ray.core.decide.write import NO_VECTORS, Embedded, NeedsVectors, Written, decide_writes, written_one_by_one
from loom_ray.core.draft import By, Draft
from loom_ray.core.records import EmbedderStamp, Record, RowWritten, Vectors
from loom_ray.core.row import Row, text_of
from loom_ray.storage.facets import peers_where

READ_AT_ONCE_CHARS = 10_000  # about two milliseconds
DEEPER = 4  # times as many hits, where most of those found are no peers
Remember = Callable[[Receipt], list[Record]]  # what an Idempotency-Key adds to the commit
ClaimsOf = Callable[[Draft], list[Settled]]


@dataclass(frozen=True, slots=True)
class Looked:
    """A claim's vectors and what the index saw of their neighbours; fresh again at each decision."""

    settled: Settled
    vectors: Vectors
    found: Found
    stored: bool

    def now(self, home: Home) -> Embedded:
        near = home.indexes.near(self.found, self.vectors[0]) if len(self.vectors) else {}
        return Embedded(self.vectors, near, self.stored)

    def serves(self, settled: Settled) -> bool:
        """Whether it was looked up for just such a claim: a row may change while its correction waits."""
        ours, theirs = self.settled, settled
        same = ours.content_sha256 == theirs.content_sha256 and ours.memory_type is theirs.memory_type
        return ours is theirs or (same and ours.pieces == theirs.pieces and ours.address == theirs.address)


async def set_(home: Home, request: SetRequest, remember: Remember) -> Receipt:
    by = By("memory.pin" if isinstance(request, PinRequest) else "memory.set", actor_of(request.agent), request.run_id)
    claims = await _settled(home, [request], request)
    draft, written = await _decided(home, by, lambda _: claims)
    note_refused(home, written)
    answer = set_answer(written[0], home.namespace, request.dry_run)
    return await carry_out(home, draft, answer, remember, request.dry_run)


async def bulk_set(home: Home, request: BulkSetRequest, remember: Remember) -> Receipt:
    by = By("memory.bulk_set", actor_of(request.agent), request.run_id)
    claims = await _settled(home, request.entries, request)
    draft, written = await _decided(home, by, lambda _: claims)
    note_refused(home, written)
    answer = bulk_answer(written, draft, request.dry_run)
    return await carry_out(home, draft, answer, remember, request.dry_run)


async def update(home: Home, request: UpdateRequest | UpdateByIdRequest, remember: Remember) -> Receipt:
    """The row is looked up again in the turn that decides: what was corrected is what is stored then. What its text
    says is worked out once an image, and of long ones in a thread."""
    op = "memory.update" if isinstance(request, UpdateRequest) else "memory.update_by_id"
    by = By(op, actor_of(request.agent), request.run_id)
    reason = ""
    known: dict[int, Settled] = {}  # by the row's version

    def claims_of(draft: Draft) -> list[Settled]:
        nonlocal reason
        row, reason = row_to_correct(draft, request, home.rules)
        if row is None:
            return []
        if row.version not in known:
            known[row.version] = corrected(row, request, draft.now, home.rules)
        return [known[row.version]]

    row, _ = row_to_correct(home.draft(by), request, home.rules)
    if row is not None and len(text_of(row.value if request.value is None else request.value)) > READ_AT_ONCE_CHARS:
        known[row.version] = await asyncio.to_thread(corrected, row, request, home.now(), home.rules)

    draft, written = await _decided(home, by, claims_of)
    if not written:
        return await carry_out(home, draft, not_updated(request, home.namespace, reason), remember, request.dry_run)
    note_refused(home, written)
    answer = update_answer(written[0], home.namespace, request.dry_run)
    return await carry_out(home, draft, answer, remember, request.dry_run)


def note_refused(home: Home, written: Sequence[Written]) -> None:
    for one in written:
        refusal = one.outcome.refusal
        if refusal is not None and refusal.list_name == "skipped_blacklisted" and one.settled.refused is not None:
            home.refusals.note(one.settled.refused)


async def _settled(home: Home, claims: Sequence[Claim], who: SetRequest | BulkSetRequest) -> list[Settled]:
    """What the texts alone say. Long ones are read in a thread: nobody else in the namespace should wait for it."""
    rules = home.rules
    places = [None] if isinstance(who, SetRequest) else range(len(claims))

    def settle_all() -> list[Settled]:
        return [settle(claim, who, place, rules) for claim, place in zip(claims, places, strict=True)]

    chars = sum(len(text_of(claim.value)) for claim in claims)
    return settle_all() if chars <= READ_AT_ONCE_CHARS else await asyncio.to_thread(settle_all)


async def _decided(home: Home, by: By, claims_of: ClaimsOf) -> tuple[Draft, list[Written]]:
    """Decides as soon as every claim that needs vectors has them; the draft is of this very turn. What the blacklist
    refuses is known before anything is embedded."""
    ids: list[str] = []
    looked: dict[int, Looked] = {}
    gate = Gate(home.refusals)
    while True:
        draft = home.draft(by)
        given = claims_of(draft)
        claims = gate.marked(given)
        if claims is None:
            await gate.look(given)
            continue
        ids += home.fresh_ids(len(claims) - len(ids))
        looked = {place: one for place, one in looked.items() if place < len(claims) and one.serves(claims[place])}
        try:
            embedded = {place: one.now(home) for place, one in looked.items()}
            return draft, decide_writes(draft, claims, embedded, home.rules, ids[: len(claims)])
        except NeedsVectors as needs:
            looked |= await look_up(home, claims, needs.places)
        decided = await _rehearsed(home, by, claims_of, gate, looked, ids)
        if decided is not None:
            return decided


async def _rehearsed(
    home: Home, by: By, claims_of: ClaimsOf, gate: Gate, looked: dict[int, Looked], ids: list[str]
) -> tuple[Draft, list[Written]] | None:
    """Decides a batch claim by claim and gives way after each: judging takes milliseconds a claim, and nobody else in
    the namespace would be served meanwhile. What was decided counts where nothing has changed by then; elsewhere the
    turn that counts finds nearly every verdict reached."""
    draft, began = home.draft(by), moment(home)
    claims = gate.marked(claims_of(draft))
    if claims is None or len(claims) == 1:
        return None
    embedded = {place: one.now(home) for place, one in looked.items()}
    written: list[Written] = []
    with suppress(NeedsVectors, LoomError):  # told by the turn that counts
        for one in written_one_by_one(draft, claims, embedded, home.rules, ids[: len(claims)]):
            written.append(one)
            await asyncio.sleep(0)
        home.carry_out_ends()
        if moment(home) == began:
            return draft, written
    return None


async def look_up(home: Home, claims: list[Settled], places: list[int]) -> dict[int, Looked]:
    """One trip to the embedder for all pieces of all these claims, then one to the index."""
    kept = {place: vectors for place in places if (vectors := _kept_vectors(home, claims[place])) is not None}
    asked = [place for place in places if place not in kept]
    pieces = [piece for place in asked for piece in claims[place].pieces]
    deadline_s = home.settings.embedder_deadline_s if len(claims) == 1 else home.settings.request_deadline_s
    matrix = await home.embed(pieces, deadline_s) if pieces else None
    vectors, start = dict(kept), 0
    for place in asked:
        end = start + len(claims[place].pieces)
        vectors[place], start = NO_VECTORS if matrix is None else matrix[start:end], end
    return await _look_all(home, claims, vectors, set(kept))


async def _look_all(
    home: Home, claims: list[Settled], vectors: dict[int, Vectors], kept: set[int]
) -> dict[int, Looked]:
    """As many at a time as travel together: one request never fills the queue that all of them share."""
    rest, looked = iter(vectors), {}
    while places := list(islice(rest, SEARCHES_MAX)):
        looks = (look(home, claims[place], vectors[place], stored=place in kept) for place in places)
        looked |= zip(places, await asyncio.gather(*looks), strict=True)
    return looked


async def look(home: Home, settled: Settled, vectors: Vectors, *, stored: bool) -> Looked:
    """Looks until enough of what it finds are peers as things stand: expired rows, and rows of another time, must not
    stand in front of one that contradicts."""
    if not len(vectors):
        return Looked(settled, vectors, Found([], 0), stored)
    where, k = peers_where(settled.memory_type, settled.address.identity.user_id), NEIGHBOURS
    while True:
        found = await home.indexes.search(Search(vectors[0], k, where))
        if len(found.hits) < k or _peers_among(home, found, settled) >= NEIGHBOURS:
            return Looked(settled, vectors, found, stored)
        k *= DEEPER


def _peers_among(home: Home, found: Found, settled: Settled) -> int:
    rows = (home.state.rows.get(hit.memory_id) for hit in found.hits)
    now = home.now()
    return sum(row is not None and row.is_live and is_peer(row, settled, now) for row in rows)


def _kept_vectors(home: Home, settled: Settled) -> Vectors | None:
    """The stored vectors of a row whose text stays; a change of its tags alone asks no embedder."""
    row = home.state.row_at(settled.address)
    if row is None or row.content_sha256 != settled.content_sha256 or not row.is_searched:
        return None
    vectors = home_vectors(home, row)
    return vectors if len(vectors) == len(settled.pieces) else None


def home_vectors(home: Home, row: Row) -> Vectors:
    """(1 + chunks, dimensions), or no rows where nothing is stored."""
    stored = home.indexes.vectors_of(row.memory_id)
    return NO_VECTORS if stored is None else stored


async def carry_out(home: Home, draft: Draft, answer: Receipt, remember: Remember, dry_run: bool = False) -> Receipt:
    """Applies the draft in this turn and answers when it is durable; a dry run only waits for what it has seen."""
    records = [] if dry_run else [*_stamp(home, draft.records), *draft.records, *remember(answer)]
    await home.commit(records)
    return answer


def _stamp(home: Home, records: Sequence[Record]) -> list[EmbedderStamp]:
    """The first vector of a namespace brings its embedder's stamp into the log."""
    first = home.state.stamp is None and any(
        isinstance(record, RowWritten) and record.vectors is not None and len(record.vectors) for record in records
    )
    return [home.description.stamp] if first and home.description else []
