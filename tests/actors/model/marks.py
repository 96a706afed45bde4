"""What do the ops change that leave a value alone, and what does time?"""

from __future__ import annotations

from typing import Any

from model.changes import leave, meant, refuse_edit
from model.rows import DUPLICATE, SECOND, TOMBSTONED, Memory, Refused, Row
from model.writes import vacate

STRENGTH = {"": 0, "no_delete": 1, "read_only": 2}


def unpin(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    row = meant(memory, asked)
    if row is None or not row.pinned:
        return {"pinned": False, "unpinned": False}
    refuse_edit(row)
    row.pinned = False
    return {"pinned": False, "unpinned": True}


def lock(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    row = meant(memory, asked)
    if row is None:
        return {"locked": False, "reason": "not_found"}
    tighten(memory, row, asked.get("mode", "read_only"), asked.get("ttl_seconds"))
    return {"locked": True, "mode": row.lock}


def tighten(memory: Memory, row: Row, mode: str, ttl: int | None) -> None:
    end = None if ttl is None else memory.now + ttl * SECOND
    if row.lock and (STRENGTH[mode] < STRENGTH[row.lock] or (end or 1 << 63) < (row.lock_end or 1 << 63)):
        raise Refused("LOCKED")
    row.lock, row.lock_end = mode, end


def unlock(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    row = meant(memory, asked)
    if row is None or not row.lock:
        return {"unlocked": False}
    row.lock, row.lock_end = "", None
    return {"unlocked": True}


def touch_row(memory: Memory, row: Row, ttl: int | None) -> None:
    refuse_edit(row)
    row.expires = None if ttl is None else memory.now + ttl * SECOND


def touch(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    row = meant(memory, asked)
    if row is None:
        return {"touched": 0, "not_found": [asked["memory_key"]]}
    touch_row(memory, row, asked.get("ttl_seconds"))
    return {"touched": 1, "not_found": []}


def demote(memory: Memory, row: Row) -> None:
    row.demoted = True
    was, row.status = row.status, "leaving"
    vacate(memory, row)
    row.status = "active" if was != "leaving" else was


def settle(memory: Memory) -> None:
    """Whatever has come to its end by now, in the order of the ends."""
    for row in memory.rows.values():
        if row.lock and row.lock_end is not None and row.lock_end <= memory.now and row.leaves > memory.now:
            row.lock, row.lock_end = "", None
    due = [
        row
        for row in memory.rows.values()
        if row.present and not row.lapsed and min(row.leaves, row.ends) <= memory.now
    ]
    for row in sorted(due, key=lambda row: (min(row.leaves, row.ends), row.created)):
        if row.present and row.leaves <= memory.now:
            expire(memory, row)
        elif row.present:
            row.lapsed = True
            if row.status != DUPLICATE:
                leave(memory, row, "active")
    for row in memory.rows.values():
        if row.lock and row.lock_end is not None and row.lock_end <= memory.now:
            row.lock, row.lock_end = "", None


def expire(memory: Memory, row: Row) -> None:
    if row.on_expire == "tombstone":
        row.expired = True
        leave(memory, row, TOMBSTONED)
    else:
        row.expires = None
        demote(memory, row)
