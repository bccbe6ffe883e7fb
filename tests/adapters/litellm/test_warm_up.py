"""A provider's warm-up requests: they are carried out whole, and reach nobody."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm import engine, warm_up
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.types import LLMCoreError, Reply


class _Noting(LiteLLMAdapter):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    async def complete(self, call: ModelCall) -> Reply:
        try:
            reply = await super().complete(call)
        except LLMCoreError as error:
            self.seen.append(f"{type(error).__name__} {getattr(error, 'status', None)}")
            raise
        self.seen.append("Yes." if "Yes." in str(reply.raw) else str(reply.raw))
        return reply

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        async for event in super().stream(call):
            if "Yes." in str(event):
                self.seen.append("streamed")
            yield event


def _note(monkeypatch: pytest.MonkeyPatch, warmed: list[str]) -> None:
    """Nothing is sent: it is noted."""

    def send(_: object, provider: str) -> None:
        warmed.append(provider)

    monkeypatch.setattr(engine, "send_warm_up_requests", send)


@pytest.mark.parametrize("provider", sorted(warm_up.PROVIDERS_WITH_A_KEY))
def test_whole_streamed_and_refused_requests_are_sent_and_leave_no_process(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.litellm_now()
    looked_up: list[Any] = []

    def getaddrinfo(*where: Any, **_: Any) -> None:
        looked_up.append(where)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    adapter = _Noting()
    warm_up.send_warm_up_requests(adapter, provider)
    assert adapter.seen[0] == "Yes."
    assert adapter.seen[1:-1]
    assert {*adapter.seen[1:-1]} == {"streamed"}
    assert "400" in adapter.seen[-1]
    assert looked_up == []


@pytest.mark.parametrize("listens", ["success_callback", "callbacks"])
def test_who_listens_to_litellm_hears_of_no_warm_up(listens: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, warmed = engine.litellm_now(), list[str]()
    monkeypatch.setattr(engine, "_warmed_up", set[str]())
    _note(monkeypatch, warmed)
    monkeypatch.setattr(module, listens, [print])
    engine.make_ready(LiteLLMAdapter(), "openai")
    assert warmed == []


def test_a_double_of_a_server_gets_no_warm_up_request(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    engine.litellm_now()
    warmed = list[str]()
    monkeypatch.setattr(engine, "_warmed_up", set[str]())
    _note(monkeypatch, warmed)
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", object())
    engine.make_ready(LiteLLMAdapter(), "openai")
    assert warmed == []


def test_a_provider_that_asks_a_cloud_for_credentials_gets_no_warm_up_request(monkeypatch: pytest.MonkeyPatch) -> None:
    warmed = list[str]()
    _note(monkeypatch, warmed)
    monkeypatch.setattr(engine, "_warmed_up", set[str]())
    for provider in ("bedrock", "vertex_ai", "azure"):
        engine.make_ready(LiteLLMAdapter(), provider)
    assert warmed == []
