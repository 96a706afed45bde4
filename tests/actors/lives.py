"""Does a namespace keep its promises while everything fails? Incarnations of it on one faulty disk, with clients that
write, read, retry and give up, an embedder that is late or down, and a clock that jumps; all from one seed."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from random import Random
from typing import Any

from clockwork import run
from faulty import Faults, FaultyBlobs, FaultyDisk
from keepers import Patterns
from promises import check_state, check_vectors, check_verdict, check_words, clone, contents
from scene import PLACE, BagOfWords, Clock, answer_to, call_of, inline
from wishes import KEYS, REPERTOIRE, THINGS, Wish, changes, versions_in

from loom_ray.actors.calls import NamespaceGone
from loom_ray.actors.namespace import Namespace
from loom_ray.actors.opening import open_namespace
from loom_ray.actors.past import images_meant
from loom_ray.contract.errors import (
    AmbiguousKey,
    BackendUnavailable,
    LoomError,
    OutcomeUnknown,
    Overloaded,
    PreconditionFailed,
)
from loom_ray.contract.ops import OPS
from loom_ray.contract.reading import HistoryRequest
from loom_ray.contract.settings import Settings
from loom_ray.core.records import Record, RowWritten, Vectors
from loom_ray.core.row import Row
from loom_ray.core.state import State
from loom_ray.storage.errors import StorageError

STEPS = 45
DAY_S = 86_400
SETTINGS = Settings(embedder_deadline_s=1.0, idempotency_seconds=10**9)
UNLUCKY = (BackendUnavailable, OutcomeUnknown, Overloaded)  # what a fault may bring; all else is a broken promise
REFUSALS = (AmbiguousKey, PreconditionFailed)


@dataclass(eq=False)
class Batch:
    """The records of one commit; whether they survived is known once the next incarnation has opened."""

    wish: Wish
    records: list[Record]
    relied_on: bool = False  # acknowledged, or shown to a reader
    landed: bool | None = None

    @property
    def rows(self) -> list[Row]:
        return [record.row for record in self.records if isinstance(record, RowWritten)]


@dataclass(eq=False)
class Process:
    """One incarnation: its handle on the disk, and everything it has applied since it opened."""

    name: str
    blobs: FaultyBlobs
    namespace: Namespace | None = None
    base: State = field(default_factory=State)
    opened_at: int = 0
    batches: list[Batch] = field(default_factory=list)
    superseded: bool = False
    leaving: bool = False
    dead: bool = False


class Moody(BagOfWords):
    """Answers at once, late, past every deadline, or refuses."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.random = random
        self.mood = "well"

    async def embed(self, texts: Any, deadline_s: float) -> Vectors:
        if self.mood == "down" and self.random.random() < 0.5:
            raise BackendUnavailable("the embedder is down")
        late = {"well": 0.0, "late": 0.6, "down": 5.0}[self.mood]
        if self.random.random() < 0.7:
            await asyncio.sleep(self.random.random() * late)
        return await super().embed(texts, deadline_s)


current: ContextVar[Wish] = ContextVar("current")


