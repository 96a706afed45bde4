"""Which words of a text carry its content? Reads tokens into words: values, names, stems, negations, function words."""

from __future__ import annotations

import re

from loom_ray.core.text.lexicon.function_words import FUNCTION_WORDS
from loom_ray.core.text.lexicon.negators import FALSE_NEGATIONS, NEGATORS, UNSPACED_NEGATIONS
from loom_ray.core.text.stems import stem
from loom_ray.core.text.tokens import SENTENCE_MARKS, Token
from loom_ray.core.text.values import ValueReader
from loom_ray.core.text.words import Kind, Word

_ELIDING = frozenset({"fr", "it"})
_ELIDED_CHARS_MAX = 5  # dell', qu', l'
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'"})
_CASELESS_NAMES = frozenset({"de"})  # every noun is capitalised there
_TITLE_WORDS_MIN = 4
_SHORT_WORD_CHARS = 3
_PLAIN = {"word", "hangul", "katakana", "hiragana", "han", "thai", "language", "particle"}
_JAPANESE_ENDING = re.compile(
    "(?:っています|ています|っている|ている|でいる|ました|います|でいます|ます|った|って|して|した|する|します|れる|られる|です|た|て|る|い)$"
)
_ENGLISH_ENDINGS = ("'s", "'re", "'ve", "'ll", "'d", "'m")


