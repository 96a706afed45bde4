"""What has happened to one memory since a cause first touched it, and what did it hold before?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from loom_ray.core.records import Audited
from loom_ray.core.row import Row, Status

AUTO_SUPERSEDE = "memory.auto_supersede"
ROLLBACK, EXPIRE = "memory.rollback", "memory.expire"

_LINKS_ONLY = frozenset({"flagged", "unflagged", "lapsed"})
_FOLLOWS = frozenset({"released", "repointed"})


@dataclass(frozen=True, slots=True)
class Step:
    """One image, what the audit says of it, the image before, and whether the cause made it."""

    image: Row
    audit: Audited
    before: Row | None
    caused: bool

    @property
    def is_head(self) -> bool:
        """Whether the memory itself changed, not only who contradicts it."""
        return self.audit.effect not in _LINKS_ONLY

    @property
    def moved_to(self) -> str:
        """The memory that its fact moved to, if that is what happened."""
        left = self.image.status in (Status.REDIRECT, Status.TOMBSTONED)
        return self.audit.related_id if left and self.audit.action == "memory.move" else ""

    @property
    def follows(self) -> str:
        """The memory whose change this one only followed, if any: its successor, its canonical, its new place."""
        followed = self.audit.action == AUTO_SUPERSEDE or self.audit.effect in _FOLLOWS
        return self.audit.related_id if followed else self.moved_to

    @property
    def word(self) -> str:
        """What the cause did here, in one word."""
        if self.audit.effect:
            return self.audit.effect
        if self.audit.action == AUTO_SUPERSEDE:
            return "superseded"
        known = self.before
        said = known is None or known.content_sha256 != self.image.content_sha256
        return "written" if said else self.audit.action


@dataclass(frozen=True)
class Trail:
    """The steps of one memory, oldest first, from the first that the cause made; `merges` are the restatements of it
    that it made."""

    memory_id: str
    steps: tuple[Step, ...]
    merges: tuple[Audited, ...]

    @cached_property
    def last_block(self) -> tuple[Step, ...]:
        """The newest changes of the memory itself, as far as they are all the cause's: these can be taken back. Empty
        where the newest is another's, or where the cause only changed links."""
        heads = [step for step in self.steps if step.is_head]
        return tuple(takewhile(lambda step: step.caused, reversed(heads)))[::-1]

    @property
    def is_changed_since(self) -> bool:
        heads = [step for step in self.steps if step.is_head]
        return any(step.caused for step in heads) and not heads[-1].caused

    def said_at(self, version: int) -> int | None:
        """Which statement it made just before: the version that brought it; None where it was not there yet."""
        image = self.steps[0].before
        for step in self.steps:
            if step.image.version >= version:
                break
            image = step.image
        return image.asserted_at if image is not None else None

    @property
    def last(self) -> Row | Audited:
        """What tells best which memory it is."""
        return self.steps[-1].image if self.steps else self.merges[-1]

    @property
    def did(self) -> list[str]:
        words = [step.word for step in self.steps if step.caused] + ["merged"] * bool(self.merges)
        return list(dict.fromkeys(words))

    @property
    def version(self) -> int | None:
        """Of the newest image; None where the cause only restated the memory."""
        return self.steps[-1].image.version if self.steps else None


def caused_by(seeds: Iterable[Audited], of_their_commits: Iterable[Audited]) -> list[Audited]:
    """The seeds, and what the same requests did to other memories because of them: those flagged against a seed's
    memory, retired behind it, and so on."""
    seeds = list(seeds)
    roots = {(seed.commit_id, seed.memory_id) for seed in seeds}
    followers = [each for each in of_their_commits if (each.commit_id, each.related_id) in roots]
    return sorted({each.stamp: each for each in [*seeds, *followers]}.values(), key=lambda each: each.stamp)


def trails(caused: Collection[Audited], images: Iterable[Row], audits: Iterable[Audited]) -> dict[str, Trail]:
    """By memory id, in the order in which the cause first touched them. Of each memory in `caused`, all `images` are
    needed, and all `audits` from the first of the cause on."""
    made = {each.stamp for each in caused}
    told: dict[int, Audited] = {each.stamp: each for each in audits}
    first: dict[str, int] = {}
    merges: dict[str, list[Audited]] = defaultdict(list)
    for each in sorted(caused, key=lambda each: each.stamp):
        first.setdefault(each.memory_id, each.stamp)
        if each.stamp != each.version:  # counted without an image of its own
            merges[each.memory_id].append(each)
    of_each: dict[str, list[Row]] = defaultdict(list)
    for image in sorted(images, key=lambda image: image.version):
        of_each[image.memory_id].append(image)
    return {
        memory_id: Trail(memory_id, _steps(of_each[memory_id], told, made, since), tuple(merges[memory_id]))
        for memory_id, since in first.items()
    }


def _steps(images: Sequence[Row], told: Mapping[int, Audited], made: Collection[int], since: int) -> tuple[Step, ...]:
    before = [None, *images[:-1]]
    return tuple(
        Step(image, told[image.version], earlier, image.version in made)
        for image, earlier in zip(images, before, strict=True)
        if image.version >= since
    )
