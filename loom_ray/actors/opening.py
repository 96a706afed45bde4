"""How does a namespace wake? From snapshot and log to a home that answers"""

from __future__ import annotations

import logging
from collections.abc import Callable

from loom_ray.actors.directory import Place
from loom_ray.actors.home import EmbedderPort, Home
from loom_ray.actors.namespace import Namespace
from loom_ray.actors.refusals import storage_refusal
from loom_ray.actors.refusing import Keeper, Refusals
from loom_ray.contract.settings import Settings
from loom_ray.core.state import State
from loom_ray.storage.blobs import Blobs
from loom_ray.storage.errors import StorageError
from loom_ray.storage.paths import namespace_prefix
from loom_ray.storage.snapshot import OffLoop
from loom_ray.storage.store import NamespaceStore

_log = logging.getLogger(__name__)


async def open_namespace(
    place: Place,
    settings: Settings,
    blobs: Blobs,
    embedder: EmbedderPort,
    keeper: Keeper,
    incarnation: str,
    now: Callable[[], int],
    off_loop: OffLoop | None = None,
) -> Namespace:
    """Takes the namespace over from whoever had it.

    Raises StorageDamaged, naming the file, where an acknowledged write may be missing, and BackendUnavailable.

    The embedder is not asked: reads by key work while it is down, and its stamp is compared when a vector is needed.
    Nor is the keeper of the refused patterns, before the first write.
    """
    prefix = namespace_prefix(*place)
    threads = {} if off_loop is None else {"off_loop": off_loop}
    try:
        store, recovered = await NamespaceStore.open(blobs, prefix, incarnation, None, **threads)
    except StorageError as failure:
        raise storage_refusal("the namespace cannot be served", failure) from failure
    for note in recovered.notes:
        _log.warning("%s/%s: %s", *place, note)
    home = Home(place, settings, embedder, store, State(), now, Refusals(keeper, settings, now))
    home.load(recovered.image)
    home.apply(recovered.records)
    home.tidy()
    home.indexes.index_words()
    return Namespace(home)
