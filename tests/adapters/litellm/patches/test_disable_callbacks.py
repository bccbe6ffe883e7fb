"""What LiteLLM does for its users' callbacks is done where there are some, and only there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.engine import litellm
from llmcore.adapters.litellm.patches import disable_callbacks
from tests.adapters.conftest import call_of, endpoint_at
from tests.adapters.litellm.patches.conftest import Unpatch
from tests.helpers.wire_server import WireServer

pytestmark = pytest.mark.anyio


@pytest.fixture
async def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """LiteLLM, with nobody who listens to it: other tests may have left callbacks of their own."""
    module = await litellm()
    for name in disable_callbacks.CALLBACK_SETTINGS:
        monkeypatch.setattr(module, name, 0.0 if name == "max_budget" else [])
    return module


@pytest.fixture
def priced(module: Any, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What LiteLLM has asked the price of."""
    asked: list[object] = []
    calculate = module.response_cost_calculator

    def noted(**options: Any) -> Any:
        asked.append(options["model"])
        return calculate(**options)

    monkeypatch.setattr(module, "response_cost_calculator", noted)
    return asked


async def test_litellm_starts_a_worker_and_prices_the_reply_for_nobody(
    adapter: LiteLLMAdapter, priced: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def always(_: object) -> bool:
        return True

    monkeypatch.setattr(disable_callbacks, "has_callbacks", always)  # so that nothing is disabled
    with WireServer(["Hi"]) as server:
        before = asyncio.all_tasks()
        await adapter.complete(call_of(endpoint_at(server, "openai")))
    assert asyncio.all_tasks() > before
    assert priced == ["openai/gpt-4o"]


async def test_litellms_own_switch_leaves_the_price(adapter: LiteLLMAdapter, priced: list[object], unpatch: Unpatch) -> None:
    unpatch("disable_callbacks")
    with WireServer(["Hi"]) as server:
        await adapter.complete(call_of(endpoint_at(server, "openai")))
    assert priced == ["openai/gpt-4o"]


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_a_call_leaves_no_task_behind(adapter: LiteLLMAdapter, provider: str) -> None:
    with WireServer(["Hi"]) as server:
        before = asyncio.all_tasks()
        await adapter.complete(call_of(endpoint_at(server, provider)))
        async for _ in adapter.stream(call_of(endpoint_at(server, provider))):
            pass
        await asyncio.sleep(0.05)  # LiteLLM starts some that end by themselves
    assert asyncio.all_tasks() == before


async def test_nothing_is_priced_that_nobody_hears_of(adapter: LiteLLMAdapter, priced: list[object]) -> None:
    with WireServer(["Hi"]) as server:
        reply = await adapter.complete(call_of(endpoint_at(server, "openai")))
    assert priced == []
    assert reply.usage.output_tokens


@pytest.mark.parametrize("listening", ["a callback", "a budget", "a program of its own"])
async def test_who_listens_is_told_the_price(
    adapter: LiteLLMAdapter, module: Any, priced: list[object], listening: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []

    async def hear(given: dict[str, Any], *_: Any) -> None:
        told.append(given["response_cost"])

    if listening == "a callback":
        monkeypatch.setattr(module, "_async_success_callback", [hear])
    elif listening == "a budget":
        monkeypatch.setattr(module, "max_budget", 100.0)
    with WireServer(["Hi"]) as server:
        if listening == "a program of its own":  # that calls LiteLLM beside llmcore
            asked: Any = {"model": "openai/gpt-4o", "messages": [{"role": "user", "content": "x"}], "api_key": "k"}
            answer = await module.acompletion(**asked, api_base=server.base_url("openai"))
            assert answer._hidden_params["response_cost"] > 0
        else:
            await adapter.complete(call_of(endpoint_at(server, "openai")))
    assert priced
    if listening == "a callback":
        for _ in range(100):
            await asyncio.sleep(0 if told else 0.02)
        assert told
