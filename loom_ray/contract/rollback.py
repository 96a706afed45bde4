"""What may be asked to be undone by its cause, and what is told of it?"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from loom_ray.contract.fields import Name, OptionalName, Reason, Time, to_ns
from loom_ray.contract.scope import Answer, Receipt, Scoped

Becomes = Literal["removed", "restored", "relinked", "counted", "kept"]


class Cause(Scoped):
    """Which changes: those that everything named here fits. At least one of it must be named."""

    run_id: OptionalName = Field("", description="of the writes' run")
    actor: OptionalName = Field("", description="who made them, as audit.list names it: process:crawler")
    source_class: OptionalName = ""
    source_resource_id: OptionalName = Field("", description="the path, document or URL that the writes came from")
    since: Time = Field(None, description="the first moment that fits")
    until: Time = Field(None, description="the first moment after `since` that does not fit")
    commit_id: str = Field(
        "", pattern="^([1-9][0-9]{0,18})?$", description="of one request's changes, as audit.list and rollbacks name it"
    )

    @model_validator(mode="after")
    def _name_a_cause(self) -> Self:
        names = ("run_id", "actor", "source_class", "source_resource_id", "commit_id", "since", "until")
        if not any(getattr(self, name) for name in names):
            raise ValueError(f"{', '.join(names)}: name at least one of them")
        since, until = to_ns(self.since), to_ns(self.until)
        if since is not None and until is not None and until <= since:
            raise ValueError("until: must be later than since")
        return self


class RollbackRequest(Cause):
    """Take back what one cause has done: every memory goes back to the image before it.

    What others have changed since is listed and left. A rollback is itself one change: roll its `commit_id` back to
    undo it.
    """

    agent: Name = Field("-", description="who asks for it")
    dry_run: bool = Field(True, description="only list what it would do")
    reason: Reason = ""


class RolledBack(Answer):
    """One memory that the cause has touched.

    `did`: written, superseded, merged, flagged, unflagged, released (a duplicate that came to stand by itself),
    repointed (to another canonical), or the op. `becomes`: removed (it was not there before), restored, relinked (only
    what it is linked to changes), counted (a restatement was counted, which stays) or kept, and then `reason` says why.
    """

    memory_id: str
    memory_key: str
    agent: str
    user_id: str
    session_id: str
    did: list[str]
    becomes: Becomes
    status: str = Field(description="afterwards")
    reason: str = ""


class RollbackAnswer(Receipt):
    dry_run: bool
    commit_id: str = Field("", description="of this rollback; empty where nothing was changed")
    removed: int
    restored: int
    kept: int
    rows: list[RolledBack] = Field(description="in the order of when the cause first touched them")
