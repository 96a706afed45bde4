"""Which texts of a write do patterns look at?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

from loom_ray.core.row import JsonValue, text_of


class Texts(NamedTuple):
    """`values`: the value as it is written, then each of its strings (of JSON). `names`: what stands beside it (key,
    tags, entities, files, source); only patterns that fold look at them."""

    values: tuple[str, ...]
    names: tuple[str, ...]


def texts_of(value: JsonValue, names: tuple[str, ...] = ()) -> Texts:
    """Of JSON, the strings and keys too: the text of a line break or a quote differs from what it stands for."""
    return Texts(tuple(dict.fromkeys((text_of(value), *_strings(value)))), names)


def _strings(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in cast(list[JsonValue], value):
                yield from _strings(item)
        case dict():
            for key, item in cast(dict[str, JsonValue], value).items():
                yield key
                yield from _strings(item)
        case _:
            pass
