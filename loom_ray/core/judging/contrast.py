"""Where do two rows that contradict each other differ, and what do they have in common with other such pairs?"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from loom_ray.core.judging.alignment import align
from loom_ray.core.judging.differences import Difference, differences_of, opposites
from loom_ray.core.judging.findings import find
from loom_ray.core.text.statement import Statement, analyse, in_one_language
from loom_ray.core.text.words import CONTENT_KINDS, Kind

GAP = "…"
_GAPS = re.compile(rf"{GAP}(?:[\s,]*{GAP})+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Contrast:
    """`rule` is what the words alone say of the two; `template` is the sentence that both fill, each in its way."""

    rule: str
    differences: tuple[Difference, ...]
    template: str

    @property
    def group_id(self) -> str:
        return hashlib.blake2b(self.template.encode("utf-8"), digest_size=8).hexdigest()


def contrast(ours: str, theirs: str) -> Contrast:
    """Of two texts; the template is the same whichever of them comes first.

    Names and values are left out of the template as well as what differs, so that pairs about different subjects that
    differ in one way have one template.
    """
    left, right = in_one_language(analyse(ours), analyse(theirs))
    alignment = align(left, right)
    opposed = opposites(left, right, alignment)
    rule = find(left, right, alignment, opposed=bool(opposed)).rule
    template = _common_template(*sorted((ours, theirs)))
    return Contrast(rule, differences_of(left, right, alignment, opposed), template)


def _common_template(first: str, second: str) -> str:
    """Aligned anew, in the order of the texts: an alignment has a direction, and the template must have none."""
    left, right = in_one_language(analyse(first), analyse(second))
    alignment = align(left, right)
    common = frozenset(id(word) for pair in alignment.pairs for word in pair if word.kind is Kind.WORD)
    opposed = frozenset(id(word) for pair in opposites(left, right, alignment) for word in pair)  # also on and off
    return " / ".join(sorted({_template(left, common, opposed), _template(right, common, opposed)}))


def _template(statement: Statement, common: frozenset[int], opposed: frozenset[int]) -> str:
    """`common` and `opposed`: the identities of the words that both sides have, and of those that exclude each other;
    offsets would not tell the two texts apart."""
    text = statement.text
    parts: list[str] = []
    end = 0
    for word in statement.words:
        if word.kind not in CONTENT_KINDS and id(word) not in opposed:
            continue
        parts += (text[end : word.start], word.text if id(word) in common else GAP)
        end = word.end
    rest = "" if statement.is_truncated else text[end:]
    return _SPACE.sub(" ", _GAPS.sub(GAP, "".join(parts) + rest)).strip().casefold()
