"""How does a drawn request read to the model, and how on the wire?"""

from __future__ import annotations

from typing import Any

from loom_ray.contract.fields import to_rfc3339
from loom_ray.core.row import Address as RealAddress
from loom_ray.core.row import Identity
from loom_ray.core.state import State
from model.changes import address_of, correctable, meant
from model.programs import Step
from model.rows import SECOND, Address, Memory, Refused, Row
from model.texts import SHA256, TEXTS

START = 2_000_000_000 * SECOND
OURS = {"text", "match", "behind"}
WRITERS = {"memory.set", "memory.pin", "memory.update", "memory.update_by_id", "memory.move"}


def resolved(memory: Memory, step: Step) -> dict[str, Any]:
    """With times as nanoseconds, values, and the hash or version that the row meant has now (or has not)."""
    asked = dict(step.asked)
    if "entries" in asked:
        who = {name: asked[name] for name in ("agent", "user_id")}
        asked["entries"] = [resolved(memory, Step("memory.set", who | entry)) for entry in asked["entries"]]
        return asked
    for name in ("valid_at", "valid_to"):
        if name in asked:
            asked[name] = START + asked[name] * SECOND
    if "text" in asked:
        asked["value"] = TEXTS[asked["text"]]
    if "behind" in asked:
        asked["behind"] = address_of(asked["behind"])
    if "match" in asked and step.op in WRITERS:
        row = target(memory, step.op, asked)
        asked["if_match_sha256"] = SHA256[row.text] if asked["match"] and row else "0" * 64
    return asked


def target(memory: Memory, op: str, asked: dict[str, Any]) -> Row | None:
    try:
        find = {"memory.update": correctable, "memory.move": meant}.get(op)
        return find(memory, asked) if find else memory.rows.get(address_of(asked))
    except Refused:
        return None


def on_the_wire(op: str, asked: dict[str, Any], state: State) -> dict[str, Any] | None:
    """What is sent. None where the request means a row that is not there to be named."""
    wire = {name: value for name, value in asked.items() if name not in OURS}
    for name in ("valid_at", "valid_to"):
        if name in wire:
            wire[name] = to_rfc3339(wire[name])
    if "entries" in wire:
        wire["entries"] = [_without_who(on_the_wire("memory.set", entry, state) or {}) for entry in wire["entries"]]
    if "behind" in asked:
        wire["if_superseded_by"] = asked["if_superseded_by"] = memory_id(state, asked["behind"]) or "nobody"
    row = state.row_at(real_address(address_of(asked))) if "memory_key" in asked else None
    if op == "memory.delete_version":
        wire["version"] = row.version + (0 if asked["match"] else -1) if row else 1
    if op == "memory.update_by_id":
        if row is None:
            return None
        wire = _without_who(wire) | {"memory_id": row.memory_id}
        wire.pop("memory_key")
    return wire


def _without_who(wire: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in wire.items() if name not in ("agent", "user_id")}


def real_address(at: Address) -> RealAddress:
    return RealAddress(at.key, Identity(at.agent, at.user, "-"))


def memory_id(state: State, at: Address) -> str:
    row = state.row_at(real_address(at))
    return row.memory_id if row else ""
