"""What do the ops do that change many rows at once?"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from model.changes import leave, meant, readable, refuse_removal
from model.marks import demote, tighten, touch_row
from model.rows import SUPERSEDED, TOMBSTONED, Memory, Refused, Row


def apply(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    """Each row as alone; what would be refused alone is listed."""
    found, refused = targets(memory, asked)
    applied: list[str] = []
    for target in found:
        row, before = memory.rows[target.at], deepcopy(memory.rows)
        try:
            act(memory, row, asked)
            applied.append(row.at.key)
        except Refused as refusal:
            memory.rows = before
            refused.append((row.at.key, str(refusal)))
    return {"matched": len(found), "applied": sorted(applied), "refused": sorted(refused)}


def targets(memory: Memory, asked: dict[str, Any]) -> tuple[list[Row], list[tuple[str, str]]]:
    """A filter reaches rows of exactly the agent and user that ask."""
    if "filter" in asked:
        mine = [
            row for row in memory.rows.values() if (row.at.agent, row.at.user) == (asked["agent"], asked["user_id"])
        ]
        return [row for row in mine if readable(row) and row.at.key.startswith(asked["filter"]["prefix"])], []
    rows: list[Row] = []
    refused: list[tuple[str, str]] = []
    for key in dict.fromkeys(asked["memory_keys"]):
        try:
            row = meant(memory, asked | {"memory_key": key})
        except Refused as refusal:
            refused.append((key, str(refusal)))
            continue
        rows += [row] if row else []
        refused += [] if row else [(key, "NOT_FOUND")]
    return rows, refused


def act(memory: Memory, row: Row, asked: dict[str, Any]) -> None:
    match asked["action"]:
        case "expire":
            touch_row(memory, row, asked["ttl_seconds"])
        case "lock":
            tighten(memory, row, asked.get("mode", "read_only"), asked.get("ttl_seconds"))
        case "label":
            row.tags = tuple(dict.fromkeys([*row.tags, *asked["add_tags"]]))
        case "demote":
            refuse_removal(row)
            demote(memory, row)
        case "delete":
            refuse_removal(row)
            leave(memory, row, TOMBSTONED)


def clear(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    """All rows of the user, or of the agent where no user is named."""
    by_user = asked["user_id"] != "-"
    rows = [row for row in memory.rows.values() if row.present or row.status == SUPERSEDED]
    subjects = [row for row in rows if (row.at.user if by_user else row.at.agent) == asked["confirm_subject"]]
    free = [row.at for row in subjects if not row.lock]
    for at in free:
        leave(memory, memory.rows[at], TOMBSTONED)
    locked = sorted((row.at.key, "LOCKED") for row in subjects if row.lock)
    return {"cleared": len(free), "refused": locked}
