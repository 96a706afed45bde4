"""Is anything acknowledged ever lost, doubled or forked? Thousands of seeded lives on a faulty disk."""

from __future__ import annotations

import pytest
from simulation import play

SHARDS = 10


@pytest.mark.parametrize("shard", range(SHARDS))
def test_no_seed_breaks_a_promise(shard: int, request: pytest.FixtureRequest) -> None:
    """`pytest tests/storage --seeds N` plays N of them; a failure names its seed."""
    for seed in range(shard, request.config.getoption("--seeds", default=300), SHARDS):
        try:
            play(seed)
        except BaseException as error:
            raise AssertionError(f"seed {seed}: {error}") from error
