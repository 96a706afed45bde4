"""Which programs are tried? Lists of requests that hypothesis draws, and that read as requests when one fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from model.texts import TEXTS

KEYS, AGENTS, USERS = ("a", "a", "b", "b", "c"), ("-", "-", "-", "ada"), ("-", "-", "-", "-", "u1", "u2")
HOUR, DAY_S = 3600, 86_400


@dataclass
class Step:
    """A request, with what happens around it: time that passes before, a crash under way, a retry afterwards."""

    op: str
    asked: dict[str, Any] = field(default_factory=dict)
    crash: int | None = None  # the power fails so many turns after the request was sent
    twice: bool = False  # sent again under its Idempotency-Key

    def __repr__(self) -> str:
        words = [f"{name}={value!r}" for name, value in self.asked.items()]
        words += [f"<power fails after {self.crash} turns>"] if self.crash is not None else []
        return f"{self.op}({', '.join(words)})" + (" twice" if self.twice else "")


maybe = st.booleans
texts = st.sampled_from([*TEXTS, "three", "its", "four"])
ttls = st.sampled_from([5, HOUR, 2 * DAY_S])


def fields(**all_of: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(all_of)


def some(**any_of: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Now and then one or two of these."""
    one = st.sampled_from([*any_of]).flatmap(lambda name: any_of[name].map(lambda value: {name: value}))
    none = st.just({})
    return st.one_of(none, none, none, one, st.tuples(one, one).map(lambda two: two[0] | two[1]))


def joined(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda dicts: {name: value for part in dicts for name, value in part.items()})


def _without(asked: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if name not in names}


def _consistent(asked: dict[str, Any]) -> dict[str, Any]:
    """Without what the door refuses before the namespace sees it."""
    if "ttl_seconds" in asked:
        asked = _without(asked, "clear_expiry")
    if asked.get("valid_at", 0) >= asked.get("valid_to", 1 << 40):
        asked = _without(asked, "valid_at")
    return asked


who = fields(agent=st.sampled_from(AGENTS), user_id=st.sampled_from(USERS))
keyed = joined(fields(memory_key=st.sampled_from(KEYS)), who)
details = some(
    memory_type=st.sampled_from(["decision", "episodic"]),
    tags=st.sampled_from([["x"], ["x", "y"], []]),
    sensitivity=st.sampled_from(["low", "high"]),
    valid_at=st.sampled_from([-DAY_S, -3 * DAY_S, 3 * DAY_S]),
    valid_to=st.sampled_from([HOUR, 4 * DAY_S]),
    ttl_seconds=ttls,
    on_expire=st.sampled_from(["tombstone", "demote"]),
    clear_expiry=st.just(True),
    char_limit=st.sampled_from([28, 100]),
    match=maybe(),
    dry_run=st.just(True),
)
entry = joined(fields(memory_key=st.sampled_from(KEYS), text=texts), details.map(lambda d: _without(d, "dry_run")))
written = joined(keyed, fields(text=texts), details).map(_consistent)


batch = fields(entries=st.lists(entry.map(_consistent), min_size=1, max_size=4))
moved = some(keep_redirect=st.just(False), match=maybe())
reached = st.one_of(
    fields(memory_keys=st.lists(st.sampled_from(KEYS), min_size=1, max_size=3)),
    fields(filter=fields(prefix=st.sampled_from(KEYS)), limit=st.just(100)),
)
done = st.one_of(
    fields(action=st.sampled_from(["delete", "demote"])),
    fields(action=st.just("expire"), ttl_seconds=ttls),
    joined(fields(action=st.just("lock"), mode=st.sampled_from(["read_only", "no_delete"])), some(ttl_seconds=ttls)),
    fields(action=st.just("label"), add_tags=st.sampled_from([["x"], ["y", "z"]])),
).map(lambda asked: asked | {"reason": "tidy"})


def _cleared(names: tuple[str, str, str]) -> dict[str, Any]:
    return dict(zip(("agent", "user_id", "confirm_subject"), names, strict=True))


REQUESTS: dict[str, tuple[int, st.SearchStrategy[dict[str, Any]]]] = {
    "memory.set": (14, written),
    "memory.bulk_set": (3, joined(who, batch, some(dry_run=st.just(True)))),
    "memory.pin": (2, written),
    "memory.unpin": (1, keyed),
    "memory.update": (3, joined(written, some(revive=st.just(True)))),
    "memory.update_by_id": (2, joined(written, some(revive=st.just(True)))),
    "memory.touch": (1, joined(keyed, st.one_of(fields(ttl_seconds=ttls), st.just({"clear_expiry": True})))),
    "memory.delete": (3, keyed),
    "memory.delete_version": (1, joined(keyed, fields(match=maybe()))),
    "memory.restore": (3, joined(keyed, some(only_if_superseded=st.just(True), behind=keyed))),
    "memory.reject": (1, keyed),
    "memory.move": (2, joined(keyed, fields(new_memory_key=st.sampled_from(KEYS)), moved)),
    "memory.lock": (1, joined(keyed, fields(mode=st.sampled_from(["read_only", "no_delete"])), some(ttl_seconds=ttls))),
    "memory.unlock": (1, keyed),
    "memory.apply": (2, joined(who, reached, done, fields(dry_run=st.sampled_from([False, False, True])))),
    "memory.clear": (1, st.sampled_from([("ada", "-", "ada"), ("-", "u1", "u1"), ("ada", "u2", "u2")]).map(_cleared)),
    "time": (2, fields(seconds=st.sampled_from([6, HOUR + 1, 2 * DAY_S + 1]))),
    "crash": (1, st.just({})),
    "leave": (1, st.just({})),
}  # fmt: skip


@st.composite
def steps(draw: st.DrawFn) -> Step:
    op = draw(st.sampled_from([op for op, (weight, _) in REQUESTS.items() for _ in range(weight)]))
    asked = dict(draw(REQUESTS[op][1]))
    if op == "memory.move" and asked["new_memory_key"] == asked["memory_key"]:
        asked["new_memory_key"] = "d"
    if not op.startswith("memory."):
        return Step(op, asked)
    return Step(
        op, asked, *draw(st.sampled_from([(None, False)] * 12 + [(None, True)] + [(n, False) for n in (0, 3, 9, 30)]))
    )


POLICIES = ("auto_reinforce", "newest_wins", "manual_review", "newest_wins", "auto_reinforce", "append_only")


@st.composite
def programs(draw: st.DrawFn) -> list[Step]:
    policy = draw(st.sampled_from(POLICIES))
    first = Step("namespace.register", {"default_conflict_policy": policy})
    return [first, *(draw(steps()) for _ in range(draw(st.integers(1, 25))))]
