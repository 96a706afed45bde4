"""What must readers see? Asked after every step, of the row that the step named and of the whole namespace."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from model.changes import address_of, readable
from model.rows import DUPLICATE, REDIRECT, SUPERSEDED, Address, Memory
from model.texts import TEXTS

Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]


async def check_reads(memory: Memory, ask: Ask, asked: dict[str, Any]) -> None:
    await check_lists(memory, ask)
    if "memory_key" in asked:
        await check_get(memory, ask, address_of(asked))


async def check_lists(memory: Memory, ask: Ask) -> None:
    """Listings show what is live; of duplicates their canonical."""
    listed = await ask("memory.list", {"limit": 100})
    shown = {(row["memory_key"], row["agent"], row["user_id"], row["status"]) for row in listed["rows"]}
    rows = [row for row in memory.rows.values() if row.live and readable(row)]
    assert shown == {(*row.at, row.status) for row in rows}, f"memory.list shows {shown}"
    assert listed["count"] == len(rows)
    conflicted = await ask("conflicts.list", {"count_only": True})
    assert conflicted["count"] == sum(row.status == "conflicted" for row in rows), "conflicts.list counts otherwise"
    timeline = (await ask("memory.timeline", {"limit": 100}))["rows"]
    begun = [row["valid_at"] or row["created_at"] for row in timeline]
    assert begun == sorted(begun), f"memory.timeline is out of order: {begun}"


async def check_get(memory: Memory, ask: Ask, at: Address) -> None:
    row = memory.rows.get(at)
    who = {"memory_key": at.key, "agent": at.agent, "user_id": at.user}
    got = await ask("memory.get", who)
    if row is None or not (readable(row) or row.status == REDIRECT):
        assert not got["found"], f"memory.get serves {got}"
    elif row.status == REDIRECT:
        await check_redirect(memory, ask, row.moved_to, who, got)
    else:
        assert (got["found"], got["value"], got["status"]) == (True, TEXTS[row.text], row.status), f"got {got}"
    if row is not None and row.status == DUPLICATE and row.repeats and not row.lapsed:
        followed = await ask("memory.get", who | {"follow": True})
        assert got["canonical_key"] == row.repeats.key, f"got {got}"
        assert followed["value"] == TEXTS[memory.rows[row.repeats].text], f"follow serves {followed}"
    if row is not None and row.status == SUPERSEDED:
        old = await ask("memory.get", who | {"include_superseded": True})
        assert (old["found"], old["value"]) == (True, TEXTS[row.text]), f"include_superseded serves {old}"


async def check_redirect(
    memory: Memory, ask: Ask, to: Address | None, who: dict[str, Any], got: dict[str, Any]
) -> None:
    target = memory.rows.get(to) if to else None
    if target is not None and readable(target):
        assert got["canonical_key"] == target.at.key, f"a redirect answers {got}"
        followed = await ask("memory.get", who | {"follow": True})
        assert followed["found"], f"a redirect is not followed: {followed}"
