"""What the HTTP clients log at DEBUG holds no secret, and other loggers are left alone."""

from __future__ import annotations

import logging

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.secrets.log_scrubbing import filter_clients, hide_in_logs
from llmcore.adapters.secrets.scrubber import HIDDEN
from llmcore.types import LLMCoreError, Request
from tests.adapters.conftest import KEY, call_of, endpoint_at
from tests.helpers.wire_server import Failure, Turn, WireServer


@pytest.mark.anyio
@pytest.mark.parametrize("provider", ["openai", "groq", "anthropic", "gemini", "ollama"])
async def test_requests_are_logged_without_secrets(
    adapter: LiteLLMAdapter, caplog: pytest.LogCaptureFixture, provider: str
) -> None:
    headers = {"X-Gate": "headerSecret99"}
    asked = {"messages": "hi", "extra_body": {"gate": {"auth": ["bodySecret77"]}}, "extra_headers": {"X-Other": "otherSecret5"}}
    failure = Failure(401, {"error": {"message": f"no such key {KEY}"}})
    with WireServer([Turn("hi"), Turn("hi"), failure]) as server, caplog.at_level(logging.DEBUG):
        endpoint = endpoint_at(server, provider).model_copy(update={"extra_headers": headers})
        call = call_of(endpoint, Request.model_validate(asked))
        await adapter.complete(call)
        _ = [event async for event in adapter.stream(call)]
        with pytest.raises(LLMCoreError):
            await adapter.complete(call)
    shown = caplog.text + "".join(f"{record.getMessage()} {record.args!r} {record.exc_text}" for record in caplog.records)
    assert HIDDEN in shown
    assert [secret for secret in (KEY, "headerSecret99", "bodySecret77", "otherSecret5") if secret in shown] == []


def test_an_exception_in_a_record_is_scrubbed(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("httpx.made_for_a_test")
    filter_clients()
    hide_in_logs(["wholeSecret1"])
    try:
        raise ValueError("with wholeSecret1")
    except ValueError:
        logging.getLogger("httpx.made_for_a_test").warning("it broke: %s", "x", exc_info=True)
    assert "ValueError: with [secret]" in caplog.text
    assert "wholeSecret1" not in caplog.text


def test_other_loggers_are_left_alone(caplog: pytest.LogCaptureFixture) -> None:
    hide_in_logs(["wholeSecret1"])
    logging.getLogger("a_program").warning("wholeSecret1 and %s", "sk-abcdefgh12")
    assert [record.getMessage() for record in caplog.records] == ["wholeSecret1 and sk-abcdefgh12"]
