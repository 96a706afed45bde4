"""What does a namespace hold now? The rows and what finds them; changed by nothing but the records of the log."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator
from typing import Any

from sortedcontainers import SortedDict, SortedSet

from loom_ray.core.records import (
    Allowed,
    Answered,
    Audited,
    Disallowed,
    EmbedderStamp,
    PatternHits,
    PatternRemoved,
    Record,
    Registered,
    Reinforced,
    RowWritten,
)
from loom_ray.core.refusal.pattern import Pattern
from loom_ray.core.row import NOBODY, Address, Row, Status

IdsByUser = dict[str, set[str]]  # memory ids of each user: a namespace of many users must not be walked for one
KeyPair = tuple[str, str]  # two keys in their order
KeyOrder = tuple[str, str]  # (memory_key, memory_id): the order of every listing


class State:
    """Replaying the same records gives the same state. Not thread-safe: it belongs to one actor's loop."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}  # by memory id; tombstones included until they are forgotten
        self.by_address: dict[Address, str] = {}
        self.by_key: SortedDict[str, IdsByUser] = SortedDict()
        self.conflicted: SortedSet[KeyOrder] = SortedSet()
        self.allowed: SortedDict[KeyPair, Allowed] = SortedDict()
        self.settings: dict[str, Any] = {}
        self.answers: OrderedDict[str, Answered] = OrderedDict()
        self.stamp: EmbedderStamp | None = None
        self.last_version = 0
        self.counts: Counter[Status] = Counter()
        self.recent: dict[str, list[Row]] = {}  # images since the last fold into history, oldest first
        self.audits: list[Audited] = []  # since the last fold, oldest first
        self._live_by_digest: dict[str, IdsByUser] = {}
        self._duplicates_of: dict[str, set[str]] = defaultdict(set)

    def apply(self, record: Record) -> None:
        match record:
            case RowWritten(row=row):
                self.put(row)
                self.recent.setdefault(row.memory_id, []).append(row)
            case Audited(stamp=stamp):
                self.audits.append(record)
                self.last_version = max(self.last_version, stamp)
            case Reinforced():
                self._reinforce(record)
            case Registered(settings=settings):
                self.settings = settings
            case Answered():
                self.answers[record.key] = record
            case Allowed(key_a, key_b):
                self.allowed[key_a, key_b] = record
            case Disallowed(key_a, key_b):
                self.allowed.pop((key_a, key_b), None)
            case EmbedderStamp():
                self.stamp = record
            case Pattern() | PatternRemoved() | PatternHits():
                pass  # these are in the keeper's log alone

    def put(self, row: Row) -> None:
        """The row's new image takes the place of the one before."""
        self._unindex(self.rows.get(row.memory_id))
        self.rows[row.memory_id] = row
        self.by_address[row.address] = row.memory_id
        self.by_key.setdefault(row.memory_key, {}).setdefault(row.user_id, set()).add(row.memory_id)
        self.counts[row.status] += 1
        self.last_version = max(self.last_version, row.version)
        if row.is_live:
            self._live_by_digest.setdefault(row.canonical_digest, {}).setdefault(row.user_id, set()).add(row.memory_id)
        if row.status is Status.CONFLICTED:
            self.conflicted.add((row.memory_key, row.memory_id))
        if row.status is Status.DUPLICATE:
            self._duplicates_of[row.duplicate_of].add(row.memory_id)

    def forget(self, memory_id: str) -> None:
        """Drops a tombstone whose window to come back has passed; its history stays."""
        row = self.rows.pop(memory_id)
        self._unindex(row)
        if self.by_address.get(row.address) == memory_id:  # a log may be replayed in which its address has a new row
            del self.by_address[row.address]
        users = self.by_key[row.memory_key]
        _discard(users, row.user_id, memory_id)
        if not users:
            del self.by_key[row.memory_key]

    def forget_answers(self, before: int, count_max: int) -> None:
        """Drops remembered answers older than `before` (ns), and the oldest past `count_max`."""
        while self.answers:
            oldest = next(iter(self.answers.values()))
            if oldest.at >= before and len(self.answers) <= count_max:
                return
            self.answers.popitem(last=False)

    def row_at(self, address: Address) -> Row | None:
        memory_id = self.by_address.get(address)
        return self.rows[memory_id] if memory_id else None

    def ids_of_key(self, memory_key: str, user_id: str) -> set[str]:
        """Rows of `user_id` and of nobody; of everybody where that user is nobody, or `*`."""
        return _ids_of(self.by_key.get(memory_key, {}), user_id)

    def live_ids_of_digest(self, digest: str, user_id: str) -> set[str]:
        """As `ids_of_key`, of the live rows that hold this canonical form."""
        return _ids_of(self._live_by_digest.get(digest, {}), user_id)

    def duplicate_ids_of(self, memory_id: str) -> set[str]:
        return self._duplicates_of.get(memory_id, set())

    def canonical_ids(self) -> list[str]:
        """Of the rows that others repeat, in no order."""
        return list(self._duplicates_of)

    def in_key_order(self, prefix: str, after: KeyOrder | None = None) -> Iterator[Row]:
        """Rows whose key starts with `prefix`, in listing order, from the first past `after`."""
        start = max(prefix, after[0]) if after else prefix
        for key in self.by_key.irange(start):
            if not key.startswith(prefix):
                return
            for memory_id in sorted(set[str]().union(*self.by_key[key].values())):
                if after is None or (key, memory_id) > after:
                    yield self.rows[memory_id]

    def _reinforce(self, record: Reinforced) -> None:
        row = self.rows.get(record.memory_id)
        if row is not None:
            self.rows[row.memory_id] = row.reinforced(record.at)

    def _unindex(self, row: Row | None) -> None:
        if row is None:
            return
        self.counts[row.status] -= 1
        users = self._live_by_digest.get(row.canonical_digest, {})
        _discard(users, row.user_id, row.memory_id)
        if not users:
            self._live_by_digest.pop(row.canonical_digest, None)
        _discard(self._duplicates_of, row.duplicate_of, row.memory_id)
        self.conflicted.discard((row.memory_key, row.memory_id))


def _discard(index: dict[str, set[str]], name: str, memory_id: str) -> None:
    ids = index.get(name)
    if ids is not None:
        ids.discard(memory_id)
        if not ids:
            del index[name]


def _ids_of(users: IdsByUser, user_id: str) -> set[str]:
    if user_id in (NOBODY, "*"):
        return set[str]().union(*users.values())
    return users.get(user_id, set()) | users.get(NOBODY, set())
