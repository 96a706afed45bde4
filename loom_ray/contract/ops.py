"""Which operations are there? The one table that the routes, the OpenAPI document, the command line and (later) the
Python client and MCP are derived from. Adding an op is adding one row here and one handler in actors/handlers.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from loom_ray.contract import (
    auditing,
    blacklist,
    changing,
    conflicts,
    duplicates,
    errors,
    many,
    namespaces,
    reading,
    rollback,
    writing,
)
from loom_ray.contract.errors import LoomError
from loom_ray.contract.scope import Receipt, Scoped

Role = Literal["viewer", "writer", "admin"]
RateClass = Literal["read", "write", "bulk", "admin"]


@dataclass(frozen=True, slots=True)
class Op:
    """One operation. `role` is the least that may call it; `mcp` says whether agents see it as a tool; `owner` who
    carries it out: the namespace, or the keeper of the patterns that are refused."""

    name: str
    role: Role
    rate_class: RateClass
    request: type[Scoped]
    answer: type[Receipt]
    summary: str
    writes: bool = False
    mcp: bool = False
    owner: Literal["namespace", "keeper"] = "namespace"
    refusals: tuple[type[LoomError], ...] = ()

    @property
    def family(self) -> str:
        return self.name.partition(".")[0]


_JUDGED = (
    errors.CharLimitExceeded,
    errors.PreconditionFailed,
    errors.PinnedConflict,
    errors.Locked,
    errors.EmbedderMismatch,
)
_KEYED = (errors.AmbiguousKey, errors.Locked)

_TABLE = (
    Op("namespace.register", "admin", "admin", namespaces.RegisterRequest, namespaces.RegisterAnswer,
       "Set a namespace's conflict policy and thresholds.", writes=True),
    Op("namespace.info", "viewer", "read", namespaces.InfoRequest, namespaces.InfoAnswer,
       "A namespace's settings, embedder, thresholds with their origin, and counts.",
       refusals=(errors.EmbedderMismatch,)),
    Op("memory.set", "writer", "write", writing.SetRequest, writing.SetAnswer,
       "Store one fact under its key; the answer says how it stands to what is stored.", writes=True, mcp=True,
       refusals=_JUDGED),
    Op("memory.bulk_set", "writer", "bulk", writing.BulkSetRequest, writing.BulkSetAnswer,
       "Store many facts in one atomic commit, each judged with the earlier ones in place.", writes=True,
       refusals=(errors.CharLimitExceeded, errors.PreconditionFailed, errors.EmbedderMismatch)),
    Op("memory.pin", "writer", "write", writing.PinRequest, writing.SetAnswer,
       "Store a standing fact that no later write may contradict.", writes=True, mcp=True, refusals=_JUDGED),
    Op("memory.unpin", "writer", "write", changing.UnpinRequest, changing.UnpinAnswer,
       "Let later writes contradict a pinned fact again.", writes=True, mcp=True, refusals=_KEYED),
    Op("memory.update", "writer", "write", writing.UpdateRequest, writing.UpdateAnswer,
       "Correct the one live row of a key, whoever wrote it; a pin and an expiry stay.", writes=True, mcp=True,
       refusals=(*_JUDGED, errors.AmbiguousKey, errors.Expired)),
    Op("memory.update_by_id", "writer", "write", writing.UpdateByIdRequest, writing.UpdateAnswer,
       "Correct one exact row by its id.", writes=True, refusals=(*_JUDGED, errors.Expired)),
    Op("memory.touch", "writer", "write", changing.TouchRequest, changing.TouchAnswer,
       "Change when rows expire and nothing else.", writes=True, mcp=True, refusals=_KEYED),
    Op("memory.get", "viewer", "read", reading.GetRequest, reading.GetAnswer,
       "Read the row of a key, now or as of a time.", mcp=True),
    Op("memory.get_by_id", "viewer", "read", reading.GetByIdRequest, reading.GetAnswer,
       "Read one row by its id, whatever its status."),
    Op("memory.list", "viewer", "read", reading.ListRequest, reading.ListAnswer,
       "List or count rows in the order of their keys.", mcp=True),
    Op("memory.search", "viewer", "read", reading.SearchRequest, reading.SearchAnswer,
       "Find rows by meaning and by words, now or as of a time.", mcp=True, refusals=(errors.EmbedderMismatch,)),
    Op("memory.timeline", "viewer", "read", reading.TimelineRequest, reading.TimelineAnswer,
       "List rows in the order of when their facts began.", mcp=True),
    Op("memory.statuses", "viewer", "read", reading.StatusesRequest, reading.StatusesAnswer,
       "What became of these memories, and which took their place."),
    Op("memory.delete", "writer", "write", changing.DeleteRequest, changing.DeleteAnswer,
       "Retire a key's row; memory.restore brings it back within 14 days.", writes=True, mcp=True, refusals=_KEYED),
    Op("memory.delete_version", "writer", "write", changing.DeleteVersionRequest, changing.DeleteVersionAnswer,
       "Retire exactly one's own row, only while it is at one version.", writes=True,
       refusals=(errors.Locked,)),
    Op("memory.restore", "writer", "write", changing.RestoreRequest, changing.RestoreAnswer,
       "Bring a key back, judged again on its return.", writes=True, mcp=True,
       refusals=(errors.AmbiguousKey, errors.PinnedConflict)),
    Op("memory.move", "writer", "write", changing.MoveRequest, changing.MoveAnswer,
       "Rename a key; the old one leads to the new one.", writes=True,
       refusals=(*_KEYED, errors.KeyHoldsFact, errors.PinnedConflict, errors.PreconditionFailed)),
    Op("memory.reject", "writer", "write", changing.RejectRequest, changing.RejectAnswer,
       "Mark a fact as wrong: it leaves the reads.", writes=True, mcp=True, refusals=_KEYED),
    Op("memory.lock", "writer", "write", changing.LockRequest, changing.LockAnswer,
       "Guard a row against changes or deletion; a lock can only be tightened.", writes=True, refusals=_KEYED),
    Op("memory.unlock", "admin", "admin", changing.UnlockRequest, changing.UnlockAnswer,
       "Take a row's lock away.", writes=True, refusals=(errors.AmbiguousKey,)),
    Op("memory.apply", "writer", "bulk", many.ApplyRequest, many.ApplyAnswer,
       "Apply one change to many rows; a dry run unless told otherwise.", writes=True,
       refusals=(errors.EmbedderMismatch,)),
    Op("memory.clear", "admin", "admin", many.ClearRequest, many.ClearAnswer,
       "Retire all rows of a user or of an agent.", writes=True),
    Op("memory.history", "viewer", "read", reading.HistoryRequest, reading.HistoryAnswer,
       "Every version of a key's row, newest first.", mcp=True),
    Op("memory.auto_retirements", "viewer", "read", auditing.AutoRetirementsRequest, auditing.AutoRetirementsAnswer,
       "What the server retired by itself, newest first."),
    Op("memory.dedup_list", "admin", "read", duplicates.DedupListRequest, duplicates.DedupListAnswer,
       "Rows that say the same, as clusters of a canonical and its duplicates."),
    Op("memory.dedup_resolve", "admin", "admin", duplicates.DedupResolveRequest, duplicates.DedupResolveAnswer,
       "Settle which row of a duplicate pair stays, or that both do.", writes=True,
       refusals=(errors.PreconditionFailed, errors.Locked)),
    Op("memory.dedup_collapse", "writer", "bulk", duplicates.DedupCollapseRequest, duplicates.DedupCollapseAnswer,
       "Retire all duplicates behind their canonicals; a dry run unless told otherwise.", writes=True),
    Op("memory.resolve_orphan_duplicates", "writer", "bulk", duplicates.ResolveOrphansRequest,
       duplicates.ResolveOrphansAnswer, "Bring duplicates back whose canonical is gone.", writes=True),
    Op("memory.rollback", "admin", "admin", rollback.RollbackRequest, rollback.RollbackAnswer,
       "Take back everything that a run, an actor, a source or a time window did; a dry run unless told otherwise.",
       writes=True, refusals=(errors.EmbedderMismatch,)),
    Op("conflicts.list", "viewer", "read", conflicts.ConflictsListRequest, conflicts.ConflictsListAnswer,
       "Rows that contradict each other and wait for a decision, or the causes that they have in common."),
    Op("conflicts.propose_revision", "viewer", "read", conflicts.ProposeRevisionRequest,
       conflicts.ProposeRevisionAnswer, "How a row's conflicts could be settled, and what speaks for it."),
    Op("conflicts.resolve", "admin", "admin", conflicts.ResolveRequest, conflicts.ResolveAnswer,
       "Settle a row's conflicts, or those of a whole cause.", writes=True),
    Op("conflicts.allowlist_list", "viewer", "read", conflicts.AllowlistListRequest, conflicts.AllowlistListAnswer,
       "Pairs of keys that are never flagged."),
    Op("conflicts.allowlist_remove", "admin", "admin", conflicts.AllowlistRemoveRequest,
       conflicts.AllowlistRemoveAnswer, "Let a pair be flagged again by later writes.", writes=True),
    Op("blacklist.add", "writer", "write", blacklist.BlacklistAddRequest, blacklist.BlacklistAddAnswer,
       "Refuse a pattern in every write from now on; with sweep, also tombstone what matches already.", writes=True,
       mcp=True, owner="keeper"),
    Op("blacklist.sweep", "writer", "bulk", blacklist.BlacklistSweepRequest, blacklist.BlacklistSweepAnswer,
       "Tombstone the live rows that a known pattern matches.", writes=True, owner="keeper"),
    Op("blacklist.remove", "admin", "admin", blacklist.BlacklistRemoveRequest, blacklist.BlacklistRemoveAnswer,
       "Let what a pattern refused be written again.", writes=True, owner="keeper"),
    Op("blacklist.list", "viewer", "read", blacklist.BlacklistListRequest, blacklist.BlacklistListAnswer,
       "The patterns that hold in a namespace, with how often each was met.", owner="keeper"),
    Op("blacklist.report", "viewer", "bulk", blacklist.BlacklistReportRequest, blacklist.BlacklistReportAnswer,
       "How many rows and past versions a pattern would match; nothing is changed."),
    Op("drops.list", "viewer", "read", blacklist.DropsListRequest, blacklist.DropsListAnswer,
       "What sweeps removed, newest first."),
    Op("audit.list", "admin", "read", auditing.AuditListRequest, auditing.AuditListAnswer,
       "Who did what to which memory, newest first; hashes, never values."),
)  # fmt: skip

OPS: dict[str, Op] = {op.name: op for op in _TABLE}
EVERYWHERE = (
    errors.InvalidRequest,
    errors.MalformedBody,
    errors.OriginRefused,
    errors.PayloadTooLarge,
    errors.BackendUnavailable,
    errors.Overloaded,
    errors.StorageDamaged,
)
ON_WRITES = (errors.UnknownArgument, errors.IdempotencyKeyReused, errors.OutcomeUnknown, errors.Blacklisted)


def refusals(op: Op) -> tuple[type[LoomError], ...]:
    """Every refusal that the op may answer with, beyond a fault of the server."""
    return EVERYWHERE + (ON_WRITES if op.writes else ()) + op.refusals
