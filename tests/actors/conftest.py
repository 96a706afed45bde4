"""Where do the scenes of namespaces live? On a disk in memory, the one that storage is tested on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import faiss
import pytest

faiss.omp_set_num_threads(1)  # as in the server: threads that wait for each other cost a hundred times the search
sys.path.append(str(Path(__file__).parents[1] / "storage"))  # for faulty.py


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lives", type=int, default=600, help="how many seeds the namespace simulation plays")
    parser.addoption("--settled", type=int, default=20, help="how many lives of settling and rollback, a policy")
    parser.addoption("--programs", type=int, default=80, help="how many programs are played against the model")


@pytest.fixture
def disk() -> Any:
    """A FaultyDisk without faults."""
    from faulty import FaultyDisk

    return FaultyDisk(seed=1)


@pytest.fixture
async def scene(disk: Any) -> Any:
    """A namespace on it, open."""
    from scene import Scene

    return await Scene(disk.blobs()).open()
