"""Do the same words in another order still say the same? Tells `B was called by A` from `B called A`."""

from __future__ import annotations

import re
from collections import Counter

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
    if Counter(left) == Counter(right):
        return _order_of_bare(ours, left, right) and not _is_list(ours)
    if Counter(_prepositions(left)) != Counter(_prepositions(right)):
        return False  # said with other words of structure: no mere exchange
    return [key for _, key in left] != [key for _, key in right] and not _is_list(ours)


def _marked(statement: Statement) -> list[tuple[str, str]]:
    """Each content word with the function word that governs it (from Lisbon), articles aside."""
    marked: list[tuple[str, str]] = []
    governor = ""
    for word in statement.words:
        if word.kind in CONTENT_KINDS:
            marked.append((governor, word.key))
            governor = ""
        elif word.kind == Kind.FUNCTION and word.folded not in _ARTICLES:
            governor = "" if word.folded in COORDINATORS else word.folded
    return marked


def _prepositions(marked: list[tuple[str, str]]) -> list[str]:
    return [governor for governor, _ in marked]


def _order_of_bare(ours: Statement, left: list[tuple[str, str]], right: list[tuple[str, str]]) -> bool:
    """Whether the words that nothing governs changed places around another of them (A calls B, B calls A)."""
    one = [key for governor, key in left if not governor]
    other = [key for governor, key in right if not governor]
    if one == other or len(one) < 3:
        return False
    return not _is_rotation(one, other)


def _is_rotation(one: list[str], other: list[str]) -> bool:
    """Whether a block only moved from one end to the other: the order within and around stays."""
    return len(one) == len(other) and any(one[at:] + one[:at] == other for at in range(1, len(one)))


def _is_list(statement: Statement) -> bool:
    """Whether it enumerates (commas or a coordinator between content words)."""
    words: tuple[Word, ...] = statement.words
    return any(word.folded in COORDINATORS or word.text in (",", "、", "،", "/") for word in words[1:-1])
