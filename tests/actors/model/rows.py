"""What does the model remember? Rows by address, and what follows where one of them leaves the living."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

ACTIVE, CONFLICTED, DUPLICATE = "active", "conflicted", "duplicate"
SUPERSEDED, TOMBSTONED, REJECTED, REDIRECT = "superseded", "tombstoned", "rejected", "redirect"
SECOND, DAY = 1_000_000_000, 86_400 * 1_000_000_000
JUDGED_TYPES = {"semantic", "decision"}
FOREVER = 1 << 63


class Refused(Exception):
    """What the client sees instead of an answer: the code of the error."""


class Address(NamedTuple):
    key: str
    agent: str = "-"
    user: str = "-"


@dataclass
class Row:
    """The newest image of the memory at an address. `text` is a name of texts.TEXTS; times are nanoseconds."""

    at: Address
    text: str
    said: int  # when this value was said
    created: int
    type: str = "semantic"
    tags: tuple[str, ...] = ()
    sensitivity: str = ""
    valid_at: int | None = None
    valid_to: int | None = None
    expires: int | None = None
    on_expire: str = "tombstone"
    char_limit: int | None = None
    status: str = ACTIVE
    against: set[Address] = field(default_factory=set)
    repeats: Address | None = None
    successor: Address | None = None
    moved_to: Address | None = None
    pinned: bool = False
    lock: str = ""
    lock_end: int | None = None
    demoted: bool = False
    lapsed: bool = False
    expired: bool = False
    counted: int = 0
    gone: int | None = None

    @property
    def present(self) -> bool:
        """Whether the address holds a row."""
        return self.status in (ACTIVE, CONFLICTED, DUPLICATE)

    @property
    def live(self) -> bool:
        return self.status in (ACTIVE, CONFLICTED)

    @property
    def judged(self) -> bool:
        return self.type in JUDGED_TYPES and self.sensitivity != "high" and not self.demoted and not self.lapsed

    @property
    def begins(self) -> int:
        """What says no time is true from when it was said."""
        return self.said if self.valid_at is None else self.valid_at

    @property
    def since(self) -> int:
        """As `begins`, but of what only says until when: that may always have been true."""
        return 0 if self.valid_at is None and self.valid_to is not None else self.begins

    @property
    def ends(self) -> int:
        return FOREVER if self.valid_to is None else self.valid_to

    @property
    def leaves(self) -> int:
        """When it expires; a lock holds that up."""
        if self.expires is None:
            return FOREVER
        held = (FOREVER if self.lock_end is None else self.lock_end) if self.lock else 0
        return max(self.expires, held)

    @property
    def lasts(self) -> int:
        return min(self.leaves, self.ends)


@dataclass
class Memory:
    """A namespace: its rows, its policy and its clock."""

    now: int
    policy: str = "auto_reinforce"
    rows: dict[Address, Row] = field(default_factory=dict)
    at_peace: dict[frozenset[Address], tuple[int, int]] = field(default_factory=dict)
    hints: dict[str, Any] = field(default_factory=dict)  # what the server chose where the documentation leaves a choice

    def of_key(self, key: str) -> Iterator[Row]:
        return (row for row in self.rows.values() if row.at.key == key)

    def present(self, at: Address) -> Row | None:
        row = self.rows.get(at)
        return row if row is not None and row.present else None

    def repeating(self, at: Address) -> list[Row]:
        """The duplicates of the row there, the oldest first."""
        found = [row for row in self.rows.values() if row.status == DUPLICATE and row.repeats == at]
        return sorted(found, key=lambda row: row.created)

    def flag(self, one: Row, other: Row) -> None:
        for row, peer in ((one, other), (other, one)):
            row.against.add(peer.at)
            row.status = CONFLICTED

    def unflag(self, row: Row) -> None:
        """It contradicts nobody any more; whoever has no other contradiction is active again."""
        for peer in [self.rows[at] for at in row.against]:
            peer.against.discard(row.at)
            if not peer.against and peer.status == CONFLICTED:
                peer.status = ACTIVE
        row.against = set()
        if row.status == CONFLICTED:
            row.status = ACTIVE

    def peace(self, one: Row, other: Row) -> bool:
        """Whether one was brought back beside the other, and both still say what they said then."""
        pair = sorted((one, other), key=lambda row: row.at)
        return self.at_peace.get(frozenset((one.at, other.at))) == (pair[0].said, pair[1].said)

    def make_peace(self, one: Row, other: Row) -> None:
        pair = sorted((one, other), key=lambda row: row.at)
        self.at_peace[frozenset((one.at, other.at))] = (pair[0].said, pair[1].said)
