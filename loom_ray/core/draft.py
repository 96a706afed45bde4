"""What would the namespace hold if this request were carried out? Changes stay here until they are applied."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from loom_ray.core.records import Allowed, Audited, Disallowed, Record, Registered, Reinforced, RowWritten, Vectors
from loom_ray.core.row import Address, Row, Status, share_a_user
from loom_ray.core.similarity import similarities
from loom_ray.core.state import KeyPair, State


class By(NamedTuple):
    """Who changes something, and by which op."""

    action: str
    actor: str
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What the audit says of one change, beside the row itself: see `Audited`. An action of its own is what the server
    does by itself."""

    effect: str = ""
    verdict: str = ""
    reason: str = ""
    related_id: str = ""
    action: str = ""


PLAIN = Note()


class Draft:
    """Reads see the draft's own changes over the state; the state is never touched.

    A request that is refused, or only a dry run, throws its draft away. `now` is in ns. Every change leaves its row of
    the audit beside it.
    """

    def __init__(self, state: State, now: int, by: By) -> None:
        self.now = now
        self.by = by
        self.records: list[Record] = []
        self.excerpts = Excerpts()
        self._state = state
        self._rows: dict[str, Row] = {}
        self._ids_by_address: dict[Address, str] = {}
        self._ids: dict[str, set[str]] = defaultdict(set)  # by key, by digest and by canonical, as `key:…` and so on
        self._allowed: dict[KeyPair, bool] = {}
        self._last_version = state.last_version
        self.commit_id = self.next_version  # what the audit of everything that this draft changes has in common

    def twin(self) -> Draft:
        """An empty draft over the same state, to try something out."""
        return Draft(self._state, self.now, self.by)

    def row(self, memory_id: str) -> Row | None:
        return self._rows.get(memory_id) or self._state.rows.get(memory_id)

    def row_at(self, address: Address) -> Row | None:
        mine = self._ids_by_address.get(address)
        return self._rows[mine] if mine else self._state.row_at(address)

    def rows_of_key(self, memory_key: str, user_id: str) -> list[Row]:
        """Of `user_id` and of nobody; of everybody where that user is nobody."""
        current = self._current(self._ids[f"key:{memory_key}"] | self._state.ids_of_key(memory_key, user_id))
        return [row for row in current if share_a_user(row.user_id, user_id)]

    def live_rows_of_digest(self, digest: str, user_id: str) -> list[Row]:
        """As `rows_of_key`, of the rows that hold this canonical form."""
        current = self._current(self._ids[f"digest:{digest}"] | self._state.live_ids_of_digest(digest, user_id))
        return [row for row in current if row.is_live and row.canonical_digest == digest]

    def duplicates_of(self, memory_id: str) -> list[Row]:
        current = self._current(self._ids[f"duplicate:{memory_id}"] | self._state.duplicate_ids_of(memory_id))
        return [row for row in current if row.status is Status.DUPLICATE and row.duplicate_of == memory_id]

    def put(self, row: Row, vectors: Vectors | None = None, note: Note = PLAIN) -> Row:
        """Writes the row's next image, under a version past every other."""
        version = self._stamp()
        image = replace(row, version=version, asserted_at=row.asserted_at or version)
        self._remember(image)
        self.records += (RowWritten(image, vectors), self._audited(image, version, note))
        if vectors is not None:
            self.excerpts.put(row.memory_id, vectors)
        return image

    def change(self, row: Row, note: Note, **fields: Any) -> Row:
        """The next image of a row that exists, with these fields changed and its vectors kept."""
        return self.put(replace(row, **fields), None, note)

    def reinforce(self, row: Row, note: Note, address: Address) -> None:
        """`row` was said again, at `address`: under which key, and by whom, is what the audit tells of it."""
        audited = self._audited(row, self._stamp(), note)
        said = replace(audited, memory_key=address.memory_key, **address.identity._asdict())
        self.records += (Reinforced(row.memory_id, self.now), said)
        self._remember(row.reinforced(self.now))

    def register(self, settings: dict[str, Any]) -> None:
        """The namespace's settings, whole."""
        self.records += (Registered(settings, self.now), self._audited(None, self._stamp(), PLAIN))

    def is_allowed(self, key: str, other_key: str) -> bool:
        """Whether rows of the two keys are known to be about different things."""
        pair = _pair(key, other_key)
        return self._allowed.get(pair, pair in self._state.allowed)

    def allow(self, key: str, other_key: str, reason: str) -> None:
        pair = _pair(key, other_key)
        self.records.append(Allowed(*pair, self.now, reason, self.by.actor))
        self._allowed[pair] = True

    def disallow(self, key: str, other_key: str) -> None:
        pair = _pair(key, other_key)
        self.records += (Disallowed(*pair), self._audited(None, self._stamp(), PLAIN))
        self._allowed[pair] = False

    @property
    def next_version(self) -> int:
        """What the next image is stamped with."""
        return max(self._last_version + 1, self.now)

    def _stamp(self) -> int:
        self._last_version = self.next_version
        return self._last_version

    def _audited(self, row: Row | None, stamp: int, note: Note) -> Audited:
        return Audited(
            stamp=stamp,
            at=self.now,
            commit_id=self.commit_id,
            action=note.action or self.by.action,
            effect=note.effect,
            memory_id=row.memory_id if row else "",
            memory_key=row.memory_key if row else "",
            agent=row.agent if row else "",
            user_id=row.user_id if row else "",
            session_id=row.session_id if row else "",
            content_sha256=row.content_sha256 if row else "",
            version=row.version if row else 0,
            status=row.status.value if row else "",
            verdict=note.verdict,
            reason=note.reason,
            related_id=note.related_id,
            actor=self.by.actor,
            source_class=row.source_class if row else "",
            run_id=self.by.run_id,
            source_resource_id=row.source_resource_id if row else "",
        )

    def _remember(self, row: Row) -> None:
        self._rows[row.memory_id] = row
        self._ids_by_address[row.address] = row.memory_id
        for name in (f"key:{row.memory_key}", f"digest:{row.canonical_digest}", f"duplicate:{row.duplicate_of}"):
            self._ids[name].add(row.memory_id)

    def _current(self, memory_ids: set[str]) -> list[Row]:
        rows = (self.row(memory_id) for memory_id in sorted(memory_ids))
        return [row for row in rows if row is not None]


