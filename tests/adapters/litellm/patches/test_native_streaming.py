"""Streams of OpenAI's Responses endpoint: LiteLLM denies them for a model that its table lacks, and the patched one does not."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.adapters.litellm.patches.conftest import Unpatch, watched

pytestmark = pytest.mark.anyio

UNKNOWN = "a-model-that-is-in-no-table"


def has_streams(model: str) -> bool:
    utils: Any = import_module("litellm.utils")
    answer: bool = utils.supports_native_streaming(model, "openai")
    return answer


async def test_litellm_denies_the_streams_of_a_model_that_it_does_not_know(unpatch: Unpatch) -> None:
    unpatch("native_streaming")
    with watched():
        assert not has_streams(UNKNOWN)


@pytest.mark.usefixtures("unpatch")
async def test_in_a_call_of_ours_only_the_table_denies_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not has_streams(UNKNOWN)
    litellm: Any = import_module("litellm")
    denied = {**litellm.model_cost["gpt-4o"], "supports_native_streaming": False}
    monkeypatch.setitem(litellm.model_cost, "llmcore-denied", denied)
    with watched():
        assert has_streams(UNKNOWN)
        assert has_streams("gpt-4o")
        assert not has_streams("llmcore-denied")
