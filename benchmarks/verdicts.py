"""How often is a verdict right on labelled pairs of statements? By tier, source and language, beside plain cosine.

    python benchmarks/verdicts.py --pairs PATH [--tier strict] [--policy default] [--probe PATH] [--misses N]

PATH holds JSON lines: `stored`, `incoming`, `expect` (update, conflict, duplicate, merge, clear), `accept` and `never`
(lists of the same words), `tier`, `source`, `lang`, `group`. Stored is written, then incoming under another key; what
incoming is answered is scored:

- an `update` counts as given by a conflict (the default policy retires nothing);
- `merge` there means "says it and more": our clear that names its peer, or a duplicate.

exact: the expected answer · accepted: one of `accept` · harm: one of `never` · swallowed: updates and conflicts that
are answered duplicate or merge · false alarms: clear pairs that are answered conflict, or duplicate where that is in
`never`. The floor compares the cosine alone with the same two thresholds.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loom_ray.actors.embedding.actor import EmbedderService
from loom_ray.contract.settings import Settings
from loom_ray.core.calibration import ProbePair, calibrate, parse_probe
from loom_ray.core.judging.pair import PairKind, PairVerdict, judge_pair
from loom_ray.core.judging.thresholds import Threshold, Thresholds
from loom_ray.core.similarity import similarities

EMBED_DEADLINE_S = 600.0
EMBED_AT_ONCE = 256
ANSWERS = {PairKind.MERGE: "duplicate", PairKind.ELABORATION: "merge"}  # in the words of the labels


@dataclass(frozen=True, slots=True)
class Answered:
    """A labelled pair, its similarity, and what it is answered: by the judge and by the cosine alone."""

    pair: dict[str, Any]
    similarity: float
    verdict: PairVerdict
    answer: str
    floor: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--tier", choices=("strict", "lax"), help="one tier alone")
    parser.add_argument("--policy", choices=("default",), default="default")
    parser.add_argument("--probe", type=Path, help="labelled pairs to calibrate on, instead of the package's own")
    parser.add_argument("--misses", type=int, default=0, help="print so many harmful answers of each source")
    arguments = parser.parse_args()
    pairs = [json.loads(line) for line in arguments.pairs.read_text(encoding="utf-8").splitlines() if line.strip()]
    pairs = [pair for pair in pairs if arguments.tier in (None, pair["tier"])]
    probe = labelled(arguments.probe) if arguments.probe else []
    answered = asyncio.run(run(pairs, probe))
    for tier in sorted({pair["tier"] for pair in pairs}, reverse=True):
        report(tier, [one for one in answered if one.pair["tier"] == tier], arguments.misses)


async def run(pairs: Sequence[dict[str, Any]], probe: Sequence[ProbePair]) -> list[Answered]:
    """Embed as the server does, calibrate, judge each pair."""
    service = EmbedderService(Settings(embedder="local"))
    await service.start()
    thresholds = await calibrated(service, probe)
    print(f"thresholds: conflict {thresholds.conflict.value}, duplicate {thresholds.duplicate.value} (calibration)")
    cosines = await cosines_of(service, [(pair["incoming"], pair["stored"]) for pair in pairs])
    await service.close()
    before = time.perf_counter()
    answered = [answer(pair, cosine, thresholds) for pair, cosine in zip(pairs, cosines, strict=True)]
    each_ms = (time.perf_counter() - before) / len(pairs) * 1e3
    print(f"{len(pairs)} pairs judged at {each_ms:.3f} ms each, analysis included")
    return answered


async def calibrated(service: EmbedderService, probe: Sequence[ProbePair]) -> Thresholds:
    """The server's own calibration, or one on the given probe."""
    calibration = service.describe().calibration
    if probe:
        cosines = await cosines_of(service, [(one.a, one.b) for one in probe])
        calibration = calibrate([one.label for one in probe], cosines, service.describe().stamp, semantic=True)
    if calibration is None or calibration.thresholds is None:
        raise SystemExit("the embedder cannot be calibrated")
    values = calibration.thresholds
    return Thresholds(Threshold(values.conflict, "calibration"), Threshold(values.duplicate, "calibration"))


