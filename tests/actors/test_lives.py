"""Is anything acknowledged ever lost, doubled, forked or judged by another text's vector? Thousands of seeded lives."""

from __future__ import annotations

from collections import Counter

import pytest
from lives import play

SHARDS = 10


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_seed_breaks_a_promise(shard: int, request: pytest.FixtureRequest) -> None:
    """`pytest tests/actors --lives N` plays N of them; a failure names its seed."""
    for seed in range(shard, request.config.getoption("--lives", default=600), SHARDS):
        try:
            play(seed)
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error}") from error


def test_lives_meet_everything_and_a_seed_tells_the_same_story_twice() -> None:
    stories: list[Counter[str]] = [Counter(), Counter()]
    for seen in stories:
        for seed in range(60):
            play(seed, seen)
    assert stories[0] == stories[1]
    happened = {"landed", "lost", "left", "clear", "merge", "duplicate", "conflict", "OUTCOME_UNKNOWN", "memory.search"}
    assert not happened - stories[0].keys(), stories[0]
