"""Which backends pass the suites? A folder, memory, and S3 as moto's server speaks it in its own process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import FaultyDisk
from s3_emulator import KEYS, new_bucket, serve_s3

from loom_ray.storage.blobs import Blobs, open_blobs


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", type=int, default=300, help="how many seeds the storage simulation plays")


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """The address of an S3 emulator over HTTP, in its own process."""
    with serve_s3() as endpoint:
        yield endpoint


@pytest.fixture(params=["file", "memory", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    """An empty backend; one test, three runs."""
    if request.param == "file":
        return open_blobs(f"file://{tmp_path}/root")
    if request.param == "memory":
        return FaultyDisk(seed=0).blobs()
    endpoint = request.getfixturevalue("s3_endpoint")
    return open_blobs(new_bucket(endpoint), {**KEYS, "aws_endpoint": endpoint})