def labelled(path: Path) -> list[ProbePair]:
    """Probe pairs; the label may stand under `class`."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return parse_probe("\n".join(json.dumps({"label": one.get("class"), **one}) for one in lines))


async def cosines_of(service: EmbedderService, pairs: Sequence[tuple[str, str]]) -> list[float]:
    texts = sorted({text for pair in pairs for text in pair})
    row = {text: at for at, text in enumerate(texts)}
    batches = [texts[at : at + EMBED_AT_ONCE] for at in range(0, len(texts), EMBED_AT_ONCE)]
    vectors = np.concatenate([await service.embed(batch, EMBED_DEADLINE_S) for batch in batches])
    return [float(similarities(vectors[[row[ours]]], vectors[[row[theirs]]])[0, 0]) for ours, theirs in pairs]


def answer(pair: dict[str, Any], cosine: float, thresholds: Thresholds) -> Answered:
    """The one place where a verdict is asked for."""
    verdict = judge_pair(pair["incoming"], pair["stored"], cosine, thresholds, same_key=False)
    given = ANSWERS.get(verdict.kind, verdict.kind.value)
    plain = "clear" if cosine < thresholds.conflict.value else "conflict"
    plain = "duplicate" if cosine >= thresholds.duplicate.value else plain
    return Answered(pair, cosine, verdict, as_labelled(pair, given), as_labelled(pair, plain))


def as_labelled(pair: dict[str, Any], given: str) -> str:
    return "update" if given == "conflict" and pair["expect"] == "update" else given


def half_of(pair: dict[str, Any]) -> str:
    """Groups (a person, a conversation) fall whole into one half: rules are made on `dev`, and `check` is only read."""
    return "check" if hashlib.sha256(pair["group"].encode()).digest()[0] % 2 else "dev"


def report(tier: str, answered: Sequence[Answered], misses: int) -> None:
    print(f"\n{tier:34}{'n':>6}{'exact':>8}{'accept':>8}{'harm':>8}{'swallow':>9}{'false':>8}")
    line("all", answered)
    line("floor: cosine alone", answered, lambda one: one.floor)
    for title, key in (
        ("half", lambda one: half_of(one.pair)),
        ("source", lambda one: one.pair["source"]),
        ("language", lambda one: one.pair["lang"]),
        ("expected", lambda one: one.pair["expect"]),
    ):
        for value in sorted({key(one) for one in answered}):
            line(f"{title} {value}", [one for one in answered if key(one) == value])
    by_rule(answered)
    show(answered, misses)


def line(title: str, answered: Sequence[Answered], given: Callable[[Answered], str] = lambda one: one.answer) -> None:
    changed = [one for one in answered if one.pair["expect"] in ("update", "conflict")]
    clear = [one for one in answered if one.pair["expect"] == "clear"]
    scores = (
        share(answered, lambda one: given(one) == one.pair["expect"]),
        share(answered, lambda one: given(one) in one.pair["accept"]),
        share(answered, lambda one: given(one) in one.pair["never"]),
        share(changed, lambda one: given(one) == "duplicate"),
        share(clear, lambda one: is_false_alarm(one, given(one))),
    )
    print(
        f"{title:34}{len(answered):6}"
        + "".join(f"{score:>{width}}" for score, width in zip(scores, (8, 8, 8, 9, 8), strict=True))
    )


def is_false_alarm(one: Answered, given: str) -> bool:
    return given in ("conflict", "update") or (given in ("duplicate", "merge") and given in one.pair["never"])


def share(answered: Sequence[Answered], holds: Callable[[Answered], bool]) -> str:
    return f"{sum(map(holds, answered)) / len(answered):.3f}" if answered else "-"


def by_rule(answered: Sequence[Answered]) -> None:
    """Which rule decided how often, and how much of it was harm."""
    print(f"{'rule':34}{'n':>6}{'harm':>8}")
    rules = sorted({(one.verdict.kind.value, one.verdict.rule) for one in answered})
    for kind, rule in rules:
        of_rule = [one for one in answered if (one.verdict.kind.value, one.verdict.rule) == (kind, rule)]
        harm = sum(one.answer in one.pair["never"] for one in of_rule)
        print(f"{kind + ' ' + rule:34}{len(of_rule):6}{harm:8}")


def show(answered: Sequence[Answered], misses: int) -> None:
    for source in sorted({one.pair["source"] for one in answered}) if misses else ():
        harmful = [one for one in answered if one.pair["source"] == source and one.answer in one.pair["never"]]
        for one in harmful[:misses]:
            print(f"{source} {one.similarity:.2f} want {one.pair['expect']} got {one.answer} ({one.verdict.rule})")
            print(f"    {one.pair['stored'][:160]!r}\n    {one.pair['incoming'][:160]!r}")


if __name__ == "__main__":
    main()
