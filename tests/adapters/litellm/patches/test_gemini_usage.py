"""Gemini's whole replies without usage: LiteLLM refuses them, and the patched one reads them."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.normalizer import normalize
from tests.adapters.conftest import call_of, endpoint_at
from tests.adapters.litellm.patches.conftest import Unpatch, watched
from tests.helpers.wire_server import Raw, WireServer

pytestmark = pytest.mark.anyio

BODY = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}, "finishReason": "STOP"}], "modelVersion": "m"}


def calculate() -> Any:
    gemini: Any = import_module("litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini")
    return gemini.VertexGeminiConfig._calculate_usage(BODY)


async def test_litellm_refuses_a_reply_without_usage(unpatch: Unpatch) -> None:
    unpatch("gemini_usage")
    with watched(), pytest.raises(ValueError, match=r"usageMetadata not found .*'Hi'"):
        calculate()


@pytest.mark.usefixtures("unpatch")
async def test_in_a_call_of_ours_it_counts_nothing() -> None:
    with watched():
        assert calculate().total_tokens == 0
    with pytest.raises(ValueError, match="usageMetadata not found"):
        calculate()


async def test_such_a_reply_is_read_without_an_error_in_litellm(adapter: LiteLLMAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = import_module("llmcore.adapters.litellm.adapter")
    failures, reading = list[object](), module._body_to_read

    def noted(*given: Any) -> Any:
        failures.append(given[-1])
        return reading(*given)

    monkeypatch.setattr(module, "_body_to_read", noted)
    with WireServer([Raw([json.dumps(BODY).encode()])]) as server:
        reply = await adapter.complete(call_of(endpoint_at(server, "gemini"), tools=()))
    assert normalize(reply).content == "Hi"
    assert failures == [None]
