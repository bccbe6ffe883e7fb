"""A recorded run answers again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import ReplayAdapter
from llmcore.testing.failures import recorded_error
from llmcore.types import (
    CapabilityRefused,
    ConfigError,
    ContextOverflow,
    Finished,
    InternalError,
    LLMCoreError,
    ModelError,
    Overloaded,
    RateLimited,
    Request,
    ToolDefinition,
)

pytestmark = pytest.mark.anyio

WEATHER = ToolDefinition(name="get_weather", parameters={"type": "object", "properties": {"city": {"type": "string"}}})
CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}


def delta(**fields: Any) -> dict[str, Any]:
    finish = fields.pop("finish", None)
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


CHUNKS = [delta(role="assistant", content="Sun"), delta(content="ny."), delta(finish="stop")]
SSE = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS) + "data: [DONE]\n\n"


def run(*exchanges: dict[str, Any]) -> dict[str, Any]:
    return {"id": "r1", "provider": "openai", "model": "gpt-4o", "exchanges": list(exchanges)}


@pytest.mark.parametrize(
    "exchange",
    [
        {"text": "Sunny."},
        {"chunks": CHUNKS},
        {"sse": SSE},
        {"response": SSE, "stream": True},
        {"response": {"choices": [{"message": {"role": "assistant", "content": "Sunny."}, "finish_reason": "stop"}]}},
        {"error": {"status": 400, "body": {"error": {"code": "tool_use_failed", "failed_generation": "Sunny."}}}},
    ],
    ids=["text", "chunks", "sse", "raw stream", "body", "failed generation"],
)
async def test_whatever_was_recorded_answers_plain_and_streamed(exchange: dict[str, Any]) -> None:
    adapter = ReplayAdapter(run(exchange))
    assert (await Orchestrator(adapter).run("weather?")).content == "Sunny."
    assert adapter.finished
    adapter.reset()
    ends = [event.result async for event in Orchestrator(adapter).stream("weather?") if isinstance(event, Finished)]
    assert [end.content for end in ends] == ["Sunny."]
    assert [attempt.model for attempt in ends[0].attempts] == ["replay"]


async def test_a_whole_tool_loop_replays_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    body = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]}
    other = {"id": "other", "text": "Not this one."}
    path.write_text("\n".join(json.dumps(line) for line in (other, run({"response": body}, {"text": "Sunny."}))))

    def get_weather(city: str) -> str:
        return f"sun over {city}"

    result = await Orchestrator(ReplayAdapter(path, run="r1"), [get_weather]).run("weather?")
    assert result.content == "Sunny."
    assert [block.text for block in result.messages[2].tool_results] == ["sun over Paris"]
    with pytest.raises(ConfigError, match=r"no run 'r2'.*\['other', 'r1'\]"):
        ReplayAdapter(path, run="r2")


async def test_a_recorded_error_is_raised_as_what_it_meant() -> None:
    adapter = ReplayAdapter(run({"error": {"status": 400, "body": {"error": {"message": "no", "param": "model"}}}}))
    with pytest.raises(Exception, match="no") as caught:
        await Orchestrator(adapter).run("x")
    assert not isinstance(caught.value, ModelError)


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ({"type": "ServiceUnavailableError", "status": 503, "message": "busy"}, Overloaded),
        ({"type": "RateLimitError", "status": 429, "message": "slow", "headers": {"retry-after": "3"}}, RateLimited),
        ({"type": "ContextWindowExceededError", "message": "too long"}, ContextOverflow),
        ({"type": "BadRequestError", "status": 400, "message": "llama2 does not support tools"}, CapabilityRefused),
        ("busy", InternalError),
    ],
)
def test_a_recorded_error_is_classified_as_it_was(recorded: Any, expected: type[LLMCoreError]) -> None:
    error = recorded_error(recorded)
    assert type(error) is expected
    if isinstance(error, RateLimited):
        assert error.retry_after == 3


async def test_more_requests_than_exchanges_are_an_error() -> None:
    adapter = ReplayAdapter(run({"text": "one"}))
    await Orchestrator(adapter).run(Request(messages="x"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="r1 holds 1 exchanges and this is request 2"):
        await Orchestrator(adapter).run("x")
