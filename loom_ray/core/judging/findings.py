"""What do the words alone say of two statements? Same, more, different, other; before any similarity is looked at."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from loom_ray.core.judging.alignment import Alignment, Slot
from loom_ray.core.judging.differences import joined_values, value_class
from loom_ray.core.judging.order import Order, compare_order
from loom_ray.core.judging.shape import has_value, is_action, is_in_subject
from loom_ray.core.text.lexicon.changes import CHANGES
from loom_ray.core.text.statement import Statement
from loom_ray.core.text.words import VALUE_KINDS, Kind

_NEGATION_COVER_MIN = 0.6
_DENIAL_COVER_MIN = 0.34
_DENIAL_SHARED_MIN = 2  # with the action among them; one more without
_VALUE_COVER_MIN = 0.5
_CHANGE_COVER_MIN = 0.34
_TEMPLATE_SHARED_MIN = 2
_SLOT_WORDS_MAX = 6


class Relation(Enum):
    SAME = auto()  # the same content words, values and polarity
    MORE = auto()  # one side only adds
    REWORDED = auto()  # other words, no value against another
    DIFFERENT = auto()  # a value, a negation or a slot against another
    OTHER = auto()  # another subject, or nothing in common


class Certainty(Enum):
    """How little the embedder is needed."""

    LIKELY = auto()  # only at the threshold
    WORDS = auto()  # all but one slot is equal: a little below will do
    CHANGE = auto()  # a value differs and the words tell of a change
    DENIED = auto()  # one side denies every such event: far below will do


class Finding(NamedTuple):
    relation: Relation
    rule: str
    certainty: Certainty = Certainty.LIKELY


_OTHER_WORDS = Finding(Relation.REWORDED, "reworded")


def find(ours: Statement, theirs: Statement, alignment: Alignment, *, opposed: bool) -> Finding:
    """The first rule that speaks, from the strictest to the loosest. `opposed`: some words exclude each other."""
    if not ours.content or not theirs.content:
        return Finding(Relation.REWORDED, "no_words")
    negated = bool(ours.negations) != bool(theirs.negations)
    if negated or opposed:
        return _polar(ours, theirs, alignment, negated, opposed)
    if not alignment.slots and not alignment.refined:
        return _same_words(ours, theirs, alignment)
    slots = joined_values(alignment.slots)
    if _adds_new_value(ours, theirs, alignment, slots):
        return Finding(Relation.DIFFERENT, "value_changed", Certainty.CHANGE)
    if not any(slot.is_replaced for slot in slots):
        return _one_sided(slots)
    finding = _replaced(ours, theirs, alignment, slots)
    if finding == _OTHER_WORDS and _changes_value(ours, theirs, alignment, slots):
        return Finding(Relation.DIFFERENT, "value_changed", Certainty.CHANGE)
    return finding


def _same_words(ours: Statement, theirs: Statement, alignment: Alignment) -> Finding:
    if ours.is_question != theirs.is_question:
        return Finding(Relation.REWORDED, "question")
    if ours.is_truncated or theirs.is_truncated:
        return Finding(Relation.REWORDED, "long_text")
    if len(ours.negations) != len(theirs.negations):
        return Finding(Relation.REWORDED, "negation")
    if alignment.moved:
        order = compare_order(ours, theirs)
        if order is Order.SWAPPED:
            return Finding(Relation.DIFFERENT, "roles_swapped", Certainty.WORDS)
        if order is Order.UNCLEAR:
            return Finding(Relation.REWORDED, "reordered")
    return Finding(Relation.SAME, "same_meaning" if alignment.synonyms else "same_words", Certainty.WORDS)


def _one_sided(slots: list[Slot]) -> Finding:
    both = any(slot.ours for slot in slots) and any(slot.theirs for slot in slots)
    return _OTHER_WORDS if both else Finding(Relation.MORE, "elaboration")


def _adds_new_value(ours: Statement, theirs: Statement, alignment: Alignment, slots: list[Slot]) -> bool:
    """Whether the new statement tells of a change and gives a second value beside one of the same kind that both hold:
    `the class on 28 March was moved to 4 April`."""
    common = {word.kind for word, _ in alignment.pairs if word.kind in VALUE_KINDS}
    if not common or not ours.tells_change or _cover(ours, theirs, alignment) < _CHANGE_COVER_MIN:
        return False
    return any(word.kind in common for slot in slots for word in slot.ours)


def _cover(ours: Statement, theirs: Statement, alignment: Alignment) -> float:
    """The share of the shorter statement's content that the other holds."""
    return len(alignment.pairs) / min(len(ours.content), len(theirs.content))