class World:
    """One disk, its incarnations and the clients, and what was promised to whom."""

    def __init__(self, seed: int, seen: Counter[str]) -> None:
        self.random = Random(seed)
        rate = self.random.choice([0, 0, 0.02, 0.05])
        self.disk = FaultyDisk(seed, Faults(full=rate, late=rate, ambiguous=rate, echo=rate, sync_fails=rate, slow=3))
        self.clock = Clock()
        self.embedder = Moody(self.random)
        self.settings = SETTINGS.model_copy(update={"snapshot_segments": self.random.choice([3, 6, 12, 1000])})
        self.processes: list[Process] = []
        self.wishes: list[Wish] = []
        self.clients: list[asyncio.Task[None]] = []
        self.images: dict[str, list[Row]] = {}  # by memory: what certainly landed, in order
        self.last_version = 0
        self.ids = 0
        self.broken_promises: list[AssertionError] = []
        self.seen = seen

    # ---- what happens ---------------------------------------------------------------------------------------------
    async def play(self) -> None:
        await self.start()
        for _ in range(STEPS):
            await self.step()
            self.clock.advance(self.random.random())
            if self.random.random() < 0.1:
                await asyncio.sleep(self.random.random())
            for _ in range(self.random.choice([0, 1, 5, 20])):
                await asyncio.sleep(0)
        await self.settle()

    async def step(self) -> None:
        drawn = self.random.random()
        if drawn < 0.55:
            self.wish()
        elif drawn < 0.66:
            self.retry()
        elif drawn < 0.76:
            self.spawn(self.start())
        elif drawn < 0.80:
            self.pause()
        elif drawn < 0.86:
            self.resume()
        elif drawn < 0.92:
            self.random.choice([self.kill, self.lose_power, self.leave])()
        elif drawn < 0.95:
            self.embedder.mood = self.random.choice(["well", "well", "late", "down"])
        else:
            self.clock.advance(self.random.choice([3600, 15 * DAY_S]))

    def spawn(self, work: Any) -> None:
        self.clients.append(asyncio.get_running_loop().create_task(work))

    async def start(self) -> Process | None:
        if sum(not process.dead for process in self.processes) >= 3:
            return None
        process = Process(f"p{len(self.processes)}", self.disk.blobs())
        self.processes.append(process)
        try:
            namespace = await open_namespace(
                PLACE, self.settings, process.blobs, self.embedder, Patterns(), process.name, self.clock, inline
            )
        except UNLUCKY as refusal:
            self.note(f"opening: {refusal.code}")
            process.dead = True
            return None
        if not process.dead:
            self.take_over(process, namespace)
        return process

    def wish(self) -> None:
        number = len(self.wishes)
        op, arguments = self.random.choice(REPERTOIRE)(self.random, number)
        key = f"key-{number}" if OPS[op].writes and self.random.random() < 0.5 else ""
        self.wishes.append(Wish(number, op, arguments, key))
        self.spawn(self.ask(self.wishes[-1]))
        if key and self.random.random() < 0.2:
            self.spawn(self.ask(self.wishes[-1]))

    def retry(self) -> None:
        keyed = [wish for wish in self.wishes if wish.key]
        if keyed:
            self.spawn(self.ask(self.random.choice(keyed[-8:])))

    async def ask(self, wish: Wish) -> None:
        process = self.pick(lambda process: process.namespace is not None)
        if process is None or process.namespace is None:
            return
        current.set(wish)
        call = call_of(wish.op, self.settings, wish.key, **wish.arguments)
        try:
            reply = await answer_to(process.namespace, call)
        except NamespaceGone:
            raise AssertionError(f"{process.name} has lost the pending reply of {wish}") from None
        if process.dead or reply.moved:
            return
        if reply.error is not None:
            self.refused(wish, reply.error)
        else:
            assert reply.answer is not None
            self.answered(process, wish, reply.answer)

    def pause(self) -> None:
        if (process := self.pick(lambda process: True)) is not None:
            process.blobs.pause()

    def resume(self) -> None:
        if (process := self.pick(lambda process: True)) is not None:
            process.blobs.resume()

    def kill(self, process: Process | None = None) -> None:
        process = process or self.pick(lambda process: True)
        if process is not None:
            if process.namespace is not None:
                check_vectors(process.namespace.home)
                check_state(process.namespace.home.state)
            process.dead = True
            process.blobs.pause()

    def lose_power(self) -> None:
        for process in self.processes:
            if not process.dead:
                self.kill(process)
        self.keep_order_of_links()
        self.disk.crash()
        self.disk.late.clear()  # they were on their way in the machine that has no power now

    def keep_order_of_links(self) -> None:
        """Journals keep the order of links in one folder. On a disk that does not, two racing openings may leave the
        second without the first; storage cannot tell that from a lost segment, and refuses to open."""
        links = [effect for effect in self.disk.unsynced if "/log/" in effect.path and effect.data]
        self.disk.unsynced = [effect for effect in self.disk.unsynced if effect not in links[1:]]

    def leave(self) -> None:
        process = self.pick(lambda process: process.namespace is not None and not process.leaving)
        if process is not None and process.namespace is not None:
            process.leaving = True
            self.spawn(self.left(process, process.namespace))

    async def left(self, process: Process, namespace: Namespace) -> None:
        try:
            await namespace.leave()
        except StorageError as failure:
            self.note(f"leaving: {type(failure).__name__}")
        else:
            self.note("left")
            process.dead = True

    def pick(self, fits: Callable[[Process], bool]) -> Process | None:
        """The newest as a rule: old ones are asked by mistake."""
        alive = [process for process in self.processes if not process.dead and fits(process)]
        return None if not alive else alive[-1] if self.random.random() < 0.7 else self.random.choice(alive)

    # ---- what must hold -------------------------------------------------------------------------------------------
    def take_over(self, process: Process, namespace: Namespace) -> None:
        """Its state is that of the incarnation before it after some whole number of commits; those have landed."""
        home = namespace.home
        process.opened_at = home.store.commit.next_seq - 1
        before = [other for other in self.processes if other.namespace is not None]
        elder = max((p for p in before if p.opened_at < process.opened_at), key=lambda p: p.opened_at, default=None)
        self.check_inherited(elder, home.state)
        process.superseded = any(other.opened_at > process.opened_at for other in before)
        process.base, process.namespace = clone(home.state), namespace
        home.fresh_ids = self.fresh_ids
        apply = home.apply

        def noted(records: Any) -> None:
            landed = False if process.superseded else None
            wish = current.get()
            process.batches.append(Batch(wish, list(records), landed=landed))
            try:
                if wish.op == "memory.set":
                    check_verdict(home, call_of(wish.op, self.settings, **wish.arguments).request, records)
            except AssertionError as broken:  # the namespace would take it for a failure of its own
                self.broken_promises.append(broken)
            apply(records)

        home.apply = noted
        check_state(home.state)
        check_vectors(home)
        if self.random.random() < 0.1:
            check_words(home, self.random.choice([*THINGS, *KEYS]))

    def check_inherited(self, elder: Process | None, found: State) -> None:
        state = State() if elder is None else clone(elder.base)
        batches = [] if elder is None else elder.batches
        wanted = contents(found, self.settings, self.clock())
        matches = [0] if contents(state, self.settings, self.clock()) == wanted else []
        for count, batch in enumerate(batches, start=1):
            for record in batch.records:
                state.apply(record)
            if contents(state, self.settings, self.clock()) == wanted:
                matches.append(count)
        assert matches, f"the state is none that {elder and elder.name} ever had"
        if elder is None:
            return
        landed = matches[-1]
        for place, batch in enumerate(batches):
            self.settled(batch, place < landed)
        elder.superseded = True

    def settled(self, batch: Batch, landed: bool) -> None:
        if batch.landed is not None:
            assert batch.landed == landed, f"{batch.wish}: two successors disagree whether it landed"
            return
        batch.landed = landed
        self.note("landed" if landed else "lost")
        assert landed or not batch.relied_on, f"{batch.wish}: lost, and somebody had been told"
        if landed:
            batch.wish.landed += 1
            assert batch.wish.landed == 1, f"{batch.wish}: carried out twice"
            for row in batch.rows:
                assert row.version > self.last_version, "versions do not rise"
                self.last_version = row.version
                self.images.setdefault(row.memory_id, []).append(row)

    def answered(self, process: Process, wish: Wish, answer: dict[str, Any]) -> None:
        self.note(answer.get("conflict_verdict") or wish.op)
        if OPS[wish.op].writes:
            wish.answers.append(answer)
            assert answer == wish.answers[0], f"{wish}: a retry was answered otherwise"
            mine = [batch for batch in process.batches if batch.wish is wish]
            assert mine or wish.landed or not changes(wish, answer), f"{wish}: answered, and nothing was done"
            self.rely_on(mine)
        else:
            versions = set(versions_in(answer))
            self.rely_on([b for b in process.batches if not versions.isdisjoint(row.version for row in b.rows)])

    def rely_on(self, batches: list[Batch]) -> None:
        for batch in batches:
            assert batch.landed is not False, f"{batch.wish}: it is lost, and somebody is told now"
            batch.relied_on = True

    def refused(self, wish: Wish, refusal: LoomError) -> None:
        assert isinstance(refusal, UNLUCKY + REFUSALS), f"{wish}: {refusal!r}"
        self.note(refusal.code)

    async def settle(self) -> None:
        """Everybody wakes and ends; then the power goes, and on a disk without faults all must be there."""
        self.embedder.mood = "well"
        for process in self.processes:
            if not process.dead:
                process.blobs.resume()
        await asyncio.sleep(120)
        for client in self.clients:
            if client.done():
                client.result()
        if self.broken_promises:
            raise self.broken_promises[0]
        self.lose_power()
        self.disk.faults = Faults()
        last = await self.start()
        assert last is not None
        assert last.namespace is not None
        for wish in self.wishes:
            assert wish.landed or not any(changes(wish, answer) for answer in wish.answers), f"{wish}: lost"
        await self.check_retries(last)
        if self.random.random() < 0.3:  # Parquet costs more than all the rest
            await self.check_again(last.namespace)

    async def check_retries(self, last: Process) -> None:
        """Whoever was answered under a key is answered the same, and nothing is done again."""
        before = len(last.batches)
        keyed = [wish for wish in self.wishes if wish.key and wish.answers]
        await asyncio.gather(*(self.ask(wish) for wish in keyed))
        assert len(last.batches) == before

    async def check_again(self, namespace: Namespace) -> None:
        home = namespace.home
        check_words(home, self.random.choice([*THINGS, *KEYS])) if self.random.random() < 0.1 else None
        for memory_id in self.random.sample(sorted(home.state.rows), min(1, len(home.state.rows))):
            asked = HistoryRequest(memory_key=home.state.rows[memory_id].memory_key, user_id="*", session_id="*")
            of_key = sorted(await images_meant(home, asked), key=lambda image: image.version)
            images = [image for image in of_key if image.memory_id == memory_id]
            assert images == self.images[memory_id], f"the history of {memory_id} is not what landed"
        await namespace.leave()
        self.processes[-1].dead = True
        again = await self.start()
        assert again is not None
        assert again.namespace is not None
        assert contents(again.namespace.home.state, self.settings, self.clock()) == contents(
            home.state, self.settings, self.clock()
        )

    def fresh_ids(self, count: int) -> list[str]:
        self.ids += count
        return [f"m{self.ids - place}" for place in range(count)]

    def note(self, what: str) -> None:
        self.seen[what] += 1


def play(seed: int, seen: Counter[str] | None = None) -> None:
    """AssertionError naming what broke; the seed says how. `seen` counts what happened."""
    world = World(seed, Counter() if seen is None else seen)
    run(seed, world.play)
