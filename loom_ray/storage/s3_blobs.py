"""How do blobs survive in an object storage that speaks S3? Conditional puts through obstore."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from loom_ray.storage.blobs import check_path, check_prefix
from loom_ray.storage.errors import BlobExists, BlobMissing, BlobsUnavailable

# A dead endpoint answers within CONNECT_S_MAX * (RETRIES_MAX + 1) plus the pauses between; a silent one within
# RETRY_S_MAX + REQUEST_S_MAX. obstore's own defaults (30 s a request, 10 retries, 180 s) hold a writer for minutes.
CONNECT_S_MAX = 3
REQUEST_S_MAX = 30
RETRIES_MAX = 3
RETRY_S_MAX = 20
COLLISIONS_MAX = 4  # 409s of puts that met one another and left nothing
NONCE = "loom-nonce"


class S3Blobs:
    """Blobs under a bucket and prefix. Needs If-None-Match on PUT, which S3, R2, MinIO and Ceph have."""

    def __init__(self, url: str, options: Mapping[str, str]) -> None:
        self._store = S3Store.from_url(
            url,
            config=dict(options),  # type: ignore[arg-type]
            client_options={
                "allow_http": True,  # only an endpoint that the owner set can be http
                "connect_timeout": timedelta(seconds=CONNECT_S_MAX),
                "timeout": timedelta(seconds=REQUEST_S_MAX),
            },
            retry_config={
                "max_retries": RETRIES_MAX,
                "retry_timeout": timedelta(seconds=RETRY_S_MAX),
                "backoff": {
                    "init_backoff": timedelta(milliseconds=100),
                    "max_backoff": timedelta(seconds=2),
                    "base": 2,
                },
            },
        )

    async def put_new(self, path: str, data: bytes) -> None:
        """A 412 may be the echo of our own first try, whose answer was lost: each call signs its object with a nonce,
        so that reading back tells the two apart even if somebody else put the same bytes."""
        nonce = uuid4().hex
        for _ in range(COLLISIONS_MAX):
            try:
                async with unavailable(path):
                    await self._put(check_path(path), data, "create", nonce)
                return
            except BlobExists:
                found = await self._nonce_of(path)
            if found == nonce:
                return
            if found is not None:
                raise BlobExists(path)
        raise BlobsUnavailable(path, f"{COLLISIONS_MAX} conditional puts met others and none landed")

    async def put(self, path: str, data: bytes) -> None:
        async with unavailable(path):
            await self._put(check_path(path), data, "overwrite", uuid4().hex)

    async def get(self, path: str) -> bytes:
        async with unavailable(path):
            answer = await obstore.get_async(self._store, check_path(path))
            return bytes(await answer.bytes_async())

    async def list(self, prefix: str) -> list[str]:
        found: list[str] = []
        async with unavailable(prefix):
            async for page in obstore.list(self._store, check_prefix(prefix) or None, chunk_size=1000):
                found += [entry["path"] for entry in page]
        return sorted(found)

    async def delete(self, paths: Iterable[str]) -> None:
        doomed = [check_path(path) for path in paths]
        if not doomed:
            return
        async with unavailable(doomed[0]):
            await obstore.delete_async(self._store, doomed)

    async def _put(self, path: str, data: bytes, mode: Any, nonce: str) -> None:
        await obstore.put_async(self._store, path, data, mode=mode, use_multipart=False, attributes={NONCE: nonce})

    async def _nonce_of(self, path: str) -> str | None:
        """The nonce of what lies there: None if nothing does, empty if it is not ours."""
        try:
            async with unavailable(path):
                answer = await obstore.get_async(self._store, path)
        except BlobMissing:
            return None
        return str(answer.attributes.get(NONCE, ""))


@contextlib.asynccontextmanager
async def unavailable(path: str) -> AsyncIterator[None]:
    """obstore's errors as ours."""
    try:
        yield
    except FileNotFoundError:
        raise BlobMissing(path) from None
    except AlreadyExistsError:
        raise BlobExists(path) from None
    except (BaseError, OSError) as error:
        raise BlobsUnavailable(path, f"{type(error).__name__}: {str(error).splitlines()[0]}") from error
