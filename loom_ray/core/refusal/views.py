"""How is a text seen: as it is, and with its disguises taken off? Worked out once a text, when first asked for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from loom_ray.core.refusal.folding import coarse, joined, latin, looks, spelt, tidied
from loom_ray.core.refusal.texts import Texts

_APART = "\0"  # between texts; no pattern holds it


class Views:
    """Of one write. For one thread."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    @cached_property
    def values(self) -> list[bytes]:
        return [text.encode() for text in self._texts.values]

    @cached_property
    def plain(self) -> bytes:
        """What a substring is looked for in."""
        return b"\0".join(self.values)

    @cached_property
    def everything(self) -> bytes:
        """The same with the names."""
        return _APART.join((*self._texts.values, *self._texts.names)).encode()

    @cached_property
    def _tidy(self) -> str:
        text = self.everything.decode()
        return _APART.join(tidied(one) for one in (text, spelt(text)) if one)

    @cached_property
    def _looking(self) -> str:
        return looks(self._tidy)

    @cached_property
    def looking(self) -> bytes:
        """What the regex of a disguised substring is searched in."""
        return self._looking.encode()

    @cached_property
    def coarse(self) -> bytes:
        return coarse(self._looking).encode()

    @cached_property
    def lines(self) -> list[bytes]:
        """What a regex that folds is searched in: every text as it is, and tidied with its lines joined."""
        return _distinct((*self._texts.values, *self._texts.names, *self._joined))

    @cached_property
    def latin(self) -> list[bytes]:
        """The tidied ones with the letters that look Latin taken for Latin; none where there are no such letters."""
        return _distinct([found for text in self._joined if (found := latin(text)) != text])

    @cached_property
    def _joined(self) -> list[str]:
        return [text for whole in joined(self._tidy) for text in whole.split(_APART)]


def _distinct(texts: Iterable[str]) -> list[bytes]:
    return [text.encode() for text in dict.fromkeys(texts)]
