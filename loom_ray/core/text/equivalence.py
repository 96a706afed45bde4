"""May one word stand for another? Synonyms and opposites, looked up by stem and by language."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib import resources

from loom_ray.core.text.lexicon.opposites import NEGATING_PREFIXES, OPPOSITES
from loom_ray.core.text.lexicon.synonyms import SYNONYMS
from loom_ray.core.text.stems import stem
from loom_ray.core.text.words import Kind, Word

_PREFIXED_CHARS_MIN = 4
_WORDS_REMEMBERED = 50_000
_NONE: frozenset[str] = frozenset()


@cache
def _english_stems() -> dict[str, str]:
    """Word of the tables → its stem, where that is another; to stem them all takes half a second."""
    text = resources.files("loom_ray.core.text.lexicon").joinpath("english_stems.txt").read_text(encoding="utf-8")
    words = iter(text.split())
    return dict(zip(words, words, strict=True))


def _table_stem(word: str, language: str) -> str:
    return _english_stems().get(word, word) if language == "en" else stem(word, language)


@cache
def _synonyms(language: str) -> dict[str, frozenset[str]]:
    """Stem → stems that may stand for it."""
    table: dict[str, set[str]] = {}
    for word, others in SYNONYMS.get(language, {}).items():
        table.setdefault(_table_stem(word, language), set()).update(_table_stem(other, language) for other in others)
    return {word: frozenset(others) for word, others in table.items()}


@cache
def _opposites(language: str) -> dict[str, frozenset[str]]:
    """Word as written and stem alike → its opposites, as written and as stems."""
    table: dict[str, set[str]] = {}
    for first, second in OPPOSITES.get(language, ()):
        for key in {first, _table_stem(first, language)}:
            table.setdefault(key, set()).update({second, _table_stem(second, language)})
    return {word: frozenset(others) for word, others in table.items()}


def synonyms_of(word: Word, language: str) -> frozenset[str]:
    """The stems that may stand for a plain word; names and values have none."""
    return _synonyms(language).get(word.key, _NONE) if word.kind == Kind.WORD else _NONE


def are_synonyms(first: Word, second: Word, language: str) -> bool:
    """Whether two plain words may be exchanged. Names and values never may."""
    if second.kind != Kind.WORD or second.key not in synonyms_of(first, language):
        return False
    return not are_opposites(first, second, language)


def opposite_pairs(left: Iterable[Word], right: Iterable[Word], language: str) -> list[tuple[Word, Word]]:
    """The pairs of `are_opposites`, one word of either side, in order. Linear where there are none, which is nearly
    always."""
    left, right = list(left), list(right)
    ours, theirs = {word.folded for word in left}, {form for word in right for form in (word.folded, word.key)}
    may_be = any(not _excluded(word.folded, word.key, language).isdisjoint(theirs) for word in left)
    if not may_be and all(_unprefixed(word.folded, language).isdisjoint(ours) for word in right):
        return []
    return [(one, other) for one in left for other in right if are_opposites(one, other, language)]


@lru_cache(maxsize=_WORDS_REMEMBERED)
def _excluded(folded: str, key: str, language: str) -> frozenset[str]:
    """Folded forms and stems among which every opposite of a word has one of its own."""
    table = _opposites(language)
    return table.get(folded, _NONE) | table.get(key, _NONE) | _unprefixed(folded, language)


@lru_cache(maxsize=_WORDS_REMEMBERED)
def _unprefixed(folded: str, language: str) -> frozenset[str]:
    """What is left of a word without a negating prefix and hyphens behind it."""
    rests = [folded.removeprefix(prefix) for prefix in NEGATING_PREFIXES.get(language, ()) if folded.startswith(prefix)]
    return frozenset(rest[at:] for rest in rests for at in range(len(rest) - len(rest.lstrip("-")) + 1))


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
