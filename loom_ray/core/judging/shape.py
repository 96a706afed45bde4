"""Is the differing slot what a statement speaks of, or what it says of it?"""

from __future__ import annotations

from loom_ray.core.judging.alignment import Alignment, Slot
from loom_ray.core.text.statement import Statement
from loom_ray.core.text.words import VALUE_KINDS, Kind, Word

_SHARED_BEHIND_MIN = 2  # common words behind a slot at the very start, where no predicate was found


def is_in_subject(slot: Slot, ours: Statement, theirs: Statement, alignment: Alignment) -> bool:
    """Whether a replaced slot names the subject. A count (`14 copies are kept`) is said of it, and so is the holder of
    a role that has one (`Ingrid is the contact`)."""
    if ours.subject_end and theirs.subject_end:
        inside = slot.ours[-1].end <= ours.subject_end and slot.theirs[-1].end <= theirs.subject_end
    else:
        inside = _leads(slot, alignment)
    if not inside or (_is_count(slot.ours, ours) and _is_count(slot.theirs, theirs)):
        return False
    return not _is_holder(ours, theirs, alignment)


def _leads(slot: Slot, alignment: Alignment) -> bool:
    """Without a known predicate: the slot stands before all common words, and enough of them follow."""
    starts = slot.ours[0].start, slot.theirs[0].start
    behind = [pair for pair in alignment.pairs if pair[0].start > starts[0] and pair[1].start > starts[1]]
    return len(behind) == len(alignment.pairs) >= _SHARED_BEHIND_MIN


def _is_count(words: tuple[Word, ...], statement: Statement) -> bool:
    """Whether the slot is one amount that counts the noun behind it: 14 copies, not gate 14."""
    if len(words) != 1 or words[0].kind not in (Kind.NUMBER, Kind.QUANTITY) or words[0].key.startswith("number:#"):
        return False
    at = statement.words.index(words[0])
    following = statement.words[at + 1] if at + 1 < len(statement.words) else None
    return words[0].kind == Kind.QUANTITY or (following is not None and following.kind == Kind.WORD)


def _is_holder(ours: Statement, theirs: Statement, alignment: Alignment) -> bool:
    """`Ingrid is the contact` / `Jonas is the contact`: the whole subject differs, and one alone can be meant."""
    if not (ours.names_one_holder and theirs.names_one_holder):
        return False
    return all(pair[0].start >= ours.subject_end for pair in alignment.pairs)


def has_value(slot: Slot) -> bool:
    """Whether the slot holds a value or a name on both sides."""
    kinds = VALUE_KINDS | {Kind.NAME}
    return any(word.kind in kinds for word in slot.ours) and any(word.kind in kinds for word in slot.theirs)


def is_action(slot: Slot, ours: Statement) -> bool:
    """Whether the slot is what somebody is just doing (is holding, is carrying): both wordings may be true."""
    words = slot.ours + slot.theirs
    return ours.language == "en" and all(word.folded.endswith("ing") and word.kind == Kind.WORD for word in words)
