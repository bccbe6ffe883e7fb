"""No key gets out."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.adapters.secrets import HIDDEN, Scrubber


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Incorrect API key provided: sk-abc123456.", f"Incorrect API key provided: {HIDDEN}."),
        ("Authorization: Bearer abcdef123456", f"Authorization: Bearer {HIDDEN}"),
        ("GET /v1beta/models?key=AIzaSyA123&alt=sse", f"GET /v1beta/models?key={HIDDEN}&alt=sse"),
        ("gsk_0123456789 and xai-0123456789", f"{HIDDEN} and {HIDDEN}"),
        ("AIzaSyA0123456789012345678901234567890", HIDDEN),
        ("the task-force met at the disk-drive", "the task-force met at the disk-drive"),
        ("an ordinary sentence", "an ordinary sentence"),
    ],
)
def test_what_looks_like_a_key(text: str, expected: str) -> None:
    assert Scrubber().text(text) == expected


@given(st.text(), st.text(alphabet="abcXYZ019-_", min_size=8, max_size=40), st.text())
def test_a_given_secret_never_gets_through(before: str, secret: str, after: str) -> None:
    assert secret not in Scrubber([secret]).text(f"{before}{secret}{after}")


def test_short_placeholders_stay() -> None:
    assert Scrubber(["k", "none"]).text("look, none of them") == "look, none of them"


def test_values() -> None:
    scrubber = Scrubber(["mysecret99"])
    value = {"api_key": "x", "note": ["mysecret99!"], "properties": {"password": {"type": "string"}}, "n": 1, "z": None}
    assert scrubber.value(value) == {
        "api_key": HIDDEN,
        "note": [f"{HIDDEN}!"],
        "properties": {"password": {"type": "string"}},  # a schema, not a secret
        "n": 1,
        "z": None,
    }
    json.dumps(scrubber.value(value))


def test_headers() -> None:
    headers = {"Authorization": "Bearer x", "X-Api-Key": "k", "Content-Type": "application/json"}
    assert Scrubber().headers(headers) == {"Content-Type": "application/json"}
