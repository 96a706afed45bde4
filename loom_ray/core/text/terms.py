"""By which terms is a text found? Words of any script, as the word index holds them and as a query asks for them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

from loom_ray.core.text.language import detect_language
from loom_ray.core.text.lexicon.function_words import FUNCTION_WORDS
from loom_ray.core.text.stems import stem

TERM_CHARS_MAX = 64  # longer ones (base64, say) are cut, in texts and in queries alike
QUERY_TERMS_MAX = 256
DETECTED_CHARS_MAX = 2_000  # a language shows soon
DETECTED_TERMS_MAX = 200
_TERMS_REMEMBERED = 50_000  # for each language; about 6 MB

_MARKS = "".join(chr(point) for point in range(0x300, 0x20000) if unicodedata.category(chr(point)).startswith("M"))
_WORD = re.compile(rf"[\w{_MARKS}]+")  # `\w` has no marks, and without them most Asian scripts fall apart
_ASCII_WORD = re.compile("[A-Za-z0-9]+")
_COMPOUND = re.compile(r"(?<!\w)\w++(?:[.:/@-]\w++)+")  # linear: no start inside a word, no way back
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ANY_CAMEL = re.compile("[a-z0-9][A-Z]|[A-Z][A-Z][a-z]")  # the same without looking around: twice as fast
_DIGIT = re.compile(r"\d")
_POINTS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]")  # accents, vowel points

_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = re.compile(  # Han, kana and Hangul (spaced, but its particles are not); Thai, Lao, Burmese and Khmer
    f"[{_HAN}\u3040-\u30ff\uac00-\ud7a3]+|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
)
_ONE_HAN = re.compile(f"[{_HAN}]")
_CLUSTER = re.compile(rf".[{_MARKS}]*", re.DOTALL)

_ASKING = frozenset(
    ("i", "you", "he", "she", "we", "they", "can", "could", "shall", "should", "will", "would", "was", "were", "why")
)  # of a question's frame, though they may carry the point of a statement
_NOT_LATIN = frozenset(("ja", "ko", "zh", "th", "ar", "fa", "ru", "uk", "hi", "he", "el"))
_QUESTION_MARK = re.compile("[?？؟]\\s*$")


def terms(text: str) -> list[str]:
    """All terms of a text, in order and as often as they stand there, not yet stemmed.

    NFKC and case folded. Beside each word: its form without accents or vowel points, the parts of a camelCase one, and
    a compound with a digit as a whole (a date, a version, an address). Scripts without spaces give pairs of letters,
    and every single Han character. A term holds no white space.
    """
    text = unicodedata.normalize("NFKC", text)
    found = _ascii_terms(text) if text.isascii() else [term for word in _words(text) for term in _forms(word)]
    if _DIGIT.search(text):
        wholes = (whole for whole in _COMPOUND.findall(text) if _DIGIT.search(whole))
        found.extend(whole.casefold()[:TERM_CHARS_MAX] for whole in wholes)
    return found


def stems(text: str) -> tuple[str, list[str]]:
    """The language of a text, and all its terms by their stems in that language."""
    found = terms(text)
    language = detect_language(text[:DETECTED_CHARS_MAX], found[:DETECTED_TERMS_MAX])
    return language, _stemmed(found, language)


def stems_in(language: str, text: str) -> list[str]:
    """All terms of a text by their stems in a given language."""
    return _stemmed(terms(text), language)


def query_stems(query: str, languages: Iterable[str]) -> list[str]:
    """The distinct stems that a query asks for, in each of these languages: of a few words one cannot tell which."""
    asked = query_terms(query)
    return list(dict.fromkeys(term for language in sorted(languages) for term in _stemmed(asked, language)))


def _stemmed(words: Iterable[str], language: str) -> list[str]:
    return list(map(_stems_of(language).__getitem__, words))


@lru_cache
def _stems_of(language: str) -> _Stems:
    return _Stems(language)


class _Stems(dict[str, str]):
    """Term → stem. A dictionary that fills itself: an index asks for the same words again and again."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language
        self._latin_language = "en" if language in _NOT_LATIN else language

    def __missing__(self, term: str) -> str:
        if len(self) >= _TERMS_REMEMBERED:
            self.clear()
        stemmed = self[term] = self._stem(term)
        return stemmed

    def _stem(self, term: str) -> str:
        """Pairs of letters of a run without spaces are no words; Latin ones in a text of another script are English."""
        if not term.isalpha() or _UNSPACED.match(term):
            return term
        return stem(term, self._latin_language if term.isascii() else self._language)


def query_terms(query: str) -> list[str]:
    """The distinct terms that a query asks for, at most QUERY_TERMS_MAX: without function words, if any other is left.

    A single Han character is asked for only where it stands alone: beside its neighbours, their pairs say more.
    """
    distinct = list(dict.fromkeys(terms(query)))
    words = _words(unicodedata.normalize("NFKC", query))
    alone = {run for word in words for run in _unspaced_runs(word) if len(run) == 1}
    asked = [term for term in distinct if len(term) > 1 or not _ONE_HAN.match(term) or term in alone]
    return _without_function_words(query, asked)[:QUERY_TERMS_MAX]


def meaning_of_query(query: str) -> str:
    """What to embed for a query: a question's content words in order, anything else as it is.

    Sentence embedders put a question near other questions; without its function words it lies nearer to its answer.
    """
    if not _QUESTION_MARK.search(query):
        return query
    words = [word.casefold() for word in _words(unicodedata.normalize("NFKC", query))]
    return " ".join(_without_function_words(query, words)) or query


def _without_function_words(query: str, words: list[str]) -> list[str]:
    dropped = FUNCTION_WORDS.get(detect_language(query, words), frozenset()) | _ASKING
    return [word for word in words if word not in dropped] or words


def _words(text: str) -> list[str]:
    return _WORD.findall(text.replace("_", " "))


def _ascii_terms(text: str) -> list[str]:
    found = [word[:TERM_CHARS_MAX] for word in _ASCII_WORD.findall(text.lower())]
    if _ANY_CAMEL.search(text):
        found.extend(part for word in _ASCII_WORD.findall(text) for part in _camel_parts(word))
    return found


def _camel_parts(word: str) -> list[str]:
    parts = _CAMEL.split(word)
    return [part.casefold()[:TERM_CHARS_MAX] for part in parts] if len(parts) > 1 else []


def _forms(word: str) -> Iterator[str]:
    if word.isascii():
        yield from _ascii_terms(word)
        return
    for run in _unspaced_runs(word):
        yield from _pairs(run)
    for part in _UNSPACED.sub(" ", word.casefold()).split():
        yield part[:TERM_CHARS_MAX]
        plain = _plain(part)
        if plain and plain != part:
            yield plain[:TERM_CHARS_MAX]


def _unspaced_runs(word: str) -> list[str]:
    """The runs of a word that no spaces divide; what `_words` leaves out (an unassigned character, say) ends one."""
    return _UNSPACED.findall(word.casefold())


def _pairs(run: str) -> Iterator[str]:
    letters = _CLUSTER.findall(run)
    if len(letters) == 1:
        yield run[:TERM_CHARS_MAX]
        return
    yield from ((one + two)[:TERM_CHARS_MAX] for one, two in pairwise(letters))
    yield from (letter for letter in letters if _ONE_HAN.match(letter))


def _plain(word: str) -> str:
    bare = _POINTS.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare)
