"""What may be asked about rows that contradict each other, and about settling them?"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from loom_ray.contract.changing import RefusedRow
from loom_ray.contract.fields import Cursor, MemoryId, MemoryKey, Name, Reason
from loom_ray.contract.reading import Limit
from loom_ray.contract.rows import RowView
from loom_ray.contract.scope import Answer, Reads, Receipt, Writes
from loom_ray.contract.writing import DifferenceView

Decision = Literal["revise", "contract", "allow"]


class ConflictsListRequest(Reads):
    """Rows that wait for a person to settle which of them holds.

    Rows that contradict each other stand on one page. `group_by=cause` answers groups instead: the pairs that differ in
    the same way (one sentence, other names and values); `group_id` lists the rows of one of them.
    """

    limit: Limit = Field(50, description="about so many rows, or so many groups")
    cursor: Cursor = ""
    count_only: bool = False
    keys_only: bool = False
    group_by: Literal["cause"] | None = None
    group_id: str = Field("", max_length=64)

    @model_validator(mode="after")
    def _one_view(self) -> Self:
        if self.group_by and (self.group_id or self.keys_only):
            raise ValueError("group_by: a list of groups has no group_id and no keys_only")
        return self


class ConflictPeer(Answer):
    """The other side of a conflict, and where the two differ as they stand now."""

    memory_id: str
    memory_key: str
    agent: str
    user_id: str
    session_id: str
    excerpt: str = Field(description="the first 200 characters of its text")
    version_text: str
    rule: str = Field(description="what the words say of the pair")
    differences: list[DifferenceView]
    group_id: str = Field(description="of the pair's cause")


class ConflictRow(RowView):
    peers: list[ConflictPeer]


class ConflictGroup(Answer):
    """Pairs with one cause."""

    group_id: str
    template: str = Field(description="what both sides say; … stands for names, values and what differs")
    pairs: int
    rows: int
    newest_at: str | None = Field(description="when the latest of its rows was written")
    samples: list[list[str]] = Field(description="both texts of up to three pairs, 200 characters each")


class ConflictsListAnswer(Receipt):
    rows: list[ConflictRow]
    keys: list[str]
    groups: list[ConflictGroup] = Field(default_factory=list[ConflictGroup])
    count: int = Field(description="conflicted rows in all; with group_by, groups in all")
    next_cursor: str = ""


class ProposeRevisionRequest(Reads):
    """How could this row's conflicts be settled? Read from the rows themselves; changes nothing."""

    memory_id: MemoryId
    peer_id: MemoryId | None = Field(None, description="only this pair; all peers unless given")


class Suggestion(Answer):
    decision: Decision
    peer_ids: list[str] = Field(description="the peers that it would settle")
    rationale: str
    weight: int = Field(description="how much speaks for it; comparable within one answer")


class ProposeRevisionAnswer(Receipt):
    found: bool
    memory_id: str
    memory_key: str = ""
    suggestions: list[Suggestion] = Field(default_factory=list[Suggestion], description="the strongest first")
    peers: list[ConflictPeer] = Field(default_factory=list[ConflictPeer])


class ResolveRequest(Writes):
    """Settle a row against its peers, against one `peer_id`, or all pairs of a `group_id`.

    revise: the row wins, its peers are tombstoned with what repeats them. contract: the row is wrong and is tombstoned
    so. allow: both hold, and their keys go on the allowlist. In a group the row of each pair is the one that was said
    later.
    """

    memory_id: MemoryId | None = None
    group_id: str = Field("", max_length=64)
    decision: Decision
    peer_id: MemoryId | None = None
    reason: Reason = ""
    resolved_by: Name = Field("-", description="who decided; stands in the audit as its actor")

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        if (self.memory_id is None) == (not self.group_id):
            raise ValueError("memory_id, group_id: give exactly one of them")
        if self.group_id and self.peer_id is not None:
            raise ValueError("peer_id: a group has no single peer")
        return self


class SettledRow(Answer):
    """A row as the decision left it."""

    memory_id: str
    memory_key: str
    status: str
    version: int
    version_text: str


class ResolveAnswer(Receipt):
    """`resolved` says that at least one pair was settled."""

    resolved: bool
    decision: Decision
    pairs: int = Field(description="pairs settled")
    remaining: int = Field(default=0, description="pairs of the group that did not fit into this call")
    rows: list[SettledRow]
    refused: list[RefusedRow]
    reason: str = Field(default="", description="why nothing was settled")


class AllowedPair(Answer):
    """Two keys whose rows are known to be about different things; equal where the rows of one key are."""

    memory_key_a: str
    memory_key_b: str
    reason: str
    resolved_by: str
    created_at: str | None


class AllowlistListRequest(Reads):
    """Pairs that are never flagged, in the order of their keys."""

    memory_key: MemoryKey | None = Field(None, description="only pairs with this key")
    limit: Limit = 50
    cursor: Cursor = ""


class AllowlistListAnswer(Receipt):
    rows: list[AllowedPair]
    count: int
    next_cursor: str = ""


class AllowlistRemoveRequest(Writes):
    """Let a pair be flagged again by later writes. The order of the two keys does not matter."""

    memory_key_a: MemoryKey
    memory_key_b: MemoryKey


class AllowlistRemoveAnswer(Receipt):
    removed: bool
    reason: str = ""
