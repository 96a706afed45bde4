"""Where does a listing's next page begin? Opaque to callers, stable while rows come and go."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, cast

from loom_ray.contract.errors import InvalidRequest


def write_cursor(place: tuple[str | int, ...]) -> str:
    """`place`: what the listing is ordered by, of the last row shown."""
    return base64.urlsafe_b64encode(json.dumps(place, ensure_ascii=False).encode("utf-8")).decode("ascii")


def read_cursor(cursor: str, *kinds: type) -> tuple[Any, ...] | None:
    """The place, one item a kind; None for the first page. Raises InvalidRequest for a text that is no cursor of this
    listing."""
    if not cursor:
        return None
    try:
        place = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii")))
    except (ValueError, binascii.Error, TypeError, RecursionError):
        place = None
    items = cast(list[Any], place) if isinstance(place, list) else []
    if not items or [type(item) for item in items] != list(kinds):
        raise InvalidRequest("cursor: is not the next_cursor of a page")
    return tuple(items)
