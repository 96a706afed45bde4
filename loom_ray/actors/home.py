"""What does one namespace own, and how does a change become lasting? State, indexes and log, changed in one turn."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from loom_ray.actors.embedding.actor import Description
from loom_ray.actors.indexes import Indexes
from loom_ray.actors.refusing import Refusals
from loom_ray.contract.errors import BackendUnavailable, EmbedderMismatch, OutcomeUnknown, PayloadTooLarge, Unavailable
from loom_ray.contract.settings import Settings
from loom_ray.core.decide.claim import SECOND_NS
from loom_ray.core.decide.remove import carry_out_end
from loom_ray.core.decide.rules import DAY_NS, Rules
from loom_ray.core.draft import By, Draft
from loom_ray.core.ends import Ends, is_over
from loom_ray.core.read.conflicts import Causes
from loom_ray.core.records import Audited, Record, Registered, RowWritten, Vectors
from loom_ray.core.row import Row
from loom_ray.core.state import State
from loom_ray.storage.errors import RecordsTooLarge
from loom_ray.storage.snapshot import StateImage
from loom_ray.storage.store import NamespaceStore

_log = logging.getLogger(__name__)

CALIBRATING = "calibration"  # any text: an embedder is calibrated by its first question
RETRY_SNAPSHOT_NS = 30 * SECOND_NS


class EmbedderPort(Protocol):
    """The embedder as a namespace sees it (cluster/ reaches the pool over Ray)."""

    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors: ...

    async def describe(self) -> Description: ...


class Folding(NamedTuple):
    """What a snapshot under way moves from memory to Parquet."""

    images: dict[str, list[Row]]
    audits: list[Audited]


class Home:
    """Everything between two awaits is one turn: what is decided on the state is applied to it in the same turn."""

    def __init__(
        self,
        place: tuple[str, str],
        settings: Settings,
        embedder: EmbedderPort,
        store: NamespaceStore,
        state: State,
        now: Callable[[], int],
        refusals: Refusals,
    ) -> None:
        self.org, self.namespace = place
        self.settings = settings
        self.state = state
        self.store = store
        self.now = now
        self.broken = False  # a commit failed: the state is ahead of the log and must be rebuilt from it
        self.indexes = Indexes(settings.namespace_queue_max)
        self.ends = Ends()
        self.causes = Causes()
        self.embedder = embedder
        self.refusals = refusals
        self.description: Description | None = None
        self.folding: list[Folding] = []
        self._written_down_at = now()
        self._snapshot_from = 0  # ns; after one failed, the next waits a little

    # ---- deciding ----------------------------------------------------------------------------------------------
    @property
    def rules(self) -> Rules:
        calibration = self.description.calibration if self.description else None
        return Rules(self.settings, self.state.settings, calibration.thresholds if calibration else None)

    def draft(self, by: By) -> Draft:
        """A draft of this turn; what has expired by now is gone from it."""
        self.carry_out_ends()
        return Draft(self.state, self.now(), by)

    def carry_out_ends(self) -> None:
        """Whatever expired or stopped being true by now leaves, in commits that nobody waits for here: whoever reads
        waits until all is durable."""
        now = self.now()
        while not self.broken and (due := self.ends.due(now)):
            try:
                self._end(due, now)
            finally:  # also of one that no commit can hold: it must not stand in everybody's way
                for memory_id in due:
                    self.ends.put(self.state.rows[memory_id], after=now)

    def _end(self, memory_ids: list[str], now: int) -> None:
        draft = Draft(self.state, now, By("memory.expire", "worker:expiry"))
        for memory_id in memory_ids:
            row = draft.row(memory_id)
            if row is not None and is_over(row, now):
                carry_out_end(draft, row)
        if not draft.records:
            return
        try:
            self._submit(draft.records).add_done_callback(self._ended)
        except PayloadTooLarge:  # long values: fewer at a time
            half = len(memory_ids) // 2
            if not half:
                _log.exception("%s cannot leave: its end is more than one commit can hold", memory_ids[0])
                return
            self._end(memory_ids[:half], now)
            self._end(memory_ids[half:], now)

    def _ended(self, lasting: asyncio.Future[int]) -> None:
        if lasting.cancelled() or lasting.exception() is not None:
            self.broken = True

    def fresh_ids(self, count: int) -> list[str]:
        return [str(uuid.uuid4()) for _ in range(count)]

    # ---- waiting -----------------------------------------------------------------------------------------------
    async def embed(self, texts: Sequence[str], deadline_s: float) -> Vectors:
        """(texts, dimensions). Raises BackendUnavailable, Overloaded, and EmbedderMismatch where the namespace's
        vectors are another embedder's."""
        try:
            async with asyncio.timeout(deadline_s):
                description = await self.known_embedder()
                vectors = await self.embedder.embed(texts, deadline_s)
                if description.calibration is None:  # known from the first answered embedding on
                    self.description = await self.embedder.describe()
        except TimeoutError:
            raise BackendUnavailable(
                f"the embedder did not answer within {deadline_s:g} s", retry_after_s=1.0
            ) from None
        return vectors

    async def calibrated(self) -> None:
        """Has the embedder say how it measures, before a judgement that asks it for no vector: nothing may be judged
        otherwise because nobody has asked it yet. One that does not answer leaves the settings' thresholds in force."""
        if self.description is None or self.description.calibration is None:
            with contextlib.suppress(Unavailable):
                await self.embed([CALIBRATING], self.settings.embedder_deadline_s)

    async def known_embedder(self) -> Description:
        if self.description is None or self.description.calibration is None:
            self.description = await self.embedder.describe()
        stored, live = self.state.stamp, self.description.stamp
        if stored is not None and stored != live:
            raise EmbedderMismatch(
                f"this namespace was embedded by {stored.name} ({stored.dimensions} dimensions, {stored.preparation}),"
                f" and the server runs {live.name} ({live.dimensions}, {live.preparation}): vectors are never mixed"
            )
        return self.description

    # ---- changing ----------------------------------------------------------------------------------------------
    async def commit(self, records: Sequence[Record]) -> None:
        """Applies the records now, in this turn, and returns when they are durable.

        Raises OutcomeUnknown when they may not be; the home is broken then.
        """
        if self.broken:  # nothing of this request was begun
            raise BackendUnavailable("the namespace is being rebuilt", retry_after_s=1.0)
        if not records:
            await self.durable()
            return
        await self._lasting(self._submit(records))

    def _submit(self, records: Sequence[Record]) -> asyncio.Future[int]:
        """Queued for the log and applied, in this turn. Raises PayloadTooLarge, and then neither has happened, and
        OutcomeUnknown."""
        try:  # encoded now: what cannot be kept is refused before it is applied
            lasting = self.store.commit.submit(records)
        except RecordsTooLarge as refusal:
            raise PayloadTooLarge("this is more than one commit can hold: send less at a time") from refusal
        try:
            self.apply(records)
        except Exception as fault:  # half applied, and on its way to the log: only a replay can tell what holds
            self.broken = True
            _log.exception("records could not be applied")
            raise OutcomeUnknown("the namespace is being rebuilt", retry_after_s=1.0) from fault
        return lasting

    def apply(self, records: Sequence[Record]) -> None:
        """Brings state and indexes to what the records say; also how a log is replayed."""
        for record in records:
            self.state.apply(record)
            if isinstance(record, RowWritten):
                self.ends.put(record.row)
                self.indexes.put(record.row, record.vectors)

    async def durable(self) -> None:
        """Returns when everything applied so far can no longer be lost: a read awaits it before it answers. Raises
        BackendUnavailable when that may never be; the home is broken then."""
        try:
            await self.landed()
        except OutcomeUnknown as failure:
            raise BackendUnavailable(failure.message, retry_after_s=failure.retry_after_s) from failure

    async def landed(self) -> None:
        """As `durable`, for a write that was applied before: raises OutcomeUnknown."""
        await self._lasting(self.store.commit.durable())

    async def _lasting(self, commit: Awaitable[object]) -> None:
        try:
            await commit
        except Exception as failure:
            self.broken = True
            raise OutcomeUnknown("the log could not be written", retry_after_s=1.0) from failure

    # ---- waking, writing down, leaving -------------------------------------------------------------------------
    def load(self, image: StateImage) -> None:
        """Fills an empty home from a snapshot."""
        self.state = stored_state(image)
        self.indexes.load(image)
        for row in image.rows:
            self.ends.put(row)

    def tidy(self) -> None:
        """Drops what need not be remembered any longer: old answers, and rows deleted longer ago than they may come
        back (history keeps those)."""
        settings, now = self.settings, self.now()
        self.state.forget_answers(now - settings.idempotency_seconds * SECOND_NS, settings.idempotency_keys_max)
        deadline = now - settings.restore_window_days * DAY_NS
        for row in [row for row in self.state.rows.values() if (row.tombstoned_at or now) < deadline]:
            self.state.forget(row.memory_id)
            self.indexes.remove(row.memory_id)

    @property
    def is_snapshot_due(self) -> bool:
        due = self.store.segments_since_snapshot >= self.settings.snapshot_segments or (
            self.now() - self._written_down_at >= self.settings.snapshot_seconds * SECOND_NS
            and bool(self.state.recent or self.state.audits)
        )
        may = self.now() >= self._snapshot_from and not self.store.snapshotting and not self.broken
        return due and may

    def write_down(self) -> asyncio.Task[int]:
        """Begins a snapshot of the state as it is in this turn. The images that it folds into history stay readable
        here until it is done, and longer where it fails."""
        self.tidy()
        self._written_down_at = self.now()
        folding = Folding(self.state.recent, self.state.audits)
        self.state.recent, self.state.audits = {}, []
        self.folding.append(folding)
        snapshot = self.store.snapshot(self.image())
        snapshot.add_done_callback(lambda task: self._folded(folding, task))
        return snapshot

    def image(self) -> StateImage:
        state = self.state
        rows = list(state.rows.values())
        return StateImage(
            rows=rows,
            vectors=self.indexes.stored(rows),
            answers=list(state.answers.values()),
            allowed=list(state.allowed.values()),
            registered=Registered(state.settings, self.now()) if state.settings else None,
            embedder=state.stamp,
            last_version=state.last_version,
        )

    async def close(self) -> None:
        """Everything durable, a snapshot of what is new, and never a write again. Raises StorageError."""
        try:
            await self.store.close(self.image())
        finally:
            self.indexes.close()
            self.refusals.close()

    def images_in_memory(self) -> list[Row]:
        """Those that history may not hold yet."""
        kept = [*(folding.images for folding in self.folding), self.state.recent]
        return [image for images in kept for of_one in images.values() for image in of_one]

    def audits_in_memory(self) -> list[Audited]:
        """Those that may not be folded yet, newest first."""
        kept = [*(folding.audits for folding in self.folding), self.state.audits]
        return [audit for audits in kept for audit in audits][::-1]

    def _folded(self, folding: Folding, task: asyncio.Task[int]) -> None:
        if task.cancelled() or task.exception() is not None:
            _log.warning("a snapshot failed; the log keeps everything until the next: %s", task)
            self._snapshot_from = self.now() + RETRY_SNAPSHOT_NS
            return
        del self.folding[: self.folding.index(folding) + 1]  # also what earlier ones that failed had begun to fold


def stored_state(image: StateImage) -> State:
    """The state that a snapshot holds."""
    state = State()
    for row in image.rows:
        state.put(row)
    state.last_version = max(state.last_version, image.last_version)
    state.settings = dict(image.registered.settings) if image.registered else {}
    state.answers.update((answer.key, answer) for answer in image.answers)
    state.allowed.update(((pair.key_a, pair.key_b), pair) for pair in image.allowed)
    state.stamp = image.embedder
    return state
