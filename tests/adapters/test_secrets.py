"""No key gets out."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llmcore.adapters.secrets import HIDDEN, Scrubber, is_secret_name, secrets_in, shown_url


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


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_secret_in_pieces_is_taken_out_of_a_stream(size: int) -> None:
    said = "the key is mysecret99, and sk-abcdefgh12 too"
    events = [{"choices": [{"delta": {"content": said[at : at + size]}}], "id": "one"} for at in range(0, len(said), size)]
    fresh = Scrubber(["mysecret99"]).events(events)
    told = "".join(event["choices"][0]["delta"]["content"] for event in fresh).replace(HIDDEN, "")
    assert told == "the key is , and  too"
    assert {event["id"] for event in fresh} == {"one"}
    assert len(fresh) == len(events)


def test_names_of_fields() -> None:
    secret = ["api_key", "apiKey", "X-Goog-Api-Key", "client_secret", "AWS_SECRET_ACCESS_KEY", "accessToken", "set-cookie"]
    assert all(is_secret_name(name, in_text=True) for name in secret)
    assert [name for name in ("token", "key", "auth", "sig", "code") if is_secret_name(name, in_text=True)] == []
    assert all(is_secret_name(name) for name in (*secret, "token", "key", "auth", "sig", "code", "proxy_credentials"))
    harmless = ["max_tokens", "prompt_cache_key", "monkey", "stop_token_ids", "api-version", "keys", "top_k", "author"]
    assert [name for name in harmless if is_secret_name(name)] == []


def test_the_secrets_of_a_request() -> None:
    login = base64.b64encode(b"ann:passWord1").decode()
    arguments = {
        "api_key": "keySecret1",
        "api_base": "https://ann:urlSecret1@host/v1?api-version=2024-01-01&code=urlSecret2",
        "extra_headers": {"X-Gate": "gateSecret", "User-Agent": "my-program/1.0", "Authorization": f"Basic {login}"},
        "extra_body": {"guard": [{"service": {"auth": {"token": "bodySecret1"}}}], "user": "someone-else"},
        "vault_password": "bodySecret2",
        "messages": [{"role": "user", "content": "hello there", "key": "noSecretAtAll"}],
        "max_tokens": 5,
    }
    found = set(secrets_in(arguments))
    wanted = {"keySecret1", "urlSecret1", "urlSecret2", "gateSecret", login, "passWord1", "bodySecret1", "bodySecret2"}
    assert wanted <= found
    assert not found & {"my-program/1.0", "someone-else", "noSecretAtAll", "2024-01-01", "host"}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://host:8000/v1", "https://host:8000/v1"),
        ("https://ann:pw@host:8000/v1", "https://host:8000/v1"),
        ("https://host/v1?api-version=1&tenant=abc#x", f"https://host/v1?api-version=1&tenant={HIDDEN}"),
        ("https://host/sk-abcdefgh12/v1", f"https://host/{HIDDEN}/v1"),
        ("ann:pw@host:8000/v1", "host:8000/v1"),
        ("host:8000/v1", "host:8000/v1"),
        ("http://[half", HIDDEN),
    ],
)
def test_a_url_is_shown_without_secrets(url: str, shown: str) -> None:
    assert shown_url(url) == shown
