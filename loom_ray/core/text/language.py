"""Which language is a statement in? Told by its script, then by its function words; cheap and deterministic."""

from __future__ import annotations

import re
from collections.abc import Iterable

from loom_ray.core.text.lexicon.calendar import MONTHS, WEEKDAYS
from loom_ray.core.text.lexicon.function_words import FUNCTION_WORDS
from loom_ray.core.text.lexicon.negators import NEGATORS
from loom_ray.core.text.lexicon.verbs import COPULAS, VERBS

_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),  # kana; a text of Han characters alone is read as Chinese
    ("ko", re.compile("[\uac00-\ud7a3\u1100-\u11ff]")),
    ("zh", re.compile("[\u3400-\u9fff]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
)
_LETTER_VOTE = 0.4  # less than a word: names travel
_SHARE = 6  # one letter in so many makes the script
_LATIN = ("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "da", "cs", "tr", "vi", "id")
_LETTERS = (
    ("de", "ßäöü"), ("pl", "ąęłśżźćń"), ("es", "ñ¿¡"), ("pt", "ãõ"), ("fr", "çœêèùûôî"), ("sv", "åäö"), ("da", "åøæ"),
    ("cs", "ěřůčšž"), ("tr", "ığş"), ("it", "ìò"), ("vi", "đơưạ"),
)  # fmt: skip
_MORE_ENGLISH = frozenset("""was were will would can could must may should i he she they we you not""".split())


def _votes() -> dict[str, tuple[str, ...]]:
    """Word → the Latin-script languages that use it to hold sentences together."""
    votes: dict[str, list[str]] = {}
    for language in _LATIN:
        told_by = (FUNCTION_WORDS, NEGATORS, COPULAS, VERBS, WEEKDAYS, MONTHS, {"en": _MORE_ENGLISH})
        for word in frozenset[str]().union(*(table.get(language, ()) for table in told_by)):
            votes.setdefault(word, []).append(language)
    return {word: tuple(languages) for word, languages in votes.items()}


_VOTES = _votes()
_UKRAINIAN = re.compile("[іїєґ]")
_PERSIAN = re.compile("[پچژگ]")


def detect_language(text: str, words: Iterable[str]) -> str:
    """ISO 639-1 code for `text` with its folded `words`; English where nothing tells otherwise.

    A script counts where a sixth of the text is in it: Latin names and brands stand in texts of every script, and a
    Greek letter or a quoted character stands in Latin ones.
    """
    if not text.isascii():
        for language, script in _SCRIPTS:
            if len(script.findall(text)) * _SHARE > len(text):
                return _refined(language, text)
    return _latin_language(text, words)


def _refined(language: str, text: str) -> str:
    if language == "ru" and _UKRAINIAN.search(text):
        return "uk"
    if language == "ar" and _PERSIAN.search(text):
        return "fa"
    return language


def _latin_language(text: str, words: Iterable[str]) -> str:
    scores: dict[str, float] = {"en": 0.01}
    for word in words:
        languages = _VOTES.get(word, ())
        for language in languages:
            scores[language] = scores.get(language, 0.0) + 1.0 / len(languages)
    if not text.isascii():
        folded = text.casefold()
        for language, letters in _LETTERS:
            if any(letter in folded for letter in letters):
                scores[language] = scores.get(language, 0.0) + _LETTER_VOTE
    return max(scores, key=lambda language: (scores[language], language == "en"))
