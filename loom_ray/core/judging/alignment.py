"""Which words of two statements answer to each other, and what is left over on either side, place by place?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from loom_ray.core.text.equivalence import are_synonyms, synonyms_of
from loom_ray.core.text.lexicon.numerals import SOFT_ONES
from loom_ray.core.text.statement import Statement
from loom_ray.core.text.words import Kind, Word

_DEMONYM_CHARS_MIN = 5
_DEMONYM_ENDINGS = frozenset({"an", "ian", "ean", "ese", "ish", "i", "n"})
_SYNONYM_CANDIDATES_MAX = 24  # words left over on a side; beyond, two texts say something else anyway


class Slot(NamedTuple):
    """What stands at one place of the two statements and nowhere in the other; empty on the side that adds nothing."""

    ours: tuple[Word, ...]
    theirs: tuple[Word, ...]

    @property
    def is_replaced(self) -> bool:
        return bool(self.ours and self.theirs)


@dataclass(frozen=True, slots=True)
class Alignment:
    """`pairs` are the words that answer to each other, in our order; `moved` counts those out of order."""

    pairs: tuple[tuple[Word, Word], ...]
    slots: tuple[Slot, ...]
    moved: int
    synonyms: int  # pairs of different words that mean the same
    refined: int  # pairs of dates of which one only says more (12 March, 12 March 2031)

    @property
    def replaced(self) -> tuple[Slot, ...]:
        return tuple(slot for slot in self.slots if slot.is_replaced)

    @property
    def added(self) -> tuple[Slot, ...]:
        return tuple(slot for slot in self.slots if not slot.is_replaced)


def align(ours: Statement, theirs: Statement) -> Alignment:
    """Pair equal words first, then synonyms; what keeps the common order anchors the slots. O(n log n)."""
    left, right = ours.content, theirs.content
    partner = _equal_partners(left, right)
    synonyms = refined = 0
    if len(partner) < len(left):
        refined = _pair_dates(left, right, partner)
        if ours.language == theirs.language:
            synonyms = _pair_synonyms(left, right, partner, ours.language)
    anchors = _longest_rising(sorted(partner.items()))
    slots = _at_predicate(_slots(left, right, partner, anchors), ours.subject_end, theirs.subject_end)
    pairs = tuple((left[at], right[partner[at]]) for at in sorted(partner))
    return Alignment(pairs, tuple(slots), len(partner) - len(anchors), synonyms, refined)


def _equal_partners(left: Sequence[Word], right: Sequence[Word]) -> dict[int, int]:
    """Our index → their index for equal keys, the first occurrence to the first."""
    places: dict[str, list[int]] = {}
    at = len(right)
    for word in reversed(right):
        at -= 1
        places.setdefault(word.key, []).append(at)
    partner: dict[int, int] = {}
    for at, word in enumerate(left):
        free = places.get(word.key)
        if free:
            partner[at] = free.pop()
    return partner


def _pair_dates(left: Sequence[Word], right: Sequence[Word], partner: dict[int, int]) -> int:
    taken = set(partner.values())
    found = 0
    for at, word in enumerate(left):
        if word.kind != Kind.DATE or at in partner:
            continue
        for other in range(len(right)):
            if other not in taken and right[other].kind == Kind.DATE and _agree(word.key, right[other].key):
                partner[at] = other
                taken.add(other)
                found += 1
                break
    return found


def _agree(first: str, second: str) -> bool:
    """Whether two date keys contradict each other in no field that both give, and share one."""
    fields = list(zip(first.removeprefix("date:").split("-"), second.removeprefix("date:").split("-"), strict=False))
    given = [(one, other) for one, other in fields if one != "?" and other != "?"]
    return bool(given) and all(one == other for one, other in given)


def _pair_synonyms(left: Sequence[Word], right: Sequence[Word], partner: dict[int, int], language: str) -> int:
    taken = set(partner.values())
    free = [at for at in range(len(right)) if at not in taken and right[at].kind in (Kind.WORD, Kind.NAME)]
    lone = [at for at in range(len(left)) if at not in partner and left[at].kind in (Kind.WORD, Kind.NAME)]
    if not free or not lone or len(free) > _SYNONYM_CANDIDATES_MAX or len(lone) > _SYNONYM_CANDIDATES_MAX:
        return 0
    forms = {right[at].folded.rstrip("s") for at in free} | {right[at].key for at in free}
    capitals = any(right[at].text[0].isupper() for at in free)
    found = 0
    for at in lone:
        if not _may_be_interchangeable(left[at], forms, capitals, language):
            continue
        match = next((other for other in free if _interchangeable(left[at], right[other], language)), None)
        if match is not None:
            partner[at] = match
            free.remove(match)
            found += 1
    return found


def _may_be_interchangeable(word: Word, forms: set[str], capitals: bool, language: str) -> bool:
    """Whether any word with these stems and singular forms can be its partner: spares nearly all comparisons."""
    if word.folded.rstrip("s") in forms or (capitals and word.text[0].isupper()):
        return True
    return not synonyms_of(word, language).isdisjoint(forms)


def _interchangeable(first: Word, second: Word, language: str) -> bool:
    """Synonyms, a word that is capitalised on one side only (a headline's Dogs, a brand's gitlab), or a country and
    its people (Ukraine, Ukrainian)."""
    if first.kind != second.kind and first.folded.rstrip("s") == second.folded.rstrip("s"):
        return True
    if _is_demonym(first.folded, second.folded) or _is_demonym(second.folded, first.folded):
        return first.text[0].isupper() and second.text[0].isupper()
    return are_synonyms(first, second, language)


def _is_demonym(longer: str, shorter: str) -> bool:
    name = shorter.removesuffix("'s")
    stem = name.rstrip("aeioy")
    return len(name) >= _DEMONYM_CHARS_MIN and longer.startswith(stem) and longer[len(stem) :] in _DEMONYM_ENDINGS


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs that rises on both sides (patience sorting)."""
    if all(first[1] < second[1] for first, second in pairwise(pairs)):
        return list(pairs)
    tails: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for at, (_, place) in enumerate(pairs):
        depth = bisect_left(tails, place)
        before.append(last[depth - 1] if depth else -1)
        if depth == len(tails):
            tails.append(place)
            last.append(at)
        else:
            tails[depth], last[depth] = place, at
    chain: list[tuple[int, int]] = []
    at = last[-1] if last else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _slots(
    left: Sequence[Word], right: Sequence[Word], partner: dict[int, int], anchors: Sequence[tuple[int, int]]
) -> list[Slot]:
    taken = set(partner.values())
    slots: list[Slot] = []
    from_left = from_right = 0
    for to_left, to_right in [*anchors, (len(left), len(right))]:
        if to_left == from_left and to_right == from_right:
            from_left, from_right = to_left + 1, to_right + 1
            continue
        ours = tuple([left[at] for at in range(from_left, to_left) if at not in partner])
        theirs = tuple([right[at] for at in range(from_right, to_right) if at not in taken])
        slot = _without_soft_ones(ours, theirs)
        if slot and not _is_acronym(slot):
            slots.append(slot)
        from_left, from_right = to_left + 1, to_right + 1
    return slots


