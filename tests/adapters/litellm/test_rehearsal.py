"""The rehearsal of a provider's first request: it is carried out whole, and reaches nobody."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm import engine, rehearsal
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


def _note(monkeypatch: pytest.MonkeyPatch, rehearsed: list[str]) -> None:
    """Nothing is rehearsed: it is noted."""

    def rehearse(_: object, provider: str) -> None:
        rehearsed.append(provider)

    monkeypatch.setattr(engine, "rehearse", rehearse)


@pytest.mark.parametrize("provider", sorted(rehearsal.CAN_REHEARSE))
def test_whole_streamed_and_refused_requests_are_rehearsed_and_leave_no_process(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.litellm_now()
    looked_up: list[Any] = []

    def getaddrinfo(*where: Any, **_: Any) -> None:
        looked_up.append(where)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    adapter = _Noting()
    rehearsal.rehearse(adapter, provider)
    assert adapter.seen[0] == "Yes."
    assert adapter.seen[1:-1]
    assert {*adapter.seen[1:-1]} == {"streamed"}
    assert "400" in adapter.seen[-1]
    assert looked_up == []


@pytest.mark.parametrize("listens", ["success_callback", "callbacks"])
def test_who_listens_to_litellm_hears_of_no_rehearsal(listens: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, rehearsed = engine.litellm_now(), list[str]()
    monkeypatch.setattr(engine, "_rehearsed", set[str]())
    _note(monkeypatch, rehearsed)
    monkeypatch.setattr(module, listens, [print])
    engine.make_ready(LiteLLMAdapter(), "openai")
    assert rehearsed == []


def test_a_double_of_a_server_gets_no_rehearsed_request(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    engine.litellm_now()
    rehearsed = list[str]()
    monkeypatch.setattr(engine, "_rehearsed", set[str]())
    _note(monkeypatch, rehearsed)
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", object())
    engine.make_ready(LiteLLMAdapter(), "openai")
    assert rehearsed == []


def test_a_provider_that_asks_a_cloud_for_credentials_is_not_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    rehearsed = list[str]()
    _note(monkeypatch, rehearsed)
    monkeypatch.setattr(engine, "_rehearsed", set[str]())
    for provider in ("bedrock", "vertex_ai", "azure"):
        engine.make_ready(LiteLLMAdapter(), provider)
    assert rehearsed == []
