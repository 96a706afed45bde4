"""Where do the scenes of namespaces live? On a disk in memory, the one that storage is tested on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "storage"))  # for faulty.py


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lives", type=int, default=2000, help="how many seeds the namespace simulation plays")
