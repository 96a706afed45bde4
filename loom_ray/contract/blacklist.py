"""What may be refused, and what do those who refuse it learn? Patterns that no write may store."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo

from loom_ray.contract.changing import RefusedRow
from loom_ray.contract.fields import Cursor, MemoryId, Reason, Time, bound, refuse_broken_text
from loom_ray.contract.reading import Limit
from loom_ray.contract.scope import Answer, Reads, Receipt, Writes

PatternType = Literal["substring", "regex"]
PatternScope = Literal["namespace", "org", "global"]


def _pattern(text: str, info: ValidationInfo) -> str:
    """What the engine makes of it is said by the op; here only what no pattern can be."""
    refuse_broken_text(text)
    if not text.strip():
        raise ValueError("must not be blank: it would refuse everything")
    if len(text) > bound(info, "pattern_chars_max"):
        raise ValueError(f"must hold at most {bound(info, 'pattern_chars_max')} characters (pattern_chars_max)")
    return text


PatternText = Annotated[str, AfterValidator(_pattern), Field(json_schema_extra={"x-bound": "pattern_chars_max"})]


class PatternFields(Writes):
    """A pattern and where it holds."""

    pattern: PatternText
    pattern_type: PatternType = Field("substring", description="substring: case-sensitive; regex: RE2 syntax")
    scope: PatternScope = Field("namespace", description="this namespace, all of the org, or everywhere")
    fold: bool = Field(
        False,
        description="also where it is disguised: compatibility forms, case, invisible and confusable characters, line"
        " breaks; and in keys, tags, entities, files and sources",
    )


class BlacklistAddRequest(PatternFields):
    """Refuse a pattern from now on. The same pattern again is the same one."""

    reason: Reason = Field("", description="returned with every refusal")
    sweep: bool = Field(False, description="also tombstone the live rows that match already")


class Swept(Receipt):
    """What a sweep did. Truncated: call blacklist.sweep again."""

    pattern_id: str
    swept: int = Field(default=0, description="rows that were tombstoned")
    swept_truncated: bool = False
    sweep_error: str = Field(default="", description="why the sweep ended early; the pattern holds all the same")
    refused: list[RefusedRow] = Field(default_factory=list[RefusedRow], description="locked rows, which stay")


class BlacklistAddAnswer(Swept):
    created: bool = Field(description="false where the pattern was known already")


class BlacklistSweepRequest(Writes):
    """Tombstone the live rows that a known pattern matches, at most `LOOM_SWEEP_ROWS_MAX` a call."""

    pattern_id: MemoryId


class BlacklistSweepAnswer(Swept):
    found: bool = Field(description="whether there is such a pattern here")


class BlacklistRemoveRequest(Writes):
    """Let what a pattern refused be written again."""

    pattern_id: MemoryId


class BlacklistRemoveAnswer(Receipt):
    removed: bool
    reason: str = ""


class BlacklistListRequest(Reads):
    """The patterns that hold in this namespace: its own, its org's and those that hold everywhere; widest first."""

    limit: Limit = 50
    cursor: Cursor = ""


class PatternRow(Answer):
    pattern_id: str
    pattern: str
    pattern_type: PatternType
    scope: PatternScope
    fold: bool
    reason: str
    hit_count: int = Field(description="refused writes; told to the keeper of the patterns every second or so")
    created_at: str | None
    actor: str


class BlacklistListAnswer(Receipt):
    rows: list[PatternRow]
    count: int
    next_cursor: str = ""


class BlacklistReportRequest(PatternFields):
    """What a pattern would match in this namespace, before anyone adds or sweeps it. Nothing is stored."""


class BlacklistReportAnswer(Receipt):
    rows: int = Field(description="live rows that a sweep would tombstone")
    versions: int = Field(description="past values that match, of any row, also of those that are gone")
    memory_keys: list[str] = Field(description="of the rows, the first hundred in the order of keys")


class DropsListRequest(Reads):
    """What sweeps removed from this namespace, newest first, one row a sweep."""

    since: Time = None
    limit: Limit = 50
    cursor: Cursor = ""


class Drop(Answer):
    sweep_id: str
    at: str | None
    pattern_id: str
    actor: str
    swept: int
    memory_ids: list[str]


class DropsListAnswer(Receipt):
    rows: list[Drop]
    next_cursor: str = ""
