"""Models behind one that does not suit: `escalates_to` leads on to them as well."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore import Orchestrator
from llmcore.types import ImageBlock, Message, TextBlock
from tests.helpers.wire_server import Failure, WireServer
from tests.run.endpoints.test_refused_parts import PIXEL

pytestmark = pytest.mark.anyio

PICTURE = Message(role="user", content=[TextBlock(text="What is it?"), ImageBlock(data=PIXEL, media_type="image/png")])
LONG = {"error": {"message": "This model's maximum context length is 1000 tokens.", "code": "context_length_exceeded"}}


async def asked(status: int, body: dict[str, Any], prompt: Any, b: dict[str, Any], **more: Any) -> list[str]:
    """Which models of the chain a, b, c were asked, where a's server says no and c's is well."""
    with WireServer(lambda seen: Failure(status, body)) as ill, WireServer(lambda seen: "A dot.") as well:
        here, there = (
            {"provider": "openai_compatible", "model": "m", "base_url": server.base_url("openai_compatible"), "api_key": key}
            for server, key in ((ill, "key-of-one-1234"), (well, "key-of-other-5678"))
        )
        models = {
            "a": {**here, **more, "escalates_to": ["b"]},
            "b": {**here, "model": "n", **b, "escalates_to": ["c"]},
            "c": there,
        }
        async with Orchestrator({"models": models}) as orchestrator:
            result = await orchestrator.run([prompt] if isinstance(prompt, Message) else prompt, model="a")
    assert result.content == "A dot.", json.dumps(body)
    return list(dict.fromkeys(attempt.model for attempt in result.attempts))


@pytest.mark.parametrize(
    ("status", "words"), [(401, "bad key"), (402, "no credit left"), (429, "You exceeded your quota: insufficient_quota")]
)
async def test_a_model_of_the_same_account_is_skipped(status: int, words: str) -> None:
    assert await asked(status, {"error": {"message": words}}, "Hello", {}) == ["a", "c"]


async def test_a_model_with_a_smaller_window_is_skipped() -> None:
    assert await asked(400, LONG, "Hello", {"context_window": 900}, context_window=1000) == ["a", "c"]


async def test_a_model_that_cannot_take_the_request_is_skipped() -> None:
    words = {"error": {"message": "Images are not supported by this model."}}
    assert await asked(400, words, PICTURE, {"supports_images": False}) == ["a", "c"]
