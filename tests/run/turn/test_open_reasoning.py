"""If the request says that the reply starts inside the reasoning, it is read so, whole and streamed."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore import FakeModel, ModelRegistry, Orchestrator
from llmcore.types import Finished, ReasoningDelta, Reclassified, TextDelta
from tests.helpers.wire_server import WireServer

pytestmark = pytest.mark.anyio
REPLY = "They want a sum.</think>It is 4."
PREFILL = [{"role": "user", "content": "2 + 2?"}, {"role": "assistant", "content": "<think>\n"}]


async def test_a_template_that_opens_it_is_said_in_the_registry() -> None:
    with WireServer([REPLY]) as server:
        at: dict[str, Any] = {
            "provider": "openai_compatible",
            "model": "m",
            "base_url": server.base_url("openai"),
            "api_key": "k",
        }
        registry = ModelRegistry.from_dict({"models": {"m": {**at, "reasoning_open": True}}})
        async with Orchestrator(registry) as orchestrator:
            result = await orchestrator.run("2 + 2?")
            events = [event async for event in orchestrator.stream("2 + 2?")]
    assert (result.envelope.content, result.envelope.reasoning) == ("It is 4.", "They want a sum.")
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.result.envelope == result.envelope
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "They want a sum."
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "It is 4."
    assert not any(isinstance(event, Reclassified) for event in events)


async def test_a_prompt_that_opens_it_says_so_itself() -> None:
    fake = FakeModel(REPLY, REPLY.removesuffix("</think>It is 4."), chunk_size=3)
    orchestrator = Orchestrator(fake)
    assert (await orchestrator.run(PREFILL)).envelope.reasoning == "They want a sum."
    events = [event async for event in Orchestrator(FakeModel(REPLY, chunk_size=3)).stream(PREFILL)]
    assert not any(isinstance(event, Reclassified) for event in events)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "It is 4."
