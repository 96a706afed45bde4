"""How is shown what was done, and what the server retired by itself?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
from decide.scene import SECOND, Scene

from loom_ray.contract.auditing import AuditRow, AutoRetirementsAnswer
from loom_ray.core.read.auditing import RECORD_ROWS_MAX, SUPERSEDED, audit_page, retirements_page
from loom_ray.core.read.cursor import read_cursor
from loom_ray.core.records import Audited

SAME_KEY, CONTRADICTION = "same_key_newest_wins", "newest_wins_contradiction"


class Audit:
    """What was retired by request after request."""

    def __init__(self) -> None:
        self.rows: list[Audited] = []
        self._stamps = count(1)

    def commit(self, *users: str, reason: str = SAME_KEY) -> Audit:
        """One request that retired a row of each of these users."""
        self.commits([(user, reason) for user in users])
        return self

    def commits(self, retired: Sequence[tuple[str, str]]) -> None:
        stamps = [next(self._stamps) for _ in retired]
        self.rows += [
            audited(stamp, stamps[0], user, reason) for stamp, (user, reason) in zip(stamps, retired, strict=True)
        ]

    def page(self, window: int, cursor: str = "", **asked: Any) -> AutoRetirementsAnswer | None:
        """Of the newest `window` rows past the cursor."""
        place = read_cursor(cursor, int)
        rest = [row for row in self.rows[::-1] if place is None or row.stamp < place[0]]
        request = Scene().request("memory.auto_retirements", **asked)
        return retirements_page(rest[:window], request, more=len(rest) > window)

    def pages(self, **asked: Any) -> list[AutoRetirementsAnswer]:
        """All of them, each from a window that is large enough."""
        shown: list[AutoRetirementsAnswer] = []
        cursor = ""
        while True:
            page = self.page(len(self.rows), cursor, **asked)
            assert page is not None
            shown.append(page)
            cursor = page.next_cursor
            if not cursor:
                return shown


def audited(stamp: int, commit_id: int, user_id: str = "-", reason: str = SAME_KEY) -> Audited:
    return Audited(
        stamp=stamp,
        at=stamp * SECOND,
        commit_id=commit_id,
        action=SUPERSEDED,
        effect="",
        memory_id=f"id-{stamp}",
        memory_key=f"key-{stamp}",
        agent="mason",
        user_id=user_id,
        session_id="s1",
        content_sha256="0" * 64,
        version=stamp,
        status="superseded",
        verdict="",
        reason=reason,
        related_id="id-successor",
        actor="process:mason",
        source_class="",
        run_id="r1",
    )


def records(page: AutoRetirementsAnswer | None) -> Counter[str]:
    """How many rows each record has."""
    assert page is not None
    return Counter(row.record_id for row in page.rows)


# ---- records ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("retired", "sizes"),
    [
        (1, [1]),
        (RECORD_ROWS_MAX, [200]),
        (RECORD_ROWS_MAX + 1, [200, 1]),
        (2 * RECORD_ROWS_MAX + 50, [200, 200, 50]),
    ],
)
def test_what_one_path_retired_is_in_records_of_at_most_200(retired: int, sizes: list[int]) -> None:
    audit = Audit().commit(*["-"] * retired)
    assert list(records(audit.page(1000)).values()) == sizes


def test_two_paths_of_one_request_are_two_records() -> None:
    audit = Audit()
    audit.commits([("-", SAME_KEY), ("-", CONTRADICTION), ("-", SAME_KEY)])
    (page,) = audit.pages()
    assert sorted(records(page).values()) == [1, 2]
    assert len({(row.record_id, row.reason) for row in page.rows}) == 2


def test_two_requests_are_two_records_the_newest_first() -> None:
    (page,) = Audit().commit("-", "-").commit("-").pages()
    assert page.rows[0].memory_key == "key-3"
    assert list(records(page).values()) == [1, 2]


def test_a_record_tells_who_was_retired_behind_whom_when_and_why() -> None:
    (page,) = Audit().commit("u-amy").pages()
    (row,) = page.rows
    assert (row.memory_id, row.memory_key, row.superseded_by, row.reason) == ("id-1", "key-1", "id-successor", SAME_KEY)
    assert (row.agent, row.user_id, row.session_id) == ("mason", "u-amy", "s1")
    assert (row.at, row.version, row.version_text) == ("1970-01-01T00:00:01Z", 1, "1")


# ---- pages -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100, 199, 201, 1000])
def test_no_page_splits_a_record_and_all_are_shown_once(limit: int) -> None:
    audit = Audit()
    for size in (1, 2, 250, 3, 1, 201):
        audit.commit(*["-"] * size)
    seen: list[str] = []
    for page in audit.pages(limit=limit):
        assert not set(records(page)) & set(seen)
        seen += records(page)
        assert len(page.rows) >= limit or not page.next_cursor, "a page is full, but for the last"
    shown = [row.memory_id for page in audit.pages(limit=limit) for row in page.rows]
    assert sorted(shown) == sorted(row.memory_id for row in audit.rows)
    assert len(shown) == 458


def test_a_page_ends_with_the_request_that_fills_it() -> None:
    audit = Audit().commit("-", "-").commit("-", "-").commit("-", "-")
    assert [len(page.rows) for page in audit.pages(limit=3)] == [4, 2]
    assert [len(page.rows) for page in audit.pages(limit=4)] == [4, 2]


def test_a_request_that_may_be_cut_off_is_left_to_the_next_page() -> None:
    audit = Audit().commit("-", "-").commit("-", "-")
    page = audit.page(3, limit=2)
    assert list(records(page).values()) == [2]
    assert page is not None
    assert page.next_cursor, "there is more"


def test_where_too_few_rows_are_known_for_a_page_more_are_asked_for() -> None:
    audit = Audit().commit("-", "-").commit("-", "-")
    assert audit.page(3, limit=3) is None
    assert audit.page(1, limit=1) is None
    assert list(records(audit.page(4, limit=3)).values()) == [2, 2]


def test_the_last_page_names_no_next_one() -> None:
    audit = Audit().commit("-", "-")
    assert [page.next_cursor for page in audit.pages(limit=2)] == [""]
    (empty,) = Audit().pages()
    assert (empty.rows, empty.next_cursor) == ([], "")


# ---- whose -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("user_id", "keys"),
    [("u-amy", ["key-5", "key-1"]), ("-", ["key-5", "key-4", "key-1", "key-2", "key-3"]), ("u-cat", [])],
)
def test_a_user_is_told_of_the_users_rows_and_nobody_in_particular_of_all(user_id: str, keys: list[str]) -> None:
    audit = Audit().commit("u-amy", "u-ben", "-").commit("u-ben").commit("u-amy")
    assert [row.memory_key for page in audit.pages(user_id=user_id) for row in page.rows] == keys


def test_rows_of_others_do_not_fill_a_users_page() -> None:
    audit = Audit().commit("u-amy").commit(*["u-ben"] * 5).commit("u-amy")
    assert [len(page.rows) for page in audit.pages(user_id="u-amy", limit=2)] == [2]
    assert audit.page(3, user_id="u-amy", limit=2) is None


def test_a_record_has_one_name_whoever_asks() -> None:
    audit = Audit().commit(*["u-ben"] * RECORD_ROWS_MAX, "u-amy", "u-amy")
    (mine,), (all_,) = audit.pages(user_id="u-amy"), audit.pages()
    names = {row.memory_id: row.record_id for row in all_.rows}
    assert {row.memory_id: row.record_id for row in mine.rows} == {
        row.memory_id: names[row.memory_id] for row in mine.rows
    }
    assert len(mine.rows) == 2


# ---- the audit -------------------------------------------------------------------------------------------------------
def newest(rows: int) -> list[Audited]:
    return [audited(stamp, stamp) for stamp in range(rows, 0, -1)]


@pytest.mark.parametrize(("rows", "more"), [(0, False), (2, False), (3, False), (4, True)])
def test_a_page_of_the_audit_names_the_next_where_there_is_one(rows: int, more: bool) -> None:
    page = audit_page(newest(rows), 3)
    assert len(page.rows) == min(rows, 3)
    assert read_cursor(page.next_cursor, int) == ((newest(rows)[2].stamp,) if more else None)


def test_a_row_of_the_audit_is_shown_whole_with_numbers_as_text() -> None:
    (row,) = audit_page(newest(1), 3).rows
    told, shown = newest(1)[0], row.model_dump()
    assert (row.at, row.commit_id, row.version_text) == ("1970-01-01T00:00:01Z", "1", "1")
    for name in AuditRow.model_fields.keys() - {"at", "commit_id", "version_text"}:
        assert shown[name] == getattr(told, name)


def test_what_a_write_retires_by_itself_is_what_the_list_shows() -> None:
    scene = Scene(default_conflict_policy="newest_wins")
    scene.set("gate", "The gate is painted green.", agent="first")
    scene.set("gate", "The gate is painted red.", agent="second")
    rows = [one for one in scene.state.audits[::-1] if one.action == SUPERSEDED and not one.effect]
    page = retirements_page(rows, scene.request("memory.auto_retirements"), more=False)
    assert page is not None
    (row,) = page.rows
    assert (row.agent, row.reason) == ("first", SAME_KEY)
    assert scene.state.rows[row.superseded_by].agent == "second"
