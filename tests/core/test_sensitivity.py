"""Are the shapes of secrets and of personal numbers found, in every script, and ordinary texts left alone?"""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loom_ray.core.sensitivity import detect

CREDENTIALS = [
    "The wifi password is bluewhale42",
    "password: swordfish",
    "Password for the router: hunter2!",
    "Das Passwort für das WLAN lautet Sommer2024!",
    "mot de passe : Toulouse31",
    "contraseña: gato1234",
    "пароль от почты: Zima2020",
    "密码是abc12345",
    "パスワードは「himitsu9」です",
    "비밀번호: gorae77",
    "DB_PASSWORD=pr0duction",
    "The router answers with password Hx9zSup3rS3cret77.",
    "Use password hunter2 for the wifi.",
    "hunter2 is the password of the wifi",
    "Das WLAN öffnet sich mit dem Passwort Sommer2024.",
    "Passord: vinter2024",
    "Lösenord: vinter2024",
    '{"user": "a", "pass": "tr0ub4dor"}',
    '{"user": "bob", "password": "tr0ub4dor"}',
    "postgres://app:s3cr3t@db.internal:5432/orders",
    "The API key is 8f3a9c2e7b1d4f60a1",
    "client_secret: 9d8f7a6b5c4d3e2f",
    "AKIA" + "QWERTYUIOPASDFGH",
    "ghp_" + "a1B2c3D4e5F6" * 3,
    "export SLACK=xoxb-" + "123456789012-abcdefABCDEF123456789012",
    "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpQIBAAKCAQEAn6/O8li+SX4m98",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2IifQ.c2lnbmF0dXJl",
    'curl -H "Authorization: Bearer 9f8e7d6c5b4a39281706"',
    "curl -u kate:w1nter-sun https://example.org",
]

ORDINARY = [
    "The password is rotated every 90 days.",
    "Password: required for all users",
    "Passwords must be at least 12 characters long.",
    "The password is stored in Vault",
    "Log in with password authentication disabled.",
    "Two-factor is the password replacement that we use.",
    "Use password rotation every 90 days.",
    "The mountain pass: closed in winter",
    "password: ${DB_PASSWORD}",
    "password = ********",
    "snowflake.password=\njdbc.url=here",
    "Idempotency key: deploy/window/prod",
    "The token bucket holds 500 tokens per minute.",
    "The secret ingredient is cinnamon.",
    "The access token is valid for 15 minutes.",
    "primary key: user_id_1",
    "token limit: 128k-tokens",
    "Maven - io.jsonwebtoken:jjwt-jackson-0.11.2",
    "The pin of connector J12 is bent.",
    "Pin the version to 2023",
    "Order 4512345678 shipped on 2026-03-14.",
    "Release 4.2.1 runs on 10.0.0.17:8080",
    "Ticket 123456789 is closed.",
    "The build took 1790000000000000000 ns",
    "row -4111111111111111 of the table",
    "commit 82c20e9d1a5b6c7d8e9f00112233445566778899",
    "uuid 743b294a-cd03-11ec-9d64-0242ac120002",
    "git@github.com:org/repo.git",
    "react@18.2.0 and left-pad@1.3.0",
    "ISBN 978-3-16-148410-0",
    "Meeting id 987 654 3210",
    "仓库的负责人是王芳,电话会议在三点。",
    "",
]


@pytest.mark.parametrize("text", CREDENTIALS)
def test_a_credential_is_high(text):
    detection = detect(text)
    assert detection.level == "high"
    assert "credential" in detection.kinds


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_text_is_left_alone(text):
    assert detect(text) == detect("")
    assert detect(text).level == ""


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("My card is 4111 1111 1111 1111.", "card_number"),
        ("3714 496353 98431", "card_number"),
        ("4111-1111-1111-1111, then 4111-1111-1111-1112", "card_number"),
        ("٤١١١ ١١١١ ١١١١ ١١١١", "card_number"),
        ("４１１１-１１１１-１１１１-１１１１", "card_number"),
        ("SSN 219099998", "ssn"),
        ("he wrote 219-09-9998 on the form", "ssn"),
        ("219 09 9998", "ssn"),
        ("Her PIN is 4821", "pin"),
        ("The pin code for the alarm: 90210", "pin"),
        ("пин-код 7731", "pin"),
    ],
)
def test_a_number_that_opens_something_is_high(text, kind):
    assert detect(text).level == "high"
    assert kind in detect(text).kinds


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("mail bob@example.org", "email"),
        ("почта: аня@почта.рф", "email"),
        ("Call me at 212-555-0187", "phone"),
        ("Tel. +49 30 1234567", "phone"),
        ("電話 090-1234-5678", "phone"),
        ("IBAN DE89 3704 0044 0532 0130 00 BIC COBADEFF", "iban"),
        ("(GB29NWBK60161331926819)", "iban"),
    ],
)
def test_an_address_of_a_person_is_medium(text, kind):
    assert detect(text).level == "medium"
    assert detect(text).kinds == (kind,)


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112",  # check digit
        "9111111111111111",  # no issuer
        "DE89 3704 0044 0532 0130 01",  # check digits
        "DE89 3704 0044 0532 0130",  # length
        "000-12-3456",  # area
        "219-00-9998",  # group
        "219-09.9998",  # separators differ
        "+1 000 000 0000",
        "bob@example.",
    ],
)
def test_a_number_that_cannot_be_is_none(text):
    assert detect(text).kinds == ()


def test_the_most_sensitive_kind_decides_and_all_are_named():
    detection = detect("bob@example.org, password: swordfish")
    assert detection.level == "high"
    assert detection.kinds == ("credential", "email")


@pytest.mark.parametrize(
    "unit",
    [
        "password ", "password: ", "eyJ", "eyJ-", "eyJ|", "a@", "@a.", "curl -u ", "://a:", "1", "4111 ", "AA00 ",
        "DE89 3704 0044 0532 0130 01 ", "1-", "pin ", "pin 1 ", "+1 ", "tel 123 4567 ", "my number 123456 ",
        "authorization: ", "-----BEGIN PRIVATE KEY-----", "a", "a-", "密码", "\\", 'secret="', "token for a b c d ",
        "00 1 ", "a~", "٤", "á", "hooks.slack.com/services/", "A3-", "AP0", "sk-ant-api03-",
    ],
)  # fmt: skip
def test_hostile_repetition_is_read_to_its_end(unit):
    """A pattern that backtracks takes hours here; the end of each text shows that it was reached."""
    text = unit * (100_000 // len(unit))
    assert "credential" in detect(f"{text}\n\npassword: swordfish9\n").kinds


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text):
    detection = detect(text)
    assert (detection.level == "") == (detection.kinds == ())


def test_a_text_without_candidates_loads_no_number_metadata():
    code = (
        "import sys; from loom_ray.core.sensitivity import detect; detect('The nightly backup of 2026 runs at 3.');"
        "print([name for name in ('phonenumbers', 'stdnum') if name in sys.modules])"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
