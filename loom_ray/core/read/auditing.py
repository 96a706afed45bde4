"""How is what was done shown? Audit rows, and from them the records of what the server retired by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby

from loom_ray.contract.auditing import (
    AuditListAnswer,
    AuditRow,
    AutoRetirementsAnswer,
    AutoRetirementsRequest,
    Retirement,
)
from loom_ray.contract.blacklist import Drop, DropsListAnswer
from loom_ray.contract.fields import to_rfc3339
from loom_ray.core.read.cursor import write_cursor
from loom_ray.core.read.listing import ANYBODY
from loom_ray.core.records import Audited

RECORD_ROWS_MAX = 200  # the pages: a path that retires more splits them across several records
SUPERSEDED = "memory.auto_supersede"


def audit_page(rows: Sequence[Audited], limit: int) -> AuditListAnswer:
    """`rows`: newest first, one more than the limit where there are more."""
    page = rows[:limit]
    return AuditListAnswer(
        rows=[_row(row) for row in page], next_cursor=write_cursor((page[-1].stamp,)) if len(rows) > limit else ""
    )


def _row(row: Audited) -> AuditRow:
    told = asdict(row)
    del told["stamp"]
    shown = told | {"at": to_rfc3339(row.at), "commit_id": str(row.commit_id), "version_text": str(row.version)}
    return AuditRow.model_validate(shown)


def retirements_page(
    rows: Sequence[Audited], request: AutoRetirementsRequest, more: bool
) -> AutoRetirementsAnswer | None:
    """`rows`: retirements, newest first; where there are `more`, the last request's among them may be cut off, and
    without it the page is not full: None, then more rows are needed.

    A page is made of whole requests, and so of whole records, until it holds `limit` rows.
    """
    commits = [list(group) for _, group in groupby(rows, lambda row: row.commit_id)]
    whole = commits[:-1] if more else commits
    shown: list[Retirement] = []
    for place, commit in enumerate(whole):
        shown += [each for each in _records(commit) if request.user_id in (*ANYBODY, each.user_id)]
        if len(shown) >= request.limit:
            ends = not more and place == len(whole) - 1
            return AutoRetirementsAnswer(rows=shown, next_cursor="" if ends else write_cursor((commit[0].commit_id,)))
    return None if more else AutoRetirementsAnswer(rows=shown)


def _records(commit: Sequence[Audited]) -> list[Retirement]:
    """What one request retired, by reason, in records of at most 200 rows."""
    retired: list[Retirement] = []
    by_path = sorted(commit, key=lambda row: (row.reason, row.stamp))
    for reason, path in groupby(by_path, lambda row: row.reason):
        for place, row in enumerate(path):
            retired.append(_retirement(f"{row.commit_id}-{reason}-{place // RECORD_ROWS_MAX}", row))
    return retired


def _retirement(record_id: str, row: Audited) -> Retirement:
    return Retirement(
        record_id=record_id,
        at=to_rfc3339(row.at),
        memory_id=row.memory_id,
        memory_key=row.memory_key,
        agent=row.agent,
        user_id=row.user_id,
        session_id=row.session_id,
        version=row.version,
        version_text=str(row.version),
        superseded_by=row.related_id,
        reason=row.reason,
    )


def drops_page(rows: Sequence[Audited], limit: int, more: bool) -> DropsListAnswer | None:
    """`rows`: what sweeps removed, newest first. Where there are `more`, the last sweep's may be cut off; None where
    without it the page is not full: more rows are needed then."""
    sweeps = [list(group) for _, group in groupby(rows, lambda row: row.run_id)]
    whole = sweeps[:-1] if more else sweeps
    if more and len(whole) < limit:
        return None
    page = whole[:limit]
    ends = len(page) == len(sweeps)
    return DropsListAnswer(
        rows=[_drop(sweep) for sweep in page], next_cursor="" if ends else write_cursor((page[-1][-1].stamp,))
    )


def _drop(sweep: Sequence[Audited]) -> Drop:
    newest = sweep[0]
    return Drop(
        sweep_id=newest.run_id,
        at=to_rfc3339(newest.at),
        pattern_id=newest.related_id,
        actor=newest.actor,
        swept=len(sweep),
        memory_ids=[row.memory_id for row in reversed(sweep)],
    )
