"""What is in `english.txt`? Synonyms, opposites, irregular forms and verbs of English, selected from WordNet 3.0."""

from __future__ import annotations

from importlib import resources


def _sections() -> dict[str, list[list[str]]]:
    """Section name → its entries, each a list of words. Read once, at import."""
    sections: dict[str, list[list[str]]] = {}
    text = resources.files(__package__ or "").joinpath("english.txt").read_text(encoding="utf-8")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for part in body.split("[")[1:]:
        name, entries = part.split("]", 1)
        sections[name] = [entry.split() for entry in entries.split("/")]
    return sections


_SECTIONS = _sections()
SYNONYMS: tuple[tuple[str, ...], ...] = tuple(tuple(entry) for entry in _SECTIONS["synonyms"])
OPPOSITES: tuple[tuple[str, str], ...] = tuple((first, second) for first, second in _SECTIONS["opposites"])
IRREGULAR: dict[str, str] = {entry[0]: entry[1] for entry in _SECTIONS["irregular"]}
VERBS: frozenset[str] = frozenset(verb for entry in _SECTIONS["verbs"] for verb in entry)
