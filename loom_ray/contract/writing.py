"""What may be asked of the ops that write memories, and what do they answer?"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from loom_ray.contract.fields import (
    Entities,
    Files,
    MemoryId,
    MemoryKey,
    OptionalName,
    Sha256,
    Tags,
    Time,
    Value,
    bound,
)
from loom_ray.contract.rows import DowngradedSource, MemoryTypeName, OnExpire, SensitivityName
from loom_ray.contract.scope import Answer, Receipt, Request, Writes

TTL_SECONDS_MAX = 100 * 366 * 86_400  # a century: beyond it, say nothing and the row does not expire
CHAR_LIMIT_MAX = 2**31 - 1


class Claim(Request):
    """One fact to store: what an entry of a batch and a single write have in common."""

    memory_key: MemoryKey
    value: Value
    memory_type: MemoryTypeName = "semantic"
    tags: Tags = Field(default_factory=list[str])
    entities: Entities = Field(default_factory=list[str])
    files: Files = Field(default_factory=list[str])
    sensitivity: SensitivityName | None = Field(None, description="unset: detected from the value")
    confidence: float | None = Field(None, ge=0, le=1, allow_inf_nan=False)
    valid_at: Time = Field(None, description="when the fact became true; a naive time is UTC")
    valid_to: Time = Field(None, description="when it stopped being true")
    ttl_seconds: int | None = Field(None, ge=1, le=TTL_SECONDS_MAX)
    on_expire: OnExpire | None = None
    clear_expiry: bool = False
    char_limit: int | None = Field(None, ge=1, le=CHAR_LIMIT_MAX, description="kept for later writes of the row")
    if_match_sha256: Sha256 | None = Field(None, description="write only over this content")
    source_class: DowngradedSource | None = None
    source_resource_id: OptionalName = ""

    @field_validator("entities")
    @classmethod
    def _lowercase(cls, entities: list[str]) -> list[str]:
        return list(dict.fromkeys(entity.lower() for entity in entities))

    @model_validator(mode="after")
    def _times_in_order(self) -> Claim:
        if self.valid_at and self.valid_to and self.valid_to <= self.valid_at:
            raise ValueError("valid_to must be later than valid_at")
        if self.clear_expiry and self.ttl_seconds is not None:
            raise ValueError("clear_expiry and ttl_seconds exclude each other")
        return self


class SetRequest(Writes, Claim):
    """Store one fact under its key."""

    dry_run: bool = Field(False, description="run the whole check and write nothing")


def _bulk_bound(entries: list[Claim], info: ValidationInfo) -> list[Claim]:
    if len(entries) > bound(info, "bulk_entries_max"):
        raise ValueError(f"must hold at most {bound(info, 'bulk_entries_max')} entries (bulk_entries_max)")
    return entries


class BulkSetRequest(Writes):
    """Store many facts in one atomic commit; each is judged against the state with the earlier ones in it."""

    entries: Annotated[list[Claim], AfterValidator(_bulk_bound)] = Field(
        min_length=1, json_schema_extra={"x-bound": "bulk_entries_max"}
    )
    dry_run: bool = False


class DeleteRequest(Writes):
    """Retire the live row of a key: the caller's own, else the only one that the key has."""

    memory_key: MemoryKey


class RestoreRequest(Writes):
    """Bring a deleted key back; it is judged again on its return. With either condition a deletion is never undone."""

    memory_key: MemoryKey
    only_if_superseded: bool = False
    if_superseded_by: MemoryId | None = Field(None, description="only while the row is retired behind this memory")


class DifferenceView(Answer):
    """One value in which two statements differ: `ours` in this write, `theirs` in the peer."""

    kind: str
    ours: str
    theirs: str


class Peer(Answer):
    """A row that the verdict was reached against."""

    memory_id: str
    memory_key: str
    agent: str
    user_id: str
    session_id: str
    excerpt: str = Field(description="the first 200 characters of its text")
    similarity: float | None = Field(description="cosine; null where no vector was needed")
    differences: list[DifferenceView]


class ThresholdView(Answer):
    """The similarity at which the rule begins to hold, and who set it."""

    value: float
    source: str = Field(description="type, namespace, calibration or setting")


class Judged(Answer):
    """What a judged write answers, whole or as an entry of a batch."""

    memory_id: str
    memory_key: str
    version: int
    version_text: str
    content_sha256: str
    status: str
    conflict_verdict: str = Field(description="clear, merge, duplicate, conflict, refines, rejected; empty: no check")
    rule: str = Field(description="the rule that decided")
    threshold: ThresholdView | None
    peers: list[Peer]
    next: str = Field(description="the call to make, where there is one")
    noop: bool
    merged_into_key: str
    duplicate_of: str
    retyped_from: str
    sensitivity: str
    chunks_written: int
    advisories: list[str]


class SetAnswer(Judged, Receipt):
    """The receipt of one write."""

    namespace: str
    dry_run: bool
    degraded: list[str] = Field(default_factory=list[str])


class BulkEntry(Judged):
    """One entry's verdict; `index` is its place in the request."""

    index: int


class BulkSetAnswer(Receipt):
    """Every entry is in exactly one of `written` and `merged`; the other lists name verdicts among those written."""

    written: list[BulkEntry]
    merged: list[BulkEntry]
    duplicates: list[str]
    conflicted: list[str]
    unchecked: int = Field(0, description="always 0: every entry is judged")
    dry_run: bool


class DeleteAnswer(Receipt):
    found: bool
    tombstoned: bool
    memory_id: str = ""
    memory_key: str
    version: int = 0
    version_text: str = ""


class RestoreAnswer(Receipt):
    restored: bool
    reason: str = ""
    memory_id: str = ""
    memory_key: str
    status: str = ""
    version: int = 0
    version_text: str = ""
    conflict_verdict: str = ""
    peers: list[Peer] = Field(default_factory=list[Peer])
