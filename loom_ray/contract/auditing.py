"""What may be asked about what was done: the audit, and what the server retired by itself?"""

from __future__ import annotations

from pydantic import Field

from loom_ray.contract.fields import Cursor, MemoryId, MemoryKey, OptionalName, Time
from loom_ray.contract.reading import Limit
from loom_ray.contract.scope import Answer, Reads, Receipt


class AuditListRequest(Reads):
    """Who did what to which memory, newest first. Values are never kept here, only their hashes."""

    memory_key: MemoryKey | None = None
    memory_id: MemoryId | None = None
    actor: OptionalName = ""
    action: OptionalName = Field("", description="an op, or memory.auto_supersede and the like")
    include_effects: bool = Field(False, description="also what a change did to other rows by the way: flags and links")
    since: Time = None
    until: Time = None
    limit: Limit = 50
    cursor: Cursor = ""


class AuditRow(Answer):
    """One change of one memory."""

    at: str | None
    commit_id: str = Field(description="shared by all that one request changed")
    action: str
    effect: str
    memory_id: str
    memory_key: str
    agent: str
    user_id: str
    session_id: str
    content_sha256: str
    version: int
    version_text: str
    status: str
    verdict: str
    reason: str
    related_id: str = Field(description="the memory that it was merged into, retired behind or moved to")
    actor: str
    source_class: str
    source_resource_id: str
    run_id: str


class AuditListAnswer(Receipt):
    rows: list[AuditRow]
    next_cursor: str = ""


class AutoRetirementsRequest(Reads):
    """What the server retired by itself in the last 30 days, newest record first."""

    since: Time = Field(None, description="unset: 30 days ago")
    limit: Limit = 50
    cursor: Cursor = ""


class Retirement(Answer):
    """One memory that was retired behind another."""

    record_id: str = Field(description="shared by all that one path retired at once, at most 200 rows")
    at: str | None
    memory_id: str
    memory_key: str
    agent: str
    user_id: str
    session_id: str
    version: int
    version_text: str
    superseded_by: str = Field(description="the memory id of its successor")
    reason: str = Field(description="same_key_newest_wins, newest_wins_contradiction, value_update, conflict_resolver")


class AutoRetirementsAnswer(Receipt):
    """A record is never split: a page holds about `limit` rows."""

    rows: list[Retirement]
    next_cursor: str = ""
