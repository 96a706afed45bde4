"""Do the same words in another order still say the same? Tells `B was called by A` from `B called A`."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from loom_ray.core.text.lexicon.function_words import COORDINATORS
from loom_ray.core.text.statement import Statement
from loom_ray.core.text.words import CONTENT_KINDS, Kind, Word

_ARTICLES = frozenset(
    "a an the der die das den dem des ein eine einen einem einer le la les l un une il lo gli i el los las uno una o os as um uma de het een".split()
)
_PASSIVE = re.compile(
    r"\b(?:by|von|durch|par|por|dal?|dalla|pelo|pela|door|przez)\b|被|によって|에 의해|から", re.IGNORECASE
)


def roles_are_swapped(ours: Statement, theirs: Statement) -> bool:
    """Whether statements of the same content words give them other parts: who does what, from where, to where.

    A moved phrase (on Sundays …), another order of a list, and the passive voice change no part.
    """
    if bool(_PASSIVE.search(ours.text)) != bool(_PASSIVE.search(theirs.text)):
        return False
    left, right = _marked(ours), _marked(theirs)
    if _places(left) == _places(right):
        return _exchanged(left, right) and not _is_list(ours)
    if Counter(_governors(left)) != Counter(_governors(right)):
        return False  # said with other words of structure: no mere exchange
    return not _is_list(ours) and all(word.folded in {other.folded for other in right} for word in left)


class _Marked(NamedTuple):
    """A content word under the function word that governs it (from Lisbon), articles aside."""

    governor: str
    key: str
    folded: str


def _marked(statement: Statement) -> list[_Marked]:
    marked: list[_Marked] = []
    governor = ""
    for word in statement.words:
        if word.kind in CONTENT_KINDS:
            marked.append(_Marked(governor, word.key, word.folded))
            governor = ""
        elif word.kind == Kind.FUNCTION and word.folded not in _ARTICLES:
            governor = "" if word.folded in COORDINATORS else word.folded
    return marked


def _places(marked: list[_Marked]) -> Counter[tuple[str, str]]:
    return Counter((word.governor, word.key) for word in marked)


def _governors(marked: list[_Marked]) -> list[str]:
    return [word.governor for word in marked]


def _exchanged(left: list[_Marked], right: list[_Marked]) -> bool:
    """Whether two words that nothing governs changed places around others that stay (A calls B, B calls A).

    Both must keep their form: where case tells the parts (Russian, Polish), the order does not.
    """
    one = [word for word in left if not word.governor]
    other = [word for word in right if not word.governor]
    start, end = 0, len(one)
    if len(one) != len(other):
        return False
    while start < end and one[start].key == other[start].key:
        start += 1
    while end > start and one[end - 1].key == other[end - 1].key:
        end -= 1
    return end - start >= 3 and _is_mirrored(one[start:end], other[start:end])


def _is_mirrored(one: list[_Marked], other: list[_Marked]) -> bool:
    """Whether a first and a last block of words are exchanged around a middle that is not empty."""
    size = len(one)
    for first in range(1, size - 1):
        for middle in range(first + 1, size):
            if one[middle:] + one[first:middle] + one[:first] == other:
                return True
    return False


def _is_list(statement: Statement) -> bool:
    """Whether it enumerates (commas or a coordinator between content words)."""
    words: tuple[Word, ...] = statement.words
    return any(word.folded in COORDINATORS or word.text in (",", "、", "،", "/") for word in words[1:-1])