def _cover_but_cues(ours: Statement, theirs: Statement, alignment: Alignment) -> float:
    """The same without the words that tell of the change: that both were increased makes them no one thing."""
    cues = CHANGES.get(ours.language, frozenset[str]())
    pairs = [pair for pair in alignment.pairs if pair[0].folded not in cues]
    return len(pairs) / min(len(ours.content), len(theirs.content))


def _polar(ours: Statement, theirs: Statement, alignment: Alignment, negated: bool, opposed: bool) -> Finding:
    if negated and opposed:
        return Finding(Relation.REWORDED, "double_negation")
    rule = "negation" if negated else "opposite"
    denied = ours if ours.negations else theirs
    subjects = [slot for slot in alignment.replaced if is_in_subject(slot, ours, theirs, alignment)]
    if any(has_value(slot) or not denied.denies_all for slot in subjects):
        return Finding(Relation.OTHER, "other_subject")
    shared = len(alignment.pairs)
    if negated and denied.denies_all and _denies_event(denied, alignment):
        return Finding(Relation.DIFFERENT, "denial", Certainty.DENIED)
    cover = shared / len(denied.content) if negated else _cover(ours, theirs, alignment)
    left_over = sum(len(slot.ours) for slot in alignment.replaced)
    if cover < _NEGATION_COVER_MIN:
        return Finding(Relation.REWORDED if shared else Relation.OTHER, "reworded")
    return Finding(Relation.DIFFERENT, rule, Certainty.LIKELY if left_over > 1 else Certainty.WORDS)


def _denies_event(denied: Statement, alignment: Alignment) -> bool:
    """Whether the other statement tells of an event that this one says never was: the action and some of what goes
    with it, or much of what goes with it."""
    shared = {id(word) for pair in alignment.pairs for word in pair}
    if len(alignment.pairs) / len(denied.content) < _DENIAL_COVER_MIN:
        return False
    action = next((word for word in denied.content if word.start > denied.negations[0].start), None)
    enough = _DENIAL_SHARED_MIN if action is not None and id(action) in shared else _DENIAL_SHARED_MIN + 1
    return len(alignment.pairs) >= enough


def _replaced(ours: Statement, theirs: Statement, alignment: Alignment, slots: list[Slot]) -> Finding:
    replaced = [slot for slot in slots if slot.is_replaced]
    shared = len(alignment.pairs)
    if not shared:
        return Finding(Relation.OTHER, "nothing_shared")
    if _is_about_another(ours, theirs, alignment, replaced):
        unnamed = ours.is_indefinite and theirs.is_indefinite
        return _OTHER_WORDS if unnamed else Finding(Relation.OTHER, "other_subject")
    if ours.is_labelled and theirs.is_labelled and _labels_differ(ours, theirs, alignment, replaced):
        return Finding(Relation.REWORDED, "other_label")
    if len(replaced) == 1:
        return _one_slot(ours, theirs, alignment, replaced[0], len(slots) == 1)
    changing = ours.tells_change or theirs.tells_change
    cover = _cover_but_cues(ours, theirs, alignment) if changing else _cover(ours, theirs, alignment)
    one_subject = _have_one_subject(ours, theirs, alignment)
    valued = [slot for slot in replaced if _against(slot) or (one_subject and has_value(slot))]
    if valued and cover >= (_CHANGE_COVER_MIN if changing else _VALUE_COVER_MIN):
        return Finding(Relation.DIFFERENT, "value_differs", Certainty.CHANGE if changing else Certainty.LIKELY)
    return _OTHER_WORDS


