"""Does a record tell the living from the dead?"""

from __future__ import annotations

from pathlib import Path

import pytest

from loom_ray.serve import run_record
from loom_ray.serve.run_record import AlreadyRunning, RunRecord

RECORD = RunRecord(12, 7777, "http://127.0.0.1:7777", "file:///data", "/tmp/loom-0/abc", 1.0)


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run_record, "runs_folder", lambda: tmp_path)


def test_a_held_record_is_listed_and_cannot_be_taken() -> None:
    held, left = run_record.hold(7777)
    held.write(RECORD)
    assert left is None
    assert list(run_record.running()) == [RECORD]
    with pytest.raises(AlreadyRunning) as running:
        run_record.hold(7777)
    assert running.value.record == RECORD


def test_after_a_clean_stop_nothing_is_left() -> None:
    held, _ = run_record.hold(7777)
    held.write(RECORD)
    held.free()
    assert list(run_record.running()) == []
    assert run_record.hold(7777)[1] is None


def test_after_a_kill_the_next_one_learns_what_was_left(monkeypatch: pytest.MonkeyPatch) -> None:
    held, _ = run_record.hold(7777)
    held.write(RECORD)
    run_record.os.close(held.descriptor)  # what the kernel does for a killed process
    assert list(run_record.running()) == []
    assert run_record.hold(7777)[1] == RECORD


def test_only_a_folder_of_ours_is_ever_removed(tmp_path: Path) -> None:
    ours, foreign = tmp_path / "ours", tmp_path / "deeper" / "foreign"
    ours.mkdir()
    foreign.mkdir(parents=True)
    for folder in (ours, foreign):
        run_record.remove_leavings(RunRecord(12, 7777, "", "", str(folder), 1.0))
    assert not ours.exists()
    assert foreign.exists()
