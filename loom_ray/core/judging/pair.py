"""What does one statement do to another: merge, duplicate, conflict, elaborate or nothing? The verdict on a pair."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from loom_ray.core.judging.alignment import Alignment, align
from loom_ray.core.judging.differences import Difference, differences_of, opposites
from loom_ray.core.judging.findings import Certainty, Finding, Relation, find
from loom_ray.core.judging.thresholds import Threshold, Thresholds
from loom_ray.core.text.canonical import canonical_text
from loom_ray.core.text.statement import Statement, analyse, in_one_language

_SLACK = {Certainty.LIKELY: 0.0, Certainty.WORDS: 0.12, Certainty.CHANGE: 0.18, Certainty.DENIED: 0.35}
"""How far below a derived threshold the words alone may decide; never below one that an owner set."""

JUDGED_BELOW_THRESHOLD = max(_SLACK.values())
"""A peer this far below the conflict threshold may still be judged a conflict; farther ones never are."""

_DISABLED = 1.0
_FILLED_OTHERWISE = frozenset({"value_differs", "one_slot_differs"})


class PairKind(StrEnum):
    """ELABORATION is clear with the peer named: it says the same and more, or the same matter in other words."""

    MERGE = "merge"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    ELABORATION = "elaboration"
    CLEAR = "clear"


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """`rule` is the short, stable name of the rule that decided; `differences` are those of conflicts and elaborations.

    `templated` says that the two have one shape with one slot filled otherwise, `told` that the new one tells of a
    change and gives another value; `threshold` is the one compared with, None where none was needed.
    """

    kind: PairKind
    rule: str
    differences: tuple[Difference, ...]
    templated: bool
    threshold: Threshold | None
    told: bool = False


def judge_pair(
    ours: str, theirs: str, similarity: float | None, thresholds: Thresholds, *, same_key: bool
) -> PairVerdict:
    """The verdict on a new text (`ours`) beside a stored one (`theirs`).

    `similarity` is their cosine, None where it is unknown; `same_key` says that both stand under one key, so that a
    different value is a conflict without the embedder's help. Deterministic; never raises.
    """
    if canonical_text(ours) == canonical_text(theirs):
        return PairVerdict(PairKind.MERGE, "canonical_form", (), False, None)
    return judge_statements(analyse(ours), analyse(theirs), similarity, thresholds, same_key=same_key)


def judge_statements(
    ours: Statement, theirs: Statement, similarity: float | None, thresholds: Thresholds, *, same_key: bool
) -> PairVerdict:
    """As `judge_pair`, of analysed statements that are not canonically equal."""
    if not same_key and _is_too_far(ours, theirs, similarity, thresholds.conflict):
        return PairVerdict(PairKind.CLEAR, "below_threshold", (), False, thresholds.conflict)
    ours, theirs = in_one_language(ours, theirs)
    alignment = align(ours, theirs)
    opposite = opposites(ours, theirs, alignment)
    finding = find(ours, theirs, alignment, opposed=bool(opposite))
    kind, rule, threshold = _gated(finding, similarity, thresholds, same_key)
    named = differences_of(ours, theirs, alignment, opposite) if kind in _NAMED else ()
    told = ours.tells_change and finding.certainty is Certainty.CHANGE
    return PairVerdict(kind, rule, named, _is_templated(finding, alignment), threshold, told)


def _is_too_far(ours: Statement, theirs: Statement, similarity: float | None, threshold: Threshold) -> bool:
    """Whether no finding that these two can give reaches down to their similarity: most neighbours need no comparison
    of words then."""
    if similarity is None or threshold.is_owners:
        return False
    if bool(ours.negations) != bool(theirs.negations):
        reach = _SLACK[Certainty.DENIED]
    elif ours.tells_change or theirs.tells_change:
        reach = _SLACK[Certainty.CHANGE]
    else:
        reach = _SLACK[Certainty.WORDS]
    return similarity < threshold.value - reach


_NAMED = frozenset({PairKind.CONFLICT, PairKind.ELABORATION})  # nobody is shown a peer that is none


class _Gated(NamedTuple):
    kind: PairKind
    rule: str
    threshold: Threshold | None


def _gated(finding: Finding, similarity: float | None, thresholds: Thresholds, same_key: bool) -> _Gated:
    if same_key:
        return _gated_same_key(finding, thresholds)
    match finding.relation:
        case Relation.SAME:
            return _gated_duplicate(finding, similarity, thresholds)
        case Relation.DIFFERENT:
            return _gated_conflict(finding, similarity, thresholds)
        case Relation.MORE | Relation.REWORDED:
            near = similarity is not None and similarity >= thresholds.conflict.value
            kind = PairKind.ELABORATION if near else PairKind.CLEAR
            return _Gated(kind, finding.rule if near else "below_threshold", thresholds.conflict)
        case Relation.OTHER:
            return _Gated(PairKind.CLEAR, finding.rule, thresholds.conflict)


def _gated_same_key(finding: Finding, thresholds: Thresholds) -> _Gated:
    """One key is one fact: whatever is not the same, or the same and more, contradicts."""
    if finding.relation is Relation.SAME:
        return _Gated(PairKind.DUPLICATE, finding.rule, None)
    if finding.relation is Relation.MORE:
        return _Gated(PairKind.ELABORATION, finding.rule, None)
    if thresholds.conflict.value >= _DISABLED:
        return _Gated(PairKind.CLEAR, "flagging_disabled", thresholds.conflict)
    return _Gated(PairKind.CONFLICT, finding.rule if finding.relation is Relation.DIFFERENT else "same_key", None)


def _gated_duplicate(finding: Finding, similarity: float | None, thresholds: Thresholds) -> _Gated:
    """The same words are a duplicate wherever the embedder finds the pair near at all; an owner's threshold binds."""
    threshold = thresholds.duplicate
    required = threshold.value if threshold.is_owners else min(threshold.value, _lowered(thresholds.conflict, finding))
    if threshold.value >= _DISABLED or not _reaches(similarity, required):
        return _Gated(PairKind.ELABORATION, finding.rule, threshold)
    return _Gated(PairKind.DUPLICATE, finding.rule, threshold)


def _gated_conflict(finding: Finding, similarity: float | None, thresholds: Thresholds) -> _Gated:
    threshold = thresholds.conflict
    if threshold.value >= _DISABLED:
        return _Gated(PairKind.CLEAR, "flagging_disabled", threshold)
    if similarity is None and finding.certainty is Certainty.LIKELY:
        return _Gated(PairKind.CLEAR, "unknown_similarity", threshold)
    if not _reaches(similarity, _lowered(threshold, finding)):
        return _Gated(PairKind.CLEAR, "below_threshold", threshold)
    return _Gated(PairKind.CONFLICT, finding.rule, threshold)


def _lowered(threshold: Threshold, finding: Finding) -> float:
    """The similarity that a finding needs: the threshold, or less where the words leave no doubt."""
    if threshold.is_owners:
        return threshold.value
    return threshold.value - _SLACK[finding.certainty]


def _reaches(similarity: float | None, required: float) -> bool:
    return similarity is None or similarity >= required


def _is_templated(finding: Finding, alignment: Alignment) -> bool:
    one_slot = len(alignment.replaced) == 1 and not alignment.added and not alignment.moved
    return finding.rule in _FILLED_OTHERWISE and one_slot
