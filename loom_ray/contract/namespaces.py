"""What may be asked about a namespace itself?"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from loom_ray.contract.rows import MemoryTypeName
from loom_ray.contract.scope import Answer, Receipt, Writes
from loom_ray.contract.writing import ThresholdView

ConflictPolicy = Literal["auto_reinforce", "manual_review", "newest_wins", "append_only"]
Cosine = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class RegisterRequest(Writes):
    """Set the namespace's settings; what is not named stays as it was. A namespace needs no registration."""

    default_conflict_policy: ConflictPolicy | None = None
    conflict_threshold: Cosine | None = Field(None, description="1.0 flags nothing")
    duplicate_threshold: Cosine | None = None
    dedup_thresholds: dict[MemoryTypeName, Cosine] | None = Field(
        None, description="conflict thresholds of single memory types, before the namespace's own"
    )


class NamespaceSettings(Answer):
    default_conflict_policy: ConflictPolicy = "auto_reinforce"
    conflict_threshold: float | None = None
    duplicate_threshold: float | None = None
    dedup_thresholds: dict[MemoryTypeName, float] = Field(default_factory=dict[MemoryTypeName, float])


class RegisterAnswer(Receipt):
    org: str
    namespace: str
    settings: NamespaceSettings


class InfoRequest(Writes):
    """What the namespace is set to, embedded by and holding."""


class EmbedderView(Answer):
    name: str
    kind: str = Field(description="local, openai or fake")
    semantic: bool = Field(description="false: verdicts and search go by string similarity")
    dimensions: int
    preparation: str


class Counts(Answer):
    active: int
    conflicted: int
    duplicate: int
    superseded: int
    tombstoned: int
    rejected: int
    redirect: int


class InfoAnswer(Receipt):
    org: str
    namespace: str
    settings: NamespaceSettings
    embedder: EmbedderView
    thresholds: dict[str, ThresholdView] = Field(description="conflict and duplicate, for semantic rows")
    calibration: dict[str, Any] = Field(description="how the embedder's thresholds were found")
    counts: Counts
    last_version: int
    last_version_text: str
