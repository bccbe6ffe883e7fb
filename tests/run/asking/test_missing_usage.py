"""If the server reports no usage, the estimate is the same on every wire, whole and streamed, with and without a budget."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llmcore import Budget, Orchestrator
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import Finished, Usage
from tests.helpers.wire_server import Raw, Seen, Step, WireServer, wire_of
from tests.helpers.wires import Turn, frames

pytestmark = pytest.mark.anyio

MODELS = {
    "openai_compatible": "local-model",
    "mistral": "mistral-large-latest",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "ollama": "llama3.1",
}
TURN = Turn("x" * 40)
COUNTS = ("usage", "usageMetadata", "prompt_eval_count", "eval_count")


def _uncounted(value: Any) -> Any:
    if is_object(value):
        return {key: _uncounted(item) for key, item in value.items() if key not in COUNTS}
    return [_uncounted(item) for item in value] if is_list(value) else value


def script(seen: Seen) -> Step:
    wire = wire_of(seen.path)
    if not seen.streaming:
        return Raw([json.dumps(_uncounted(wire.body(TURN))).encode()])
    kind = "application/x-ndjson" if wire.framing == "ndjson" else "text/event-stream"
    lines = [frame.decode() for frame in frames(wire, TURN)]
    return Raw([_stripped(line).encode() for line in lines], kind)


def _stripped(frame: str) -> str:
    at = frame.find("{")
    return frame if at < 0 else frame[:at] + json.dumps(_uncounted(json.loads(frame[at:]))) + frame[len(frame.rstrip()) :]


@pytest.mark.parametrize("provider", MODELS)
async def test_missing_usage_is_estimated_alike(provider: str) -> None:
    found: list[Usage] = []
    with WireServer(script) as server:
        model = {"provider": provider, "model": MODELS[provider], "base_url": server.base_url(provider), "api_key": "sk-one"}
        for budget in (Budget(), Budget(tokens=10_000)):
            async with Orchestrator({"models": {"m": model}}, budget=budget) as orchestrator:
                found.append((await orchestrator.run("y" * 400)).usage)
                events = [event async for event in orchestrator.stream("y" * 400)]
                found += [event.result.usage for event in events if isinstance(event, Finished)]
    assert len(found) == 4
    assert all(usage.estimated for usage in found)
    assert {(usage.input_tokens, usage.output_tokens) for usage in found} == {(found[0].input_tokens, 10)}
    assert 100 <= found[0].input_tokens <= 130
