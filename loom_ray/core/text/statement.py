"""What does a text state? Its words, values, names, negations and shape, ready to be compared with another's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from loom_ray.core.text import predicate
from loom_ray.core.text.language import detect_language
from loom_ray.core.text.lexicon import calendar
from loom_ray.core.text.lexicon.changes import CHANGES, UNSPACED_CHANGES
from loom_ray.core.text.lexicon.negators import NEVER
from loom_ray.core.text.roles import WordReader
from loom_ray.core.text.tokens import SENTENCE_MARKS, Token, normalise, tokenise
from loom_ray.core.text.words import CONTENT_KINDS, Kind, Word

ANALYSED_CHARS_MAX = 4_000
"""Longer texts are analysed up to here; what is behind it is compared only as a whole."""

_REMEMBERED_CHARS_MAX = 600
_REMEMBERED_STATEMENTS = 1_024  # of up to about 15 kB each, 4 kB for a sentence
_LANGUAGE_WORDS = 60
_LANGUAGE_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Statement:
    """One analysed text. Offsets are in `text`, which is normalised (NFKC, digits as 0-9) and at most
    `ANALYSED_CHARS_MAX` long."""

    text: str
    language: str  # ISO 639-1
    words: tuple[Word, ...]  # all of them, marks included
    content: tuple[Word, ...]  # values, names and other words that carry meaning, in order
    negations: tuple[Word, ...]
    function_words: tuple[Word, ...]
    folded_words: frozenset[str]  # of all words, as written but for case
    subject_end: int  # offset where the predicate begins; 0 if unknown
    is_indefinite: bool  # a dog, two men, there is …; never with a label, whose one value is told
    names_one_holder: bool  # … is the …
    is_multi_valued: bool  # likes, speaks …: it may hold of many things at once
    denies_all: bool  # never: no event of the kind
    tells_change: bool  # now, moved to, increased …
    is_question: bool
    is_truncated: bool

    @property
    def is_labelled(self) -> bool:
        """Whether a label names the subject (Favourite knot: bowline)."""
        return _is_label(self.text, self.subject_end)


def _is_label(text: str, subject_end: int) -> bool:
    return text[max(0, subject_end - 1) : subject_end] == ":"


def analyse(text: str) -> Statement:
    """Analyse a text of any script. Never raises; linear in its length; short texts are remembered."""
    return _remembered(text) if len(text) <= _REMEMBERED_CHARS_MAX else _analysed(text)


def in_one_language(ours: Statement, theirs: Statement) -> tuple[Statement, Statement]:
    """Both analysed in the language of the two together: a short text alone may be taken for a neighbouring one."""
    if ours.language == theirs.language:
        return ours, theirs
    language = _language_of(ours.text[:_LANGUAGE_CHARS] + ".\n" + theirs.text[:_LANGUAGE_CHARS])
    return _in_language(ours, language), _in_language(theirs, language)


def _in_language(statement: Statement, language: str) -> Statement:
    if statement.language == language:
        return statement
    return replace(_remembered(statement.text, language), is_truncated=statement.is_truncated)


def _language_of(normal: str) -> str:
    return detect_language(normal, _spaced_words(tokenise(normal)))


def _spaced_words(tokens: list[Token]) -> list[str]:
    """The words that tell a language, folded: names travel (Costa is no verb), so no capital inside a sentence, unless
    there is nothing else."""
    words = [(at, token.text) for at, token in enumerate(tokens) if token.kind == "word"]
    telling = [text for at, text in words if not text[0].isupper() or _may_vote(text.casefold(), tokens, at)]
    return [text.casefold() for text in telling or (text for _, text in words)]


def _may_vote(folded: str, tokens: list[Token], at: int) -> bool:
    return at == 0 or tokens[at - 1].text in SENTENCE_MARKS or folded in calendar.CAPITALISED


def _analysed(text: str, language: str = "") -> Statement:
    normal = normalise(text[:ANALYSED_CHARS_MAX])[:ANALYSED_CHARS_MAX]
    tokens = tokenise(normal)
    language = language or detect_language(normal, _spaced_words(tokens[:_LANGUAGE_WORDS]))
    words = tuple(WordReader(normal, tokens, language).read())
    end = predicate.subject_end(words, language)
    return Statement(
        text=normal,
        language=language,
        words=words,
        content=tuple(word for word in words if word.kind in CONTENT_KINDS),
        negations=tuple(word for word in words if word.kind == Kind.NEGATION),
        function_words=tuple(word for word in words if word.kind == Kind.FUNCTION),
        folded_words=frozenset(word.folded for word in words),
        subject_end=end,
        is_indefinite=not _is_label(normal, end) and predicate.is_indefinite(words, language),
        names_one_holder=predicate.names_one_holder(words, language),
        is_multi_valued=predicate.is_multi_valued(words, end),
        denies_all=any(word.kind == Kind.NEGATION and word.folded in NEVER for word in words),
        tells_change=_tells_change(normal, words, language),
        is_question=normal.rstrip().endswith(("?", "？", "؟")),
        is_truncated=len(text) > ANALYSED_CHARS_MAX,
    )


def _tells_change(text: str, words: tuple[Word, ...], language: str) -> bool:
    cues = CHANGES.get(language)
    if cues:
        return any(word.folded in cues for word in words)
    return any(cue in text for cue in UNSPACED_CHANGES.get(language, ()))


_remembered: Callable[..., Statement] = lru_cache(maxsize=_REMEMBERED_STATEMENTS)(_analysed)