class WordReader:
    """Reads the words of one text, once; `text` is normalised, `tokens` are its tokens."""

    def __init__(self, text: str, tokens: list[Token], language: str) -> None:
        self._text = text
        self._tokens = tokens
        self._language = language
        self._function_words = FUNCTION_WORDS.get(language, frozenset())
        self._negators = NEGATORS.get(language, NEGATORS["en"])
        self._names_count = language not in _CASELESS_NAMES and not _is_title_case(tokens)
        self._has_lettered_names = _has_lettered_names(tokens)
        self._negated_spans = self._spans_of_negation()
        self._denying_nothing = self._spans_denying_nothing()

    def read(self) -> list[Word]:
        """All words in order; the tokens that a value swallowed are passed over."""
        values = ValueReader(self._text, self._tokens, self._language)
        words: list[Word] = []
        end = 0
        for at, token in enumerate(self._tokens):
            if token.end <= end:
                continue
            if token.start < end:
                words.append(self._remainder(token, end))
                end = token.end
                continue
            negated = self._negation_at(token)
            found = [negated] if negated else self._words_of(values, at)
            words += found
            end = max(end, found[-1].end if found else token.end)
        return words

    def _remainder(self, token: Token, start: int) -> Word:
        """What a value that ends inside a token leaves of it (a Korean particle, say): nothing of a text is lost."""
        rest = self._text[start : token.end]
        bare = stem(token.text, "ko") if token.kind == "hangul" else token.text
        return self._word(Kind.WORD if len(bare) > start - token.start else Kind.FUNCTION, rest, start)

    def _spans_of_negation(self) -> dict[int, int]:
        pattern = UNSPACED_NEGATIONS.get(self._language)
        return {match.start(): match.end() for match in pattern.finditer(self._text)} if pattern else {}

    def _spans_denying_nothing(self) -> list[tuple[int, int]]:
        """Where `not only` and its like stand."""
        folded = self._text.casefold()
        found: list[tuple[int, int]] = []
        for phrase in FALSE_NEGATIONS.get(self._language, ()):
            start = folded.find(phrase)
            if start >= 0 and (start == 0 or not folded[start - 1].isalnum()):
                found.append((start, start + len(phrase)))
        return found

    def _negation_at(self, token: Token) -> Word | None:
        """A negation of an unspaced script: it may begin inside a token, and ends where its pattern ends."""
        if self._negated_spans:
            for start in range(token.start, token.end):
                end = self._negated_spans.get(start)
                if end is not None:
                    text = self._text[start:end]
                    return Word(text, "not", Kind.NEGATION, text, token.start, max(end, token.end))
        return None

    def _words_of(self, values: ValueReader, at: int) -> list[Word]:
        token = self._tokens[at]
        if token.kind in ("mark", "sign"):
            money = values.read(at) if token.kind == "sign" else None
            return [money or Word(token.text, token.text, Kind.MARK, token.text, token.start, token.end)]
        if token.kind == "particle":
            return [self._word(Kind.FUNCTION, token.text, token.start)]
        value = values.read(at)
        if value is not None:
            return [value]
        return self._plain_words(at) if token.kind in _PLAIN else [self._word(Kind.WORD, token.text, token.start)]

    def _word(self, kind: Kind, text: str, start: int, key: str = "") -> Word:
        folded = text.casefold()
        return Word(text, key or folded, kind, folded, start, start + len(text))

    def _plain_words(self, at: int) -> list[Word]:
        token = self._tokens[at]
        if token.kind != "word":
            return [self._unspaced_word(token)]
        text = token.text.translate(_APOSTROPHES)
        if "'" in text:
            return self._apostrophised(text, at)
        return [self._spaced_word(text, token.start, at)]

    def _unspaced_word(self, token: Token) -> Word:
        if token.text in self._function_words:
            return self._word(Kind.FUNCTION, token.text, token.start)
        key = stem(token.text, self._language) if token.kind == "hangul" else token.text.casefold()
        if token.kind == "hiragana":
            key = _JAPANESE_ENDING.sub("", key) or key
        return self._word(Kind.WORD, token.text, token.start, key)

    def _apostrophised(self, text: str, at: int) -> list[Word]:
        """Negative contractions (isn't), endings that say nothing more (Rosa's, it's), elisions (l'homme)."""
        start, folded = self._tokens[at].start, text.casefold()
        if folded.replace("'", "") in self._negators:
            return [self._word(Kind.NEGATION, text, start, "not")]
        head, _, tail = text.partition("'")
        if tail and self._language in _ELIDING and len(head) <= _ELIDED_CHARS_MAX:
            elided = self._word(Kind.FUNCTION, head, start)
            return [elided, self._spaced_word(tail, start + len(head) + 1, at)]
        if folded.endswith(_ENGLISH_ENDINGS):
            word = self._spaced_word(head, start, at)
            return [word._replace(text=text, end=start + len(text))]
        return [self._spaced_word(text, start, at)]

    def _spaced_word(self, text: str, start: int, at: int) -> Word:
        folded = text.casefold()
        acronym = len(text) > 1 and text.isupper() and not self._text.isupper() and self._names_count
        if folded in self._negators and not any(first <= start < last for first, last in self._denying_nothing):
            return self._word(Kind.NEGATION, text, start, "not")
        if folded in self._function_words and not acronym and not (self._has_lettered_names and text.isupper()):
            return self._word(Kind.FUNCTION, text, start)
        if (
            acronym
            or (self._has_lettered_names and text.isupper())
            or (self._names_count and text[0].isupper() and self._is_name(at))
        ):
            return self._word(Kind.NAME, text, start, folded)
        return self._word(Kind.WORD, text, start, stem(folded, self._language))

    def _is_name(self, at: int) -> bool:
        """A capital counts inside a sentence, and at its start where the next word is capitalised as well."""
        before = self._tokens[at - 1].text if at else "."
        if before not in SENTENCE_MARKS:
            return True
        following = self._tokens[at + 1] if at + 1 < len(self._tokens) else None
        return following is not None and following.kind == "word" and following.text[0].isupper()


def _has_lettered_names(tokens: list[Token]) -> bool:
    """Whether single capitals name things (A calls B), so that `A` is no article."""
    return any(len(token.text) == 1 and token.text.isupper() and token.text not in "AIOY" for token in tokens)


def _is_title_case(tokens: list[Token]) -> bool:
    """Whether every longer word is capitalised, as in headlines: a capital tells nothing there."""
    longer = [token.text for token in tokens if token.kind == "word" and len(token.text) > _SHORT_WORD_CHARS]
    return len(longer) >= _TITLE_WORDS_MIN and all(text[0].isupper() for text in longer)
