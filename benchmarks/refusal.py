"""What does a refusal cost, and which regexes of others are accepted? Against public regexes, word lists and tests.

    python benchmarks/refusal.py --data PATH [--show]

PATH holds `owasp_crs` (regexes.jsonl and word lists data/*.data), `redos_regexploit` (vectors.jsonl) and
`rust_regex_testdata` (TOML files of the crate regex). Floors are measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from refusal_rust import Judged, judge, tests_in

from loom_ray.core.refusal.engine import compiled
from loom_ray.core.refusal.matching import Budget, Matcher, Texts, texts_of
from loom_ray.core.refusal.pattern import (
    CHECK_BUDGET,
    REGEX_INSTRUCTIONS_MAX,
    SCOPE_INSTRUCTIONS_MAX,
    Pattern,
    PatternRefused,
    PatternScope,
    PatternType,
    check_pattern,
    instructions_of,
)

PROSE = "The ferry to the islands leaves at 7:40 from pier 12, and Mia keeps the 3 tickets in the blue tin. "
MIXED = "Der Schlüssel liegt im Café, ключ от двери за мельницей, 茶 costs 4 €, and the ferry leaves at 7:40. "


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--show", action="store_true", help="print each test that differs")
    arguments = parser.parse_args()
    owasp(arguments.data / "owasp_crs")
    redos(arguments.data / "redos_regexploit" / "vectors.jsonl")
    rust(arguments.data / "rust_regex_testdata", arguments.show)
    full()


def pattern(text: str, kind: PatternType = PatternType.REGEX, *, fold: bool = False) -> Pattern:
    return Pattern(
        pattern_id=text,
        pattern=text,
        pattern_type=kind,
        scope=PatternScope.NAMESPACE,
        org="o",
        namespace="n",
        reason="",
        fold=fold,
        created_at=0,
        actor="",
    )


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def milliseconds(work: Callable[[], object], rounds: int = 5) -> float:
    """The median of some rounds."""
    return statistics.median(_once(work) for _ in range(rounds))


def _once(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


# ---- 1: regexes and word lists of a web firewall ------------------------------------------------------------------
def owasp(folder: Path) -> None:
    regexes = [line["regex"] for line in lines_of(folder / "regexes.jsonl")]
    answers = Counter(answer(regex) for regex in regexes)
    print(f"owasp_crs: {len(regexes)} regexes")
    for reason, count in answers.most_common():
        print(f"  {count:4} {reason}")
    word_lists(folder / "data")


def answer(regex: str) -> str:
    try:
        check_pattern(pattern(regex))
    except PatternRefused as refusal:
        return "refused: " + str(refusal).split(", not ")[0]
    return "accepted"


def word_lists(folder: Path) -> None:
    found = total = 0
    words: list[str] = []
    for path in sorted(folder.glob("*.data")):
        mine = sorted({line.strip() for line in path.read_text(encoding="utf-8").splitlines()} - {""})
        words += [word for word in mine if not word.startswith("#")]
    words = sorted(set(words))
    matcher = Matcher([pattern(word, PatternType.SUBSTRING) for word in words])
    for word in words:
        text = f"On Monday {word} was seen."
        refused = matcher.check(texts_of(text), Budget())
        total += 1
        found += refused is not None and refused.pattern is not None and refused.pattern.pattern in text
    print(f"  word lists: {found} of {total} words found as substrings in a text that holds them")


# ---- 2: regexes that hang a backtracking engine -------------------------------------------------------------------
def redos(path: Path, characters: int = 100_000) -> None:
    regexes = [line["regex"] for line in lines_of(path)]
    refusals, took, floors = Counter[str](), list[tuple[float, str]](), list[float]()
    for regex in regexes:
        if (said := answer(regex)) != "accepted":
            refusals[said] += 1
            continue
        matcher = Matcher([pattern(regex)])
        for text in attacks(regex, characters):
            texts = texts_of(text)
            took.append((_once(lambda m=matcher, t=texts: m.check(t, Budget())), regex))
            floors.append(_once(lambda t=text: "\x02" in t))
    worst, median, floor = max(took), statistics.median(one for one, _ in took), statistics.median(floors)
    print(f"redos_regexploit: {len(regexes)} regexes, {characters:,} characters, {len(took)} checks")
    for reason, count in refusals.most_common():
        print(f"  {count:4} {reason}")
    print(f"  worst {worst[0]:.2f} ms ({worst[1][:50]}), median {median:.2f} ms; floor (one `in`) {floor:.3f} ms")


def attacks(regex: str, characters: int) -> Iterator[str]:
    """What such regexes hang on: long runs of what they repeat, and an end that does not fit."""
    letters = "".join(dict.fromkeys(letter for letter in regex if letter.isalnum())) or "a"
    for piece in ("a", " ", "0", "-", "x", '"', letters, letters[0], letters[-1], f"{letters} "):
        yield (piece * characters)[: characters - 1] + "\x03"


# ---- 3: the tests of another linear engine ------------------------------------------------------------------------
def rust(folder: Path, show: bool) -> None:
    judged = Counter[Judged]()
    for test in tests_in(folder):
        verdict = judge(test)
        judged[verdict] += 1
        if show and verdict.answer == "differs":
            print(f"  {test.name}: {test.regexes} on {test.haystack!r}: {verdict.why}")
    by_answer = Counter[str]()
    for verdict, count in judged.items():
        by_answer[verdict.answer] += count
    print(f"rust_regex_testdata: {sum(judged.values())} tests: {dict(by_answer)}")
    for verdict, count in judged.most_common():
        if verdict.why:
            print(f"  {count:4} {verdict.answer}: {verdict.why}")


# ---- 4: as full as it gets ----------------------------------------------------------------------------------------
def full(characters: int = 32_768) -> None:
    substrings = [pattern(f"{word} {number:04}", PatternType.SUBSTRING) for number, word in words(3000)]
    texts = {"prose": (PROSE * characters)[:characters], "mixed": (MIXED * characters)[:characters]}
    measure("3,000 substrings", substrings, texts)
    measure("3,000 substrings, fold", [pattern(one.pattern, one.pattern_type, fold=True) for one in substrings], texts)
    long = [pattern((one.pattern + " ") * 300, PatternType.SUBSTRING) for one in substrings]
    measure(
        "3,000 substrings of 3,000 characters and more",
        [pattern(one.pattern[:4000], one.pattern_type) for one in long],
        texts,
    )
    regexes = [pattern(regex) for scope in range(10) for regex in a_full_scope(scope)]
    measure(f"10 full regex scopes ({sum(map(instructions_of, regexes)):,} instructions)", regexes, texts)
    measure("10 full regex scopes, fold", [pattern(one.pattern, fold=True) for one in regexes], texts)


def words(count: int) -> Iterator[tuple[int, str]]:
    for number in range(count):
        yield number, "".join(chr(97 + (number // 26**place + 7 * place) % 26) for place in range(6)).capitalize()


def a_full_scope(scope: int) -> Iterator[str]:
    """Regexes of several kinds, together just below the bound."""
    kinds = (r"\bseal-{0}-\d{{{1}}}\b", r"(?i)[a-z]{{{1}}}{0}x", r"(?:ab|cd|ef){{{1}}}{0}", r"\p{{Greek}}{0}.{{{1}}}!")
    left = SCOPE_INSTRUCTIONS_MAX
    for number in range(100):
        kind = kinds[number % len(kinds)]
        fitting = [
            regex
            for size in range(120, 0, -1)
            if instructions_of(pattern(regex := kind.format(f"{scope}q{number}", size)))
            <= min(left, REGEX_INSTRUCTIONS_MAX)
        ]
        if not fitting:
            return
        left -= instructions_of(pattern(fitting[0]))
        yield fitting[0]


def measure(name: str, patterns: list[Pattern], texts: dict[str, str]) -> None:
    before = resident_mb()
    build = _once(lambda: Matcher(patterns))
    matcher = Matcher(patterns)
    print(f"{name}: {len(patterns)} patterns, built in {build:.0f} ms, {resident_mb() - before:+.0f} MB")
    for kind, text in texts.items():
        whole = Texts((text,), ())
        took = milliseconds(lambda w=whole: matcher.matches(w))
        found = matcher.check(whole, Budget())
        said = "passes" if found is None else found.reason or "refused"
        print(f"  {kind}, {len(text.encode()):,} bytes: {took:.2f} ms; {beside(patterns, text, took)}; {said}")
    again = _once(lambda: matcher.with_patterns(patterns[1:]))
    print(f"  one pattern less: {again:.1f} ms; {resident_mb() - before:+.0f} MB after the checks")


def beside(patterns: list[Pattern], text: str, took: float) -> str:
    if patterns[0].pattern_type is PatternType.SUBSTRING:
        floor = milliseconds(lambda: [one.pattern in text for one in patterns], 3)
        return f"a loop of `in` {floor:.2f} ms ({took / floor:.2f} of it)"
    regexes, data = [compiled(one.pattern) for one in patterns], text.encode()
    floor = milliseconds(lambda: [regex.search(data) for regex in regexes], 3)
    cost = len(data) * sum(map(instructions_of, patterns))
    return f"RE2 alone {floor:.2f} ms ({took / floor:.2f} times); {cost / CHECK_BUDGET:.2f} of the budget"


if __name__ == "__main__":
    main()
