"""How is a text embedded by an endpoint? Over the OpenAI protocol, with nothing in its answer taken on trust."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, Omit, OpenAIError, omit
from openai.types import CreateEmbeddingResponse

from loom_ray.actors.embedding.port import Kind, TextRefused, rounded
from loom_ray.contract.errors import BackendUnavailable
from loom_ray.contract.settings import Settings
from loom_ray.core.records import EmbedderStamp, Vectors
from loom_ray.core.text.preparation import PREPARATION

_DEFAULT_BASE_URL = "https://api.openai.com/v1"
_REQUEST_CHARS_MAX = 100_000  # the API's bound is 300,000 tokens; a character is rarely more than two
_ATTEMPTS_MAX = 3
_FIRST_DELAY_S = 0.2
_REFUSED_TEXT = frozenset({400, 413, 422})


class OpenAIEmbedder:
    """Any endpoint that serves `POST /embeddings` as OpenAI does. Its messages never hold the key or a body."""

    kind: Kind = "openai"
    semantic = True

    def __init__(self, settings: Settings) -> None:
        self.stamp = EmbedderStamp(f"openai:{settings.embedder_model}", settings.embedder_dimensions, PREPARATION)
        self.batch_max = settings.embedder_batch_max
        self._model = settings.embedder_model
        self._deadline_s = settings.embedder_deadline_s
        self._dimensions: int | Omit = settings.embedder_dimensions
        self._dimensions_may_be_refused = True
        self._client = AsyncOpenAI(
            api_key=settings.embedder_api_key.get_secret_value() or "none",
            base_url=settings.embedder_base_url or _DEFAULT_BASE_URL,
            timeout=settings.embedder_deadline_s,
            max_retries=0,  # _asked_until retries, for it knows the deadline
        )
        self._client.organization = self._client.project = None  # the package would take them from the environment

    async def load(self) -> None:
        """Nothing to load: the calibration is the first request."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        deadline = asyncio.get_running_loop().time() + self._deadline_s
        parts = [await self._asked_until(deadline, part) for part in _parts(texts)]
        return np.concatenate(parts)

    async def close(self) -> None:
        await self._client.close()

    async def _asked_until(self, deadline: float, texts: list[str]) -> Vectors:
        """Ask, and ask again after a passing failure while the deadline (loop time) allows it."""
        loop = asyncio.get_running_loop()
        for attempt in range(1, _ATTEMPTS_MAX + 1):
            try:
                async with asyncio.timeout_at(deadline):
                    return self._checked(texts, await self._create(texts))
            except TimeoutError:
                raise BackendUnavailable("the embedding endpoint did not answer in time", retry_after_s=1.0) from None
            except OpenAIError as error:
                refusal = _refusal(error)
                delay_s = _delay_s(error, attempt)
            if delay_s is None or attempt == _ATTEMPTS_MAX or loop.time() + delay_s >= deadline:
                raise refusal
            await asyncio.sleep(delay_s)
        raise AssertionError("the last attempt returns or raises")

    async def _create(self, texts: list[str]) -> CreateEmbeddingResponse:
        """One request. An endpoint whose model has but one dimension may refuse to be told it: then ask without."""
        try:
            response = await self._request(texts, self._dimensions)
        except APIStatusError as error:
            if error.status_code not in _REFUSED_TEXT or not self._dimensions_may_be_refused:
                raise
            response = await self._request(texts, omit)
            self._dimensions = omit
        self._dimensions_may_be_refused = False
        return response

    async def _request(self, texts: list[str], dimensions: int | Omit) -> CreateEmbeddingResponse:
        try:
            return await self._client.embeddings.create(input=texts, model=self._model, dimensions=dimensions)
        except (ValueError, TypeError, AttributeError, LookupError):  # the package on an answer of another form
            raise BackendUnavailable("the embedding endpoint answered in another form than OpenAI's") from None

    def _checked(self, texts: list[str], response: CreateEmbeddingResponse) -> Vectors:
        """The vectors in the order of the texts, or a plain word on what is wrong with them."""
        try:
            by_index = {item.index: item.embedding for item in response.data}
            rows = [np.asarray(by_index[index], dtype=np.float32) for index in range(len(texts))]
        except (ValueError, TypeError, AttributeError, LookupError):
            raise BackendUnavailable(f"the embedding endpoint did not answer {len(texts)} vectors") from None
        dimensions = self.stamp.dimensions
        wrong = next((row for row in rows if row.shape != (dimensions,)), None)
        if wrong is not None:
            raise BackendUnavailable(
                f"the embedding endpoint answered {wrong.size} dimensions, LOOM_EMBEDDER_DIMENSIONS is {dimensions}"
            )
        return rounded(np.stack(rows))


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, cut so that no request passes the character bound."""
    part: list[str] = []
    chars = 0
    for text in texts:
        if part and chars + len(text) > _REQUEST_CHARS_MAX:
            yield part
            part, chars = [], 0
        part.append(text)
        chars += len(text)
    yield part


def _refusal(error: OpenAIError) -> BackendUnavailable:
    """The package's error in our words: a status, never a body, which might hold the key or a text."""
    if isinstance(error, APIStatusError):
        status = error.status_code
        if status in _REFUSED_TEXT:
            return TextRefused(f"the embedding endpoint refused the text (HTTP {status})")
        if status in (401, 403):
            return BackendUnavailable(f"the embedding endpoint refused the key (HTTP {status})")
        return BackendUnavailable(
            f"the embedding endpoint answered HTTP {status}", retry_after_s=_retry_after_s(error) or 1.0
        )
    if isinstance(error, APIConnectionError):
        return BackendUnavailable("the embedding endpoint cannot be reached", retry_after_s=1.0)
    return BackendUnavailable(f"the embedding endpoint's answer is of no use ({type(error).__name__})")


def _delay_s(error: OpenAIError, attempt: int) -> float | None:
    """How long to wait before the next attempt; None where another attempt would fail as this one did."""
    backoff_s = _FIRST_DELAY_S * 2 ** (attempt - 1)
    if isinstance(error, APIStatusError):
        passing = error.status_code in (408, 409, 429) or error.status_code >= 500
        return max(backoff_s, _retry_after_s(error) or 0.0) if passing else None
    return backoff_s if isinstance(error, APIConnectionError) else None


def _retry_after_s(error: APIStatusError) -> float | None:
    headers: Any = error.response.headers
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
