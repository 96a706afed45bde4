"""Which refusals are there? One tree; each leaf has a code, a status and whether a retry can help.

LoomError
├── InvalidRequest (422)          VALIDATION_ERROR: a field is missing, malformed or out of bounds
│   ├── UnknownArgument           UNKNOWN_ARGUMENT: a near miss of a real field on a write
│   ├── CharLimitExceeded         CHAR_LIMIT_EXCEEDED
│   └── IdempotencyKeyReused      IDEMPOTENCY_KEY_REUSED: another body came under that key
├── Blacklisted (422)             BLACKLISTED: the text holds what no write may store, or could not be checked
├── MalformedBody (400)           MALFORMED_BODY: not a JSON object in UTF-8
├── OriginRefused (403)           ORIGIN_REFUSED: a web page of another origin asks a server that knows no tokens
├── PayloadTooLarge (413)         PAYLOAD_TOO_LARGE
├── NotFound (404)                OP_NOT_FOUND
├── MethodNotAllowed (405)        METHOD_NOT_ALLOWED
├── Conflict (409)
│   ├── PreconditionFailed        PRECONDITION_FAILED, with `current_sha256`
│   ├── AmbiguousKey              AMBIGUOUS_KEY, with `candidates`: several rows hold the key and none is the caller's
│   ├── KeyHoldsFact              KEY_HOLDS_FACT: the key that a row would move to is taken
│   ├── Expired                   EXPIRED: the row to correct has expired; `revive` brings it back
│   └── PinnedConflict            PINNED_CONFLICT, with `pinned_blocker_id`: it contradicts a pinned fact
├── Locked (423)                  LOCKED, with `lock_mode`, `lock_reason`, `locked_until`: somebody guards the row
└── Unavailable (503)             retryable
    ├── BackendUnavailable        BACKEND_UNAVAILABLE: an embedder, an actor or the storage does not answer
    ├── OutcomeUnknown            OUTCOME_UNKNOWN: the write may or may not have landed (`outcome: unknown`)
    ├── Overloaded                OVERLOADED: a queue is at its bound
    ├── EmbedderMismatch          EMBEDDER_MISMATCH: the namespace was embedded by another embedder (not retryable)
    └── StorageDamaged            STORAGE_DAMAGED: a file of the namespace cannot be read; named (not retryable)
InternalError (500)               INTERNAL: a fault of ours; the message says no more than that
"""

from __future__ import annotations

from typing import Any, ClassVar


class LoomError(Exception):
    """A refusal. Fields beyond the message are positional-safe: an instance survives pickling unchanged."""

    code: ClassVar[str] = "INTERNAL"
    status: ClassVar[int] = 500
    category: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, extra: dict[str, Any] | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message, extra, retry_after_s)
        self.message = message
        self.extra = extra or {}
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return self.message

    def detail(self, request_id: str) -> dict[str, Any]:
        """What the wire carries under `detail`."""
        return {
            "code": self.code,
            "message": self.message,
            "category": self.category,
            "retryable": self.retryable,
            "retry_after_s": self.retry_after_s,
            "request_id": request_id,
            **self.extra,
        }


class InternalError(LoomError):
    """A fault of the server; details are in its log under the request id."""


class InvalidRequest(LoomError):
    code, status, category = "VALIDATION_ERROR", 422, "invalid"


class UnknownArgument(InvalidRequest):
    code = "UNKNOWN_ARGUMENT"


class CharLimitExceeded(InvalidRequest):
    code = "CHAR_LIMIT_EXCEEDED"


class IdempotencyKeyReused(InvalidRequest):
    code = "IDEMPOTENCY_KEY_REUSED"


class Blacklisted(LoomError):
    """The text matches a pattern that no write may store, or could not be checked: then `pattern_id` is empty."""

    code, status, category = "BLACKLISTED", 422, "invalid"


class MalformedBody(LoomError):
    code, status, category = "MALFORMED_BODY", 400, "invalid"


class OriginRefused(LoomError):
    code, status, category = "ORIGIN_REFUSED", 403, "forbidden"


class PayloadTooLarge(LoomError):
    code, status, category = "PAYLOAD_TOO_LARGE", 413, "invalid"


class NotFound(LoomError):
    code, status, category = "OP_NOT_FOUND", 404, "not_found"


class MethodNotAllowed(LoomError):
    code, status, category = "METHOD_NOT_ALLOWED", 405, "invalid"


class Conflict(LoomError):
    code, status, category = "CONFLICT", 409, "conflict"


class PreconditionFailed(Conflict):
    code = "PRECONDITION_FAILED"


class AmbiguousKey(Conflict):
    code = "AMBIGUOUS_KEY"


class KeyHoldsFact(Conflict):
    code = "KEY_HOLDS_FACT"


class Expired(Conflict):
    code = "EXPIRED"


class PinnedConflict(Conflict):
    code = "PINNED_CONFLICT"


class Locked(LoomError):
    code, status, category = "LOCKED", 423, "conflict"


class Unavailable(LoomError):
    code, status, category, retryable = "BACKEND_UNAVAILABLE", 503, "unavailable", True


class BackendUnavailable(Unavailable):
    """An embedder, an actor or the storage did not answer in time; nothing was written."""


class OutcomeUnknown(Unavailable):
    """The write was under way when its owner failed: read it back, or retry under the same Idempotency-Key."""

    code = "OUTCOME_UNKNOWN"

    def detail(self, request_id: str) -> dict[str, Any]:
        return super().detail(request_id) | {"outcome": "unknown"}


class Overloaded(Unavailable):
    code = "OVERLOADED"


class EmbedderMismatch(Unavailable):
    code, retryable = "EMBEDDER_MISMATCH", False


class StorageDamaged(Unavailable):
    """Nothing is served from a namespace of which an acknowledged write may be missing."""

    code, retryable = "STORAGE_DAMAGED", False
