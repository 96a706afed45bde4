"""What is one memory? The immutable image of a row at one version, and its identity."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

JsonValue = Any  # what JSON holds: dict, list, str, int, float, bool or None (checked at the door)


class Status(StrEnum):
    """Where a row stands. Live rows are served by default and judged against; the rest only on request."""

    ACTIVE = "active"
    CONFLICTED = "conflicted"
    DUPLICATE = "duplicate"
    SUPERSEDED = "superseded"  # a newer memory took its place: `superseded_by`
    TOMBSTONED = "tombstoned"
    REJECTED = "rejected"  # marked wrong
    REDIRECT = "redirect"  # its fact moved to another key: `redirects_to`


LIVE = frozenset({Status.ACTIVE, Status.CONFLICTED})
NOBODY = "-"  # an identity that is no one in particular


class MemoryType(StrEnum):
    """What kind of memory a row is. Episodic and profile rows are neither embedded nor searched nor judged."""

    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    DECISION = "decision"
    EPISODIC = "episodic"
    PROFILE = "profile"


SHOWN_CHARS = 200  # of a text that is shown by the way
SEARCHED_TYPES = frozenset({MemoryType.SEMANTIC, MemoryType.PROCEDURAL, MemoryType.DECISION})


class Identity(NamedTuple):
    """Whose row it is, within one org and namespace; `-` is nobody in particular."""

    agent: str
    user_id: str
    session_id: str


class Address(NamedTuple):
    """What a write is idempotent on: at most one row lives at an address."""

    memory_key: str  # NFC
    identity: Identity


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One version of one memory. Times are nanoseconds since the epoch, UTC; None is "never" or "unknown".

    A change is a new image with a higher `version`; the list of images is the row's history.
    """

    memory_id: str
    memory_key: str
    agent: str
    user_id: str
    session_id: str
    run_id: str
    memory_type: MemoryType
    value: JsonValue
    content_sha256: str
    canonical_digest: str  # of the type and the canonical form: equal digests are one fact (core/text/canonical.py)
    version: int  # strictly rising in a namespace
    created_at: int  # of the first version
    status: Status = Status.ACTIVE
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    sensitivity: str = ""  # "", "low", "medium" or "high"
    confidence: float | None = None
    valid_at: int | None = None
    valid_to: int | None = None
    expires_at: int | None = None
    on_expire: str = "tombstone"
    char_limit: int | None = None
    conflict_with: tuple[str, ...] = ()  # memory ids; symmetric
    duplicate_of: str = ""  # a memory id
    superseded_by: str = ""  # a memory id
    tombstoned_at: int | None = None
    source_class: str = ""
    source_resource_id: str = ""
    actor: str = ""
    chunks: int = 0  # verbatim pieces embedded beside the excerpt
    reinforcements: int = 0  # restatements and merges; counted without a new version
    reinforced_at: int | None = None
    asserted_at: int = 0  # version of the image that brought this value
    pinned: bool = False  # no later write may contradict it
    lock: str = ""  # "", "no_delete" or "read_only"
    locked_until: int | None = None  # ns; None: until it is unlocked
    lock_reason: str = ""
    demoted: bool = False  # readable by key and listed, but neither searched nor judged
    redirects_to: str = ""  # a memory id
    ended_at: int | None = None  # ns; of a superseded row: when what took its place began to hold
    restored_from: str = ""  # the memory behind which it was retired when an undo brought it back
    restored_at: int | None = None  # version of the image that did

    @property
    def identity(self) -> Identity:
        return Identity(self.agent, self.user_id, self.session_id)

    @property
    def address(self) -> Address:
        return Address(self.memory_key, self.identity)

    @property
    def is_live(self) -> bool:
        return self.status in LIVE

    @property
    def is_searched(self) -> bool:
        """Whether the row has a vector: its type is searched, it is not of high sensitivity, and not demoted."""
        return self.memory_type in SEARCHED_TYPES and self.sensitivity != "high" and not self.demoted

    @property
    def shown(self) -> str:
        """The beginning of its text, for answers about other rows; nothing of a secret."""
        return "" if self.sensitivity == "high" else self.text[:SHOWN_CHARS]

    @property
    def text(self) -> str:
        return text_of(self.value)

    def ends_at(self) -> int | None:
        """When the row leaves the reads by itself: it expires, or stops being true. None is never."""
        return min((end for end in (self.leaves_at(), self.valid_to) if end is not None), default=None)

    def leaves_at(self) -> int | None:
        """When it expires: a lock holds that up. None is never."""
        if self.expires_at is None or not self.lock:
            return self.expires_at
        return None if self.locked_until is None else max(self.expires_at, self.locked_until)

    @property
    def began(self) -> int:
        """When what it says began to hold (ns): its `valid_at`, or else when it was said."""
        return self.valid_at if self.valid_at is not None else self.asserted_at or self.version

    @property
    def has_expired(self) -> bool:
        """Whether a tombstone is one because its time was up."""
        gone_at = self.tombstoned_at
        return self.expires_at is not None and gone_at is not None and gone_at >= self.expires_at

    def is_locked(self, now: int) -> bool:
        return bool(self.lock) and (self.locked_until is None or self.locked_until > now)

    def is_current(self, now: int) -> bool:
        end = self.ends_at()
        return end is None or end > now

    def is_readable(self, now: int) -> bool:
        """What a read by key serves, and what a write of the key finds there: live rows and duplicates, if current."""
        return (self.is_live or self.status is Status.DUPLICATE) and self.is_current(now)

    def reinforced(self, at: int) -> Row:
        """Counted once more, at `at` (ns); the version stays."""
        return replace(self, reinforcements=self.reinforcements + 1, reinforced_at=at)


def share_a_user(ours: str, theirs: str) -> bool:
    """Whether rows of these users are held against each other: nobody's are everybody's."""
    return ours == theirs or NOBODY in (ours, theirs)


def text_of(value: JsonValue) -> str:
    """The text that a value is read by: itself, or its JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def content_sha256(value: JsonValue) -> str:
    """The hash that answers carry and `if_match_sha256` compares: of the JSON with sorted keys, UTF-8, hex."""
    canonical = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()
