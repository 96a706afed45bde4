"""Is every audit record kept once, found by whoever asks, and readable by any Parquet reader?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import duckdb
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scenes import PREFIX, audited, image, memory, opened, written

from loom_ray.core.records import Audited, Reinforced
from loom_ray.storage.audits import AUDIT, AuditWanted
from loom_ray.storage.file_blobs import FileBlobs
from loom_ray.storage.folded import SMALL_FILES_MAX
from loom_ray.storage.manifest import checksum
from loom_ray.storage.store import NamespaceStore

ALL = AuditWanted(actions=None, effects=True)


async def folded(store: NamespaceStore, records: Iterable[Audited]) -> None:
    """Each in a snapshot of its own."""
    for record in records:
        await store.commit.submit([record])
        await store.snapshot(image(1))


async def test_records_come_newest_first_from_every_file_and_page_by_page() -> None:
    _, blobs = memory()
    store, _ = await opened(blobs, "one")
    records = [audited(stamp) for stamp in range(1, 8)]
    await store.commit.submit(records[:3])
    await store.snapshot(image(1))
    await folded(store, records[3:])
    assert await store.audits(ALL, None, 100) == records[::-1]
    assert await store.audits(ALL, 5, 3) == records[1:4][::-1]
    assert await store.audits(ALL, 1, 3) == []


async def test_what_no_snapshot_has_folded_is_the_actors_to_tell() -> None:
    _, blobs = memory()
    store, recovered = await opened(blobs, "one")
    await store.commit.submit([audited(1)])
    await store.snapshot(image(1))
    await store.commit.submit([audited(2)])
    assert await store.audits(ALL, None, 100) == [audited(1)]
    await store.close()
    again, recovered = await opened(blobs, "two")
    assert [*await again.audits(ALL, None, 100), *recovered.records] == [audited(1), audited(2)]


async def test_files_that_hold_audits_alone_are_merged_too() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    records = [audited(stamp) for stamp in range(1, 41)]
    await folded(store, records)
    files = [path for path in disk.visible if "/audit/" in path]
    assert len(files) <= SMALL_FILES_MAX
    assert not [path for path in disk.visible if "/history/" in path]
    assert await store.audits(ALL, None, 100) == records[::-1]


async def test_images_and_audits_of_one_fold_merge_together() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    for stamp in range(1, 31):
        rows = [written(1, stamp)] if stamp % 3 else [Reinforced("m1", stamp)]
        await store.commit.submit([*rows, audited(stamp)])
        await store.snapshot(image(1))
    assert [one.stamp for one in await store.audits(ALL, None, 100)] == list(range(30, 0, -1))
    assert [row.version for row in await store.history("k1")] == [n for n in range(30, 0, -1) if n % 3]
    assert len([path for path in disk.visible if path.endswith(".parquet") and "snapshot" not in path]) < 18


async def test_a_manifest_of_a_release_without_audits_opens() -> None:
    disk, blobs = memory()
    store, _ = await opened(blobs, "one")
    await store.commit.submit([written(1, 1)])
    await store.snapshot(image(1))
    await store.close()
    path = max(path for path in disk.visible if "/manifest/" in path)
    stored = orjson.loads(disk.visible[path])
    assert stored["body"].pop("audit") == []
    stored["checksum"] = checksum(orjson.dumps(stored["body"]))
    disk.visible[path] = orjson.dumps(stored)
    again, _ = await opened(blobs, "two")
    await folded(again, [audited(9)])
    assert await again.audits(ALL, None, 10) == [audited(9)]


WORDS = st.sampled_from(["", "a", "b"])
TIMES = st.none() | st.integers(0, 9)
RECORDS = st.lists(
    st.builds(
        audited,
        st.integers(1, 9),
        at=st.integers(0, 9),
        commit_id=st.integers(1, 3),
        action=st.sampled_from(["memory.set", "memory.delete"]),
        effect=WORDS,
        memory_key=WORDS,
        memory_id=WORDS,
        user_id=WORDS,
        actor=WORDS,
        run_id=WORDS,
        source_class=WORDS,
        source_resource_id=WORDS,
    ),
    max_size=12,
)
WANTED = st.builds(
    AuditWanted,
    actions=st.none() | st.frozensets(st.sampled_from(["memory.set", "memory.delete"])),
    effects=st.booleans(),
    commit_ids=st.none() | st.frozensets(st.integers(1, 3)),
    memory_ids=st.none() | st.frozensets(WORDS),
    memory_key=WORDS,
    user_id=WORDS,
    actor=WORDS,
    run_id=WORDS,
    source_class=WORDS,
    source_resource_id=WORDS,
    since=TIMES,
    until=TIMES,
)


@given(RECORDS, WANTED)
def test_a_table_is_filtered_as_records_are(records: list[Audited], wanted: AuditWanted) -> None:
    table = AUDIT.table([(1, record) for record in records])
    told = table.filter(wanted.filter()).column("stamp").to_pylist()
    assert told == [record.stamp for record in records if wanted.admits(record)]


@pytest.mark.parametrize("name", ["value", "text"])
def test_a_record_has_no_place_for_a_value(name: str) -> None:
    assert name not in asdict(audited(1))


async def test_duckdb_reads_a_plain_folder(tmp_path: Path) -> None:
    store, _ = await opened(FileBlobs(tmp_path), "one")
    await store.commit.submit([audited(2, at=3 * 10**9, action="memory.pin", memory_key="gate")])
    await store.snapshot(image(1))
    query = f"select action, memory_key, epoch_ns(\"at\"), stamp from '{tmp_path}/{PREFIX}audit/*.parquet'"
    assert duckdb.sql(query).fetchall() == [("memory.pin", "gate", 3 * 10**9, 2)]
