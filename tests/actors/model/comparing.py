"""Where do the namespace's rows and the model's differ?"""

from __future__ import annotations

from typing import Any

from loom_ray.core.row import Row as RealRow
from loom_ray.core.state import State
from model.rows import DUPLICATE, SUPERSEDED, Address, Memory, Row
from model.texts import NAMES

COMMON = {"status": "status", "text": "text", "type": "memory_type", "tags": "tags", "sensitivity": "sensitivity",
          "valid_at": "valid_at", "valid_to": "valid_to", "expires": "expires_at", "on_expire": "on_expire",
          "char_limit": "char_limit", "pinned": "pinned", "lock": "lock", "lock_end": "locked_until",
          "demoted": "demoted", "counted": "reinforcements"}  # fmt: skip


def differences(memory: Memory, state: State) -> list[str]:
    """A line each; the state's rows that left long ago may be forgotten."""
    found: list[str] = []
    real = {address(row): row for row in state.rows.values()}
    for at in sorted({*real, *memory.rows}):
        ours, theirs = memory.rows.get(at), real.get(at)
        if ours is None or theirs is None:
            found.append(f"  {at}: the model has {ours and ours.status}, the namespace {theirs and theirs.status}")
        else:
            found += row_differences(ours, theirs, state, memory.now)
    return found


def row_differences(ours: Row, theirs: RealRow, state: State, now: int) -> list[str]:
    left = {name: getattr(ours, name) for name in COMMON}
    right = {name: getattr(theirs, real) for name, real in COMMON.items()}
    right |= {"text": NAMES[theirs.value], "status": str(theirs.status), "type": str(theirs.memory_type)}
    if theirs.lock and not theirs.is_locked(now):
        right |= {"lock": "", "lock_end": None}
    left |= {"against": ours.against, "repeats": ours.repeats}
    right |= {"against": {of(state, peer) for peer in theirs.conflict_with}, "repeats": of(state, theirs.duplicate_of)}
    if ours.status == SUPERSEDED:
        left["successor"], right["successor"] = ours.successor, of(state, theirs.superseded_by)
    names = left if ours.present else {"status", "text", "successor"} & left.keys()
    return [
        f"  {ours.at}: the model has {name}={left[name]!r}, the namespace {right[name]!r}"
        for name in names
        if left[name] != right[name]
    ]


def address(row: RealRow) -> Address:
    return Address(row.memory_key, row.agent, row.user_id)


def of(state: State, memory_id: str) -> Address | None:
    row = state.rows.get(memory_id)
    return address(row) if row else None


def hints_of(state: State, asked: dict[str, Any], real: dict[str, Any] | str) -> dict[str, Any]:
    """What the server chose among equals: which row a duplicate repeats, and which one a merge went into."""
    repeats = {address(row): of(state, row.duplicate_of) for row in state.rows.values() if row.status == DUPLICATE}
    answers = [] if isinstance(real, str) else real.get("merged", [real])
    return {"repeats": repeats, "merged": [answer.get("merged_into_key") for answer in answers]}
