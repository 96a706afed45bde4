"""What does a change leave behind? The records that the log keeps and that replay to the same state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from loom_ray.core.refusal.pattern import Pattern
from loom_ray.core.row import Row

Vectors = npt.NDArray[np.float16]  # (1 + chunks, dimensions), each row normalised; the first is the excerpt's


@dataclass(frozen=True, slots=True)
class RowWritten:
    """A new image of a row. `vectors` is None where the text, and so its vectors, did not change."""

    row: Row
    vectors: Vectors | None = None


@dataclass(frozen=True, slots=True)
class Reinforced:
    """A restatement or a merge: the row is counted once more and gets no new version."""

    memory_id: str
    at: int  # ns


@dataclass(frozen=True, slots=True)
class Registered:
    """The namespace's settings, whole, as `namespace.register` left them."""

    settings: dict[str, Any]
    at: int  # ns


@dataclass(frozen=True, slots=True)
class Answered:
    """What a request under an Idempotency-Key was answered, so that a retry is answered the same."""

    key: str
    body_sha256: str
    answer: dict[str, Any]
    at: int  # ns


@dataclass(frozen=True, slots=True)
class Allowed:
    """Rows of these two keys are known to be about different things, and are not flagged; `key_a` <= `key_b`."""

    key_a: str
    key_b: str
    at: int  # ns
    reason: str
    actor: str


@dataclass(frozen=True, slots=True)
class Disallowed:
    """The pair may be flagged again."""

    key_a: str
    key_b: str


@dataclass(frozen=True, slots=True)
class PatternRemoved:
    """What the pattern refused may be written again."""

    pattern_id: str
    at: int  # ns; strictly rising with the patterns' `created_at`
    actor: str


@dataclass(frozen=True, slots=True)
class PatternHits:
    """So many writes were refused by each pattern since this was last said."""

    hits: dict[str, int]


@dataclass(frozen=True, slots=True)
class EmbedderStamp:
    """Which embedder the namespace's vectors come from; vectors of two embedders are never mixed."""

    name: str
    dimensions: int
    preparation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """One change of one memory, by hash: who did what to it, and why; never its value.

    `action` is the op, or `memory.auto_supersede` and the like for what the server did by itself. `effect` is empty for
    the memory that the op was about, and says what happened to others by the way (flagged, released …). All records of
    one request share `commit_id`.
    """

    stamp: int  # strictly rising in a namespace, like versions; the image's version where there is one
    at: int  # ns
    commit_id: int
    action: str
    effect: str
    memory_id: str
    memory_key: str
    agent: str
    user_id: str
    session_id: str
    content_sha256: str
    version: int
    status: str
    verdict: str
    reason: str
    related_id: str  # the memory that it was merged into, retired behind, moved to …
    actor: str
    source_class: str
    run_id: str
    source_resource_id: str = ""  # where the row's value came from, as its writer says


Record = (
    Audited
    | RowWritten
    | Reinforced
    | Registered
    | Answered
    | Allowed
    | Disallowed
    | EmbedderStamp
    | Pattern
    | PatternRemoved
    | PatternHits
)
