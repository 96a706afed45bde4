"""How does a stored row look from outside?"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from loom_ray.contract.scope import Answer

MemoryTypeName = Literal["semantic", "procedural", "decision", "episodic", "profile"]
StatusName = Literal["active", "conflicted", "duplicate", "superseded", "tombstoned", "rejected", "redirect"]
SensitivityName = Literal["low", "medium", "high"]
OnExpire = Literal["tombstone", "demote", "anonymize"]
DowngradedSource = Literal["external", "imported", "derived"]


class Linked(Answer):
    """The other side of a conflict."""

    memory_id: str
    memory_key: str


class RowView(Answer):
    """One version of one memory. Times are RFC 3339 in UTC; null where unknown or never."""

    memory_id: str
    memory_key: str
    namespace: str
    agent: str
    user_id: str
    session_id: str
    run_id: str
    value: Any
    memory_type: str
    status: str
    version: int = Field(description="nanosecond stamp, strictly rising in the namespace")
    version_text: str = Field(description="`version` as text, for readers whose numbers are doubles")
    content_sha256: str
    tags: list[str]
    entities: list[str]
    files: list[str]
    sensitivity: str
    confidence: float | None
    created_at: str | None
    updated_at: str | None
    valid_at: str | None
    valid_to: str | None
    expires_at: str | None
    on_expire: str
    char_limit: int | None
    conflict_with: list[Linked]
    duplicate_of: str
    canonical_key: str = Field(description="of a duplicate or a redirect: the key that holds the fact")
    superseded_by: str
    tombstoned_at: str | None
    source_class: str
    source_resource_id: str
    actor: str
    chunks: int
    reinforcements: int
    pinned: bool
    lock: str = Field(description="read_only, no_delete or empty")
    locked_until: str | None
    lock_reason: str
    demoted: bool = Field(description="readable by key and listed, but neither searched nor judged")


ROW_FIELDS = frozenset(RowView.model_fields)
