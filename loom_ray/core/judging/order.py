"""Do the same words in another order still say the same? Tells `B was called by A` from `B called A`."""

from __future__ import annotations

import re
from collections import Counter
from enum import Enum, auto
from typing import NamedTuple

from loom_ray.core.text.lexicon.function_words import COORDINATORS, PREPOSITIONS
from loom_ray.core.text.statement import Statement
from loom_ray.core.text.words import CONTENT_KINDS, Word

_PASSIVE = re.compile(
    r"\b(?:by|von|durch|par|por|dal?|dalla|pelo|pela|door|przez)\b|被|によって|에 의해|から", re.IGNORECASE
)


class Order(Enum):
    """What another order of the same words makes of them."""

    SAME = auto()  # a moved phrase, another order of a list, the passive voice
    SWAPPED = auto()  # other parts: who does what, from where, to where
    UNCLEAR = auto()  # the words are tied together otherwise


def compare_order(ours: Statement, theirs: Statement) -> Order:
    """Compare two statements of the same content words whose order differs."""
    if bool(_PASSIVE.search(ours.text)) != bool(_PASSIVE.search(theirs.text)):
        return Order.SAME
    left, right = _marked(ours), _marked(theirs)
    if _is_list(ours) or _is_list(theirs):
        return Order.SAME if _places(left) == _places(right) else Order.UNCLEAR
    if _places(left) == _places(right):
        return _order_of_bare(left, right)
    return Order.SWAPPED if _exchange_governors(left, right) else Order.UNCLEAR


def _exchange_governors(left: list[_Marked], right: list[_Marked]) -> bool:
    """Whether two words exchanged what governs them (from Lisbon to Porto, from Porto to Lisbon), and nothing else."""
    only_left = list((_places(left) - _places(right)).elements())
    only_right = list((_places(right) - _places(left)).elements())
    if len(only_left) != 2 or len(only_right) != 2 or not all(governor for governor, _ in only_left):
        return False
    (first, one), (second, other) = only_left
    return {(first, other), (second, one)} == set(only_right)


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
            _append(marked, _Marked(governor, word.key, word.folded))
            governor = ""
        elif word.folded in PREPOSITIONS:
            governor = word.folded
        elif word.folded in COORDINATORS:
            governor = ""
    return marked


def _append(marked: list[_Marked], word: _Marked) -> None:
    """A genitive is read as the compound that it may be worded as: a mixture of meat, a meat mixture."""
    if word.governor == "of" and marked:
        owner = marked.pop()
        marked.append(word._replace(governor=owner.governor))
        word = owner._replace(governor="")
    marked.append(word)


def _places(marked: list[_Marked]) -> Counter[tuple[str, str]]:
    return Counter((word.governor, word.key) for word in marked)


def _order_of_bare(left: list[_Marked], right: list[_Marked]) -> Order:
    """The words that nothing governs, without what they share at both ends.

    Two that changed places around others that stay are swapped (A calls B, B calls A), in the same form at least:
    where case tells the parts (Russian, Polish), the order does not. A single word that moved, and a block that went
    from one end to the other, say the same.
    """
    one = [word for word in left if not word.governor]
    other = [word for word in right if not word.governor]
    start, end = 0, len(one)
    while start < end and one[start].key == other[start].key:
        start += 1
    while end > start and one[end - 1].key == other[end - 1].key:
        end -= 1
    one, other = one[start:end], other[start:end]
    if _is_mirrored(one, other):
        return Order.SWAPPED
    if any(one[at:] + one[:at] == other for at in range(len(one) + 1)):
        return Order.SAME
    return Order.UNCLEAR


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
