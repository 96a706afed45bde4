"""How often is a detected shape right? Recall and false alarms per kind on labelled texts.

    python benchmarks/sensitivity.py --vectors PATH [--plain PATH] [--misses]

PATH holds JSON lines with `id`, `text`, `must` (kinds), `must_not` (kinds), and maybe `report_only` (why the text is
counted apart). `--plain` is a JSON lines file whose every string is ordinary text: what is detected in it is listed.
"""

from __future__ import annotations

import argparse
import json
import timeit
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loom_ray.core.sensitivity import detect


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=Path, required=True)
    parser.add_argument("--plain", type=Path, action="append", default=[])
    parser.add_argument("--misses", action="store_true", help="print each text that was judged wrongly")
    arguments = parser.parse_args()
    score(read(arguments.vectors), arguments.misses)
    for path in arguments.plain:
        plain(path, arguments.misses)
    speed()


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def score(vectors: list[dict[str, Any]], show: bool) -> None:
    wanted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    unwanted: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    reported: Counter[str] = Counter()
    for vector in vectors:
        kinds = detect(vector["text"]).kinds
        if "report_only" in vector:
            reported.update(kinds or ("nothing",))
            continue
        wanted.update(vector["must"])
        unwanted.update(vector["must_not"])
        found.update(kind for kind in vector["must"] if kind in kinds)
        alarms.update(kind for kind in vector["must_not"] if kind in kinds)
        if show and (set(vector["must"]) - set(kinds) or set(vector["must_not"]) & set(kinds)):
            print(f"  {vector['id']}: must {vector['must']}, got {kinds}: {vector['text'][:160]!r}")
    for kind in sorted(wanted | unwanted):
        recall = f"{found[kind] / wanted[kind]:.3f} of {wanted[kind]}" if wanted[kind] else "-"
        alarm = f"{alarms[kind] / unwanted[kind]:.3f} of {unwanted[kind]}" if unwanted[kind] else "-"
        print(f"{kind:12} recall {recall:14} false alarms {alarm}")
    print(f"report_only: {dict(reported)}")


def plain(path: Path, show: bool) -> None:
    texts = list(dict.fromkeys(text for record in read(path) for text in strings(record) if len(text) > 12))
    alarms: Counter[str] = Counter()
    for text in texts:
        kinds = detect(text).kinds
        alarms.update(kinds)
        if show and kinds:
            print(f"  {kinds}: {text[:200]!r}")
    print(f"plain {path.name}: {len(texts)} texts, detected {dict(alarms)}")


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def speed() -> None:
    for name, text in (
        ("plain sentence", "The nightly backup of the orders database is kept in the second vault."),
        ("with numbers", "Release 4.2.1 of the payment gateway was rolled out on 2026-03-14 at 07:35."),
    ):
        count = 2000
        print(f"{name}: {timeit.timeit(lambda text=text: detect(text), number=count) / count * 1e6:.1f} µs")


if __name__ == "__main__":
    main()
