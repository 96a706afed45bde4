"""Where does a namespace keep its files? Prefixes that never collide, and numbered names that sort."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

BLACKLIST_PREFIX = "blacklist/"  # the log of the keeper of the refused patterns, beside all `ns/`
SEGMENT_CHARS_MAX = 200  # file systems allow 255 bytes a name
HASHED_AFTER_CHARS = 120
SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789-_")
NUMBER = re.compile(r"(\d{20})\b")


def namespace_prefix(org: str, namespace: str) -> str:
    """`ns/<org>/<namespace>/`. Distinct names give distinct prefixes, on case-insensitive file systems too. ValueError
    if one is empty."""
    return f"ns/{path_segment(org)}/{path_segment(namespace)}/"


def path_segment(name: str) -> str:
    """The name percent-encoded (lower-case hexadecimal), everything but a-z, 0-9, `-` and `_` escaped.

    A name too long for a file system is cut and ends in `~` and its SHA-256, which no other encoding contains.
    """
    if not name:
        raise ValueError("an org or namespace has a name")
    raw = name.encode("utf-8")
    encoded = "".join(chr(byte) if byte in SAFE else f"%{byte:02x}" for byte in raw)
    if len(encoded) <= SEGMENT_CHARS_MAX:
        return encoded
    return f"{encoded[:HASHED_AFTER_CHARS]}~{hashlib.sha256(raw).hexdigest()}"


def segment_path(prefix: str, seq: int) -> str:
    return f"{prefix}log/{seq:020d}.jsonl.zst"


def manifest_path(prefix: str, seq: int) -> str:
    return f"{prefix}manifest/{seq:020d}.json"


def snapshot_folder(prefix: str, seq: int) -> str:
    return f"{prefix}snapshot/{seq:020d}/"


def folded_path(prefix: str, folder: str, first: int, last: int) -> str:
    return f"{prefix}{folder}/{first:020d}-{last:020d}.parquet"


def numbers_in(path: str, folder: str) -> list[int]:
    """The sequence numbers in the part of the path after `folder`: one for a segment, two for a folded file; none for
    a file that is not ours."""
    return [int(number) for number in NUMBER.findall(path.removeprefix(folder))]


def numbered(paths: Iterable[str], folder: str) -> dict[int, str]:
    """The paths by their first number, without files that are not ours."""
    found = ((numbers_in(path, folder), path) for path in paths)
    return {numbers[0]: path for numbers, path in found if numbers}
