"""Is a shape that recall cannot reach named, and an ordinary value not?"""

from __future__ import annotations

import base64
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.advisories import advisories

SENTENCE = b"The lighthouse keeper changes the lamp on the first of each month."


@pytest.mark.parametrize(
    "value",
    [
        base64.b64encode(SENTENCE).decode(),
        base64.b64encode(SENTENCE).decode().rstrip("="),
        base64.encodebytes(SENTENCE * 5).decode(),
        base64.urlsafe_b64encode(hashlib.sha512(b"x").digest()).decode(),
        base64.b64encode(hashlib.sha512(b"y").digest() * 300).decode(),
    ],
)
def test_base64_is_named(value):
    assert advisories(value, 0) == ["base64"]


@pytest.mark.parametrize(
    "value",
    [
        "The lighthouse keeper changes the lamp.",
        "Donaudampfschifffahrtsgesellschaftskapitän",
        "Donaudampfschifffahrtsgesellschaft",
        "AbstractSingletonProxyFactoryBean",
        "getUserAccountBalanceByIdV2Async",
        "src/components/UserProfileHeader",
        "order_2026_03_14_backup_final",
        "THE_QUICK_BROWN_FOX_JUMPS_OVER",
        hashlib.sha256(b"x").hexdigest(),
        "743b294a-cd03-11ec-9d64-0242ac120002",
        "01HZXW8K3J5QY7N2M4P6R8T0VB",
        "VGhlIGxp",
        base64.b64encode(SENTENCE).decode()[:-1] + "*",
        base64.b64encode(SENTENCE).decode() + "=",
        "",
    ],
)
def test_words_and_ids_are_not(value):
    assert advisories(value, 0) == []


@pytest.mark.parametrize("value", [json.dumps({"boat": "Tern"}), "[1, 2]", '  {"a": {"b": []}}\n'])
def test_json_in_a_string_is_named(value):
    assert advisories(value, 0) == ["double-encoded"]


@pytest.mark.parametrize("value", ["{boat}", "[see below]", "12", '"text"', "{}", "[]", "[" * 50_000 + "]" * 50_000])
def test_text_in_brackets_is_not(value):
    assert advisories(value, 0) == []


@pytest.mark.parametrize("value", [{"a": 1}, [1, 2], 7, None, True, {"a": '{"b": 1}'}])
def test_a_value_that_is_no_string_has_no_shape(value):
    assert advisories(value, 0) == []


def test_oversized_counts_the_json_and_zero_disables():
    assert advisories("x" * 98, 100) == []
    assert advisories("x" * 99, 100) == ["oversized"]
    assert advisories("\n" * 50, 100) == ["oversized"]
    assert advisories({"k": "x" * 100}, 100) == ["oversized"]
    assert advisories("x" * 10_000, 0) == []


@given(st.binary(min_size=60, max_size=200))
def test_base64_never_fails_and_never_is_json(data):
    assert advisories(base64.b64encode(data).decode(), 0) in ([], ["base64"])
