"""How often is a verdict right on labelled pairs of statements? By tier, source and language, beside plain cosine.

    python benchmarks/verdicts.py --pairs PATH [--tier strict] [--policy newest_wins] [--probe PATH] [--misses N]

PATH holds JSON lines: `stored`, `incoming`, `expect` (update, conflict, duplicate, merge, clear), `accept` and `never`
(lists of the same words), `tier`, `source`, `lang`, `group`, and maybe `stored_time` and `incoming_time` (whole
numbers: years, or places in a row). Both are written to an empty namespace as the server writes, incoming under another
key and last; what incoming is answered is scored:

- under newest_wins an `update` is what we call refines: the older row retired. Under auto_reinforce, which retires
  nothing, a conflict counts as one where an update is expected;
- `merge` there means "says it and more": our clear that names its peer. Our merge and duplicate are its `duplicate`.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loom_ray.actors.embedding.actor import EmbedderService
from loom_ray.contract.settings import Settings
from loom_ray.contract.writing import SetRequest
from loom_ray.core.calibration import ProbePair, calibrate, parse_probe
from loom_ray.core.decide.claim import SECOND_NS, settle
from loom_ray.core.decide.rules import Rules
from loom_ray.core.decide.write import Embedded, Written, decide_writes
from loom_ray.core.draft import By, Draft
from loom_ray.core.judging.thresholds import ThresholdValues
from loom_ray.core.similarity import similarities
from loom_ray.core.state import State

EMBED_DEADLINE_S = 600.0
EMBED_AT_ONCE = 256
IN_LABELS = {"merge": "duplicate", "refines": "update"}  # our words in those of the labels
START_NS = 2_000_000_000 * SECOND_NS
NO_MEANING = np.zeros((1, 1), np.float16)  # the neighbours are given; vectors are only stored


@dataclass(frozen=True, slots=True)
class Answered:
    """A labelled pair, its similarity, and what it is answered: by the judge and by the cosine alone."""

    pair: dict[str, Any]
    similarity: float
    rule: str
    answer: str
    floor: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--tier", choices=("strict", "lax"), help="one tier alone")
    parser.add_argument("--policy", choices=("auto_reinforce", "newest_wins"), default="auto_reinforce")
    parser.add_argument("--probe", type=Path, help="labelled pairs to calibrate on, instead of the package's own")
    parser.add_argument("--misses", type=int, default=0, help="print so many harmful answers of each source")
    arguments = parser.parse_args()
    pairs = [json.loads(line) for line in arguments.pairs.read_text(encoding="utf-8").splitlines() if line.strip()]
    pairs = [pair for pair in pairs if arguments.tier in (None, pair["tier"])]
    probe = labelled(arguments.probe) if arguments.probe else []
    answered = asyncio.run(run(pairs, probe, arguments.policy))
    for tier in sorted({pair["tier"] for pair in pairs}, reverse=True):
        report(tier, [one for one in answered if one.pair["tier"] == tier], arguments.misses)


async def run(pairs: Sequence[dict[str, Any]], probe: Sequence[ProbePair], policy: str) -> list[Answered]:
    """Embed as the server does, calibrate, decide each pair."""
    settings = Settings(embedder="local")
    service = EmbedderService(settings)
    await service.start()
    calibration = await calibrated(service, probe)
    rules = Rules(settings, {"default_conflict_policy": policy}, calibration)
    print(f"{policy}; thresholds: conflict {calibration.conflict}, duplicate {calibration.duplicate} (calibration)")
    cosines = await cosines_of(service, [(pair["incoming"], pair["stored"]) for pair in pairs])
    await service.close()
    before = time.perf_counter()
    answered = [answer(pair, cosine, rules) for pair, cosine in zip(pairs, cosines, strict=True)]
    each_ms = (time.perf_counter() - before) / len(pairs) * 1e3
    print(f"{len(pairs)} pairs written and judged at {each_ms:.3f} ms each")
    return answered


async def calibrated(service: EmbedderService, probe: Sequence[ProbePair]) -> ThresholdValues:
    """The server's own calibration, or one on the given probe."""
    calibration = service.describe().calibration
    if probe:
        cosines = await cosines_of(service, [(one.a, one.b) for one in probe])
        calibration = calibrate([one.label for one in probe], cosines, service.describe().stamp, semantic=True)
    if calibration is None or calibration.thresholds is None:
        raise SystemExit("the embedder cannot be calibrated")
    return calibration.thresholds


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


