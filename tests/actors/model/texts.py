"""Which statements does a program write, and how do any two of them stand to each other? Known here, so that the model
judges nothing; test_model.py holds the table against the real judge."""

from __future__ import annotations

from loom_ray.core.row import content_sha256

TEXTS = {
    "three": "The kiln keeps 3 copies.",
    "loud": "THE KILN KEEPS 3 COPIES",
    "its": "The kiln keeps its 3 copies.",
    "four": "The kiln keeps 4 copies.",
    "never": "The kiln never keeps 3 copies.",
    "hall": "The kiln keeps 3 copies in the old hall.",
    "moon": "A lantern hangs over Bergen harbour",
    "meets": "Guild members meet on Tuesday.",
}
SHA256 = {name: content_sha256(text) for name, text in TEXTS.items()}
NAMES = {text: name for name, text in TEXTS.items()}

MERGE, DUPLICATE, FILLED, CONFLICT, MORE, CLEAR = "merge", "duplicate", "filled", "conflict", "elaboration", "clear"
"""FILLED is a conflict of one shape with one slot filled otherwise; MORE says the same and something else."""

_RELATIONS = {
    "three loud": MERGE,
    "three its": DUPLICATE,
    "loud its": DUPLICATE,
    "three four": FILLED,
    "loud four": FILLED,
    "its four": FILLED,
    "three never": CONFLICT,
    "loud never": CONFLICT,
    "its never": CONFLICT,
    "four never": CONFLICT,
    "three hall": MORE,
    "loud hall": MORE,
    "its hall": MORE,
    "four hall": CONFLICT,
    "never hall": CONFLICT,
}


def relation(one: str, other: str, *, same_key: bool = False) -> str:
    """Of two names of TEXTS. Under one key a different value is a conflict whatever it says."""
    if one == other:
        return MERGE
    known = _RELATIONS.get(f"{one} {other}") or _RELATIONS.get(f"{other} {one}") or CLEAR
    return CONFLICT if same_key and known == CLEAR else known
