"""No key gets out."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from llmcore.adapters.secrets.scrubber import HIDDEN, Scrubber, is_placeholder, is_secret_name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Incorrect API key provided: sk-abc123456.", f"Incorrect API key provided: {HIDDEN}."),
        ("Authorization: Bearer abcdef123456", f"Authorization: Bearer {HIDDEN}"),
        ("GET /v1beta/models?key=AIzaSyA123&alt=sse", f"GET /v1beta/models?key={HIDDEN}&alt=sse"),
        ("gsk_0123456789 and xai-0123456789", f"{HIDDEN} and {HIDDEN}"),
        ("AIzaSyA0123456789012345678901234567890", HIDDEN),
        ("the task-force met at the disk-drive", "the task-force met at the disk-drive"),
        ("Basic arithmetic, by the bearer certificates", "Basic arithmetic, by the bearer certificates"),
        ("call hf_hub_download or rk-solver-method", "call hf_hub_download or rk-solver-method"),
        ("Bearer sk-no-key-required, sk-1234, sk-your-api-key-here", "Bearer sk-no-key-required, sk-1234, sk-your-api-key-here"),
        ("an ordinary sentence", "an ordinary sentence"),
    ],
)
def test_what_looks_like_a_key(text: str, expected: str) -> None:
    assert Scrubber().text(text) == expected


@given(st.text(), st.text(alphabet="abcXYZ019-_", min_size=8, max_size=40), st.text())
def test_a_given_secret_never_gets_through(before: str, secret: str, after: str) -> None:
    assume(not is_placeholder(secret))
    assert secret not in Scrubber([secret]).text(f"{before}{secret}{after}")


PLACEHOLDERS = (
    "k", "none", "EMPTY", "ollama", "lm-studio", "not-needed", "sk-no-key-required", "sk-1234", "your_api_key_here", "dummy-key",
    "xxxxxxxxxxxxxxxxxxxx", "sk-000000000000", "sk-1234567890", "12345678", "assistant", "Documents", "token-abc123",
)  # fmt: skip
KEYS = (
    "sk-very-secret-key-0123456789", "correct-horse-battery-staple", "hunter2xyz", "my-gateway-tokens-value", "gateSecret",
    "abcdefghijklmnopqrst", "0f1e2d3c4b5a", "AKIAABCDEFGHIJKLMNOP",
)  # fmt: skip


@pytest.mark.parametrize("secret", PLACEHOLDERS)
def test_placeholders_mutilate_no_text(secret: str) -> None:
    text = f"/home/{secret}/notes, {secret}'s"
    assert Scrubber([secret]).text(text) == text


@pytest.mark.parametrize("secret", KEYS)
def test_keys_are_no_placeholders(secret: str) -> None:
    assert Scrubber([secret]).text(f"/home/{secret}/notes") == f"/home/{HIDDEN}/notes"


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
    more = (
        "jwt",
        "session",
        "pat",
        "github_pat",
        "tokens",
        "token_value",
        "password_hash",
        "otp",
        "pin",
        "connection_string",
        "dsn",
    )
    assert all(map(is_secret_name, more))
    assert not any(map(is_secret_name, ("max_tokens", "stop_tokens", "session_id", "pattern", "pinned", "spin", "input_tokens")))
    harmless = ["max_tokens", "prompt_cache_key", "monkey", "stop_token_ids", "api-version", "keys", "top_k", "author"]
    assert [name for name in harmless if is_secret_name(name)] == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It is quiteUnlike4...", "It is [secret]..."),
        ("It is quiteUnlike4nyK\N{HORIZONTAL ELLIPSIS}, he said", "It is [secret]\N{HORIZONTAL ELLIPSIS}, he said"),
        ("quiteUnlike4 quiteUnlike4... quiteUnlike4nyKey...", "quiteUnlike4 [secret]... [secret]..."),
        ("It is quite...", "It is quite..."),
        ("quiteUnlike4", "quiteUnlike4"),
    ],
)
def test_what_is_left_of_a_secret_in_a_text_that_was_cut_is_taken_out(text: str, shown: str) -> None:
    assert Scrubber(["quiteUnlike4nyKey"]).text(text) == shown
