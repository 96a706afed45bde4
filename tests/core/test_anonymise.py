"""Is nothing of a person, and nothing that opens anything, left in an anonymised value, and all the rest kept?"""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.anonymise import anonymised
from loom_ray.core.row import JsonValue, text_of
from loom_ray.core.sensitivity import detect, findings, parts

SECRETS = (
    "The wifi password is bluewhale42.",
    "postgres://app:s3cr3t@db.internal:5432/orders",
    "ghp_" + "a1B2c3D4e5F6" * 3,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IifQ.c2lnbmF0dXJl",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpQIBAAKCAQEAn6/O8li+SX4m98\n-----END RSA PRIVATE KEY-----",
    "curl -u kate:w1nter-sun https://example.org",
    "My card is 4111 1111 1111 1111.",
    "SSN 219099998",
    "Her PIN is 4821",
    "mail bob@example.org",
    "Call me at 212-555-0187",
    "٤١١١ ١١١١ ١١١١ ١١١١",
    "IBAN DE89 3704 0044 0532 0130 00 BIC",
)  # fmt: skip
LONG_UNIT = "Call 212-555-0187, 10 times, or write to bob@example.org. Password: hunter22.\n"
LONG_UNIT_MASKED = "Call [phone], 10 times, or write to [email]. Password: [credential].\n"
WORDS = ("password", "pin", "phone", "api_key", "type", "service_account", "tr0ub4dor", "é", "pass", "219099998", '"')


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("mail bob.smith+x@example.org, please", "mail [email], please"),
        ("The wifi password is bluewhale42.", "The wifi password is [credential]."),
        ("postgres://app:s3c@ret@db.internal:5432/orders", "postgres://app:[credential]@db.internal:5432/orders"),
        ("use eyJhbGciOiJIUz.eyJzdWIiOiJib.c2lnbmF0dXJl now", "use [credential] now"),
        ("-----BEGIN PRIVATE KEY-----\\nMIIEpQIBAAKCAQEAn6\\nX+/=\\n-----END PRIVATE KEY-----", "[credential]"),
        ("Her PIN is 4821, his is not", "Her PIN is [pin], his is not"),
        ("4111-1111-1111-1111, then 4111-1111-1111-1112", "[card_number], then 4111-1111-1111-1112"),
        ("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFF", "IBAN [iban] BIC COBADEFF"),
        ("he wrote 219-09-9998 on it", "he wrote [ssn] on it"),
        ("Tel. +49 30 1234567!", "Tel. [phone]!"),
        ("curl --user 'kate:w1nter' https://example.org", "curl --user 'kate:[credential]' https://example.org"),
        ("password: " + "xY9" * 400, "password: [credential]"),
        ('"odd name"@example.org', "[email]"),
    ],
)
def test_of_a_text_only_what_was_found_is_masked(text: str, left: str) -> None:
    assert anonymised(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Café ﬁn: ４１１１ １１１１ １１１１ １１１１ – ﬁn", "Café ﬁn: [card_number] – ﬁn"),
        (unicodedata.normalize("NFD", "Zoë: zoë@example.org, é"), unicodedata.normalize("NFD", "Zoë: [email], é")),
        ("각ᄀ ﾊﾞ bob@example.org ｶﾞ", "각ᄀ ﾊﾞ [email] ｶﾞ"),
    ],
)
def test_what_is_left_keeps_its_own_characters(text: str, left: str) -> None:
    assert anonymised(text) == left


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"password": "tr0ub4dor", "user": "kate"}, {"password": "[credential]", "user": "kate"}),
        ({"password": "tr0'ub\"4dor x"}, {"password": "[credential]"}),
        ({"password": [12345, True]}, {"password": ["[credential]", True]}),
        ({"pin": 4821, "floor": 3}, {"pin": "[pin]", "floor": 3}),
        ({"phone": "212 555 0187"}, {"phone": "[phone]"}),
        ({"card": 4111111111111111, "n": 1.5}, {"card": "[card_number]", "n": 1.5}),
        ([{"to": ["bob@example.org"]}, None, True], [{"to": ["[email]"]}, None, True]),
        ({"bob@example.org": 1, "al@example.org": 2, "x": 3}, {"[email]": 1, "[email] 2": 2, "x": 3}),
        ({"[email] 2": 0, "bob@x.org": 1, "al@x.org": 2}, {"[email] 2": 0, "[email]": 1, "[email] 3": 2}),
        ({"type": "service_account", "id": "x"}, {"type": "[credential]", "id": "x"}),
        (4111111111111111, "[card_number]"),
    ],
)
def test_at_every_depth_in_keys_and_numbers(value: JsonValue, left: JsonValue) -> None:
    assert anonymised(value) == left


@pytest.mark.parametrize("value", ["", "Café ﬁn", {"a": [1, 1.0, None, True, "１２"], "é": {}}, 7, None, False, []])
def test_a_value_without_findings_comes_back_as_it_was(value: JsonValue) -> None:
    assert text_of(anonymised(value)) == text_of(value)


def test_a_long_text_is_masked_in_every_part() -> None:
    assert anonymised(LONG_UNIT * 1500) == LONG_UNIT_MASKED * 1500


words = st.one_of(
    st.sampled_from(SECRETS), st.sampled_from(WORDS), st.text(max_size=8), st.from_regex(r"[0-9 .-]{1,20}")
)
texts = st.one_of(
    st.sampled_from(WORDS), st.lists(words, max_size=5).map(" ".join), st.lists(words, max_size=3).map("".join)
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
values = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4))
)


@given(values)
def test_nothing_is_found_in_what_is_left(value: JsonValue) -> None:
    left = anonymised(value)
    for text in (text_of(left), *strings(left)):
        assert all(detect(part).kinds == () for _, part in parts(text)), text
    assert anonymised(left) == left


@given(values)
def test_only_findings_change_a_value(value: JsonValue) -> None:
    if not any(findings(text) for text in (text_of(value), *strings(value))):
        assert text_of(anonymised(value)) == text_of(value)


@given(st.lists(st.sampled_from(SECRETS), unique=True, max_size=8))
def test_keys_that_become_equal_lose_nothing(keys: list[str]) -> None:
    assert list(anonymised({key: place for place, key in enumerate(keys)}).values()) == list(range(len(keys)))


@given(texts)
def test_a_finding_lies_where_its_kind_is_found(text: str) -> None:
    found = findings(text)
    assert {finding.kind for finding in found} <= set(detect(text).kinds)
    assert bool(found) == bool(detect(text).kinds)
    places = [place for finding in found for place in (finding.start, finding.end)]
    assert places == sorted(places)
    assert all(0 <= finding.start < finding.end <= len(text) for finding in found)


def strings(value: JsonValue) -> list[str]:
    """Every string, key and number of a value, as text."""
    match value:
        case dict():
            return [text for pair in value.items() for side in pair for text in strings(side)]
        case list():
            return [text for item in value for text in strings(item)]
        case None | bool():
            return []
        case _:
            return [text_of(value)]
