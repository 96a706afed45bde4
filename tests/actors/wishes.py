"""What do the clients of a simulated life want, and what does an answer to it mean?"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

THINGS, COUNTS = ("kiln", "backup", "guild"), (3, 4, 14)
KEYS, AGENTS, USERS = ("a", "b", "c", "d"), ("-", "ada"), ("-", "-", "u1")
LONG = "The guild keeps 3 ledgers of every firing. " * 40


@dataclass(eq=False)
class Wish:
    """What a client wants, under one Idempotency-Key or none; and what it was told."""

    number: int
    op: str
    arguments: dict[str, Any]
    key: str
    answers: list[dict[str, Any]] = field(default_factory=list)
    landed: int = 0


def changes(wish: Wish, answer: dict[str, Any]) -> bool:
    """Whether something must have been written for this answer."""
    return {"memory.delete": answer.get("found"), "memory.restore": answer.get("restored")}.get(wish.op, True)


def versions_in(answer: Any) -> list[int]:
    if isinstance(answer, dict):
        own = [answer["version"]] if isinstance(answer.get("version"), int) else []
        return own + [version for part in answer.values() for version in versions_in(part)]
    return [version for part in answer for version in versions_in(part)] if isinstance(answer, list) else []


def claim(random: Random, number: int) -> dict[str, Any]:
    text = f"The {random.choice(THINGS)} keeps {random.choice(['', '', 'its '])}{random.choice(COUNTS)} copies."
    more = random.choice([{}, {}, {}, {"tags": [f"t{number}"]}, {"memory_type": "episodic"}, {"sensitivity": "high"}])
    value = random.choice([text] * 20 + [text.upper()] * 4 + ["!!!"] * 4 + [LONG])
    return {"memory_key": random.choice(KEYS), "value": value} | more


def who(random: Random) -> dict[str, str]:
    return {"agent": random.choice(AGENTS), "user_id": random.choice(USERS)}


def set_(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "memory.set", claim(random, number) | who(random)


def bulk(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "memory.bulk_set", {"entries": [claim(random, number) for _ in range(random.randint(1, 4))]} | who(random)


def delete(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "memory.delete", {"memory_key": random.choice(KEYS)} | who(random)


def restore(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "memory.restore", {"memory_key": random.choice(KEYS)} | who(random)


def register(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "namespace.register", {"conflict_threshold": random.choice([0.5, 0.7])}


def get(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "memory.get", {"memory_key": random.choice(KEYS), "user_id": "*", "session_id": "*"}


def list_(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "memory.list", {"include_duplicates": True, "include_tombstoned": True}


def history(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "memory.history", {"memory_key": random.choice(KEYS), "user_id": "*", "session_id": "*"}


def conflicts(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "conflicts.list", {}


def search(random: Random, number: int) -> tuple[str, dict[str, Any]]:
    return "memory.search", {"query": f"the {random.choice(THINGS)}"}


READS = [get, get, get, list_, list_, history, history, conflicts]
REPERTOIRE = [set_] * 20 + [bulk] * 5 + [delete] * 5 + [restore] * 5 + [register] + READS * 2 + [search]
