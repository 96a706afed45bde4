"""May one word stand for another? Synonyms and opposites, looked up by stem and by language."""

from __future__ import annotations

from functools import cache

from loom_ray.core.text.lexicon.opposites import NEGATING_PREFIXES, OPPOSITES
from loom_ray.core.text.lexicon.synonyms import SYNONYMS
from loom_ray.core.text.stems import stem
from loom_ray.core.text.words import Kind, Word

_PREFIXED_CHARS_MIN = 4


@cache
def _synonyms(language: str) -> dict[str, frozenset[str]]:
    """Stem → stems that may stand for it."""
    table: dict[str, set[str]] = {}
    for word, others in SYNONYMS.get(language, {}).items():
        table.setdefault(stem(word, language), set()).update(stem(other, language) for other in others)
    return {word: frozenset(others) for word, others in table.items()}


@cache
def _opposites(language: str) -> dict[str, frozenset[str]]:
    """Word as written and stem alike → its opposites, as written and as stems."""
    table: dict[str, set[str]] = {}
    for first, second in OPPOSITES.get(language, ()):
        for key in {first, stem(first, language)}:
            table.setdefault(key, set()).update({second, stem(second, language)})
    return {word: frozenset(others) for word, others in table.items()}


def are_synonyms(first: Word, second: Word, language: str) -> bool:
    """Whether two plain words may be exchanged. Names and values never may."""
    if first.kind != Kind.WORD or second.kind != Kind.WORD:
        return False
    return second.key in _synonyms(language).get(first.key, ()) and not are_opposites(first, second, language)


def are_opposites(first: Word, second: Word, language: str) -> bool:
    """Whether two words name states that exclude each other (on, off; known, unknown)."""
    table = _opposites(language)
    if second.folded in table.get(first.folded, ()):
        return True
    if first.kind != Kind.WORD or second.kind != Kind.WORD:
        return False
    if second.key in table.get(first.key, ()) and first.key != second.key:
        return True
    return _is_prefixed(first.folded, second.folded, language) or _is_prefixed(second.folded, first.folded, language)


def _is_prefixed(longer: str, shorter: str, language: str) -> bool:
    if len(shorter) < _PREFIXED_CHARS_MIN or not longer.endswith(shorter):
        return False
    return longer[: -len(shorter)].rstrip("-") in NEGATING_PREFIXES.get(language, ())
