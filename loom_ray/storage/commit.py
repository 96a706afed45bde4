"""How do many writers share one fsync? What waits while an append is in flight goes out as one segment."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from loom_ray.storage.codec import StoredRecord, encode_records
from loom_ray.storage.errors import CommitFailed, LogClosed, RecordsTooLarge
from loom_ray.storage.log import Log
from loom_ray.storage.segment import SEGMENT_BYTES_MAX

GROUP_BYTES_MAX = 4 * 1024 * 1024  # of JSON; a larger submission goes alone, up to SEGMENT_BYTES_MAX


@dataclass(slots=True)
class Submission:
    lines: bytes
    alone: bool
    outcome: asyncio.Future[int]


class GroupCommit:
    """Commits in the order of submission. Not thread-safe: it lives on its actor's event loop."""

    def __init__(self, log: Log, group_bytes_max: int = GROUP_BYTES_MAX) -> None:
        self._log = log
        self._group_bytes_max = group_bytes_max
        self.submitted = 0  # submissions ever
        self._waiting: deque[Submission] = deque()
        self._last: asyncio.Future[int] | None = None
        self._writer: asyncio.Task[None] | None = None
        self._refusal: Exception | None = None

    @property
    def failure(self) -> Exception | None:
        """Why nothing can be committed any more, or None."""
        return self._refusal

    @property
    def next_seq(self) -> int:
        """The number of the next segment; all below it that are this incarnation's are durable."""
        return self._log.next_seq

    def submit(self, records: Sequence[StoredRecord], alone: bool = False) -> asyncio.Future[int]:
        """Queue the records at once, in one segment (alone in it, if asked); resolves to its number when it is durable.

        They are encoded here and now: later changes of what they hold do not reach the log. Cancelling the future
        does not take them back. Raises ValueError and RecordsTooLarge at once, and leaves the rest unharmed; the
        future raises Fenced, CommitFailed or LogClosed.
        """
        outcome: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        outcome.add_done_callback(retrieve)
        if self._refusal:
            outcome.set_exception(self._refusal)
            return outcome
        lines = encode_records(records)
        if len(lines) > SEGMENT_BYTES_MAX:
            raise RecordsTooLarge(len(lines), SEGMENT_BYTES_MAX)
        self._waiting.append(Submission(lines, alone, outcome))
        self._last = outcome
        self.submitted += 1
        if self._writer is None:
            self._writer = asyncio.get_running_loop().create_task(self._write())
        answer = asyncio.shield(outcome)
        answer.add_done_callback(retrieve)
        return answer

    async def durable(self) -> None:
        """Return once everything submitted so far is durable; raises what made it fail."""
        if self._refusal and not isinstance(self._refusal, LogClosed):
            raise self._refusal
        if self._last is not None:
            await asyncio.shield(self._last)

    async def close(self) -> None:
        """Commit what waits, then close the log; later submissions fail with LogClosed. Raises as `durable`."""
        closing = self._last
        self._refusal = self._refusal or LogClosed(self._log.prefix, "closed by its owner")
        if closing is not None:
            await asyncio.shield(closing)
        if isinstance(self._refusal, LogClosed):
            await self._log.close()

    async def _write(self) -> None:
        try:
            while self._waiting:
                group = self._next_group()
                try:
                    seq = await self._log.append_lines(b"".join(submission.lines for submission in group))
                except BaseException as error:
                    self._fail(error, group)
                    raise
                for submission in group:
                    submission.outcome.set_result(seq)
        except Exception:  # every waiter has it
            return
        finally:
            self._writer = None

    def _next_group(self) -> list[Submission]:
        group = [self._waiting.popleft()]
        size = len(group[0].lines)
        while self._waiting and not group[0].alone and not self._waiting[0].alone:
            size += len(self._waiting[0].lines)
            if size > self._group_bytes_max:
                break
            group.append(self._waiting.popleft())
        return group

    def _fail(self, error: BaseException, group: list[Submission]) -> None:
        failure = error if isinstance(error, Exception) else CommitFailed(self._log.prefix, "the append was cancelled")
        self._refusal = failure
        for submission in [*group, *self._waiting]:
            submission.outcome.set_exception(failure)
        self._waiting.clear()


def retrieve(outcome: asyncio.Future[int]) -> None:
    """Mark the failure as seen: `durable` and `failure` tell it too, so that nobody need await each future."""
    if not outcome.cancelled():
        outcome.exception()