def _at_predicate(slots: list[Slot], our_end: int, their_end: int) -> list[Slot]:
    """Split a slot that holds the end of both subjects and the beginning of what is said of them."""
    if not our_end or not their_end:
        return slots
    parts: list[Slot] = []
    for slot in slots:
        if not (slot.is_replaced and _straddles(slot.ours, our_end) and _straddles(slot.theirs, their_end)):
            parts.append(slot)
            continue
        ours = sum(word.end <= our_end for word in slot.ours)
        theirs = sum(word.end <= their_end for word in slot.theirs)
        parts += [Slot(slot.ours[:ours], slot.theirs[:theirs]), Slot(slot.ours[ours:], slot.theirs[theirs:])]
    return parts


def _straddles(words: tuple[Word, ...], end: int) -> bool:
    return words[0].end <= end < words[-1].end


def _is_acronym(slot: Slot) -> bool:
    """GE for General Electric, in either direction."""
    short, long = sorted((slot.ours, slot.theirs), key=len)
    if len(short) != 1 or len(long) < 2 or not short[0].text.isupper():
        return False
    initials = "".join(word.text[0] for word in long)
    return initials.isupper() and short[0].text == initials


def _without_soft_ones(ours: tuple[Word, ...], theirs: tuple[Word, ...]) -> Slot | None:
    """Leave out a `one` that stands against an article: alone it makes no difference."""
    if SOFT_ONES.isdisjoint([word.folded for word in ours + theirs]):
        return Slot(ours, theirs) if ours or theirs else None
    if not _counts(theirs):
        ours = tuple(word for word in ours if word.folded not in SOFT_ONES)
    if not _counts(ours):
        theirs = tuple(word for word in theirs if word.folded not in SOFT_ONES)
    return Slot(ours, theirs) if ours or theirs else None


def _counts(words: tuple[Word, ...]) -> bool:
    return any(word.kind in (Kind.NUMBER, Kind.QUANTITY) for word in words)