def _changes_value(ours: Statement, theirs: Statement, alignment: Alignment, slots: list[Slot]) -> bool:
    """Whether the new statement tells of a change and gives another value of the same kind, at whatever place: `8 hours
    of practice` / `I increased my practice to 10 hours`."""
    if not ours.tells_change or _cover_but_cues(ours, theirs, alignment) < _CHANGE_COVER_MIN:
        return False
    left = tuple(word for slot in slots for word in slot.ours)
    return _against(Slot(left, tuple(word for slot in slots for word in slot.theirs)))


def _labels_differ(ours: Statement, theirs: Statement, alignment: Alignment, replaced: list[Slot]) -> bool:
    """Whether a label says more than the other (super bowl, last super bowl), or stands for a whole topic of which two
    different things are told: nothing but the label is common."""
    in_label = any(word.start < ours.subject_end for slot in alignment.slots for word in slot.ours)
    in_label = in_label or any(word.start < theirs.subject_end for slot in alignment.slots for word in slot.theirs)
    behind = sum(pair[0].start >= ours.subject_end for pair in alignment.pairs)
    return in_label or (len(replaced) > 1 and not behind)


def _have_one_subject(ours: Statement, theirs: Statement, alignment: Alignment) -> bool:
    """Whether both predicates are known and every word before them is common to the two."""
    if not ours.subject_end or not theirs.subject_end:
        return False
    outside = [word for slot in alignment.slots for word in slot.ours if word.start < ours.subject_end]
    outside += [word for slot in alignment.slots for word in slot.theirs if word.start < theirs.subject_end]
    return not outside


def _is_about_another(ours: Statement, theirs: Statement, alignment: Alignment, replaced: list[Slot]) -> bool:
    """A changed value is told in other words than the value that it replaces, so its subject may be worded otherwise;
    then only another name or number makes another subject."""
    changing = (ours.tells_change or theirs.tells_change) and not (ours.is_labelled and theirs.is_labelled)
    subjects = [slot for slot in replaced if is_in_subject(slot, ours, theirs, alignment)]
    return any(has_value(slot) for slot in subjects) if changing else bool(subjects)


def _one_slot(ours: Statement, theirs: Statement, alignment: Alignment, slot: Slot, alone: bool) -> Finding:
    shared = len(alignment.pairs)
    certainty = Certainty.WORDS if alone and shared >= _TEMPLATE_SHARED_MIN else Certainty.LIKELY
    if ours.is_multi_valued and theirs.is_multi_valued and not _against(slot):
        return Finding(Relation.REWORDED, "multi_valued")
    if max(len(slot.ours), len(slot.theirs)) > _SLOT_WORDS_MAX and not _against(slot):
        return _OTHER_WORDS
    if _against(slot) or has_value(slot):
        changing = not alone and (ours.tells_change or theirs.tells_change)
        return Finding(Relation.DIFFERENT, "value_differs", Certainty.CHANGE if changing else certainty)
    if ours.is_indefinite or theirs.is_indefinite or is_action(slot, ours):
        return _OTHER_WORDS
    if not alone or len(slot.ours) + len(slot.theirs) > max(4, shared + 1):
        return _OTHER_WORDS
    return Finding(Relation.DIFFERENT, "one_slot_differs", certainty)


def _against(slot: Slot) -> bool:
    """Whether the slot sets a value against another of its kind."""
    left = {value_class(word) for word in slot.ours if word.kind in VALUE_KINDS}
    right = {value_class(word) for word in slot.theirs if word.kind in VALUE_KINDS}
    return bool(left & right) or (Kind.NUMBER in left and bool(right)) or (Kind.NUMBER in right and bool(left))
