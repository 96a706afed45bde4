"""Is what held at a time found again? Dated facts are written to a real server, and asked for as of other dates.

    python benchmarks/history.py --data PATH

Each line of the data is a question, two values with the dates from which they held, and dates with the value that held
then. Five ways, each in a namespace of its own:

    get                 both values under one key, in the order of their dates
    get, late news      the same, the older value written last
    search              as the first, asked for by the question
    search, late news   as the second, asked for by the question
    search, two keys    each value under a key of its own, in the order of their dates, under newest_wins

A search counts as right when its first hit is the value that held; it competes with the answers to all other questions.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
from server import running

ENTRIES_A_CALL = 500
FIRST_DAY = "1678-01-01"  # times are kept in ns: what is dated before is refused by the server, and counts as wrong
Line = dict[str, Any]
Right = Callable[[httpx.Client, str, Line, Line], bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    told = [json.loads(line) for line in parser.parse_args().data.read_text().splitlines()]
    lines = [line for line in told if all(fact["valid_from"] >= FIRST_DAY for fact in line["facts"])]
    early = sum(len(line["queries"]) for line in told if line not in lines)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        with running(data) as server, httpx.Client(base_url=server.base_url, timeout=120) as client:
            for name, late, facts_of, right in WAYS:
                if facts_of is under_two_keys:
                    ask(client, "namespace.register", name, default_conflict_policy="newest_wins")
                write(client, name, [fact for line in lines for fact in facts_of(line, late)])
                report(name, [right(client, name, line, query) for line in lines for query in line["queries"]], early)


def report(name: str, right: Sequence[bool], early: int) -> None:
    total = len(right) + early
    print(f"{name:20} {sum(right) / total:.3f} right ({sum(right)} of {total} queries)")


def write(client: httpx.Client, namespace: str, facts: Sequence[Line]) -> None:
    """In the order given; the values of one key settle as separate sets would."""
    for start in range(0, len(facts), ENTRIES_A_CALL):
        ask(client, "memory.bulk_set", namespace, entries=facts[start : start + ENTRIES_A_CALL])


def under_one_key(line: Line, late: bool) -> list[Line]:
    return [{"memory_key": line["id"]} | fact for fact in dated(line, late)]


def under_two_keys(line: Line, late: bool) -> list[Line]:
    return [{"memory_key": f"{line['id']}/{place}"} | fact for place, fact in enumerate(dated(line, late))]


def dated(line: Line, late: bool) -> list[Line]:
    facts = [
        {"value": sentence(line, fact["value"]), "valid_at": f"{fact['valid_from']}T00:00:00Z"}
        for fact in line["facts"]
    ]
    return facts[::-1] if late else facts


def sentence(line: Line, value: str) -> str:
    return f"{line['question']}? {value}"


def got(client: httpx.Client, namespace: str, line: Line, query: Line) -> bool:
    answer = ask(client, "memory.get", namespace, memory_key=line["id"], as_of=moment(query))
    return answer.get("value") == sentence(line, query["expect"])


def sought(client: httpx.Client, namespace: str, line: Line, query: Line) -> bool:
    answer = ask(client, "memory.search", namespace, query=line["question"], as_of=moment(query), top_k=1)
    return [hit["content_excerpt"] for hit in answer["results"]] == [sentence(line, query["expect"])]


def moment(query: Line) -> str:
    return f"{query['as_of']}T00:00:00Z"


def ask(client: httpx.Client, op: str, namespace: str, **arguments: Any) -> Any:
    answer = client.post(f"/v1/{op}", json={"namespace": "-".join(re.findall(r"\w+", namespace))} | arguments)
    if answer.status_code != 200:
        raise SystemExit(f"{op}: {answer.status_code} {answer.text}")
    return answer.json()


WAYS: list[tuple[str, bool, Callable[[Line, bool], list[Line]], Right]] = [
    ("get", False, under_one_key, got),
    ("get, late news", True, under_one_key, got),
    ("search", False, under_one_key, sought),
    ("search, late news", True, under_one_key, sought),
    ("search, two keys", False, under_two_keys, sought),
]

if __name__ == "__main__":
    main()
