"""How are bytes kept under a path? The port that every backend passes the same conformance suite for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from loom_ray.storage.errors import BlobExists, BlobMissing, BlobsUnavailable

__all__ = ["BlobExists", "BlobMissing", "Blobs", "BlobsUnavailable", "check_path", "check_prefix", "open_blobs"]


class Blobs(Protocol):
    """Immutable byte strings under `/`-separated relative paths. Every method raises BlobsUnavailable when the disk or
    the network fails; a put that raised it may or may not have landed, and may even land later."""

    async def put_new(self, path: str, data: bytes) -> None:
        """Store `data` where nothing lies yet; durable when it returns, and everything put into that folder before
        and seen by anybody is durable then too.

        Raises BlobExists if something lies there, whatever its bytes (but not for the echo of this very call).
        """
        ...

    async def put(self, path: str, data: bytes) -> None:
        """Store or replace atomically; durable when it returns."""
        ...

    async def get(self, path: str) -> bytes:
        """Raises BlobMissing."""
        ...

    async def list(self, prefix: str) -> list[str]:
        """All paths under the folder `prefix` at any depth, sorted; `prefix` is empty or ends in `/`."""
        ...

    async def delete(self, paths: Iterable[str]) -> None:
        """Remove what is there of `paths`; what is missing is fine."""
        ...


def check_path(path: str) -> str:
    """The path itself if it is relative and has no empty, `.`, `..` or hidden segment; ValueError otherwise."""
    if not path or any(not segment or segment.startswith(".") for segment in path.split("/")) or "\0" in path:
        raise ValueError(f"not a blob path: {path!r}")
    return path


def check_prefix(prefix: str) -> str:
    """The prefix itself if it is empty or names a whole folder; ValueError otherwise."""
    if prefix and not prefix.endswith("/"):
        raise ValueError(f"a prefix ends in '/': {prefix!r}")
    if prefix:
        check_path(prefix[:-1])
    return prefix


def open_blobs(url: str, options: Mapping[str, str] | None = None) -> Blobs:
    """The backend behind `file://…` (absolute, or relative as in `file://./loom-data`) or `s3://bucket/prefix`.

    `options` are obstore's S3 options (`aws_endpoint`, `aws_region`, `aws_access_key_id`, …) and win over the standard
    AWS_* variables, which obstore reads. Nothing is contacted yet. Raises ValueError for any other URL.
    """
    if url.startswith("file://"):
        from loom_ray.storage.file_blobs import FileBlobs

        return FileBlobs(folder_of(url))
    if url.startswith("s3://") and urlsplit(url).netloc:
        from loom_ray.storage.s3_blobs import S3Blobs

        return S3Blobs(url, options or {})
    raise ValueError(f"a storage URL is file://… or s3://bucket/prefix, not {url!r}")


def folder_of(url: str) -> Path:
    """The absolute folder that a `file://` URL names; ValueError if it names none."""
    path = unquote(url.removeprefix("file://"))
    if not path:
        raise ValueError(f"{url!r} names no folder")
    return Path(path).absolute()
