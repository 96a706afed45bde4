"""What was done, and by whom? Every audit record that was folded, in `audit/`, by hash and never by value."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import pyarrow as pa
import pyarrow.compute as pc

from loom_ray.core.records import Audited
from loom_ray.storage.columns import TIME
from loom_ray.storage.folded import FoldedFiles, Kind, Numbered

_TYPES = {"stamp": pa.int64(), "at": TIME, "commit_id": pa.int64(), "version": pa.int64()}
_COLUMNS = {field.name: _TYPES.get(field.name, pa.string()) for field in fields(Audited)}
_EXACT = ("memory_key", "user_id", "actor", "run_id", "source_class", "source_resource_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditWanted:
    """Which records are asked for; what is empty or None asks for nothing in particular. Times in ns: `since` is the
    first that fits, `until` the first that does not."""

    actions: frozenset[str] | None
    effects: bool  # also what happened to other memories by the way
    commit_ids: frozenset[int] | None = None
    memory_ids: frozenset[str] | None = None
    memory_key: str = ""
    user_id: str = ""
    actor: str = ""
    run_id: str = ""
    source_class: str = ""
    source_resource_id: str = ""
    since: int | None = None
    until: int | None = None

    def admits(self, record: Audited) -> bool:
        return (
            (self.effects or not record.effect)
            and (self.actions is None or record.action in self.actions)
            and (self.commit_ids is None or record.commit_id in self.commit_ids)
            and (self.memory_ids is None or record.memory_id in self.memory_ids)
            and all(getattr(record, name) == wanted for name, wanted in self._exact())
            and (self.since is None or record.at >= self.since)
            and (self.until is None or record.at < self.until)
        )

    def filter(self) -> pc.Expression:
        """`admits`, for a table."""
        return functools.reduce(operator.and_, self._conditions(), pc.scalar(True))

    def _conditions(self) -> Iterator[pc.Expression]:
        if not self.effects:
            yield pc.field("effect") == ""
        if self.actions is not None:
            yield pc.field("action").isin(pa.array(sorted(self.actions), pa.string()))
        if self.commit_ids is not None:
            yield pc.field("commit_id").isin(pa.array(sorted(self.commit_ids), pa.int64()))
        if self.memory_ids is not None:
            yield pc.field("memory_id").isin(pa.array(sorted(self.memory_ids), pa.string()))
        for name, wanted in self._exact():
            yield pc.field(name) == wanted
        if self.since is not None:
            yield pc.field("at") >= pa.scalar(self.since, TIME)
        if self.until is not None:
            yield pc.field("at") < pa.scalar(self.until, TIME)

    def _exact(self) -> Iterator[tuple[str, str]]:
        return ((name, getattr(self, name)) for name in _EXACT if getattr(self, name))


def _audits_table(records: Sequence[Numbered]) -> pa.Table:
    """One row a record, with its segment's number."""
    audits = [(seq, record) for seq, record in records if isinstance(record, Audited)]
    columns = {name: _column([getattr(record, name) for _, record in audits], kind) for name, kind in _COLUMNS.items()}
    return pa.table(columns | {"log_seq": pa.array([seq for seq, _ in audits], pa.int64())})


def _column(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    return pa.array(values, pa.int64()).view(TIME) if kind == TIME else pa.array(values, kind)


AUDIT = Kind("audit", _audits_table, ("stamp",))


async def audits_in(
    audit: FoldedFiles, wanted: AuditWanted, before: int | None, limit: int, through: int
) -> list[Audited]:
    """At most `limit` records with a stamp below `before`, newest first, from segments up to `through`."""
    wanted_here = wanted.filter() & (pc.field("log_seq") <= through)
    if before is not None:
        wanted_here &= pc.field("stamp") < before
    found: list[Audited] = []
    for file in reversed(audit.files):  # stamps rise from file to file
        if len(found) >= limit:
            break
        table = await audit.read(file, wanted_here)
        found += _records(table.slice(max(0, table.num_rows - (limit - len(found)))))[::-1]
    return found


def _records(table: pa.Table) -> list[Audited]:
    columns = {name: table.column(name) for name in _COLUMNS}
    columns["at"] = columns["at"].cast(pa.int64())
    values = zip(*(column.to_pylist() for column in columns.values()), strict=True)
    return [Audited(**dict(zip(columns, each, strict=True))) for each in values]