def _pair(key: str, other_key: str) -> KeyPair:
    return (key, other_key) if key <= other_key else (other_key, key)


class Excerpts:
    """The excerpt vectors that a draft wrote, in one growing matrix: a batch compares each entry with all before it."""

    def __init__(self) -> None:
        self._places: dict[str, int | None] = {}  # None: the row was written without a vector
        self._matrix: npt.NDArray[np.float64] = np.empty(
            (0, 0)
        )  # of half-precision numbers; converted once, not each time
        self._used = 0

    def put(self, memory_id: str, vectors: Vectors) -> None:
        """`vectors`: (1 + chunks or 0, dimensions); only the first, the excerpt's, is kept."""
        if not len(vectors):
            self._places[memory_id] = None
            return
        if self._used == len(self._matrix):
            grown = np.zeros((max(16, 2 * self._used), vectors.shape[1]))
            if self._used:
                grown[: self._used] = self._matrix
            self._matrix = grown
        self._matrix[self._used] = vectors[0]
        self._places[memory_id] = self._used
        self._used += 1

    def near(self, vector: Vectors) -> dict[str, float]:
        """Similarity of `vector`, (dimensions,), to each row written here."""
        if not self._used:
            return {}
        found = similarities(vector[None, :], self._matrix[: self._used])[0].tolist()
        return {memory_id: found[place] for memory_id, place in self._places.items() if place is not None}

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._places
