"""Who answers which op? One handler a row of the op table; a test walks the table and misses none."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from loom_ray.actors import reading, writing
from loom_ray.actors.home import Home
from loom_ray.contract.scope import Receipt

Reader = Callable[[Home, Any], Awaitable[Receipt]]
Writer = Callable[[Home, Any, writing.Remember], Awaitable[Receipt]]

READERS: dict[str, Reader] = {
    "namespace.info": reading.info,
    "memory.get": reading.get_,
    "memory.get_by_id": reading.get_by_id_,
    "memory.list": reading.list_,
    "memory.search": reading.search,
    "memory.history": reading.history,
    "conflicts.list": reading.conflicts,
}
WRITERS: dict[str, Writer] = {
    "namespace.register": writing.register,
    "memory.set": writing.set_,
    "memory.bulk_set": writing.bulk_set,
    "memory.delete": writing.delete,
    "memory.restore": writing.restore,
}
