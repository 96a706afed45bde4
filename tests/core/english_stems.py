"""Which stems have the English words of the tables? Writes `english_stems.txt` in the package: no process stems them.

    python tests/core/english_stems.py

Run it after a change of the synonyms, the opposites or the stemmer; a test says when.
"""

from __future__ import annotations

from pathlib import Path

from loom_ray.core.text import lexicon
from loom_ray.core.text.lexicon.opposites import OPPOSITES
from loom_ray.core.text.lexicon.synonyms import SYNONYMS
from loom_ray.core.text.stems import stem

PATH = Path(lexicon.__path__[0]) / "english_stems.txt"


def lines() -> str:
    """`word stem` a line, in order of the words, where the two differ."""
    words = {*SYNONYMS["en"], *(word for pair in OPPOSITES["en"] for word in pair)}
    stems = ((word, stem(word, "en")) for word in sorted(words))
    return "".join(f"{word} {stemmed}\n" for word, stemmed in stems if stemmed != word)


if __name__ == "__main__":
    PATH.write_text(lines(), encoding="utf-8")
