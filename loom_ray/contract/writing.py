"""What may be asked of the ops that write memories, and what do they answer?"""

from __future__ import annotations

from typing import Annotated, Self

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
    WildName,
    bound,
)
from loom_ray.contract.rows import DowngradedSource, MemoryTypeName, OnExpire, SensitivityName
from loom_ray.contract.scope import Answer, Receipt, Request, Writes

TTL_SECONDS_MAX = 100 * 366 * 86_400  # a century: beyond it, say nothing and the row does not expire
CHAR_LIMIT_MAX = 2**31 - 1


class Details(Request):
    """What may be said of a fact beside its value."""

    memory_type: MemoryTypeName = "semantic"
    tags: Tags = Field(default_factory=list[str])
    entities: Entities = Field(default_factory=list[str])
    files: Files = Field(default_factory=list[str], description="unset: detected from the value")
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

    @property
    def given(self) -> set[str]:
        """What the request names; null names nothing."""
        return {name for name in self.model_fields_set if getattr(self, name) is not None}

    @field_validator("entities")
    @classmethod
    def _lowercase(cls, entities: list[str]) -> list[str]:
        return list(dict.fromkeys(entity.lower() for entity in entities))

    @model_validator(mode="after")
    def _times_in_order(self) -> Self:
        if self.valid_at and self.valid_to and self.valid_to <= self.valid_at:
            raise ValueError("valid_to: must be later than valid_at")
        if self.clear_expiry and self.ttl_seconds is not None:
            raise ValueError("clear_expiry: excludes ttl_seconds")
        return self


DETAILS = frozenset(Details.model_fields)


class Claim(Details):
    """One fact to store: what an entry of a batch and a single write have in common."""

    memory_key: MemoryKey
    value: Value


class SetRequest(Writes, Claim):
    """Store one fact under its key."""

    dry_run: bool = Field(False, description="run the whole check and write nothing")


class PinRequest(SetRequest):
    """Store one fact that no later write may contradict; pins a fact that is stored already."""


class Correction(Details):
    """New content for a stored row: what is not named stays as it is, the pin and the expiry too."""

    value: Value = None
    dry_run: bool = False
    revive: bool = Field(False, description="bring an expired row back with this correction; it expires no more")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.given & (DETAILS - {"if_match_sha256"} | {"value"}):
            raise ValueError("value: nothing to correct is given")
        return self


class UpdateRequest(Writes, Correction):
    """Correct the one live row of a key in the whole namespace; `-` and, for the agent, `*` name nobody."""

    memory_key: MemoryKey
    agent: WildName = "-"


class UpdateByIdRequest(Writes, Correction):
    """Correct one exact row."""

    memory_id: MemoryId


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
    """What a judged write answers, whole or as an entry of a batch. Empty where nothing was written or held."""

    memory_id: str = ""
    memory_key: str = ""
    version: int = 0
    version_text: str = ""
    content_sha256: str = ""
    status: str = ""
    conflict_verdict: str = Field(
        default="", description="clear, merge, duplicate, conflict, refines, rejected; empty: no check"
    )
    rule: str = Field(default="", description="the rule that decided")
    threshold: ThresholdView | None = None
    peers: list[Peer] = Field(default_factory=list[Peer])
    next: str = Field(default="", description="the call to make, where there is one")
    noop: bool = False
    merged_into_key: str = ""
    duplicate_of: str = ""
    retyped_from: str = ""
    sensitivity: str = ""
    pinned: bool = False
    chunks_written: int = 0
    advisories: list[str] = Field(default_factory=list[str])


class SetAnswer(Judged, Receipt):
    """The receipt of one write."""

    namespace: str
    dry_run: bool
    degraded: list[str] = Field(default_factory=list[str])


class UpdateAnswer(SetAnswer):
    """As of a write; `updated` is false, with the reason, where there was no row to correct."""

    updated: bool
    reason: str = Field(
        default="", description="not_found, superseded, rejected or moved (its fact is at `merged_into_key`)"
    )


class BulkEntry(Judged):
    """One entry's verdict; `index` is its place in the request."""

    index: int


class BlacklistedEntry(BulkEntry):
    """What refused an entry; `blacklist_unchecked` says that it could not be checked, and may be sent again."""

    pattern_id: str
    scope: str
    reason: str
    blacklist_unchecked: bool


class BulkSetAnswer(Receipt):
    """Every entry is in exactly one of `written`, `merged`, `rejected_pinned`, `skipped_pinned`, `skipped_locked` and
    `skipped_blacklisted`; `duplicates` and `conflicted` name verdicts among those written."""

    written: list[BulkEntry]
    merged: list[BulkEntry]
    duplicates: list[str]
    conflicted: list[str]
    rejected_pinned: list[BulkEntry] = Field(description="close to a pinned fact")
    skipped_pinned: list[BulkEntry] = Field(description="another value for a pinned key")
    skipped_locked: list[BulkEntry] = Field(description="another value for a locked row")
    skipped_blacklisted: list[BlacklistedEntry] = Field(description="what no write may store")
    unchecked: int = Field(0, description="always 0: every entry is judged")
    dry_run: bool
