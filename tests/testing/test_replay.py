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
from tests.run.support import FAST

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
    ],
    ids=["text", "chunks", "sse", "raw stream", "body"],
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


BUSY = {"type": "ServiceUnavailableError", "status": 503, "message": "busy"}
QUOTED = {"error": {"code": "tool_use_failed", "failed_generation": "ny."}}


@pytest.mark.parametrize("stream", [{"chunks": CHUNKS[:1]}, {"sse": SSE[: SSE.index("\n\n") + 2]}], ids=["chunks", "sse"])
async def test_a_stream_that_ended_in_an_error_does_so_again(stream: dict[str, Any]) -> None:
    adapter = ReplayAdapter(run({**stream, "error": BUSY}, {"text": "Sunny."}))
    orchestrator = Orchestrator(adapter, strategies=FAST)
    ends = [event.result async for event in orchestrator.stream("weather?") if isinstance(event, Finished)]
    adapter.reset()
    for result in (*ends, await orchestrator.run("weather?")):
        assert result.content == "Sunny."
        assert [repr(attempt.failure) for attempt in result.attempts] == ["Overloaded('busy')", "None"]

    quoted = ReplayAdapter(run({**stream, "error": QUOTED}, {"text": "Rainy."}))
    ends = [event.result async for event in Orchestrator(quoted).stream("weather?") if isinstance(event, Finished)]
    assert [end.content for end in ends] == ["Rainy."]
    assert [attempt.reason for attempt in ends[0].attempts] == ["first", "reask"]


async def test_more_requests_than_exchanges_are_an_error() -> None:
    adapter = ReplayAdapter(run({"text": "one"}))
    await Orchestrator(adapter).run(Request(messages="x"))
    with pytest.raises(ConfigError, match="r1 holds 1 exchange and this is request 2, the first of a run"):
        await Orchestrator(adapter).run("x")


def get_weather(city: str) -> str:
    return f"sun over {city}"


def asked(*messages: dict[str, Any], tools: bool = True, **fields: Any) -> dict[str, Any]:
    """A recorded request at LiteLLM's level."""
    definition = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
    return {"model": "openai/gpt-4o", "messages": list(messages), **({"tools": [definition]} if tools else {}), **fields}


QUESTION = {"role": "user", "content": "weather?"}
TURN: list[dict[str, Any]] = [
    QUESTION,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "sun over  Paris"},
]
FIRST = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]}


def recorded_loop(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    return run({"request": first, "response": FIRST}, {"request": second, "text": "Sunny."})


async def test_the_request_that_was_recorded_is_answered() -> None:
    adapter = ReplayAdapter(recorded_loop(asked(QUESTION), asked(*TURN)))
    assert repr(adapter) == "ReplayAdapter('r1': 0 of 2 exchanges used)"
    assert (await Orchestrator(adapter, [get_weather]).run("weather?")).content == "Sunny."
    assert repr(adapter) == "ReplayAdapter('r1': 2 of 2 exchanges used)"
    system = asked({"role": "system", "content": "Be brief."}, QUESTION)
    result = await Orchestrator(ReplayAdapter(run({"request": system, "text": "x"})), [get_weather], system="Be brief.").run(
        "weather?"
    )
    assert result.content == "x"


OTHER_TURN = [*TURN[:2], {**TURN[2], "content": "rain over Paris"}]
OTHER_CALL: dict[str, Any] = {**CALL, "function": {"name": "get_time", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("transcript", "difference"),
    [
        (
            recorded_loop(asked({"role": "user", "content": "news?"}), {}),
            "request 1.*message 1 of the user: recorded 'news\\?', asked 'weather\\?'",
        ),
        (recorded_loop(asked(QUESTION, QUESTION), {}), "message 2 of the user: recorded 'weather\\?', asked none"),
        (
            recorded_loop(asked({"role": "system", "content": "Be brief."}, QUESTION), {}),
            "the system prompt: recorded 'Be brief.', asked none",
        ),
        (recorded_loop(asked(QUESTION, tools=False), {}), "the tools: recorded none, asked 'get_weather'"),
        (
            recorded_loop(asked(QUESTION), asked(*OTHER_TURN)),
            "request 2, the next turn.*result 1 of the tools: recorded 'rain over Paris'",
        ),
        (recorded_loop(asked(QUESTION), asked(QUESTION)), "call 1 of the history: recorded none, asked 'get_weather'"),
        (
            recorded_loop(asked(QUESTION), asked(QUESTION, {"role": "assistant", "tool_calls": [OTHER_CALL]}, TURN[2])),
            "call 1 of the history: recorded 'get_time', asked 'get_weather'",
        ),
        (run({"attempt": {"mode": "text"}, "text": "x"}), "the output mode: recorded 'text', asked 'native_tools'"),
    ],
)
async def test_a_request_that_differs_from_the_recorded_one_is_an_error(transcript: dict[str, Any], difference: str) -> None:
    with pytest.raises(ConfigError, match=difference) as caught:
        await Orchestrator(ReplayAdapter(transcript), [get_weather]).run("weather?")
    assert "match='none'" in str(caught.value)
    ends = Orchestrator(ReplayAdapter(transcript, match="none"), [get_weather])
    assert (await ends.run("weather?")).content in ("Sunny.", "x")


SAYS: list[dict[str, Any]] = [
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "weather?"}]}], "tools": [{"name": "get_weather"}]},
    {
        "contents": [{"role": "user", "parts": [{"text": "weather?"}]}],
        "tools": [{"functionDeclarations": [{"name": "get_weather"}]}],
    },
    {"input": "weather?", "tools": [{"type": "function", "name": "get_weather"}]},
    {
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "weather?"}]}],
        "tools": [{"type": "function", "name": "get_weather"}],
    },
    {"messages": [{"role": "user", "content": [{"text": "weather?"}]}], "tools": [{"toolSpec": {"name": "get_weather"}}]},
    {"method": "POST", "body": {"messages": [QUESTION], "tools": [{"name": "get_weather"}]}},
    {"something": "else"},
    {},
]


