"""What may be asked of the ops that change many stored rows at once, and what do they answer?"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from loom_ray.contract.changing import LockMode, RefusedRow, TtlSeconds
from loom_ray.contract.fields import KeyPrefix, MemoryKeys, Name, Query, Reason, Tags, Time
from loom_ray.contract.reading import Limit
from loom_ray.contract.rows import MemoryTypeName
from loom_ray.contract.scope import Answer, Receipt, Request, Writes


class ApplyFilter(Request):
    """Rows that fit everything given; at least one thing must be."""

    prefix: KeyPrefix = ""
    contains: KeyPrefix = ""
    tags: Tags = Field(default_factory=list[str], description="any of them")
    memory_type: MemoryTypeName | None = None
    created_before: Time = None
    created_after: Time = None

    @model_validator(mode="after")
    def _filters_something(self) -> Self:
        if not any(getattr(self, name) for name in ApplyFilter.model_fields):
            raise ValueError("an empty filter would mean every row")
        return self


class ApplyRequest(Writes):
    """Apply one change to many rows of this very agent and user: a dry run first, unless told otherwise.

    The target is one of `memory_keys`, `filter` and `query`; the latter two need a `limit`. Each row goes the way that
    it would go alone; what is refused is listed.
    """

    memory_keys: MemoryKeys | None = None
    filter: ApplyFilter | None = None
    query: Query | None = Field(None, description="the rows that a search finds, best first")
    limit: Limit | None = None
    action: Literal["delete", "expire", "lock", "label", "demote"]
    reason: Reason = Field(min_length=1)
    ttl_seconds: TtlSeconds = Field(None, description="of expire: from now on; of lock: how long")
    mode: LockMode = Field("read_only", description="of lock")
    add_tags: Tags = Field(default_factory=list[str], description="of label")
    remove_tags: Tags = Field(default_factory=list[str], description="of label")
    dry_run: bool = True

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        given = [name for name in ("memory_keys", "filter", "query") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("memory_keys, filter, query: give exactly one of them")
        if self.memory_keys is None and self.limit is None:
            raise ValueError("limit: a filter or a search needs one")
        if self.action == "expire" and self.ttl_seconds is None:
            raise ValueError("ttl_seconds: expire needs it")
        if (self.action == "label") != bool(self.add_tags or self.remove_tags):
            raise ValueError("add_tags, remove_tags: label needs one of them, and nothing else takes them")
        return self


class AppliedRow(Answer):
    """A row that was changed, or would be."""

    memory_id: str
    memory_key: str
    version: int
    version_text: str


class ApplyAnswer(Receipt):
    dry_run: bool
    action: str
    matched: int
    applied: list[AppliedRow]
    refused: list[RefusedRow]


class ClearRequest(Writes):
    """Retire all rows of a user, or of an agent where no user is named; `confirm_subject` repeats the name."""

    confirm_subject: Name
    reason: Reason = ""

    @model_validator(mode="after")
    def _subject_is_confirmed(self) -> Self:
        if self.subject == "-":
            raise ValueError("user_id: name a user or an agent; '-' is nobody")
        if self.confirm_subject != self.subject:
            raise ValueError("confirm_subject: does not repeat the user_id, or the agent where no user is named")
        return self

    @property
    def subject(self) -> str:
        return self.agent if self.user_id == "-" else self.user_id


class ClearAnswer(Receipt):
    subject: str
    cleared: int
    remaining: int = Field(description="rows of the subject past this call's bound: call again")
    refused: list[RefusedRow]
