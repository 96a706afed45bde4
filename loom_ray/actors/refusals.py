"""What does a client hear when storage refuses or fails?"""

from __future__ import annotations

from loom_ray.contract.errors import BackendUnavailable, LoomError, StorageDamaged
from loom_ray.storage.errors import DamagedLog, DamagedSegment, DamagedSnapshot, StorageError, UnsupportedFormat

DAMAGED = (DamagedSegment, DamagedLog, DamagedSnapshot, UnsupportedFormat)


def storage_refusal(what: str, failure: StorageError) -> LoomError:
    """StorageDamaged where an acknowledged write may be missing, BackendUnavailable where a retry may find it well."""
    if isinstance(failure, DAMAGED):
        return StorageDamaged(f"{what}: {failure}")
    return BackendUnavailable(f"{what}: {failure}", retry_after_s=1.0)
