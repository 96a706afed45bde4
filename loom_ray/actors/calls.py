"""What travels between a gateway and a namespace? Calls there, replies back; both survive pickling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loom_ray.contract.errors import LoomError
from loom_ray.contract.scope import Scoped
from loom_ray.core.refusal.pattern import Pattern


@dataclass(frozen=True, slots=True)
class SweepOrder:
    """What the keeper of the patterns asks of one namespace: tombstones for so many of the rows that match."""

    pattern: Pattern
    actor: str
    rows_max: int


@dataclass(frozen=True, slots=True)
class Call:
    """One request that passed the door. `call_id` is unique; `idempotency_key` is empty where the client gave none."""

    call_id: str
    op: str
    request: Scoped | SweepOrder
    idempotency_key: str = ""
    body_sha256: str = ""
    noticed: dict[str, Any] = field(default_factory=dict)  # ignored_args and did_you_mean


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, a refusal, or (`pending`) the word that it takes longer: fetch it with `finish(call_id)`.

    `moved` says that the namespace was leaving and has not looked at the call: it may be sent again anywhere.
    """

    answer: dict[str, Any] | None = None
    error: LoomError | None = None
    pending: bool = False
    moved: bool = False


class NamespaceGone(Exception):
    """The namespace's process ended; the gateway decides what that means for each call.

    `looked_at`: it may have begun with the calls.
    """

    def __init__(self, looked_at: bool) -> None:
        super().__init__(looked_at)
        self.looked_at = looked_at
