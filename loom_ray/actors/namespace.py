"""What is a namespace to those who call it? Batches of calls in, replies out; exactly once under one key."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from loom_ray.actors.calls import Call, NamespaceGone, Reply
from loom_ray.actors.handlers import READERS, WRITERS
from loom_ray.actors.home import Home
from loom_ray.contract.errors import IdempotencyKeyReused, InternalError, LoomError
from loom_ray.contract.ops import OPS
from loom_ray.contract.scope import Receipt
from loom_ray.core.decide.claim import SECOND_NS
from loom_ray.core.records import Answered, Record

_log = logging.getLogger(__name__)
FETCH_S_MAX = 2.0  # a gateway comes for a pending reply at once
NEXT_END_S_MAX = 86_400.0  # a clock may be set meanwhile
PATIENCE_S = 0.25  # a batch answers for those that are done by then; the others are fetched one by one


class Namespace:
    """Serves one namespace from its home. A plain class: cluster/ makes it an actor, tests call it as it is."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._slow: dict[str, asyncio.Task[Reply]] = {}
        self._running: set[asyncio.Task[Reply]] = set()
        self._under_way: dict[str, tuple[str, asyncio.Task[Reply]]] = {}  # by Idempotency-Key: body hash, run
        self._leaving = False
        self._next_end: asyncio.TimerHandle | None = None
        self._all_fetched = asyncio.Event()  # nobody has to come for a pending reply any more
        self._all_fetched.set()

    @property
    def broken(self) -> bool:
        """The state is ahead of the log: whoever runs this must end it and open it anew."""
        return self.home.broken

    @property
    def idle(self) -> bool:
        return not self._running

    async def serve(self, calls: Sequence[Call]) -> list[Reply]:
        """One reply a call, in order. A call that waits for something slow holds up none of the others."""
        if self._leaving:
            return [Reply(moved=True) for _ in calls]
        self._carry_out_ends()
        tasks = [self._begin(call) for call in calls]
        await asyncio.wait(tasks, timeout=PATIENCE_S)
        if self.home.is_snapshot_due:
            self.home.write_down()
        self._wait_for_next_end()
        return [self._reply(call, task) for call, task in zip(calls, tasks, strict=True)]

    async def finish(self, call_id: str) -> Reply:
        """The reply that was pending, once. Raises NamespaceGone when an earlier incarnation took the call."""
        task = self._hand_over(call_id)
        if task is None:
            raise NamespaceGone(looked_at=True)
        return await asyncio.shield(task)

    async def leave(self) -> None:
        """Takes no further calls, ends those under way, and puts everything where the next incarnation finds it."""
        self._leaving = True
        if self._next_end is not None:
            self._next_end.cancel()
        while self._running:
            await asyncio.wait(self._running)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FETCH_S_MAX):
                await self._all_fetched.wait()
        await self.home.close()

    def _carry_out_ends(self) -> None:
        """What is over by now is gone before anybody is served, and on time where nobody asks."""
        try:
            self.home.carry_out_ends()
        except LoomError:
            _log.exception("expired rows could not be carried out; reads leave them out")

    def _wait_for_next_end(self) -> None:
        if self._next_end is not None:
            self._next_end.cancel()
        due = self.home.ends.next()
        if due is not None and not self._leaving and not self.home.broken:
            wait_s = min(max(0.0, (due - self.home.now()) / SECOND_NS), NEXT_END_S_MAX)
            self._next_end = asyncio.get_running_loop().call_later(wait_s, self._end_is_due)

    def _end_is_due(self) -> None:
        self._carry_out_ends()
        self._wait_for_next_end()

    def _begin(self, call: Call) -> asyncio.Task[Reply]:
        task = asyncio.create_task(self._replied(call))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def _reply(self, call: Call, task: asyncio.Task[Reply]) -> Reply:
        if task.done():
            return task.result()
        self._slow[call.call_id] = task
        self._all_fetched.clear()
        task.add_done_callback(lambda _: self._keep_for_a_while(call.call_id))
        return Reply(pending=True)

    def _keep_for_a_while(self, call_id: str) -> None:
        """The gateway comes for it at once, or has died: then nobody ever will."""
        keep_s = self.home.settings.request_deadline_s
        asyncio.get_running_loop().call_later(keep_s, self._hand_over, call_id)

    def _hand_over(self, call_id: str) -> asyncio.Task[Reply] | None:
        task = self._slow.pop(call_id, None)
        if not self._slow:
            self._all_fetched.set()
        return task

    async def _replied(self, call: Call) -> Reply:
        try:
            return await (self._once(call) if call.idempotency_key else self._carried_out(call, _remember_nothing))
        except LoomError as refusal:
            return Reply(error=refusal)
        except Exception:
            _log.exception("op %s failed", call.op)
            return Reply(error=InternalError("the server failed; its log names this request's id"))

    async def _carried_out(self, call: Call, remember: Callable[[Receipt], list[Record]]) -> Reply:
        if OPS[call.op].writes:
            await self.home.refusals.pass_words(call.request)
            answer = await WRITERS[call.op](self.home, call.request, remember)
        else:
            answer = await READERS[call.op](self.home, call.request)
        return Reply(answer=answer.model_dump() | call.noticed)

    async def _once(self, call: Call) -> Reply:
        """The remembered answer, or that of the same request under way, or its first and only run."""
        known = self.home.state.answers.get(call.idempotency_key)
        if known is not None:
            _same_body(known.body_sha256, call)
            await self.home.landed()
            return Reply(answer=known.answer)
        if call.idempotency_key not in self._under_way:
            self._under_way[call.idempotency_key] = (call.body_sha256, self._first_run(call))
        body_sha256, reply = self._under_way[call.idempotency_key]
        _same_body(body_sha256, call)
        return await asyncio.shield(reply)

    def _first_run(self, call: Call) -> asyncio.Task[Reply]:
        run = asyncio.create_task(self._carried_out(call, lambda answer: [self._answered(call, answer)]))
        run.add_done_callback(lambda _: self._under_way.pop(call.idempotency_key))
        return run

    def _answered(self, call: Call, answer: Receipt) -> Answered:
        shown = answer.model_dump() | call.noticed
        return Answered(call.idempotency_key, call.body_sha256, shown, self.home.now())


def _remember_nothing(answer: Receipt) -> list[Record]:
    return []


def _same_body(body_sha256: str, call: Call) -> None:
    if body_sha256 != call.body_sha256:
        raise IdempotencyKeyReused("Idempotency-Key: another request came under this key")
