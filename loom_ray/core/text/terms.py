"""By which terms is a text found? Words of any script, as the word index holds them and as a query asks for them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from loom_ray.core.text.language import detect_language
from loom_ray.core.text.lexicon.function_words import FUNCTION_WORDS

TERM_CHARS_MAX = 64  # longer ones (base64, say) are cut, in texts and in queries alike
QUERY_TERMS_MAX = 256

_MARKS = "".join(chr(point) for point in range(0x300, 0x20000) if unicodedata.category(chr(point)).startswith("M"))
_WORD = re.compile(rf"[\w{_MARKS}]+")  # `\w` has no marks, and without them most Asian scripts fall apart
_ASCII_WORD = re.compile("[A-Za-z0-9]+")
_COMPOUND = re.compile(r"(?<!\w)\w++(?:[.:/@-]\w++)+")  # linear: no start inside a word, no way back
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
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
_QUESTION_MARK = re.compile("[?？؟]\\s*$")


def terms(text: str) -> list[str]:
    """All terms of a text, in order and as often as they stand there, not yet stemmed.

    NFKC and case folded. Beside each word: its form without accents or vowel points, the parts of a camelCase one, and
    a compound with a digit as a whole (a date, a version, an address). Scripts without spaces give pairs of letters,
    and every single Han character. A term holds no white space.
    """
    text = unicodedata.normalize("NFKC", text)
    found = _ascii_terms(text) if text.isascii() else [term for word in _words(text) for term in _forms(word)]
    wholes = (whole for whole in _COMPOUND.findall(text) if any(map(str.isdigit, whole)))
    found.extend(whole.casefold()[:TERM_CHARS_MAX] for whole in wholes)
    return found


def query_terms(query: str) -> list[str]:
    """The distinct terms that a query asks for, at most QUERY_TERMS_MAX: without function words, if any other is left.

    A single Han character is asked for only where it stands alone: beside its neighbours, their pairs say more.
    """
    distinct = list(dict.fromkeys(terms(query)))
    runs = {run for run in _UNSPACED.findall(query) if len(run) == 1}
    asked = [term for term in distinct if len(term) > 1 or not _ONE_HAN.match(term) or term in runs]
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
    if _CAMEL.search(text):
        found.extend(part for word in _ASCII_WORD.findall(text) for part in _camel_parts(word))
    return found


def _camel_parts(word: str) -> list[str]:
    parts = _CAMEL.split(word)
    return [part.casefold()[:TERM_CHARS_MAX] for part in parts] if len(parts) > 1 else []


def _forms(word: str) -> Iterator[str]:
    if word.isascii():
        yield from _ascii_terms(word)
        return
    folded = word.casefold()
    for run in _UNSPACED.findall(folded):
        yield from _pairs(run)
    for part in _UNSPACED.sub(" ", folded).split():
        yield part[:TERM_CHARS_MAX]
        plain = _plain(part)
        if plain and plain != part:
            yield plain[:TERM_CHARS_MAX]


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
