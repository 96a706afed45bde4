"""What is left of a word without its endings? Snowball stems by language, and light rules where Snowball has none."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Protocol, cast

import snowballstemmer  # pyright: ignore[reportMissingTypeStubs]

from loom_ray.core.text.lexicon import english

_WORDS_REMEMBERED = 50_000  # about 10 MB
_SNOWBALL = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese",
    "nl": "dutch", "ru": "russian", "sv": "swedish", "da": "danish", "ar": "arabic", "tr": "turkish", "hi": "hindi",
    "el": "greek", "id": "indonesian", "pl": "polish", "cs": "czech", "fa": "persian",
}  # fmt: skip


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - Snowball's name


_ALGORITHMS = frozenset(snowballstemmer.algorithms())
_STEMMERS: dict[str, _Stemmer] = {
    language: cast(_Stemmer, snowballstemmer.stemmer(name))  # pyright: ignore[reportUnknownMemberType]
    for language, name in _SNOWBALL.items()
    if name in _ALGORITHMS
}
_KOREAN_PARTICLE = re.compile(
    r"(?<=[가-힣])(?:에서는|에게서|으로는|이라고|에서|에게|으로|까지|부터|처럼|보다|이나|라고|은|는|이|가|을|를|에|의|와|과|도|로|만)$"
)
_STEMMER_LOCK = threading.Lock()  # a Snowball stemmer keeps its word while it works


@lru_cache(maxsize=_WORDS_REMEMBERED)
def stem(word: str, language: str) -> str:
    """The stem of a folded word; irregular English forms go by their lemma (children → child, held → hold),
    and an adjective in -y by its noun (snowy → snow)."""
    if language == "en":
        word = english.IRREGULAR.get(word, word)
    stemmer = _STEMMERS.get(language)
    if stemmer is not None:
        with _STEMMER_LOCK:
            stemmed = stemmer.stemWord(word)
        return stemmed[:-1] if language == "en" and len(stemmed) > 4 and stemmed[-1] == "i" else stemmed
    return _KOREAN_PARTICLE.sub("", word) if language == "ko" else word
