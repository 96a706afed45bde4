"""What may be asked of the ops that change a stored row without a new value, and what do they answer?"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from loom_ray.contract.fields import MemoryId, MemoryKey, MemoryKeys, Reason, Sha256, Time
from loom_ray.contract.scope import Answer, Receipt, Writes
from loom_ray.contract.writing import TTL_SECONDS_MAX, Peer

LockMode = Literal["read_only", "no_delete"]
TtlSeconds = Annotated[int | None, Field(ge=1, le=TTL_SECONDS_MAX)]


def _digits(version: Any) -> Any:
    """A version may come as text: it has more digits than JavaScript's numbers hold."""
    return int(version) if isinstance(version, str) and version.isascii() and version.isdigit() else version


Version = Annotated[int, BeforeValidator(_digits), Field(ge=0, lt=2**63, description="a number, or its digits as text")]


class Keyed(Writes):
    """The caller's own row of the key, else the only one that the key has."""

    memory_key: MemoryKey


class Changed(Receipt):
    """Which row, and its version now; empty where there was none."""

    memory_id: str = ""
    memory_key: str
    version: int = 0
    version_text: str = ""
    reason: str = Field(default="", description="why nothing was changed")


class RefusedRow(Answer):
    """A row that the op left as it was, with the error that it would have met alone."""

    memory_id: str = ""
    memory_key: str
    code: str
    message: str


class DeleteRequest(Keyed):
    """Retire the live row of a key: the caller's own, else the only one that the key has."""


class DeleteAnswer(Changed):
    found: bool
    tombstoned: bool


class DeleteVersionRequest(Keyed):
    """Retire the row of exactly this identity, only while it is at this version."""

    version: Version


class DeleteVersionAnswer(Changed):
    tombstoned: bool


class RejectRequest(Keyed):
    """Mark a fact as wrong: it leaves the reads and is not taken up again by itself."""

    reason: Reason = ""


class RejectAnswer(Changed):
    rejected: bool


class RestoreRequest(Keyed):
    """Bring a key back; it is judged again on its return. With either condition a deletion is never undone."""

    only_if_superseded: bool = False
    if_superseded_by: MemoryId | None = Field(None, description="only while the row is retired behind this memory")


class RestoreAnswer(Changed):
    restored: bool
    status: str = ""
    conflict_verdict: str = ""
    peers: list[Peer] = Field(default_factory=list[Peer])


class MoveRequest(Keyed):
    """Rename a key; the old one leads to the new one, or is a tombstone without `keep_redirect`."""

    new_memory_key: MemoryKey
    keep_redirect: bool = True
    if_match_sha256: Sha256 | None = Field(None, description="of the row that moves")

    @model_validator(mode="after")
    def _elsewhere(self) -> Self:
        if self.new_memory_key == self.memory_key:
            raise ValueError("new_memory_key: is the key that it has")
        return self


class MoveAnswer(Changed):
    """`memory_id`, `memory_key` and `version` are those of the row under its new key."""

    moved: bool
    moved_from_id: str = ""
    status: str = ""
    conflict_verdict: str = ""
    peers: list[Peer] = Field(default_factory=list[Peer])


class TouchRequest(Writes):
    """Change when rows expire and nothing else."""

    memory_key: MemoryKey | None = None
    memory_keys: MemoryKeys | None = None
    ttl_seconds: TtlSeconds = None
    clear_expiry: bool = False

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.memory_key is None) == (self.memory_keys is None):
            raise ValueError("memory_key: give it or memory_keys")
        if (self.ttl_seconds is None) != self.clear_expiry:
            raise ValueError("ttl_seconds: give it or clear_expiry")
        return self


class TouchAnswer(Receipt):
    touched: int
    expires_at: str | None
    not_found: list[str]
    refused: list[RefusedRow]


class LockRequest(Keyed):
    """Guard a row: `read_only` against changes of its value, expiry and deletion, `no_delete` against deletion. A lock
    can be tightened; only memory.unlock loosens it."""

    mode: LockMode = "read_only"
    reason: Reason = ""
    until: Time = None
    ttl_seconds: TtlSeconds = None

    @model_validator(mode="after")
    def _one_end(self) -> Self:
        if self.until is not None and self.ttl_seconds is not None:
            raise ValueError("until and ttl_seconds exclude each other")
        return self


class LockAnswer(Changed):
    locked: bool
    mode: str = ""
    locked_until: str | None = None


class UnlockRequest(Keyed):
    reason: Reason = ""


class UnlockAnswer(Changed):
    unlocked: bool


class UnpinRequest(Keyed):
    """Let later writes contradict the fact again."""


class UnpinAnswer(Changed):
    pinned: bool
    unpinned: bool
