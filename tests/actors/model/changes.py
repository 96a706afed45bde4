"""What does each op that writes do, and what does it answer? Only what the documentation promises of the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model.rows import DUPLICATE, REDIRECT, REJECTED, SECOND, SUPERSEDED, TOMBSTONED, Address, Memory, Refused, Row
from model.texts import SHA256
from model.writes import Outcome, Write, store, vacate

DETAIL_FIELDS = {"memory_type": "type", "tags": "tags", "sensitivity": "sensitivity", "valid_at": "valid_at",
                 "valid_to": "valid_to", "on_expire": "on_expire", "char_limit": "char_limit"}  # fmt: skip


# ---- which row ----------------------------------------------------------------------------------------------------
def address_of(asked: dict[str, Any]) -> Address:
    return Address(asked["memory_key"], asked.get("agent", "-"), asked.get("user_id", "-"))


def meant(memory: Memory, asked: dict[str, Any]) -> Row | None:
    """The caller's own row of the key, else the only one that the key has under that user."""
    own = memory.rows.get(address_of(asked))
    if own is not None:
        return own if readable(own) else None
    rows = [
        row for row in memory.of_key(asked["memory_key"]) if readable(row) and row.at.user == asked.get("user_id", "-")
    ]
    return only(rows)


def only(rows: list[Row]) -> Row | None:
    if len(rows) > 1:
        raise Refused("AMBIGUOUS_KEY")
    return rows[0] if rows else None


def readable(row: Row) -> bool:
    return row.present and not row.lapsed


def refuse_edit(row: Row) -> None:
    if row.lock == "read_only":
        raise Refused("LOCKED")


def refuse_removal(row: Row) -> None:
    if row.lock:
        raise Refused("LOCKED")


