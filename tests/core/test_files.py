"""Are the repository's paths found in prose, and addresses, versions and products not?"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.files import detect_files


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("The retry loop is in src/net/retry.py.", ["src/net/retry.py"]),
        ("See ./docs/README.md, (tests/test_x.py:12); Makefile", ["docs/README.md", "tests/test_x.py", "Makefile"]),
        ("`core/row.py` and .github/workflows/ci.yml", ["core/row.py", ".github/workflows/ci.yml"]),
        ("модуль src/модуль.py, файл package.json", ["src/модуль.py", "package.json"]),
        ("main.c includes util.h; .gitignore hides .env", ["main.c", "util.h", ".gitignore", ".env"]),
        ("a.py a.py b/a.py", ["b/a.py"]),
        ("app.py, then lib/app.py, then app.py", ["app.py", "lib/app.py"]),
    ],
)
def test_paths_are_found_once_in_order(text, files):
    assert detect_files(text) == files


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/a/b.html",
        "version 1.2.3 and release 4.2",
        "Node.js and Next.js",
        "at 9 a.m in Washington, D.C.",
        "../secrets.txt and /etc/app.conf.txt",
        "a/../b.py",
        "bob@example.py",
        "either/or",
        "",
    ],
)
def test_other_things_with_dots_and_slashes_are_not(text):
    assert detect_files(text) == []


def test_the_number_of_files_is_bounded():
    text = " ".join(f"src/part{n}.py" for n in range(40))
    assert len(detect_files(text)) == 32
    assert detect_files(text, 3) == ["src/part0.py", "src/part1.py", "src/part2.py"]


@given(st.text(alphabet="ab./-_ @:", max_size=200))
def test_a_found_path_stands_in_the_text(text):
    assert all(path in text for path in detect_files(text))


@pytest.mark.parametrize("unit", ["a/", "a", ".", "/", "a-", "a.", "./"])
def test_hostile_repetition_is_read_to_its_end(unit):
    assert detect_files(unit * (100_000 // len(unit)) + " src/last.py")[-1] == "src/last.py"
