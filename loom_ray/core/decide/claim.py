"""What exactly does an entry ask to store? The request's claim with everything that follows from its text alone."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace

from loom_ray.contract.fields import to_ns
from loom_ray.contract.scope import Writes
from loom_ray.contract.writing import Claim, PinRequest
from loom_ray.core.advisories import advisories
from loom_ray.core.decide.rules import Rules
from loom_ray.core.files import detect_files
from loom_ray.core.judging.pair import PairVerdict
from loom_ray.core.judging.thresholds import Thresholds
from loom_ray.core.procedures import is_procedure
from loom_ray.core.refusal.matching import Refused
from loom_ray.core.row import (
    SEARCHED_TYPES,
    Address,
    Identity,
    JsonValue,
    MemoryType,
    Row,
    content_sha256,
    text_of,
)
from loom_ray.core.sensitivity import detect, parts
from loom_ray.core.text.canonical import canonical_form
from loom_ray.core.text.chunks import chunks, excerpt
from loom_ray.core.text.preparation import has_meaning

SECOND_NS = 1_000_000_000
LEVELS = ("", "low", "medium", "high")

Compared = tuple[str, float | None, bool]  # the other text, similarity, whether under one key
Verdicts = dict[Thresholds, dict[Compared, PairVerdict]]


@dataclass(frozen=True, slots=True)
class Settled:
    """One claim, its owner, and what was derived. `index` is its place in a batch, None for a single write.

    `base` is the row that a correction starts from, or that comes back. An `overriding` claim may change a pinned
    value; one that `pins` marks its row as pinned. One that `returns` is a stored row on its way back: it never takes
    another's place.
    """

    claim: Claim
    address: Address
    run_id: str
    actor: str
    index: int | None
    text: str
    content_sha256: str
    canonical_digest: str
    memory_type: MemoryType
    retyped_from: str
    sensitivity: str
    files: tuple[str, ...]
    advisories: tuple[str, ...]
    valid_at: int | None
    valid_to: int | None
    pieces: tuple[str, ...]  # what is embedded: the excerpt, then the chunks; nothing for a row that is not searched
    base: Row | None = None
    overriding: bool = False
    pins: bool = False
    returns: bool = False
    refused: Refused | None = None  # why it must not be stored, as far as it was checked: see refuse.py
    verdicts: Verdicts = field(default_factory=dict[Thresholds, dict[Compared, PairVerdict]], compare=False)
    """Those reached so far, by the thresholds in force: a verdict follows from what it compares, so who decides again
    need not judge again."""

    @property
    def is_searched(self) -> bool:
        return self.memory_type in SEARCHED_TYPES and self.sensitivity != "high"


def settle(claim: Claim, who: Writes, index: int | None, rules: Rules) -> Settled:
    """A claim of the caller's own, under the caller's address."""
    address = Address(claim.memory_key, Identity(who.agent, who.user_id, who.session_id))
    pins = isinstance(who, PinRequest)
    settled = settle_at(claim, address, actor_of(who.agent), who.run_id, rules)
    return replace(settled, index=index, pins=pins, overriding=pins)


def settle_at(claim: Claim, address: Address, actor: str, run_id: str, rules: Rules) -> Settled:
    text = text_of(claim.value)
    memory_type, retyped_from = _type_of(claim)
    sensitivity = _sensitivity(claim, text, rules)
    searched = memory_type in SEARCHED_TYPES and sensitivity != "high"
    return Settled(
        claim=claim,
        address=address,
        run_id=run_id,
        actor=actor,
        index=None,
        text=text,
        content_sha256=content_sha256(claim.value),
        canonical_digest=canonical_digest(memory_type, claim.value),
        memory_type=memory_type,
        retyped_from=retyped_from,
        sensitivity=sensitivity,
        files=tuple(claim.files if "files" in claim.given else detect_files(text, rules.settings.files_max)),
        advisories=tuple(advisories(claim.value, rules.settings.memory_value_advisory_chars)),
        valid_at=to_ns(claim.valid_at),
        valid_to=to_ns(claim.valid_to),
        pieces=pieces_of(claim.value, claim.memory_key) if searched else (),
    )


def settled_of(row: Row) -> Settled:
    """A stored row as the claim that it makes, so that its return is judged like any write. Nothing is embedded."""
    return Settled(
        claim=Claim.model_construct(memory_key=row.memory_key, value=row.value),
        address=row.address,
        run_id=row.run_id,
        actor=row.actor,
        index=None,
        text=row.text,
        content_sha256=row.content_sha256,
        canonical_digest=row.canonical_digest,
        memory_type=row.memory_type,
        retyped_from="",
        sensitivity=row.sensitivity,
        files=row.files,
        advisories=(),
        valid_at=row.valid_at,
        valid_to=row.valid_to,
        pieces=(),
        base=row,
        returns=True,
    )


def actor_of(agent: str) -> str:
    """Who made a change, as rows and the audit name it: a process until tokens say more."""
    return f"process:{agent}"


def canonical_digest(memory_type: MemoryType, value: JsonValue) -> str:
    """Equal for two values of one type exactly when their canonical forms are equal; 32 hex digits."""
    form = f"{memory_type}\0{canonical_form(value)}"
    return hashlib.blake2b(form.encode("utf-8"), digest_size=16).hexdigest()


def _type_of(claim: Claim) -> tuple[MemoryType, str]:
    asked = MemoryType(claim.memory_type)
    if asked is MemoryType.PROCEDURAL and not is_procedure(claim.value):
        return MemoryType.SEMANTIC, asked.value
    return asked, ""


def _sensitivity(claim: Claim, text: str, rules: Rules) -> str:
    """What the writer states holds; detection speaks only where nothing was stated."""
    if claim.sensitivity is not None:
        return claim.sensitivity
    return detected_sensitivity(text, rules)


def detected_sensitivity(text: str, rules: Rules) -> str:
    if not rules.settings.memory_sensitivity_autodetect:
        return ""
    return max((detect(part).level for _, part in parts(text)), key=LEVELS.index)


def pieces_of(value: JsonValue, memory_key: str) -> tuple[str, ...]:
    """What is embedded of a value that is searched: its excerpt, then its chunks; nothing where it means nothing."""
    text = text_of(value)
    return (excerpt(text), *chunks(value, memory_key)) if has_meaning(text) else ()


def body_sha256(op: str, body: dict[str, object]) -> str:
    """What an Idempotency-Key is bound to."""
    plain = json.dumps([op, body], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()
