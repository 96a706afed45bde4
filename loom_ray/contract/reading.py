"""What may be asked of the ops that read memories, and what do they answer?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationInfo

from loom_ray.contract.fields import Cursor, KeyPrefix, MemoryId, MemoryIds, MemoryKey, Query, Tags, Time, bound
from loom_ray.contract.rows import ROW_FIELDS, MemoryTypeName, RowView, StatusName
from loom_ray.contract.scope import Answer, Reads, Receipt, Scoped


def _at_most(name: str) -> Any:
    def check(number: int, info: ValidationInfo) -> int:
        if number > bound(info, name):
            raise ValueError(f"must be at most {bound(info, name)} ({name})")
        return number

    return AfterValidator(check)


Limit = Annotated[int, Field(ge=1, json_schema_extra={"x-bound": "list_limit_max"}), _at_most("list_limit_max")]
TopK = Annotated[int, Field(ge=1, json_schema_extra={"x-bound": "top_k_max"}), _at_most("top_k_max")]


AsOfBasis = Literal["valid_time", "knowledge_time"]


def _known_fields(fields: list[str] | None) -> list[str] | None:
    for field in fields or []:
        if field not in ROW_FIELDS:
            raise ValueError(f"a row has no field {field[:80]!r}")
    return fields


class GetRequest(Reads):
    """The row of a key, for the identity given."""

    memory_key: MemoryKey
    follow: bool = Field(False, description="serve the canonical row of a duplicate")
    if_version: int | None = Field(None, description="answer without the row when this is still its version")
    fields: Annotated[list[str] | None, AfterValidator(_known_fields)] = Field(None, description="only these")
    include_superseded: bool = False
    as_of: Time = None
    as_of_basis: AsOfBasis = "valid_time"


class GetByIdRequest(Scoped):
    memory_id: MemoryId
    if_version: int | None = None
    fields: Annotated[list[str] | None, AfterValidator(_known_fields)] = None


class GetAnswer(Receipt):
    """`found`, and the row's fields beside it (see RowView); with `unchanged` only its id and version."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"x-fields-of": "RowView"})
    found: bool
    unchanged: bool = False
    memory_key: str = ""


class ListRequest(Reads):
    """Rows in the order of their keys. `prefix` and `contains` are literal: no character is a wildcard."""

    prefix: KeyPrefix = ""
    contains: KeyPrefix = Field("", description="a part of the value's text, whatever its case")
    tags: Tags = Field(default_factory=list[str])
    memory_type: MemoryTypeName | None = None
    conflicted_only: bool = False
    include_duplicates: bool = False
    include_superseded: bool = False
    include_tombstoned: bool = False
    count_only: bool = False
    limit: Limit = 50
    offset: Annotated[int, Field(ge=0, le=2**53)] = 0
    cursor: Cursor = ""


class ListAnswer(Receipt):
    rows: list[RowView]
    count: int = Field(description="all rows that match, whatever the page holds")
    next_cursor: str = ""


class SearchRequest(Reads):
    """Find rows by meaning and by words. Filters apply before the best `top_k` are taken."""

    query: Query
    top_k: TopK = 10
    memory_type: MemoryTypeName | None = None
    tags: Tags = Field(default_factory=list[str])
    status: StatusName | None = Field(None, description="unset: active and conflicted rows")
    include_duplicates: bool = False
    include_superseded: bool = False
    as_of: Time = Field(None, description="among what held then; see as_of_basis")
    as_of_basis: AsOfBasis = "valid_time"


class SearchHit(Answer):
    memory_id: str
    memory_key: str
    content_excerpt: str = Field(description="of the part that matched best, at most 1,200 characters")
    similarity: float | None = Field(description="cosine of the closest part; null: found by words alone")
    rank_score: float = Field(description="meaning and words fused, 0 to 1; comparable within one answer only")
    status: str
    version: int
    version_text: str
    memory_type: str
    agent: str
    user_id: str
    session_id: str
    tags: list[str]
    created_at: str | None
    valid_at: str | None
    superseded_by: str = ""


class SearchAnswer(Receipt):
    results: list[SearchHit]


class HistoryRequest(Reads):
    """Every version of a key's row, newest first, deletions included."""

    memory_key: MemoryKey
    limit: Limit = 50


class HistoryAnswer(Receipt):
    rows: list[RowView]


class TimelineRequest(Reads):
    """Rows in the order of when their facts began: `valid_at`, or else when they were recorded."""

    prefix: KeyPrefix = ""
    entity: KeyPrefix = Field("", description="of an entity, whatever its case")
    since: Time = None
    until: Time = None
    include_superseded: bool = False
    newest_first: bool = False
    limit: Limit = 50
    cursor: Cursor = ""


class TimelineAnswer(Receipt):
    rows: list[RowView]
    next_cursor: str = ""


class StatusesRequest(Reads):
    """What became of these memories?"""

    memory_ids: MemoryIds


class StatusRow(Answer):
    memory_id: str
    memory_key: str
    status: str
    superseded_by: str
    version: int
    version_text: str


class StatusesAnswer(Receipt):
    rows: list[StatusRow] = Field(description="in the order asked; unknown ids are left out")