# ---- storing a value ----------------------------------------------------------------------------------------------
def given(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    """What a request says beside the value, as fields of a row."""
    found = {ours: asked[theirs] for theirs, ours in DETAIL_FIELDS.items() if theirs in asked}
    if "tags" in found:
        found["tags"] = tuple(found["tags"])
    if "ttl_seconds" in asked:
        found["expires"] = memory.now + asked["ttl_seconds"] * SECOND
    if asked.get("clear_expiry"):
        found["expires"] = None
    return found


def set_(memory: Memory, asked: dict[str, Any], how: str = "set") -> dict[str, Any]:
    at, said = address_of(asked), given(memory, asked)
    before = memory.rows.get(at)
    if before is not None and before.lapsed and before.pinned and how != "pin":
        raise Refused("PINNED_CONFLICT")
    if before is not None and not readable(before):
        before = None
    row = Row(at, asked["text"], memory.now, before.created if before else memory.now, pinned=how == "pin")
    if before is not None:
        row = replace(row, expires=before.expires, on_expire=before.on_expire, char_limit=before.char_limit,
                      counted=before.counted, lock=before.lock, lock_end=before.lock_end,
                      pinned=before.pinned or how == "pin")  # fmt: skip
    return answered(memory, attempt(memory, replace(row, **said), before, said, asked, how))


def attempt(
    memory: Memory, row: Row, before: Row | None, said: dict[str, Any], asked: dict[str, Any], how: str
) -> Outcome:
    """The checks of docs/writing.md, in their order."""
    if before is not None:
        repeated = restates(before, row, said, how)
        if repeated and memory.policy != "append_only":
            refuse_other_content(asked, before)
            before.counted += 1
            return Outcome("merge" if row.judged else "", before, before.at, noop=True)
        if not repeated:
            refuse_edit(before)
        if (
            not repeated
            and before.pinned
            and (before.text, before.type) != (row.text, row.type)
            and how in ("set", "bulk")
        ):
            raise Refused("PINNED_CONFLICT")
        if before.text == row.text:
            row.said = before.said
    if row.valid_at is not None and row.ends <= row.valid_at:
        raise Refused("VALIDATION_ERROR")
    if row.char_limit is not None and len(asked["value"]) > row.char_limit:
        raise Refused("CHAR_LIMIT_EXCEEDED")
    refuse_other_content(asked, before)
    return store(memory, Write(row, how, before))


def restates(before: Row, row: Row, said: dict[str, Any], how: str) -> bool:
    """The same bytes, and nothing else said anew. In a batch the same bytes are enough (the page on webhooks) but
    for another sensitivity. A demoted row comes back with them."""
    if before.text != row.text or before.demoted or before.pinned != row.pinned:
        return False
    matter = said.keys() | {"sensitivity"}
    if how == "bulk":
        matter = said.keys() & {"sensitivity"}
    return all(getattr(before, name) == getattr(row, name) for name in matter)


def refuse_other_content(asked: dict[str, Any], row: Row | None) -> None:
    if "if_match_sha256" in asked and (row is None or asked["if_match_sha256"] != SHA256[row.text]):
        raise Refused("PRECONDITION_FAILED")


def answered(memory: Memory, outcome: Outcome) -> dict[str, Any]:
    answer: dict[str, Any] = {"conflict_verdict": outcome.verdict, "noop": outcome.noop}
    if outcome.merged_into is not None and outcome.verdict:
        answer["merged_into_key"] = outcome.merged_into.key
    if outcome.row is not None:
        answer |= {"status": outcome.row.status, "pinned": outcome.row.pinned, "memory_key": outcome.row.at.key}
    return answer


def told(memory: Memory, outcome: Outcome) -> dict[str, Any]:
    """Under append_only no check runs: whether that is `clear` or empty is left open."""
    return {} if memory.policy == "append_only" else {"conflict_verdict": outcome.verdict}


def update(memory: Memory, asked: dict[str, Any], row: Row | None) -> dict[str, Any]:
    """What the request does not name stays. A row that is over comes back with `revive`, without an end."""
    if row is None or not (readable(row) or over(row)):
        return {"updated": False}
    if over(row) and not asked.get("revive"):
        raise Refused("EXPIRED")
    said, before, stored = given(memory, asked), row, row
    if over(row):
        valid_to = row.valid_to if row.ends > memory.now else None
        before, stored = None, replace(row, expires=None, valid_to=valid_to, expired=False, gone=None)
    text = asked.get("text", row.text)
    new = replace(stored, text=text, said=memory.now, against=set(), lapsed=False, demoted=False, **said)
    outcome = attempt(memory, new, before, said, asked | {"value": asked.get("value", "")}, "update")
    return answered(memory, outcome) | {"updated": not asked.get("dry_run")}


def over(row: Row) -> bool:
    """Whether it left by itself: it expired, or stopped being true."""
    return (row.expired and row.status == TOMBSTONED) or (row.present and row.lapsed)


def correctable(memory: Memory, asked: dict[str, Any]) -> Row | None:
    """memory.update finds the key in the whole namespace; `-` narrows nothing."""
    agent, user = asked.get("agent", "-"), asked.get("user_id", "-")
    rows = [row for row in memory.of_key(asked["memory_key"]) if agent in ("-", row.at.agent)]
    rows = [row for row in rows if user in ("-", row.at.user)]
    gone = [row for row in rows if over(row)]
    found = only([row for row in rows if readable(row)])
    return found or (only(gone) if asked.get("revive") else next(iter(gone), None))


# ---- leaving and coming back --------------------------------------------------------------------------------------
def leave(memory: Memory, row: Row, status: str) -> None:
    row.gone = memory.now
    row.status = status
    vacate(memory, row)
    row.status = status


def delete(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    row = meant(memory, asked)
    if row is None:
        return {"found": False, "tombstoned": False}
    refuse_removal(row)
    leave(memory, row, TOMBSTONED)
    return {"found": True, "tombstoned": True}


def delete_version(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    row = memory.rows.get(address_of(asked))
    if row is None or not readable(row):
        return {"tombstoned": False, "reason": "not_found"}
    if not asked["match"]:
        return {"tombstoned": False, "reason": "version_changed"}
    refuse_removal(row)
    leave(memory, row, TOMBSTONED)
    return {"tombstoned": True}


def reject(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    row = meant(memory, asked)
    if row is None:
        return {"rejected": False}
    refuse_removal(row)
    leave(memory, row, REJECTED)
    return {"rejected": True}


def restorable(memory: Memory, row: Row, asked: dict[str, Any]) -> bool:
    """What has expired comes back by memory.update(revive=true) alone."""
    if row.expired or row.leaves <= memory.now:
        return False
    behind = asked.get("behind")
    if asked.get("only_if_superseded") or "if_superseded_by" in asked:
        return row.status == SUPERSEDED and (behind is None or row.successor == behind)
    return row.status in (SUPERSEDED, TOMBSTONED, REJECTED)


def restore(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    own = memory.rows.get(address_of(asked))
    if own is not None:
        row = own if restorable(memory, own, asked) else None
    else:
        rows = [row for row in memory.of_key(asked["memory_key"]) if row.at.user == asked.get("user_id", "-")]
        row = only([row for row in rows if restorable(memory, row, asked)])
    if row is None:
        return {"restored": False}
    new = replace(row, against=set(), gone=None)
    if row.status == SUPERSEDED and row.successor in memory.rows:
        memory.make_peace(new, memory.rows[row.successor])
    outcome = store(memory, Write(new, "arrive"))
    return {"restored": True, "status": new.status} | told(memory, outcome)


def move(memory: Memory, asked: dict[str, Any]) -> dict[str, Any]:
    row = meant(memory, asked)
    if row is None:
        return {"moved": False}
    refuse_removal(row)
    refuse_other_content(asked, row)
    target = row.at._replace(key=asked["new_memory_key"])
    if memory.present(target):
        raise Refused("KEY_HOLDS_FACT")
    heirs = memory.repeating(row.at)
    memory.unflag(row)
    row.status, row.repeats = REDIRECT if asked.get("keep_redirect", True) else TOMBSTONED, None
    row.gone = memory.now
    new = replace(row, at=target, against=set(), gone=None, lock="", lock_end=None)
    outcome = store(memory, Write(new, "arrive"))
    row.moved_to = target
    for heir in heirs:
        heir.repeats = new.repeats if new.status == DUPLICATE else target
    return {"moved": True, "memory_key": target.key, "status": new.status} | told(memory, outcome)
