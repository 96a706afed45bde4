"""Do the rooms keep to what ARCHITECTURE.md draws? Imports go down only, Ray is known to few, files stay small."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "loom_ray"
FILES = sorted(ROOT.rglob("*.py"))
IN_ROOMS = [path for path in FILES if path.parent != ROOT]
ORDER = ["contract", "core", "storage", "actors", "serve", "cli"]  # each may import those before it
KNOWS_RAY = ("actors/cluster/", "serve/app.py", "serve/driver.py")
IMPURE = {"asyncio", "time", "random", "secrets", "socket", "subprocess", "os", "ray", "uuid", "pathlib"}
LINES_MAX = 400


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_there_are_files_to_look_at() -> None:
    assert {room_of(path) for path in FILES if path.parent != ROOT} == set(ORDER)


@pytest.mark.parametrize("path", IN_ROOMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_keeps_to_its_room(path: Path) -> None:
    imports, room = imports_of(path), room_of(path)
    for above in ORDER[ORDER.index(room) + 1 :]:
        assert not any(name.startswith(f"loom_ray.{above}") for name in imports), f"{room} may not know {above}"
    if room == "core":
        assert not {name.split(".")[0] for name in imports} & IMPURE, "core neither waits nor looks around"
    if not str(path.relative_to(ROOT)).startswith(KNOWS_RAY) and room != "cli":
        assert not any(name.split(".")[0] == "ray" for name in imports), "few may know Ray"
    if room not in ("cli", "serve"):  # what serve hands to the processes that it starts is not a setting
        assert not imports & {"os.environ", "os.getenv"}
        assert "os.environ" not in path.read_text(), "the command line alone reads the environment"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_small_and_says_which_question_it_answers(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= LINES_MAX
    assert ast.get_docstring(ast.parse(text)), "the first line says what the file is for"
