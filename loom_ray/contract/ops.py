"""Which operations are there? The one table that the routes, the OpenAPI document, the command line and (later) the
Python client and MCP are derived from. Adding an op is adding one row here and one handler in actors/handlers.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loom_ray.contract import errors, namespaces, reading, writing
from loom_ray.contract.errors import LoomError
from loom_ray.contract.scope import Receipt, Scoped

Role = Literal["viewer", "writer", "admin"]
RateClass = Literal["read", "write", "bulk", "admin"]


@dataclass(frozen=True, slots=True)
class Op:
    """One operation. `role` is the least that may call it; `mcp` says whether agents see it as a tool."""

    name: str
    role: Role
    rate_class: RateClass
    request: type[Scoped]
    answer: type[Receipt]
    summary: str
    writes: bool = False
    mcp: bool = False
    refusals: tuple[type[LoomError], ...] = ()

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]


_TABLE = (
    Op("namespace.register", "admin", "admin", namespaces.RegisterRequest, namespaces.RegisterAnswer,
       "Set a namespace's conflict policy and thresholds.", writes=True),
    Op("namespace.info", "viewer", "read", namespaces.InfoRequest, namespaces.InfoAnswer,
       "A namespace's settings, embedder, thresholds with their origin, and counts."),
    Op("memory.set", "writer", "write", writing.SetRequest, writing.SetAnswer,
       "Store one fact under its key; the answer says how it stands to what is stored.", writes=True, mcp=True,
       refusals=(errors.CharLimitExceeded, errors.PreconditionFailed, errors.OutcomeUnknown)),
    Op("memory.bulk_set", "writer", "bulk", writing.BulkSetRequest, writing.BulkSetAnswer,
       "Store many facts in one atomic commit, each judged with the earlier ones in place.", writes=True,
       refusals=(errors.CharLimitExceeded, errors.PreconditionFailed, errors.OutcomeUnknown)),
    Op("memory.get", "viewer", "read", reading.GetRequest, reading.GetAnswer,
       "Read the row of a key, now or as of a time.", mcp=True),
    Op("memory.get_by_id", "viewer", "read", reading.GetByIdRequest, reading.GetAnswer,
       "Read one row by its id, whatever its status."),
    Op("memory.list", "viewer", "read", reading.ListRequest, reading.ListAnswer,
       "List or count rows in the order of their keys.", mcp=True),
    Op("memory.search", "viewer", "read", reading.SearchRequest, reading.SearchAnswer,
       "Find rows by meaning and by words.", mcp=True),
    Op("memory.delete", "writer", "write", writing.DeleteRequest, writing.DeleteAnswer,
       "Retire a key's row; memory.restore brings it back within 14 days.", writes=True, mcp=True,
       refusals=(errors.AmbiguousKey, errors.OutcomeUnknown)),
    Op("memory.restore", "writer", "write", writing.RestoreRequest, writing.RestoreAnswer,
       "Bring a deleted key back, judged again on its return.", writes=True, mcp=True,
       refusals=(errors.AmbiguousKey, errors.OutcomeUnknown)),
    Op("memory.history", "viewer", "read", reading.HistoryRequest, reading.HistoryAnswer,
       "Every version of a key's row, newest first.", mcp=True),
    Op("conflicts.list", "viewer", "read", reading.ConflictsListRequest, reading.ConflictsListAnswer,
       "Rows that contradict each other and wait for a decision."),
)  # fmt: skip

OPS: dict[str, Op] = {op.name: op for op in _TABLE}
EVERYWHERE = (
    errors.InvalidRequest,
    errors.MalformedBody,
    errors.OriginRefused,
    errors.PayloadTooLarge,
    errors.BackendUnavailable,
    errors.Overloaded,
)
ON_WRITES = (errors.UnknownArgument, errors.IdempotencyKeyReused)


def refusals(op: Op) -> tuple[type[LoomError], ...]:
    """Every refusal that the op may answer with, beyond a fault of the server."""
    return EVERYWHERE + (ON_WRITES if op.writes else ()) + op.refusals
