"""Which faults of the namespace are known, and how does the model live with them until they are mended? Each has a name
and a reproduction in the findings; a mended one is taken out here and where its name is used."""

from __future__ import annotations

from typing import Any

LAPSED_PINS_HOLD = True
"""The pin of a row past its valid_to still refuses another value for its key, though nobody is held against the row."""

LOCKS_GUARD_DETAILS = True
"""A read_only lock refuses the same bytes with other tags or times, although it guards only value, expiry and life."""

UNSAID_SENSITIVITY_IS_NEW = True
"""The same bytes again without their sensitivity are a new version that is less sensitive, not a restatement."""

LAPSED_ROWS_ARE_JUDGED = True
"""A statement about the past is flagged against a row past its valid_to, though nobody is held against the row."""

HEIRS_INHERIT_FLAGS = True
"""Who takes its canonical's place takes its flags too, also one that held only between rows of one key."""

UNDATED_SINCE_CREATED = True
"""What is undated is judged as true since its row was first written, not since its present value was said."""


async def warm_up(play: Any) -> None:
    """MOVE_FORGETS_CALIBRATION: a restore or move that is the first judgement of an incarnation goes by the fallback
    thresholds, since only a question to the embedder brings its calibration."""
    await play.ask("memory.set", {"memory_key": "warm", "value": "Any text", "dry_run": True})
