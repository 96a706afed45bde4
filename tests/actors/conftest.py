"""Where do the scenes of namespaces live? On a disk in memory, the one that storage is tested on."""

from __future__ import annotations

import sys
from pathlib import Path

import faiss
import pytest

faiss.omp_set_num_threads(1)  # as in the server: threads that wait for each other cost a hundred times the search
sys.path.append(str(Path(__file__).parents[1] / "storage"))  # for faulty.py


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lives", type=int, default=600, help="how many seeds the namespace simulation plays")
