"""Is anything acknowledged ever lost, doubled, forked or judged by another text's vector? Thousands of seeded lives."""

from __future__ import annotations

from collections import Counter

import pytest
from lives import play

SHARDS = 10


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_seed_breaks_a_promise(shard: int, request: pytest.FixtureRequest) -> None:
    """`pytest tests/actors --lives N` plays N of them; a failure names its seed."""
    seen: Counter[str] = Counter()
    for seed in range(shard, request.config.getoption("--lives", default=600), SHARDS):
        try:
            play(seed, seen)
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    happened = {"landed", "lost", "left", "clear", "merge", "duplicate", "conflict", "OUTCOME_UNKNOWN", "memory.search"}
    assert not happened - seen.keys(), seen


def test_a_seed_tells_the_same_story_twice() -> None:
    stories: list[Counter[str]] = [Counter(), Counter()]
    for seen in stories:
        for seed in range(20):
            play(seed, seen)
    assert stories[0] == stories[1]
