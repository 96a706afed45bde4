"""What may be asked about rows that say the same, and about settling them?"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from loom_ray.contract.changing import RefusedRow
from loom_ray.contract.conflicts import SettledRow
from loom_ray.contract.fields import Cursor, KeyPrefix, MemoryId, MemoryKey, Reason
from loom_ray.contract.reading import Limit
from loom_ray.contract.scope import Answer, Reads, Receipt, Writes


class DedupListRequest(Reads):
    """Clusters of a canonical row and its duplicates, in the order of the canonicals' keys."""

    prefix: KeyPrefix = Field("", description="of the canonical's key")
    limit: Limit = Field(50, description="clusters")
    cursor: Cursor = ""


class Duplicate(Answer):
    duplicate_id: str
    memory_key: str
    agent: str
    user_id: str
    session_id: str
    run_id: str
    excerpt: str = Field(description="the first 200 characters of its text")
    created_at: str | None


class Cluster(Answer):
    canonical_id: str
    canonical_key: str
    excerpt: str
    duplicates: list[Duplicate] = Field(description="the oldest first")


class DedupListAnswer(Receipt):
    clusters: list[Cluster]
    count: int = Field(description="clusters in all")
    next_cursor: str = ""


class DedupResolveRequest(Writes):
    """Settle one pair of a cluster.

    keep_canonical: the duplicate is tombstoned. keep_duplicate: the canonical is, and the duplicate takes its place.
    keep_both: the duplicate stands by itself; a later write may find the pair again.
    """

    canonical_id: MemoryId
    duplicate_id: MemoryId
    decision: Literal["keep_canonical", "keep_duplicate", "keep_both"]
    confirm_canonical_key: MemoryKey = Field(description="the canonical row's key, once more")
    reason: Reason = ""


class DedupResolveAnswer(Receipt):
    resolved: bool
    rows: list[SettledRow]
    reason: str = Field(default="", description="why nothing was settled")


class DedupCollapseRequest(Writes):
    """Retire every duplicate of a namespace, or of a key prefix, behind its canonical; memory.restore undoes each."""

    prefix: KeyPrefix = Field("", description="of the canonical's key")
    dry_run: bool = True
    reason: Reason = ""


class DedupCollapseAnswer(Receipt):
    dry_run: bool
    collapsed: int
    remaining: int = Field(description="duplicates that did not fit into this call")
    rows: list[SettledRow]
    refused: list[RefusedRow]


class ResolveOrphansRequest(Writes):
    """Bring duplicates back whose canonical is gone: the oldest of each speaks again, the others repeat it."""

    prefix: KeyPrefix = Field("", description="of the duplicate's key")
    dry_run: bool = False


class ResolveOrphansAnswer(Receipt):
    dry_run: bool
    reactivated: int
    rows: list[SettledRow]
