"""Does the door refuse what cannot be a request, and name the field?"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest

from loom_ray.contract.arguments import UNKNOWN_MAX, read_request
from loom_ray.contract.errors import InvalidRequest, MalformedBody, UnknownArgument
from loom_ray.contract.ops import OPS
from loom_ray.contract.settings import Settings

SETTINGS = Settings()


def ask(op: str, settings: Settings = SETTINGS, **arguments: Any) -> Any:
    return read_request(OPS[op], json.dumps(arguments).encode(), settings)


def fact(**more: Any) -> dict[str, Any]:
    return {"memory_key": "a", "value": "The gate is green."} | more


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"7", b"null", b'"x"', b"{", b"not json", b"\xff\xfe", b'{"a": 1} x', b"[" * 20_000, b'{"a":' * 5_000],
)
def test_what_is_no_json_object_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedBody):
        read_request(OPS["memory.set"], body, SETTINGS)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("value", "left\0right"),
        ("value", {"note": ["fine", "left\0right"]}),
        ("value", {"bad\0key": 1}),
        ("value", ""),
        ("value", " \t\n "),
        ("value", "\u200b\u2060 "),
        ("memory_key", "\u200b"),
        ("user_id", "\u200b"),
        ("value", None),
        ("value", 2**64),
        ("value", -(2**63) - 1),
        ("memory_key", ""),
        ("memory_key", "\u3000"),
        ("memory_key", "a\0b"),
        ("memory_key", 7),
        ("memory_key", None),
        ("tags", "one"),
        ("tags", ["a\0b"]),
        ("tags", [""]),
        ("tags", [1]),
        ("entities", {"a": 1}),
        ("memory_type", "poetic"),
        ("sensitivity", "extreme"),
        ("confidence", 1.01),
        ("confidence", "high"),
        ("confidence", True),
        ("ttl_seconds", "soon"),
        ("ttl_seconds", 0),
        ("ttl_seconds", 1.5),
        ("char_limit", 0),
        ("if_match_sha256", "ABC"),
        ("source_class", "attested-by-me"),
        ("on_expire", "explode"),
        ("valid_at", "2031-02-30T10:00:00Z"),
        ("valid_at", "2031-13-01T00:00:00Z"),
        ("valid_at", "2031-03-01T25:00:00Z"),
        ("valid_at", "next Tuesday"),
        ("valid_at", 1_900_000_000),
        ("valid_at", "1500-01-01T00:00:00Z"),
        ("agent", "*"),
        ("user_id", ""),
        ("user_id", None),
        ("session_id", "  "),
        ("org", "a\nb"),
        ("namespace", "*"),
        ("dry_run", "yes"),
    ],
)
def test_a_bad_field_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidRequest, match=rf"^{field}\b"):
        ask("memory.set", **fact(**{field: value}))


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "1e999", "[1, -1e999]", "9" * 5000, "-" + "1" * 999]
)
def test_numbers_that_json_cannot_hold_are_refused(number: str) -> None:
    body = f'{{"memory_key": "a", "value": {number}}}'.encode()
    with pytest.raises(InvalidRequest, match=r"^value"):
        read_request(OPS["memory.set"], body, SETTINGS)


@pytest.mark.parametrize("field", ["value", "memory_key", "agent"])
def test_half_a_character_is_refused_by_the_name_of_its_field(field: str) -> None:
    arguments = {**fact(agent="b"), field: "HALF"}
    body = json.dumps(arguments).replace("HALF", "broken \\ud800 text")
    with pytest.raises(InvalidRequest, match=rf"^{field}\b"):
        read_request(OPS["memory.set"], body.encode(), SETTINGS)


def test_extremes_that_a_double_or_64_bits_hold_are_kept() -> None:
    value = {"small": 5e-324, "large": 1.7976931348623157e308, "whole": 2**64 - 1, "least": -(2**63)}
    assert ask("memory.set", **fact(value=value)).request.value == value


def nested(depth: int) -> Any:
    value: Any = "core"
    for _ in range(depth):
        value = [value]
    return value


def test_nesting_at_the_bound_passes_and_one_deeper_does_not() -> None:
    assert ask("memory.set", **fact(value=nested(SETTINGS.json_depth_max))).request
    with pytest.raises(InvalidRequest, match=r"^value.*json_depth_max"):
        ask("memory.set", **fact(value=nested(SETTINGS.json_depth_max + 1)))


BOUNDS = [
    ("memory.set", "memory_key", lambda n: fact(memory_key="k" * n), "memory_key_chars_max"),
    ("memory.set", "namespace", lambda n: fact(namespace="n" * n), "name_chars_max"),
    ("memory.set", "user_id", lambda n: fact(user_id="n" * n), "name_chars_max"),
    ("memory.set", "tags", lambda n: fact(tags=[f"t{i}" for i in range(n)]), "tags_max"),
    ("memory.set", "tags", lambda n: fact(tags=["t" * n]), "tag_chars_max"),
    ("memory.set", "entities", lambda n: fact(entities=[f"e{i}" for i in range(n)]), "entities_max"),
    ("memory.set", "files", lambda n: fact(files=[f"f{i}" for i in range(n)]), "files_max"),
    ("memory.bulk_set", "entries", lambda n: {"entries": [fact()] * n}, "bulk_entries_max"),
    ("memory.search", "query", lambda n: {"query": "q" * n}, "query_chars_max"),
    ("memory.search", "top_k", lambda n: {"query": "q", "top_k": n}, "top_k_max"),
    ("memory.list", "limit", lambda n: {"limit": n}, "list_limit_max"),
    ("memory.history", "limit", lambda n: {"memory_key": "a", "limit": n}, "list_limit_max"),
    ("conflicts.list", "limit", lambda n: {"limit": n}, "list_limit_max"),
]


@pytest.mark.parametrize(("op", "field", "arguments", "bound"), BOUNDS)
@pytest.mark.parametrize("owners", [None, 5])
def test_a_bound_holds_at_the_limit_and_one_past_it(
    op: str, field: str, arguments: Any, bound: str, owners: int | None
) -> None:
    settings = SETTINGS if owners is None else SETTINGS.model_copy(update={bound: owners})
    most = getattr(settings, bound)
    assert ask(op, settings, **arguments(most)).request
    with pytest.raises(InvalidRequest, match=rf"^{field}\b.*{bound}"):
        ask(op, settings, **arguments(most + 1))


def test_a_bad_entry_is_named_by_its_place() -> None:
    with pytest.raises(InvalidRequest, match=r"entries\[1\]\.value"):
        ask("memory.bulk_set", entries=[fact(), fact(value="bad\0value"), fact()])


def test_a_near_miss_on_a_write_is_refused_and_named() -> None:
    with pytest.raises(UnknownArgument) as refusal:
        ask("memory.set", **fact(tag=["bell"]))
    assert refusal.value.extra["did_you_mean"] == {"tag": "tags"}
    assert "tag" in refusal.value.message


def test_a_near_miss_in_an_entry_is_refused_by_its_place() -> None:
    with pytest.raises(UnknownArgument) as refusal:
        ask("memory.bulk_set", entries=[fact(), fact(valid_form="2031-01-01T00:00:00Z")])
    assert refusal.value.extra["did_you_mean"] == {"entries[1].valid_form": "valid_at"} or (
        "entries[1].valid_form" in refusal.value.extra["did_you_mean"]
    )


def test_an_argument_close_to_nothing_is_served_and_named() -> None:
    asked = ask("memory.set", **fact(zzqx_colour="red"))
    assert asked.ignored_args == ["zzqx_colour"]
    assert asked.request.value == "The gate is green."


def test_a_near_miss_on_a_read_is_served_with_the_meant_name() -> None:
    asked = ask("memory.get", memory_key="a", folow=True)
    assert asked.ignored_args == ["folow"]
    assert asked.did_you_mean == {"folow": "follow"}


def test_unknown_arguments_are_bounded() -> None:
    asked = ask("memory.get", memory_key="a", **{f"zz{i}": 1 for i in range(UNKNOWN_MAX)})
    assert len(asked.ignored_args) == UNKNOWN_MAX
    with pytest.raises(UnknownArgument):
        ask("memory.get", memory_key="a", **{f"zz{i}": 1 for i in range(UNKNOWN_MAX + 1)})


def test_keys_are_taken_in_nfc_and_values_byte_for_byte() -> None:
    request = ask("memory.set", memory_key="cafe\u0301", value="cafe\u0301").request
    assert request.memory_key == "caf\u00e9"
    assert request.value == "cafe\u0301"


def test_times_become_utc_and_must_be_in_order() -> None:
    naive = ask("memory.set", **fact(valid_at="2031-03-01T12:00:00")).request
    offset = ask("memory.set", **fact(valid_at="2031-03-01T17:30:00+05:30")).request
    assert naive.valid_at == offset.valid_at
    with pytest.raises(InvalidRequest, match="valid_to: must be later"):
        ask("memory.set", **fact(valid_at="2031-03-01T12:00:00Z", valid_to="2031-03-01T12:00:00Z"))


@pytest.mark.parametrize("op", OPS)
def test_no_op_takes_a_body_of_nonsense_for_a_fault_of_the_server(op: str) -> None:
    for body in (b"{}", b'{"memory_key": {}}', b'{"entries": [1, null, []]}', b'{"query": 3, "limit": "x"}'):
        with suppress(InvalidRequest, MalformedBody):
            read_request(OPS[op], body, SETTINGS)
