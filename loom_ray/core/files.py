"""Which repository files does a text speak of? Paths as they are written in prose, for `memory.for_file`."""

from __future__ import annotations

import re

FILES_MAX = 32

# fmt: off
_KNOWN_ENDINGS = frozenset((
    "c", "cc", "cfg", "cjs", "clj", "cpp", "cs", "css", "csv", "cue", "dart", "ex", "exs", "go", "gradle", "h",
    "hcl", "hpp", "hs", "html", "ini", "ipynb", "java", "jl", "js", "json", "jsonl", "jsx", "kt", "kts", "less",
    "lock", "lua", "m", "md", "mdx", "mjs", "ml", "nix", "php", "pl", "proto", "ps1", "py", "pyi", "pyx", "r", "rb",
    "rs", "rst", "sass", "scala", "scss", "sh", "sol", "sql", "svelte", "swift", "tf", "toml", "ts", "tsx", "txt",
    "vue", "xml", "yaml", "yml", "zig", "zsh", "bash", "fish", "dockerfile", "env", "tfvars", "parquet", "graphql",
))
_KNOWN_NAMES = frozenset((
    "Makefile", "Dockerfile", "Jenkinsfile", "Procfile", "Vagrantfile", "Gemfile", "Rakefile", "CODEOWNERS", ".env",
    ".gitignore", ".gitattributes", ".dockerignore", ".editorconfig",
))
# fmt: on
_CANDIDATE = re.compile(r"(?<![\w/@:.\-])(?:\.{0,2}/)?(?:@?[\w.+\-]{1,128}/){0,24}[\w.+\-]{1,128}")
_LINE_SUFFIX = re.compile(r"[.,;:]+$")
_DOT_NAME = re.compile(r"\.[a-z][\w\-]*(?:\.[\w\-]+)*")


def detect_files(text: str, files_max: int = FILES_MAX) -> list[str]:
    """Paths relative to a repository, in the order of their first mention, each once, at most `files_max`.

    A path has a file ending that repositories hold (`src/app.py`, `README.md`), or is a file known by its name
    (`Makefile`). No URL, no version, no absolute path outside a repository, none that climbs out with `..`.
    """
    found: dict[str, None] = {}
    for match in _CANDIDATE.finditer(text):
        path = _LINE_SUFFIX.sub("", match.group()).removeprefix("./")
        if _is_file(path):
            found[path] = None
            if len(found) == files_max:
                break
    return list(found)


def _is_file(path: str) -> bool:
    if path.startswith(("/", "../")) or "/../" in path:
        return False
    name = path.rpartition("/")[2]
    if name in _KNOWN_NAMES:
        return True
    stem, dot, ending = name.rpartition(".")
    if not dot or ending.lower() not in _KNOWN_ENDINGS:
        return "/" in path and _DOT_NAME.fullmatch(name) is not None
    if "/" in path:
        return True
    is_product = ending == "js" and stem[:1].isupper()  # Node.js, Next.js
    return len(stem) > 1 and not is_product
