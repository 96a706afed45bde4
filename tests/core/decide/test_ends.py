"""What becomes of a row whose time is up?"""

from __future__ import annotations

from loom_ray.core.ends import AT_ONCE_MAX, Ends
from loom_ray.core.row import Status

from .scene import SECOND, Scene

MAIL = "Write to anna@example.org about the lease that ends in 2025."


def test_a_tombstone_is_what_expiry_leaves_by_default() -> None:
    scene = Scene()
    scene.set("lease", "The lease ends in 2025.", ttl_seconds=60)
    scene.set("rival", "The lease ends in 2027.")
    assert scene.end("lease", 61).status is Status.TOMBSTONED
    assert scene.row("rival").status is Status.ACTIVE
    assert scene.audits[-1].action == "memory.expire"


def test_demoted_rows_are_read_by_key_and_judged_no_more() -> None:
    scene = Scene()
    scene.set("lease", "The lease ends in 2025.", ttl_seconds=60, on_expire="demote")
    row = scene.end("lease", 61)
    assert (row.status, row.demoted, row.expires_at) == (Status.ACTIVE, True, None)
    assert row.is_readable(scene.now)
    assert scene.set("other", "The lease ends in 2027.").outcome.verdict == "clear"
    again = scene.set("lease", "The lease ends in 2025.").row
    assert again is not None
    assert not again.demoted, "said again, it is searched again"


def test_anonymised_rows_keep_what_is_nobodys() -> None:
    scene = Scene()
    before = scene.set("lease", MAIL, ttl_seconds=60, on_expire="anonymize", entities=["Anna"], files=["a.md"]).row
    row = scene.end("lease", 61)
    assert before is not None
    assert "anna@example.org" not in row.text
    assert "lease that ends in 2025" in row.text
    assert (row.entities, row.files, row.demoted, row.status) == ((), (), True, Status.ACTIVE)
    assert row.content_sha256 != before.content_sha256


def test_the_oldest_repeat_takes_the_place_of_what_expired() -> None:
    scene = Scene()
    scene.set("lease", "The lease ends in 2025.", ttl_seconds=60)
    scene.set("run/lease", "The lease ends in 2025.", run_id="r1")
    scene.end("lease", 61)
    assert scene.row("run/lease").status is Status.ACTIVE


def test_nobody_is_held_against_what_stopped_being_true() -> None:
    scene = Scene()
    scene.set("lease", "The lease ends in 2025.", valid_at="2030-01-01T00:00:00Z", valid_to="2033-06-01T00:00:00Z")
    scene.set("rival", "The lease ends in 2027.", valid_at="2031-01-01T00:00:00Z")
    assert scene.row("rival").status is Status.CONFLICTED
    row = scene.end("lease", 366 * 86_400)
    assert (row.status, row.conflict_with) == (Status.ACTIVE, ())
    assert scene.row("rival").status is Status.ACTIVE
    versions = scene.row("lease").version, scene.row("rival").version
    scene.end("lease", 1)
    assert (scene.row("lease").version, scene.row("rival").version) == versions, "once is enough"


def test_ends_come_in_order_and_both_of_one_row_are_seen() -> None:
    scene, ends = Scene(), Ends()
    late = scene.set("late", "Pigeons roost in the tower.", ttl_seconds=200).row
    both = scene.set("both", "Gulls nest there.", ttl_seconds=300, valid_to="2033-05-18T03:35:00Z").row
    assert late is not None
    assert both is not None
    for row in (late, both):
        ends.put(row)
    assert ends.next() == both.valid_to
    assert ends.due(both.valid_to or 0) == [both.memory_id]
    ends.put(both, after=both.valid_to)
    assert ends.due(scene.now + 250 * SECOND) == [late.memory_id]
    assert ends.due(scene.now + 400 * SECOND) == [late.memory_id, both.memory_id]
    ends.settle(late.memory_id)
    assert ends.due(scene.now + 400 * SECOND) == [both.memory_id]


def test_so_many_ends_are_due_as_one_commit_carries() -> None:
    scene, ends = Scene(), Ends()
    row = scene.set("lease", "The lease ends in 2025.", ttl_seconds=1).row
    assert row is not None
    from dataclasses import replace

    for number in range(AT_ONCE_MAX + 1):
        ends.put(replace(row, memory_id=str(number)))
    assert len(ends.due(scene.now + 10 * SECOND)) == AT_ONCE_MAX