@pytest.mark.parametrize("request_", SAYS, ids=str)
async def test_requests_of_every_wire_are_compared(request_: dict[str, Any]) -> None:
    transcript = run({"request": request_, "text": "x"})
    assert (await Orchestrator(ReplayAdapter(transcript), [get_weather]).run("weather?")).content == "x"
    if "weather?" in json.dumps(request_):
        with pytest.raises(ConfigError, match=r"message 1 of the user"):
            await Orchestrator(ReplayAdapter(transcript), [get_weather]).run("news?")


async def test_in_a_prompted_mode_what_the_user_says_is_compared() -> None:
    taught = asked({"role": "system", "content": "Be brief.\n\n# Tools ..."}, QUESTION, tools=False)
    transcript = run({"attempt": {"mode": "text"}, "request": taught, "text": "x"})
    settings = {"models": {"a": {"provider": "openai", "model": "gpt-4o", "force_text_mode": True}}}

    async def replayed(text: str, system: str | None) -> str:
        return (await Orchestrator(settings, [get_weather], adapter=ReplayAdapter(transcript), system=system).run(text)).content

    assert await replayed("weather?", "Be brief.") == "x"
    with pytest.raises(ConfigError, match="message 1 of the user: recorded 'weather"):
        await replayed("news?", None)
    with pytest.raises(ConfigError, match="the system prompt"):
        await replayed("weather?", "Be long.")


async def test_another_model_than_the_recorded_one_is_an_error() -> None:
    settings = {"models": {"a": {"provider": "openai", "model": "gpt-5"}}}
    transcript = run({"attempt": {"model": "gpt-4o"}, "text": "x"})
    with pytest.raises(ConfigError, match="the model: recorded 'gpt-4o', asked 'gpt-5'"):
        await Orchestrator(settings, adapter=ReplayAdapter(transcript)).run("x")


def test_a_dict_that_is_no_transcript_is_the_callers_mistake() -> None:
    with pytest.raises(ConfigError, match=r"exchanges\[0\]: holds no reply"):
        ReplayAdapter({"exchanges": [{}]})
    with pytest.raises(ConfigError, match="not int"):
        ReplayAdapter(3)  # type: ignore[arg-type]  # the mistake


def test_a_way_to_match_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="'messages' or 'none', not 'all'"):
        ReplayAdapter(run({"text": "x"}), match="all")  # type: ignore[arg-type]  # the mistake


USAGE: dict[str, Any] = {"prompt_tokens": 7, "completion_tokens": 3, "cost": 0}


TELLING: dict[str, dict[str, Any]] = {
    "body": {"response": {"id": "i", "model": "m", "choices": [{"message": {"content": "Sunny."}}], "usage": USAGE}},
    "chunks": {"chunks": [{**CHUNKS[0], "id": "i", "model": "m"}, *CHUNKS[1:], {"choices": [], "usage": USAGE}]},
    "sse": {"sse": SSE[:-14] + f"data: {json.dumps({'id': 'i', 'model': 'm', 'choices': [], 'usage': USAGE})}\n\n"},
    "anthropic": {
        "response": {
            "type": "message",
            "id": "i",
            "model": "m",
            "role": "assistant",
            "content": [{"type": "text", "text": "Sunny."}],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        }
    },
}


@pytest.mark.parametrize("exchange", TELLING.values(), ids=TELLING)
async def test_what_was_recorded_of_usage_id_and_model_is_told(exchange: dict[str, Any]) -> None:
    adapter = ReplayAdapter(run(exchange))
    result = await Orchestrator(adapter).run("x")
    assert (result.usage.input_tokens, result.usage.output_tokens) == (7, 3)
    call = adapter.calls[0]
    adapter.reset()
    reply = await adapter.complete(call)
    assert (reply.id, reply.model) == ("i", "m")
    adapter.reset()
    ends = [event.result async for event in Orchestrator(adapter).stream("x") if isinstance(event, Finished)]
    assert ends[0].usage.total_tokens == 10


async def test_another_request_than_were_recorded_says_why() -> None:
    adapter = ReplayAdapter(run({"response": FIRST}))
    with pytest.raises(ConfigError, match=r"holds 1 exchange and this is request 2, the next turn, since tools had run"):
        await Orchestrator(adapter, [get_weather]).run("weather?")
    assert adapter.finished
