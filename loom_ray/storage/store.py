"""What does a namespace's actor ask of storage? Open, commit, snapshot, history, close: one door to this room."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field, replace

import pyarrow.compute as pc

from loom_ray.contract.reading import AsOfBasis
from loom_ray.core.records import Audited, EmbedderStamp, Record
from loom_ray.core.row import Row
from loom_ray.storage.audits import AUDIT, AuditWanted, audits_in
from loom_ray.storage.blobs import Blobs
from loom_ray.storage.codec import Closed, Folded, Opened
from loom_ray.storage.commit import GroupCommit
from loom_ray.storage.errors import BlobMissing, BlobsUnavailable, Fenced
from loom_ray.storage.folded import FoldedFiles, fold, merge_from
from loom_ray.storage.history import HISTORY, images_at, images_in, images_of, of_key, of_memories
from loom_ray.storage.manifest import FoldedFile, Manifest, SnapshotFile, encode_manifest
from loom_ray.storage.opening import Opening, Tail, manifests, take_over
from loom_ray.storage.paths import manifest_path, numbered, numbers_in
from loom_ray.storage.snapshot import OffLoop, StateImage, dimensions_of, store_image

QUIET_SEGMENTS_MAX = 32  # openings and closings of a namespace nobody writes to, before a close folds them


@dataclass(frozen=True, slots=True)
class Recovered:
    """The state is `image`, then the records in order. `notes` are warnings that name files."""

    image: StateImage
    records: tuple[Record, ...] = field(repr=False)
    notes: tuple[str, ...]


class NamespaceStore:
    """One incarnation's hold on one namespace. It lives on its actor's event loop."""

    def __init__(self, blobs: Blobs, prefix: str, opening: Opening, off_loop: OffLoop) -> None:
        manifest = opening.base.manifest
        self.commit = GroupCommit(opening.log)
        self._log = opening.log
        self._blobs = blobs
        self._prefix = prefix
        self._off_loop = off_loop
        self._fences = opening.fences
        self._skipped = opening.tail.skipped
        self._stamp = opening.stamp
        self._through = opening.base.seq  # the newest durable snapshot
        self._quiet_through = 0 if records_in(opening.tail) else opening.log.next_seq - 1  # no news up to here
        files = (manifest.history, manifest.audit) if manifest else ((), ())
        self._history = FoldedFiles(blobs, prefix, HISTORY, files[0], off_loop)
        self._audit = FoldedFiles(blobs, prefix, AUDIT, files[1], off_loop)
        self._folded_through = opening.base.seq  # may be ahead of the snapshot, if that failed after its fold
        self._planned = list(opening.tail.planned)
        self._folding = asyncio.Lock()
        self._snapshot: asyncio.Task[int] | None = None

    @classmethod
    async def open(
        cls,
        blobs: Blobs,
        prefix: str,
        incarnation: str,
        embedder: EmbedderStamp | None,
        off_loop: OffLoop = asyncio.to_thread,
    ) -> tuple[NamespaceStore, Recovered]:
        """Take the namespace over from whoever had it. `incarnation`: unique among all that ever open it; `embedder`:
        stamped on a namespace that has none, compared with the stored one otherwise.

        Raises DamagedLog and DamagedSnapshot naming the file, UnsupportedFormat, EmbedderChanged, CommitFailed and
        BlobsUnavailable; a refusal leaves the namespace and its owner as they were.
        """
        opening = await take_over(blobs, prefix, incarnation, embedder, off_loop)
        store = cls(blobs, prefix, opening, off_loop)
        if opening.tail.owner and not opening.tail.closed:  # it may have died between a manifest and its deletions
            await store._tidy(opening.base.manifest)
        image = replace(opening.base.image, embedder=opening.stamp)
        return store, Recovered(image, records_in(opening.tail), opening.base.notes + opening.tail.notes)

    @property
    def segments_since_snapshot(self) -> int:
        return self._log.next_seq - 1 - self._through

    @property
    def snapshotting(self) -> bool:
        return self._snapshot is not None and not self._snapshot.done()

    def snapshot(self, image: StateImage) -> asyncio.Task[int]:
        """Write `image` down, fold the log below it into history and truncate it; resolves to the snapshot's number.

        `image` must be the state after every record submitted so far and no other: the marker that says so is queued
        before this returns. The task raises StorageError; after anything but Fenced and CommitFailed the log is
        unharmed, and the next snapshot makes up for it. One at a time: RuntimeError while `snapshotting`.
        """
        if self.snapshotting:
            raise RuntimeError("a snapshot is under way")
        first = (self._planned[-1][0] if self._planned else self._folded_through) + 1
        folded = Folded(first, first if self._planned else merge_from(self._folds(), first))
        marker = self.commit.submit([folded], alone=True)
        self._snapshot = asyncio.get_running_loop().create_task(self._write(image, folded, marker))
        self._snapshot.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._snapshot

    async def history(self, memory_key: str) -> list[Row]:
        """The images of the key's rows written before the newest snapshot, newest first; the actor holds later ones."""
        return await self._images(of_key(memory_key))

    async def images_of(self, memory_ids: Collection[str]) -> list[Row]:
        """Likewise those of these memories."""
        return await self._images(of_memories(memory_ids))

    async def each_part_of_history(self) -> AsyncIterator[list[Row]]:
        """Likewise all images of all memories, a file at a time."""
        await self._fold_planned()
        for file in self._history.files:
            yield await images_in(self._history, file, self._through)

    async def _images(self, rows: pc.Expression) -> list[Row]:
        await self._fold_planned()
        return await images_of(self._history, rows, self._through)

    async def images_at(self, as_of: int, basis: AsOfBasis) -> list[Row]:
        """Likewise those of all memories that can say what held at `as_of` (ns): see history.py."""
        await self._fold_planned()
        return await images_at(self._history, as_of, basis, self._through)

    async def audits(self, wanted: AuditWanted, before: int | None, limit: int) -> list[Audited]:
        """Likewise at most `limit` audit records with a stamp below `before`, newest first."""
        await self._fold_planned()
        return await audits_in(self._audit, wanted, before, limit, self._through)

    def close(self, image: StateImage | None = None) -> asyncio.Task[None]:
        """Commit what waits, snapshot `image` (as in `snapshot`) if there is something new in it, and promise never to
        write again. If more is submitted while an earlier snapshot ends, `image` is out of date and not written: the
        log holds all. The task raises StorageError; the log is closed even if only the snapshot failed."""
        return asyncio.get_running_loop().create_task(self._close(image, self.commit.submitted))

    async def _close(self, image: StateImage | None, submitted: int) -> None:
        if self._snapshot is not None:
            await asyncio.wait([self._snapshot])
        changed = self._log.next_seq - 1 > self._quiet_through or self.segments_since_snapshot > QUIET_SEGMENTS_MAX
        try:
            if image is not None and changed and self.commit.submitted == submitted:
                await self.snapshot(image)
        finally:
            await self.commit.close()

    async def _write(self, image: StateImage, folded: Folded, marker: asyncio.Future[int]) -> int:
        seq = await marker
        self._planned.append((seq, folded))
        await self._fold_planned()
        files = await store_image(self._blobs, self._prefix, seq, image, self._off_loop)
        manifest = self._manifest(seq, image, files)
        await self._blobs.put(manifest_path(self._prefix, seq), encode_manifest(manifest))
        self._through = seq
        self._quiet_through = max(self._quiet_through, seq)
        await self._sweep()
        return seq

    async def _fold_planned(self) -> None:
        """Do what the log decided on. Raises Fenced if another incarnation has done it and gone on."""
        async with self._folding:
            while self._planned:
                seq, folded = self._planned[0]
                try:
                    await self._fold(range(folded.first, seq + 1), folded.merged_from)
                except BlobMissing as error:
                    raise Fenced(error.path, "another incarnation has folded it") from error
                self._folded_through = seq
                del self._planned[0]

    async def _fold(self, segments: range, merged_from: int) -> None:
        kinds = (self._history, self._audit)
        await fold(kinds, self._blobs, self._prefix, segments, merged_from, self._skipped, self._off_loop)

    def _folds(self) -> list[FoldedFile]:
        """The folds of the log as they stand: of each the larger file, where it left files of both kinds."""
        folds = dict[int, FoldedFile]()
        for file in (*self._history.files, *self._audit.files):
            folds[file.first] = max(file, folds.get(file.first, file), key=lambda each: each.bytes)
        return [folds[first] for first in sorted(folds)]

    def _manifest(self, seq: int, image: StateImage, files: tuple[SnapshotFile, ...]) -> Manifest:
        return Manifest(
            seq=seq,
            incarnation=self._log.incarnation,
            fences=tuple(sorted(self._fences)),
            last_version=image.last_version,
            dimensions=dimensions_of(image),
            embedder=image.embedder or self._stamp,
            registered=image.registered,
            files=files,
            history=self._history.files,
            audit=self._audit.files,
        )

    async def _tidy(self, manifest: Manifest | None) -> None:
        """Finish what an incarnation that died in a snapshot had begun; if it cannot be now, the next snapshot does.

        The manifest is put again before anything is removed on its word: it may be visible and not yet durable.
        """
        with contextlib.suppress(BlobsUnavailable):
            await self._fold_planned()
            if manifest is not None:
                await self._blobs.put(manifest_path(self._prefix, manifest.seq), encode_manifest(manifest))
                await self._sweep()

    async def _sweep(self) -> None:
        """Remove what the newest snapshot made needless. What cannot be removed now goes with the next one."""
        log, snapshots = f"{self._prefix}log/", f"{self._prefix}snapshot/"
        with contextlib.suppress(BlobsUnavailable):
            segments = numbered(await self._blobs.list(log), log)
            doomed = [path for seq, path in segments.items() if seq <= self._through and seq not in self._fences]
            older = await manifests(self._blobs, self._prefix)
            doomed += [path for seq, path in older.items() if seq < self._through]
            files = await self._blobs.list(snapshots)
            doomed += [path for path in files if numbers_in(path, snapshots)[0] < self._through]
            await self._blobs.delete(doomed)
            await self._history.sweep()
            await self._audit.sweep()


def records_in(tail: Tail) -> tuple[Record, ...]:
    """The records of the namespace itself, without those of storage."""
    every = (record for segment in tail.segments for record in segment.records)
    return tuple(record for record in every if not isinstance(record, Opened | Folded | Closed))
