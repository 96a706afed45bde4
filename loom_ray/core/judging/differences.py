"""In what do two statements differ? Each differing value, name, negation or word, as it stands in either."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from loom_ray.core.judging.alignment import Alignment, Slot, align
from loom_ray.core.text.equivalence import opposite_pairs
from loom_ray.core.text.statement import Statement, in_one_language
from loom_ray.core.text.words import VALUE_KINDS, Kind, Word

_OPPOSITE_CANDIDATES_MAX = 40


class Difference(NamedTuple):
    """One difference: `ours` and `theirs` are readable texts ('30', '12 March 2031'), '' where a side has nothing.

    `kind` is number, quantity, date, time, weekday, version, identifier, url, name, negation or word. Opposite states
    (on, off) are of the kind negation.
    """

    kind: str
    ours: str
    theirs: str


def differences(ours: Statement, theirs: Statement) -> tuple[Difference, ...]:
    """All differences, negation first, then in the order of our statement."""
    ours, theirs = in_one_language(ours, theirs)
    alignment = align(ours, theirs)
    return differences_of(ours, theirs, alignment, opposites(ours, theirs, alignment))


def differences_of(
    ours: Statement, theirs: Statement, alignment: Alignment, opposite: Sequence[tuple[Word, Word]]
) -> tuple[Difference, ...]:
    """As `differences`, of statements that are already aligned, with their `opposites`."""
    found: list[Difference] = []
    if bool(ours.negations) != bool(theirs.negations):
        found.append(Difference("negation", _negator(ours), _negator(theirs)))
    found += [Difference("negation", first.text, second.text) for first, second in opposite]
    told = {id(word) for pair in opposite for word in pair}
    for slot in joined_values(alignment.slots):
        found += _of_slot(_rest(slot.ours, told), _rest(slot.theirs, told), ours.text, theirs.text)
    return tuple(found)


def _negator(statement: Statement) -> str:
    return statement.negations[0].text if statement.negations else ""


def _rest(words: tuple[Word, ...], told: set[int]) -> list[Word]:
    return [word for word in words if id(word) not in told]


def opposites(ours: Statement, theirs: Statement, alignment: Alignment) -> list[tuple[Word, Word]]:
    """Pairs of words that exclude each other, one on either side; function words (on, with) take part."""
    if ours.language != theirs.language:
        return []
    left = _only_in(ours, theirs, [word for slot in alignment.slots for word in slot.ours])
    right = _only_in(theirs, ours, [word for slot in alignment.slots for word in slot.theirs])
    if not left or not right or len(left) > _OPPOSITE_CANDIDATES_MAX or len(right) > _OPPOSITE_CANDIDATES_MAX:
        return []
    return opposite_pairs(left, right, ours.language)


def _only_in(statement: Statement, other: Statement, unpaired: list[Word]) -> list[Word]:
    bound = [word for word in statement.function_words if word.folded not in other.folded_words]
    return [word for word in unpaired if word.kind in (Kind.WORD, Kind.NAME, Kind.NUMBER)] + bound


def joined_values(slots: Sequence[Slot]) -> list[Slot]:
    """Slots, with a value that one side adds joined to one of the same kind that the other adds elsewhere.

    `in 2019 Ana moved` and `Ana moved in 2021` differ in one date, not in two additions.
    """
    joined: list[Slot] = []
    waiting: list[Slot] = []
    for slot in slots:
        if slot.is_replaced:
            joined.append(slot)
            continue
        partner = next((other for other in waiting if _same_value_kind(other, slot)), None)
        if partner is None:
            joined.append(slot)
            waiting.append(slot)
            continue
        waiting.remove(partner)
        joined[joined.index(partner)] = Slot(partner.ours or slot.ours, partner.theirs or slot.theirs)
    return joined


def _same_value_kind(first: Slot, second: Slot) -> bool:
    if bool(first.ours) == bool(second.ours):
        return False
    kinds = {value_class(word) for word in first.ours + first.theirs if word.kind in VALUE_KINDS}
    return any(value_class(word) in kinds for word in second.ours + second.theirs if word.kind in VALUE_KINDS)


def value_class(word: Word) -> str:
    """The kind, and for a quantity its dimension: 5 kg and 3 hours are not each other's change."""
    return word.key.rsplit(":", 1)[0] if word.kind == Kind.QUANTITY else word.kind.value


def _of_slot(ours: list[Word], theirs: list[Word], our_text: str, their_text: str) -> list[Difference]:
    found: list[Difference] = []
    for kind, left, right in _paired_values(ours, theirs):
        found.append(Difference(kind, left.text if left else "", right.text if right else ""))
        ours = [word for word in ours if word is not left]
        theirs = [word for word in theirs if word is not right]
    if ours or theirs:
        named = any(word.kind == Kind.NAME for word in ours + theirs)
        kind = Kind.NAME if named else Kind.WORD
        found.append(Difference(kind.value, _span(ours, our_text), _span(theirs, their_text)))
    return found


def _paired_values(ours: list[Word], theirs: list[Word]) -> list[tuple[str, Word | None, Word | None]]:
    """Values side by side: of one class first, then whatever is left of other classes, in order."""
    right = [word for word in theirs if word.kind in VALUE_KINDS]
    pairs: list[tuple[str, Word | None, Word | None]] = []
    lone: list[Word] = []
    for word in ours:
        if word.kind in VALUE_KINDS:
            match = next((other for other in right if value_class(other) == value_class(word)), None)
            if match is None:
                lone.append(word)
            else:
                right.remove(match)
                pairs.append((word.kind.value, word, match))
    for at in range(max(len(lone), len(right))):
        left, other = lone[at] if at < len(lone) else None, right[at] if at < len(right) else None
        pairs.append((_common_kind(left, other), left, other))
    return pairs


def _common_kind(left: Word | None, right: Word | None) -> str:
    kinds = [word.kind for word in (left, right) if word]
    return (Kind.QUANTITY if Kind.QUANTITY in kinds else kinds[0]).value


def _span(words: list[Word], text: str) -> str:
    """The stretch of text that the words stand in, if little else stands between them; else the words alone."""
    if not words:
        return ""
    gap = max((after.start - before.end for before, after in pairwise(words)), default=0)
    return text[words[0].start : words[-1].end] if gap <= len(" of the ") else " ".join(word.text for word in words)
