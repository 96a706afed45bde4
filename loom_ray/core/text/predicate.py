"""Where does a statement stop naming its subject and start to say something of it?"""

from __future__ import annotations

from collections.abc import Sequence

from loom_ray.core.text.lexicon import english
from loom_ray.core.text.lexicon.function_words import BEINGS, DEFINITE, INDEFINITE, UNSPACED_BEINGS
from loom_ray.core.text.lexicon.verbs import ASKING, COPULAS, ENGLISH_AUXILIARIES, HAVING, MULTI_VALUED, VERBS
from loom_ray.core.text.words import CONTENT_KINDS, VALUE_KINDS, Kind, Word

_RELATIVE = frozenset("""who which that whom qui que che die der das wie który która которые который которая""".split())
_AMBIGUOUS_ENGLISH = frozenset(
    """run stop park use play work cost start end open close call need want like love hate charge ship host
    report name rank support return lease book cover store back head lead count cap live own prefer
    eat drink drive study enjoy trust visit date hold sit stand share rent hope plan name order
    place""".split()
)
_OWNERS = frozenset(
    """my our your his her their mein unser mon ma notre mi nuestro mio mia meu minha mijn onze mój moja
    мой моя наш""".split()
)
_OPENING_WORDS = 5
_OPENING_CHARACTERS = 14
_TOPIC_PARTICLES = ("은", "는", "이", "가")
_SUBJECT_PRONOUNS = frozenset(
    """i we you he she they it ich wir er sie je nous il elle yo él ella eu ele ela ik wij hij zij""".split()
)


def subject_end(words: Sequence[Word], language: str) -> int:
    """The offset at which the predicate begins: behind a label's colon, else at the first finite verb; 0 if
    unknown."""
    label = _label_end(words)
    if label:
        return label
    named = False
    for at, word in enumerate(words):
        if named and _opens_predicate(words, at, language):
            return word.start
        named = named or word.kind in CONTENT_KINDS or word.folded in _SUBJECT_PRONOUNS
        if named and language == "ko" and word.kind in CONTENT_KINDS and word.text.endswith(_TOPIC_PARTICLES):
            return word.end
    return 0


def _label_end(words: Sequence[Word]) -> int:
    """`Favourite colour: blue` names its subject before the colon."""
    for at, word in enumerate(words[:-1]):
        if word.kind == Kind.MARK and word.text in ".!?;":
            return 0
        if word.kind == Kind.MARK and word.text == ":" and any(before.kind in CONTENT_KINDS for before in words[:at]):
            return word.end
    return 0


def _opens_predicate(words: Sequence[Word], at: int, language: str) -> bool:
    word = words[at]
    if word.kind == Kind.NEGATION:
        return word.folded not in (
            "no",
            "without",
            "kein",
            "ohne",
            "sans",
            "sin",
            "senza",
            "sem",
            "zonder",
            "bez",
            "без",
        )
    if word.folded in COPULAS.get(language, ()) or word.folded in VERBS.get(language, ()):
        return not (at and words[at - 1].folded in _RELATIVE)
    return language == "en" and word.kind in (Kind.WORD, Kind.FUNCTION) and _is_english_verb(words, at)


def _is_english_verb(words: Sequence[Word], at: int) -> bool:
    folded = words[at].folded
    before = words[at - 1]
    if folded in ENGLISH_AUXILIARIES:
        return before.folded not in _RELATIVE
    following = words[at + 1].folded if at + 1 < len(words) else ""
    if before.folded in _RELATIVE or following in COPULAS["en"] or following in ENGLISH_AUXILIARIES:
        return False
    return _is_finite_form(folded, before)


def _is_finite_form(folded: str, before: Word) -> bool:
    if _is_verb(english.IRREGULAR.get(folded, "")):
        return not folded.endswith(("ing", "s"))
    if folded.endswith("ed") and len(folded) > 4:
        return before.kind == Kind.NAME or any(_is_verb(lemma) for lemma in (folded[:-2], folded[:-1], folded[:-3]))
    if folded.endswith("s") and not folded.endswith("ss"):
        return any(_is_verb(lemma) for lemma in (folded[:-1], folded[:-2], folded[:-3] + "y"))
    return _is_verb(folded) and (before.folded in _SUBJECT_PRONOUNS or before.folded.endswith("s"))


def _is_verb(lemma: str) -> bool:
    return lemma in english.VERBS or lemma in _AMBIGUOUS_ENGLISH


def is_indefinite(words: Sequence[Word], language: str) -> bool:
    """Whether it speaks of something not named (a dog, two men, there is): another such statement may be as true."""
    opening = [word for word in words[:3] if word.kind not in (Kind.MARK, Kind.NEGATION)]
    if not opening:
        return False
    first = opening[0]
    if first.folded in INDEFINITE.get(language, ()):
        return True
    counts = first.kind == Kind.NUMBER and not first.key.startswith("number:#")
    if counts and len(opening) > 1 and opening[1].kind == Kind.WORD:
        return True
    return _is_about_some_being(words, language)


def _is_about_some_being(words: Sequence[Word], language: str) -> bool:
    """A being (the man, the small dog) that no name, number or owner tells from others."""
    opening = words[:_OPENING_WORDS]
    if any(word.kind == Kind.NAME or word.kind in VALUE_KINDS or word.folded in _OWNERS for word in opening):
        return False
    if language in ("zh", "ja", "ko", "th"):
        text = "".join(word.text for word in words[:_OPENING_CHARACTERS])
        return any(being in text for being in UNSPACED_BEINGS)
    return any(word.folded in BEINGS for word in opening)


def is_multi_valued(words: Sequence[Word], end: int) -> bool:
    """Whether what is said may hold of many things at once (likes cats, languages she speaks: Danish).

    `end` is where the predicate begins. A label is read whole, else the verb that opens the predicate.
    """
    if not words or words[0].folded in ASKING:
        return False
    labelled = any(word.kind == Kind.MARK and word.text == ":" and word.end == end for word in words)
    if labelled:
        return any(word.folded in MULTI_VALUED - HAVING for word in words if word.end <= end)
    return any(word.folded in MULTI_VALUED for word in words if word.start == end)


def names_one_holder(words: Sequence[Word], language: str) -> bool:
    """Whether the predicate is `is the …`: one holder, so that another subject contradicts it."""
    copulas, definite = COPULAS.get(language, frozenset[str]()), DEFINITE.get(language, frozenset[str]())
    for at in range(1, len(words) - 1):
        if words[at].folded in copulas:
            return words[at + 1].folded in definite
    return False
