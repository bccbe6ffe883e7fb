"""What the process knows of secrets, and where that holds."""

from __future__ import annotations

import traceback

import pytest

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.secrets import known_secrets
from llmcore.adapters.secrets.known_secrets import process_scrubber, remember
from llmcore.types import ConfigError, LLMCoreError, Request
from tests.adapters.conftest import call_of, endpoint_at
from tests.helpers.wire_server import Failure, Turn, WireServer

KEY = "quiteUnlike4nyKey"


@pytest.mark.parametrize("value", [KEY, f"{KEY}\n", f"  {KEY}\r\n", f"first-0ther-one\n{KEY}\n"])
def test_a_key_of_the_environment_is_known_however_it_was_read(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOO_API_KEY", value)
    assert process_scrubber().text(f"It is {KEY}.") == "It is [secret]."


def test_lines_of_sentences_in_the_environment_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOO_API_KEY", f"# from the vault\n{KEY}\n")
    assert process_scrubber().text("# from the vault, not # from the shelf") == "# from the vault, not # from the shelf"


def test_paths_in_the_environment_are_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOO_API_KEY", "/etc/keys/foo-1")
    assert process_scrubber().text("see /etc/keys/foo-1") == "see /etc/keys/foo-1"


@pytest.mark.parametrize(
    "key", ["sk-abc123def.tail/9Zq", "front.9Zq.sk-abc123def", "my-Bearer abc123def x9Zq", "AKIAABCDEFGHIJKLMNOP=9Zq"]
)
def test_whole_known_keys_are_taken_out_before_what_looks_like_one(key: str) -> None:
    """A pattern that fits a part of a key would leave the rest, which nobody knows any more."""
    remember([key])
    assert process_scrubber().text(f"It is {key}.") == "It is [secret]."


@pytest.mark.anyio
async def test_a_key_of_the_environment_with_a_line_break_is_refused_and_not_quoted(
    adapter: LiteLLMAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    with pytest.raises(ConfigError, match="the variable OPENAI_API_KEY holds a line break") as caught:
        await adapter.complete(call_of(Endpoint(provider="openai", model="gpt-4o")))
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.anyio
@pytest.mark.parametrize("streamed", [False, True])
async def test_headers_of_a_request_are_sent_and_shown_nowhere(adapter: LiteLLMAdapter, streamed: bool) -> None:
    request = Request.model_validate({"messages": "hi", "extra_headers": {"X-Gate": KEY}})
    failure = Failure(401, {"error": {"message": f"wrong gate {KEY}"}})
    with WireServer([Turn("hi"), failure]) as server:
        call = call_of(endpoint_at(server, "openai"), request)
        await adapter.complete(call)
        assert server.requests[0].headers["x-gate"] == KEY
        with pytest.raises(LLMCoreError, match=r"wrong gate \[secret\]") as caught:
            await asked(adapter, call, streamed=streamed)
    assert KEY not in "".join(traceback.format_exception(caught.value)) + repr((request, call))


async def asked(adapter: LiteLLMAdapter, call: ModelCall, *, streamed: bool) -> None:
    if streamed:
        _ = [event async for event in adapter.stream(call)]
    else:
        await adapter.complete(call)


@pytest.mark.parametrize("value", [f"{KEY}\n", f"{KEY}\u00e9", f"{KEY} "])
def test_a_header_of_a_request_that_cannot_be_sent_is_not_quoted(value: str) -> None:
    with pytest.raises(ConfigError, match="the value of 'X-Gate'") as caught:
        Request.model_validate({"messages": "hi", "extra_headers": {"X-Gate": value}})
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_a_key_is_known_after_hundreds_of_newer_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "Kq7ZpT4vX9sW2nB8mR5c"
    remember([key])
    remember(f"user{one:05}-Zq9xW{one * 7919:09}" for one in range(300))
    for shown in (key, key.lower(), f"Bearer {key}", "".join(f"\\u{ord(one):04x}" for one in key)):
        assert key.lower() not in process_scrubber().text(f"no user for {shown}!").lower()
    monkeypatch.setenv("SOME_API_KEY", key)
    assert process_scrubber().text(key.encode().hex()) == "[secret]"
    monkeypatch.delenv("SOME_API_KEY")
    assert process_scrubber().text(key) == "[secret]"
    remember([key])
    assert process_scrubber().text(key.encode().hex()) == "[secret]"


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_secrets, "_MAX_REMEMBERED", 5)
    keys = [f"many{one:05}-Zq9xW{one * 7919:09}" for one in range(8)]
    remember(keys)
    assert [process_scrubber().text(key) == "[secret]" for key in keys] == [False] * 3 + [True] * 5