def answer(pair: dict[str, Any], cosine: float, rules: Rules) -> Answered:
    """Both sides written, in a namespace of their own."""
    state = State()
    stored_at, incoming_at = valid_times(pair)
    stored = write(state, rules, "stored", pair["stored"], stored_at, {})
    written = write(state, rules, "incoming", pair["incoming"], incoming_at, {stored.row.memory_id: cosine})
    outcome = written.outcome
    reached = next(iter(written.settled.verdicts.values()), {})
    judged = next(iter(reached.values()), None)  # says more than that nothing is close
    given = "merge" if outcome.verdict == "clear" and outcome.peers else IN_LABELS.get(outcome.verdict, outcome.verdict)
    rule = judged.rule if judged is not None and outcome.verdict == "clear" else outcome.rule
    thresholds = rules.thresholds(written.row.memory_type)
    plain = "clear" if cosine < thresholds.conflict.value else "conflict"
    plain = "duplicate" if cosine >= thresholds.duplicate.value else plain
    return Answered(pair, cosine, rule, as_labelled(pair, given, rules), as_labelled(pair, plain, rules))


def valid_times(pair: dict[str, Any]) -> tuple[str | None, str | None]:
    """When either became true, where both say so. Serial numbers are no years: only their order counts."""
    stored, incoming = pair.get("stored_time"), pair.get("incoming_time")
    if stored is None or incoming is None:
        return None, None
    first, second = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
    return (first, second) if int(stored) <= int(incoming) else (second, first)


def write(
    state: State, rules: Rules, memory_key: str, value: str, valid_at: str | None, near: Mapping[str, float]
) -> Written:
    """The server's own way of a write, the waiting left out."""
    request = SetRequest.model_validate({"memory_key": memory_key, "value": value, "valid_at": valid_at})
    draft = Draft(state, START_NS + len(state.rows) * SECOND_NS, By("memory.set", "process:-"))
    claims = [settle(request, request, None, rules)]
    (written,) = decide_writes(draft, claims, {0: Embedded(NO_MEANING, near)}, rules, [memory_key])
    for record in draft.records:
        state.apply(record)
    return written


def as_labelled(pair: dict[str, Any], given: str, rules: Rules) -> str:
    flagged = given == "conflict" and rules.policy != "newest_wins"
    return "update" if flagged and pair["expect"] == "update" else given


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
    print(f"{'answer, rule':34}{'n':>6}{'harm':>8}")
    for given, rule in sorted({(one.answer, one.rule) for one in answered}):
        of_rule = [one for one in answered if (one.answer, one.rule) == (given, rule)]
        harm = sum(one.answer in one.pair["never"] for one in of_rule)
        print(f"{given + ' ' + rule:34}{len(of_rule):6}{harm:8}")


def show(answered: Sequence[Answered], misses: int) -> None:
    for source in sorted({one.pair["source"] for one in answered}) if misses else ():
        harmful = [one for one in answered if one.pair["source"] == source and one.answer in one.pair["never"]]
        for one in harmful[:misses]:
            print(f"{source} {one.similarity:.2f} want {one.pair['expect']} got {one.answer} ({one.rule})")
            print(f"    {one.pair['stored'][:160]!r}\n    {one.pair['incoming'][:160]!r}")


if __name__ == "__main__":
    main()
