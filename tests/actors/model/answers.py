"""Which part of the model answers which op?"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from model import changes, many, marks
from model.rows import Memory, Refused

SKIPPED = {"LOCKED", "PINNED_CONFLICT"}


def answer_of(memory: Memory, op: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Raises Refused; the memory may be half changed then."""
    if op == "namespace.register":
        memory.policy = asked["default_conflict_policy"]
        return {}
    if op == "memory.bulk_set":
        return bulk_set(memory, asked)
    if op == "memory.pin":
        return changes.set_(memory, asked, "pin")
    if op == "memory.update":
        return changes.update(memory, asked, changes.correctable(memory, asked))
    if op == "memory.update_by_id":
        return changes.update(memory, asked, memory.rows[changes.address_of(asked)])
    name = {"memory.set": "set_"}.get(op, op.removeprefix("memory."))
    part = next(part for part in (changes, marks, many) if hasattr(part, name))
    return getattr(part, name)(memory, asked)


def bulk_set(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    """Each entry as alone, with the earlier ones in place; what a lock or a pin refuses is listed."""
    written, merged, refused = [], [], []
    for number, entry in enumerate(asked["entries"]):
        marks.settle(memory)  # an earlier entry may have been true until a time that is past
        before = deepcopy(memory.rows), deepcopy(memory.at_peace)
        try:
            answer = changes.set_(memory, entry, "bulk")
        except Refused as refusal:
            if str(refusal) not in SKIPPED:
                raise
            memory.rows, memory.at_peace = before
            refused.append(number)
        else:
            (merged if answer["noop"] else written).append((number, answer["conflict_verdict"]))
    return {"written": written, "merged": merged, "refused": refused}
