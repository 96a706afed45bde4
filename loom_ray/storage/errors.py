"""What can go wrong with bytes that should survive? One tree; fields are positional, so instances survive pickling.

StorageError
├── BlobExists          put_new found something under that path
├── BlobMissing         nothing lies under that path
├── BlobsUnavailable    the disk or the object storage failed; whether a put landed is unknown
├── DamagedSegment      a log segment is torn, foreign, misplaced or fails its checksum
├── DamagedLog          the log has a hole, or a segment in its middle is damaged: acknowledged writes are at stake
├── DamagedSnapshot     a manifest or one of its files is missing, torn or fails its checksum
├── UnsupportedFormat   a file was written by a newer release
├── Fenced              another incarnation owns the namespace now; this one may not write again
├── CommitFailed        an append failed; whether it landed is unknown, and its owner must be rebuilt from the log
├── LogClosed           an append after the log was closed
├── RecordsTooLarge     one submission is larger than a segment may ever be
├── EmbedderChanged     the stored vectors come from another embedder
└── FolderLocked        another server holds the folder
"""

from __future__ import annotations


class StorageError(Exception):
    """Storage refused or failed; the subclass says which."""


class BlobExists(StorageError):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} exists already"


class BlobMissing(StorageError):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path} does not exist"


class PathError(StorageError):
    """A failure that names a path (or a folder) and says why."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(path, why)
        self.path = path
        self.why = why

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


class BlobsUnavailable(PathError):
    """The disk or the object storage failed or did not answer in time."""


class DamagedSegment(PathError):
    """`torn`: it looks like a write that a crash cut short (short, empty or ending in zeros), not like rot."""

    def __init__(self, path: str, why: str, torn: bool = False) -> None:
        super().__init__(path, why)
        self.args = (path, why, torn)
        self.torn = torn


class DamagedLog(PathError):
    """The file named is damaged or missing, and what it held may have been acknowledged."""


class DamagedSnapshot(PathError):
    """The manifest or snapshot file named cannot be used."""


class UnsupportedFormat(PathError):
    """The file named needs a newer release."""


class Fenced(PathError):
    """The segment named belongs to another incarnation: that one owns the namespace."""


class CommitFailed(PathError):
    """The append of the segment named failed; it may or may not have landed."""


class LogClosed(PathError):
    """The log under the prefix named was closed by its owner."""


class RecordsTooLarge(StorageError):
    def __init__(self, bytes_found: int, bytes_max: int) -> None:
        super().__init__(bytes_found, bytes_max)
        self.bytes_found = bytes_found
        self.bytes_max = bytes_max

    def __str__(self) -> str:
        return f"a submission of {self.bytes_found} bytes exceeds the bound of {self.bytes_max} bytes a segment"


class EmbedderChanged(StorageError):
    """Both stamps in words: `name (dimensions, preparation)`."""

    def __init__(self, stored: str, live: str) -> None:
        super().__init__(stored, live)
        self.stored = stored
        self.live = live

    def __str__(self) -> str:
        return f"the stored vectors come from {self.stored}, the live embedder is {self.live}: they are never mixed"


class FolderLocked(StorageError):
    def __init__(self, root: str, holder: str) -> None:
        super().__init__(root, holder)
        self.root = root
        self.holder = holder

    def __str__(self) -> str:
        return f"another server ({self.holder}) holds {self.root}; stop it first, or choose another storage URL"
