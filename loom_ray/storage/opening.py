"""How does an incarnation take a namespace over? Read everything, refuse what is damaged, then win the next number."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from loom_ray.core.records import EmbedderStamp
from loom_ray.storage.blobs import Blobs
from loom_ray.storage.codec import Closed, Folded, Opened
from loom_ray.storage.errors import (
    BlobMissing,
    DamagedLog,
    DamagedSegment,
    DamagedSnapshot,
    EmbedderChanged,
    Fenced,
)
from loom_ray.storage.log import Log
from loom_ray.storage.manifest import Manifest, decode_manifest
from loom_ray.storage.paths import manifest_path, numbered, segment_path
from loom_ray.storage.segment import Segment, decode_segment
from loom_ray.storage.snapshot import OffLoop, StateImage, load_image

SEGMENTS_AT_ONCE = 16


@dataclass(frozen=True)
class Base:
    """The newest snapshot that can be used (`seq` 0: none), and the highest number that any manifest named."""

    seq: int = 0
    manifest: Manifest | None = None
    image: StateImage = field(default_factory=StateImage)
    newest: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tail:
    """The segments after the base, in order, and what follows from them."""

    segments: tuple[Segment, ...] = field(repr=False)
    next_seq: int
    owner: str  # the incarnation to supersede; empty if there was none
    closed: bool
    fences: frozenset[int]
    skipped: frozenset[int]  # torn segments of this tail
    torn: tuple[int, ...]  # at the end, to be skipped by the next opening
    planned: tuple[tuple[int, Folded], ...]  # folds that the log decided on and no manifest confirms, by segment
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Opening:
    """A namespace taken over; the opening segment is durable."""

    log: Log
    base: Base
    tail: Tail
    fences: frozenset[int]  # all that are known, the own opening included
    stamp: EmbedderStamp | None  # whose vectors the namespace holds


class MovedError(Exception):
    """What was being read was swept by a live owner: read again."""


async def take_over(
    blobs: Blobs, prefix: str, incarnation: str, stamp: EmbedderStamp | None, off_loop: OffLoop = asyncio.to_thread
) -> Opening:
    """See the argument in log.py. A refusal leaves the namespace, and whoever owns it, as they were.

    Raises DamagedLog, DamagedSnapshot, UnsupportedFormat, EmbedderChanged, CommitFailed, BlobsUnavailable.
    """
    known: dict[int, Segment] = {}
    base = Base()
    while True:
        try:
            base = await read_base(blobs, prefix, base, off_loop)
            tail = await read_tail(blobs, prefix, base, known)
        except MovedError:
            continue
        stored = checked_stamp(base, tail, stamp)
        opening = Opened(incarnation, tail.owner, clean(tail), tail.torn)
        log = Log(blobs, prefix, incarnation, tail.next_seq)
        try:
            opened = await log.append([opening, stamp] if stamp and not stored else [opening])
        except Fenced:  # somebody else wrote that number meanwhile
            continue
        if max(await manifests(blobs, prefix), default=0) < opened:
            fences = tail.fences | ({opened} if not clean(tail) else set())
            return Opening(log, base, tail, frozenset(fences), stored or stamp)


def clean(tail: Tail) -> bool:
    return tail.closed or not tail.owner


def checked_stamp(base: Base, tail: Tail, live: EmbedderStamp | None) -> EmbedderStamp | None:
    """The stored stamp. Raises EmbedderChanged if the live embedder is another."""
    stamps = [record for segment in tail.segments for record in segment.records if isinstance(record, EmbedderStamp)]
    stored = stamps[-1] if stamps else base.image.embedder
    if stored and live and stored != live:
        raise EmbedderChanged(describe(stored), describe(live))
    return stored


def describe(stamp: EmbedderStamp) -> str:
    return f"{stamp.name} ({stamp.dimensions} dimensions, preparation {stamp.preparation or 'none'})"


async def manifests(blobs: Blobs, prefix: str) -> dict[int, str]:
    folder = f"{prefix}manifest/"
    return numbered(await blobs.list(folder), folder)


async def read_base(blobs: Blobs, prefix: str, known: Base, off_loop: OffLoop) -> Base:
    """The newest usable snapshot; `known` again if it is still that one."""
    found = await manifests(blobs, prefix)
    notes: list[str] = []
    for seq in sorted(found, reverse=True):
        if seq == known.seq:
            return replace(known, newest=max(found), notes=tuple(notes))
        try:
            manifest = decode_manifest(found[seq], await blobs.get(found[seq]))
            image = await load_image(blobs, prefix, manifest, off_loop)
        except (DamagedSnapshot, BlobMissing) as error:
            if set(await manifests(blobs, prefix)) != set(found):
                raise MovedError from error
            notes.append(f"snapshot {seq} cannot be used, an older one is tried: {error}")
            continue
        return Base(seq, manifest, image, max(found), tuple(notes))
    return Base(newest=max(found, default=0), notes=tuple(notes))


async def read_tail(blobs: Blobs, prefix: str, base: Base, known: dict[int, Segment]) -> Tail:
    """All segments after the base, each read once (`known` keeps them). Raises MovedError, DamagedLog or
    DamagedSnapshot."""
    folder = f"{prefix}log/"
    listed = numbered(await blobs.list(folder), folder)
    last = max(listed, default=0)
    damaged = await read_segments(blobs, prefix, base, range(base.seq + 1, last + 1), known)
    tail = understand(prefix, base, [known[seq] for seq in sorted(known) if seq > base.seq], damaged)
    if tail.next_seq <= base.newest:
        raise DamagedSnapshot(manifest_path(prefix, base.newest), "; ".join([*base.notes, "the log below it is gone"]))
    return tail


async def read_segments(
    blobs: Blobs, prefix: str, base: Base, wanted: Sequence[int], known: dict[int, Segment]
) -> dict[int, DamagedSegment]:
    """Fill `known`; the damaged ones by number. A hole is a MovedError if a manifest explains it, else DamagedLog."""
    damaged: dict[int, DamagedSegment] = {}
    gate = asyncio.Semaphore(SEGMENTS_AT_ONCE)

    async def read(seq: int) -> None:
        path = segment_path(prefix, seq)
        try:
            async with gate:
                known[seq] = decode_segment(path, seq, await blobs.get(path))
        except DamagedSegment as error:
            damaged[seq] = error

    outcomes = await asyncio.gather(*(read(seq) for seq in wanted if seq not in known), return_exceptions=True)
    errors = [outcome for outcome in outcomes if outcome is not None]
    for error in errors:
        if isinstance(error, BlobMissing):
            await explain_hole(blobs, prefix, base, error.path)
        raise error
    return damaged


async def explain_hole(blobs: Blobs, prefix: str, base: Base, path: str) -> None:
    newest = max(await manifests(blobs, prefix), default=0)
    if newest != base.newest:
        raise MovedError
    why = f"it is missing, later segments are there, and snapshot {base.seq} does not hold what it held"
    raise DamagedLog(path, "; ".join([why, *base.notes]))


def understand(prefix: str, base: Base, segments: list[Segment], damaged: dict[int, DamagedSegment]) -> Tail:
    """What the segments say together. Raises DamagedLog for damage that may be of acknowledged writes, and for segments
    of an incarnation that did not own the log: that would be a fork."""
    owner = base.manifest.incarnation if base.manifest else ""
    fences = set(base.manifest.fences) if base.manifest else set[int]()
    skipped: set[int] = set()
    planned: list[tuple[int, Folded]] = []
    for segment in segments:
        for record in segment.records:
            if isinstance(record, Opened):
                owner = record.incarnation
                skipped |= set(record.skipped)
                fences |= set(record.skipped) | (set() if record.clean else {segment.seq})
            elif isinstance(record, Folded):
                planned.append((segment.seq, record))
        if segment.incarnation != owner:
            raise DamagedLog(
                segment_path(prefix, segment.seq), f"written by {segment.incarnation}, but {owner} owns the log"
            )
    last_good = segments[-1].seq if segments else base.seq
    torn = check_damage(damaged, skipped, max(last_good, base.newest))
    notes = [f"{error}: skipped, it was never acknowledged" for _, error in sorted(damaged.items())]
    return Tail(
        segments=tuple(segments),
        next_seq=max([last_good, *damaged]) + 1,
        owner=owner,
        closed=bool(segments) and any(isinstance(record, Closed) for record in segments[-1].records),
        fences=frozenset(fences | set(torn)),
        skipped=frozenset(damaged),
        torn=torn,
        planned=tuple(planned),
        notes=tuple(notes),
    )


def check_damage(damaged: dict[int, DamagedSegment], skipped: set[int], proven: int) -> tuple[int, ...]:
    """The torn segments at the end: after `proven`, the highest number known to have been whole.

    Raises DamagedLog for any damage that no opening skipped and no crash explains.
    """
    for seq, error in sorted(damaged.items()):
        if seq not in skipped and not (seq > proven and error.torn):
            raise DamagedLog(error.path, f"{error.why}; what it held may have been acknowledged") from error
    return tuple(sorted(damaged.keys() - skipped))
