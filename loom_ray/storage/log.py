"""Who may write to a namespace? The fenced log: numbered segments, each put only where nothing lies yet.

Why there are never two writers, without a lock service, although snapshots delete segments:

1. *Collision.* An incarnation writes its numbers one by one, n only after n-1 is durable, and stops for ever at the
   first failure. A successor reads everything up to the last segment h and puts its opening under h+1: exactly the
   number that the superseded incarnation would write next. One of the two puts wins. If the old one wins, the opener
   reads what won and tries the number after it; if the opener wins, the old one finds foreign bytes and is Fenced for
   ever.
2. *Truncation.* A paused incarnation may come back when its next number n has long been folded away. But n holds the
   opening that superseded it, and openings are *fences*: never deleted, named in every manifest. Only the opening
   over an incarnation that wrote Closed is no fence, because that one never writes again. Torn segments that an
   opening skipped are fences too: their writer, if it lives, has that number as its next.
3. *Late openers.* An opener may be paused between reading and putting, while others open, write and truncate; its
   number may then be free again. So after its put it looks for a manifest at or above its number. Deletion comes only
   after such a manifest is durable, so either it sees one, and starts again, or nothing was deleted and its number is
   new. What it left behind is below that manifest and not among its fences: ignored by readers, swept by the next
   snapshot. It does not delete it itself, because it cannot tell it from a fence that is still needed.
4. *Late puts.* A put whose caller has given up may land later. Under a number in use it collides; under a swept
   number it lies below the manifest and is ignored. In between there is none: the next incarnation's opening took
   that number.
5. *Ambiguity.* A retry may meet its own first try. Segments name their incarnation and number, so identical bytes are
   ours.
6. *Crash in a snapshot.* Order: marker in the log, history file, snapshot files, manifest, deletions. Before the
   manifest is durable nothing was deleted; after it nothing below is read. A stale incarnation that goes on with its
   snapshot writes the files of a marker that lies before the fence: true as far as it goes, and older than any
   manifest that deletes more.
7. *Damage.* A torn end of the log (no good segment after it) was never acknowledged: blobs become visible whole, so
   it is a write that a crash cut short. The next opening names it as skipped and keeps its number. Any other damage,
   and any hole, refuses to open: it may have been acknowledged.
"""

from __future__ import annotations

from collections.abc import Sequence

from loom_ray.storage.blobs import Blobs
from loom_ray.storage.codec import Closed, StoredRecord, encode_records
from loom_ray.storage.errors import BlobExists, CommitFailed, Fenced, LogClosed, StorageError
from loom_ray.storage.paths import namespace_prefix, segment_path
from loom_ray.storage.segment import decode_segment, encode_segment

__all__ = ["Log", "namespace_prefix"]


class Log:
    """One incarnation's right to append. `incarnation` is unique among all that ever open this namespace."""

    def __init__(self, blobs: Blobs, prefix: str, incarnation: str, next_seq: int) -> None:
        self.prefix = prefix
        self.incarnation = incarnation
        self.next_seq = next_seq
        self._blobs = blobs
        self._refusal: StorageError | None = None

    async def append(self, records: Sequence[StoredRecord]) -> int:
        """Put the records as one segment; its number, once it is durable. Raises as `append_lines`."""
        return await self.append_lines(encode_records(records))

    async def append_lines(self, lines: bytes) -> int:
        """Put encoded records as one segment. One append at a time.

        Raises Fenced if another incarnation owns the number, CommitFailed if the outcome is unknown (both for ever
        after), LogClosed after `close`, RecordsTooLarge for a segment past its bound (the log goes on).
        """
        if self._refusal:
            raise self._refusal
        path = segment_path(self.prefix, self.next_seq)
        data = encode_segment(self.next_seq, self.incarnation, lines)
        self._refusal = CommitFailed(path, "its append did not end")  # stands if this append is cancelled
        try:
            await self._put(path, data)
        except Fenced as refusal:
            self._refusal = refusal
            raise
        except StorageError as error:
            self._refusal = CommitFailed(path, str(error))
            raise self._refusal from error
        self._refusal = None
        self.next_seq += 1
        return self.next_seq - 1

    async def close(self) -> None:
        """Append the promise never to write again. Raises as `append_lines`."""
        await self.append([Closed()])
        self._refusal = LogClosed(self.prefix, "closed by its owner")

    async def _put(self, path: str, data: bytes) -> None:
        try:
            await self._blobs.put_new(path, data)
        except BlobExists:
            found = await self._blobs.get(path)
            if found != data:
                raise Fenced(path, f"it belongs to incarnation {owner_of(path, self.next_seq, found)}") from None


def owner_of(path: str, seq: int, data: bytes) -> str:
    try:
        return decode_segment(path, seq, data).incarnation
    except StorageError:
        return "unknown"
