"""Exchanges that continue each other are one run: from cassettes, lines and the proxy, on every wire."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import SecretStr

from llmcore import ConfigError, ModelConfig, ModelRegistry, Orchestrator, RateLimited, ReplayAdapter
from llmcore.adapters.recording.proxy import RecordingProxy
from llmcore.transcripts import Transcript, joined, read_transcripts
from tests.helpers.wire_server import Turn, WireServer

pytestmark = pytest.mark.anyio

Exchange = tuple[dict[str, Any], Any]
ASKED = "How is Paris?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
SUN = "sun over Paris"


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"sun over {city}"


def chat(call_id: str = "call_9f", **message: Any) -> list[Exchange]:
    """OpenAI's chat completions."""
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
    call = {"id": call_id, "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    asks: list[Any] = [{"role": "user", "content": ASKED}]
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    back = {"role": "tool", "tool_call_id": call_id, "content": SUN}
    head = {"model": "gpt-4o", "tools": tools}
    return [
        ({**head, "messages": asks}, {"choices": [{"message": said | message, "finish_reason": "tool_calls"}]}),
        (
            {**head, "messages": [*asks, said, back]},
            {"choices": [{"message": {"role": "assistant", "content": "Sunny."}, "finish_reason": "stop"}]},
        ),
    ]


def responses(*, by_id: bool, streamed: bool = False) -> list[Exchange]:
    """OpenAI's Responses."""
    head = {"model": "gpt-4o", "tools": [{"type": "function", "name": "get_weather", "parameters": SCHEMA}]}
    call: dict[str, Any] = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_9f",
        "name": "get_weather",
        "arguments": '{"city": "Paris"}',
    }
    think: dict[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": []}
    back: dict[str, Any] = {"type": "function_call_output", "call_id": "call_9f", "output": SUN}
    words: dict[str, Any] = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Sunny.", "annotations": []}],
    }
    asks: list[Any] = [{"role": "user", "content": ASKED}]
    second: dict[str, Any] = (
        {"previous_response_id": "resp_1", "input": [back]} if by_id else {"input": [*asks, think, call, back]}
    )
    bodies: list[Any] = [
        {"id": f"resp_{n}", "object": "response", "status": "completed", "output": output}
        for n, output in enumerate([[think, call], [words]], 1)
    ]
    if streamed:
        bodies = [
            "".join(
                f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                for event in (
                    {"type": "response.created", "response": body | {"output": [], "status": "in_progress"}},
                    *(
                        {"type": "response.output_item.done", "output_index": at, "item": one}
                        for at, one in enumerate(body["output"])
                    ),
                    {"type": "response.completed", "response": body},
                )
            )
            for body in bodies
        ]
    return [({**head, "input": ASKED if by_id else asks}, bodies[0]), ({**head, **second}, bodies[1])]


def anthropic() -> list[Exchange]:
    head = {"model": "claude-sonnet-4-5", "max_tokens": 10, "tools": [{"name": "get_weather", "input_schema": SCHEMA}]}
    said = [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}},
    ]
    cached = {"type": "text", "text": ASKED, "cache_control": {"type": "ephemeral"}}
    back = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": SUN}]}
    body = {"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": said}
    words = {"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Sunny."}]}
    asks: list[Any] = [{"role": "user", "content": [cached]}]
    return [
        ({**head, "messages": asks}, body),
        ({**head, "messages": [{"role": "user", "content": ASKED}, {"role": "assistant", "content": said}, back]}, words),
    ]


def gemini() -> list[Exchange]:
    head = {"tools": [{"functionDeclarations": [{"name": "get_weather", "parameters": SCHEMA}]}]}
    said = {"role": "model", "parts": [{"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}}]}
    result = {"functionResponse": {"name": "get_weather", "response": {"result": SUN}}}
    asks: list[Any] = [{"role": "user", "parts": [{"text": ASKED}]}]
    words = {"role": "model", "parts": [{"text": "Sunny."}]}
    return [
        ({**head, "contents": asks}, {"candidates": [{"content": said, "finishReason": "STOP"}]}),
        (
            {**head, "contents": [*asks, said, {"role": "user", "parts": [result]}]},
            {"candidates": [{"content": words, "finishReason": "STOP"}]},
        ),
    ]


def ollama() -> list[Exchange]:
    tools = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
    head = {"model": "qwen3", "stream": False, "tools": tools}
    said = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}],
    }
    asks: list[Any] = [{"role": "user", "content": ASKED}]
    return [
        ({**head, "messages": asks}, {"model": "qwen3", "message": said, "done": True, "done_reason": "stop"}),
        (
            {**head, "messages": [*asks, said, {"role": "tool", "content": SUN}]},
            {"model": "qwen3", "message": {"role": "assistant", "content": "Sunny."}, "done": True, "done_reason": "stop"},
        ),
    ]


def bedrock() -> list[Exchange]:
    head = {"toolConfig": {"tools": [{"toolSpec": {"name": "get_weather", "inputSchema": {"json": SCHEMA}}}]}}
    said = {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "get_weather", "input": {"city": "Paris"}}}]}
    result = {"toolResult": {"toolUseId": "t1", "content": [{"text": SUN}]}}
    words = {"role": "assistant", "content": [{"text": "Sunny."}]}
    asks: list[Any] = [{"role": "user", "content": [{"text": ASKED}]}]
    return [
        ({**head, "messages": asks}, {"output": {"message": said}, "stopReason": "tool_use"}),
        (
            {**head, "messages": [*asks, said, {"role": "user", "content": [result]}]},
            {"output": {"message": words}, "stopReason": "end_turn"},
        ),
    ]


WRITTEN = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
WIRES: dict[str, tuple[str, list[Exchange]]] = {
    "chat": ("https://api.openai.com/v1/chat/completions", chat()),
    "chat, ids made anew": ("https://api.openai.com/v1/chat/completions", [chat("call_1")[0], chat("call_2")[1]]),
    "chat, no ids": ("https://api.openai.com/v1/chat/completions", [chat("")[0], chat("")[1]]),
    "responses": ("https://api.openai.com/v1/responses", responses(by_id=False)),
    "responses by id": ("https://api.openai.com/v1/responses", responses(by_id=True)),
    "responses, streamed": ("https://api.openai.com/v1/responses", responses(by_id=False, streamed=True)),
    "responses by id, streamed": ("https://api.openai.com/v1/responses", responses(by_id=True, streamed=True)),
    "anthropic": ("https://api.anthropic.com/v1/messages", anthropic()),
    "gemini": ("https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent", gemini()),
    "ollama": ("http://127.0.0.1:11434/api/chat", ollama()),
    "bedrock": ("https://bedrock-runtime.us-east-1.amazonaws.com/model/claude/converse", bedrock()),
}


def interaction(url: str, exchange: Exchange, status: int = 200) -> dict[str, Any]:
    request, reply = exchange
    text = reply if isinstance(reply, str) else json.dumps(reply)
    kind = "text/event-stream" if isinstance(reply, str) else "application/json"
    return {
        "request": {"method": "POST", "uri": url, "body": json.dumps(request), "headers": {"content-type": ["application/json"]}},
        "response": {"status": {"code": status}, "headers": {"content-type": [kind]}, "body": {"string": text}},
    }


def cassette(path: Path, *interactions: dict[str, Any]) -> Path:
    path.write_text(yaml.safe_dump({"version": 1, "interactions": list(interactions)}), encoding="utf-8")
    return path


async def replayed(adapter: ReplayAdapter) -> None:
    result = await Orchestrator(adapter, [get_weather]).run(ASKED)
    assert result.content == "Sunny."
    assert [record.value for record in result.tool_results] == [SUN]
    assert [attempt.reason for attempt in result.attempts] == ["first", "turn"]
    assert adapter.finished


@pytest.mark.parametrize("wire", WIRES)
async def test_a_tool_loop_replays_from_a_cassette(tmp_path: Path, wire: str) -> None:
    url, exchanges = WIRES[wire]
    listing: dict[str, Any] = {
        "request": {"method": "GET", "uri": "https://api.openai.com/v1/models", "body": None, "headers": {}},
        "response": {"status": {"code": 200}, "headers": {}, "body": {"string": "{}"}},
    }
    tape = cassette(tmp_path / "tape.yaml", listing, *(interaction(url, one) for one in exchanges))
    await replayed(ReplayAdapter(tape))
    await replayed(ReplayAdapter(tape, run="tape.yaml#2"))  # by any of its exchanges
    (run,) = joined(read_transcripts(tape))
    await replayed(ReplayAdapter(run))
    assert [exchange.attempt.reason for exchange in run.exchanges] == ["first", "turn"]


@pytest.mark.parametrize("wire", WIRES)
async def test_a_tool_loop_replays_from_lines(tmp_path: Path, wire: str) -> None:
    _, exchanges = WIRES[wire]
    lines = [
        {
            "id": f"run-{n}",
            "exchanges": [{"request": request, **({"sse": reply} if isinstance(reply, str) else {"response": reply})}],
        }
        for n, (request, reply) in enumerate(exchanges)
    ]
    path = tmp_path / "lines.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    await replayed(ReplayAdapter(path))


@pytest.mark.parametrize(
    ("one", "other"), [*itertools.permutations(["chat, no ids", "anthropic", "gemini"], 2), ("chat", "chat")]
)
async def test_runs_that_were_recorded_side_by_side_stay_apart(tmp_path: Path, one: str, other: str) -> None:
    (url, first), (another, second) = WIRES[one], WIRES[other]
    mixed = [
        interaction(url, first[0]),
        interaction(another, second[0]),
        interaction(another, second[1]),
        interaction(url, first[1]),
    ]
    runs = joined(read_transcripts(cassette(tmp_path / "tape.yaml", *mixed)))
    assert [len(run.exchanges) for run in runs] == [2, 2]
    for run in runs:
        await replayed(ReplayAdapter(run))


def test_requests_that_hold_no_earlier_reply_are_runs_of_their_own(tmp_path: Path) -> None:
    url, (first, second) = WIRES["chat"]
    elsewhere = json.loads(json.dumps(second[0]).replace("Paris", "Oslo").replace("call_9f", "call_aa"))
    tape = cassette(
        tmp_path / "tape.yaml",
        interaction(url, first),
        interaction(url, first),  # asked once more, and answered
        interaction(url, (elsewhere, second[1])),
    )
    assert [len(run.exchanges) for run in joined(read_transcripts(tape))] == [1, 1, 1]


async def test_words_that_are_answered_go_on_and_so_does_what_failed(tmp_path: Path) -> None:
    url, (first, second) = WIRES["chat"]
    thanks = {
        **second[0],
        "messages": [*second[0]["messages"], second[1]["choices"][0]["message"], {"role": "user", "content": "Thanks"}],
    }
    bye = {"choices": [{"message": {"role": "assistant", "content": "Bye."}, "finish_reason": "stop"}]}
    slow = {"error": {"message": "slow down", "type": "rate_limit_error"}}
    tape = cassette(
        tmp_path / "tape.yaml",
        interaction(url, (first[0], slow), 429),
        interaction(url, first),
        interaction(url, second),
        interaction(url, (thanks, bye)),
    )
    adapter = ReplayAdapter(tape)
    assert [one.attempt.reason for one in adapter.transcript.exchanges] == ["first", "retry", "turn", "turn"]
    orchestrator = Orchestrator(adapter, [get_weather])
    result = await orchestrator.run(ASKED)
    assert isinstance(result.attempts[0].failure, RateLimited)
    assert (await orchestrator.run("Thanks", message_history=result)).content == "Bye."
    assert adapter.finished


async def test_calls_that_were_written_as_text_go_on(tmp_path: Path) -> None:
    asks = [{"role": "user", "content": ASKED}]
    said = {"role": "assistant", "content": WRITTEN}
    words = {"role": "assistant", "content": "Sunny."}
    lines = [
        {"request": {"messages": asks}, "response": {"choices": [{"message": said, "finish_reason": "stop"}]}},
        {
            "request": {"messages": [*asks, said, {"role": "user", "content": "<tool_response>sun</tool_response>"}]},
            "response": {"choices": [{"message": words, "finish_reason": "stop"}]},
        },
    ]
    (run,) = joined(Transcript.model_validate(line) for line in lines)
    result = await Orchestrator(ReplayAdapter(run, match="none"), [get_weather]).run(ASKED)
    assert result.content == "Sunny."


async def test_another_tool_result_is_reported_as_the_difference(tmp_path: Path) -> None:
    url, exchanges = WIRES["responses by id"]

    def get_weather(city: str) -> str:
        """The weather of a city."""
        return "rain"

    adapter = ReplayAdapter(cassette(tmp_path / "tape.yaml", *(interaction(url, one) for one in exchanges)))
    with pytest.raises(ConfigError, match=f"recorded '{SUN}', asked 'rain'"):
        await Orchestrator(adapter, [get_weather]).run(ASKED)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
async def test_a_tool_loop_replays_from_the_proxy(tmp_path: Path, provider: str, streamed: bool) -> None:
    path = tmp_path / "proxy.jsonl"
    script = [Turn("I look.", calls=[("get_weather", {"city": "Paris"})]), Turn("Sunny.")]
    with (
        WireServer(script) as server,
        RecordingProxy(server.root, path, provider=provider, provenance="local: a test") as proxy,
    ):
        base = server.base_url(provider).replace(server.root, proxy.url)
        config = ModelConfig(alias="m", provider=provider, model="some-model", base_url=base, api_key=SecretStr("key-of-a-test"))
        async with Orchestrator(ModelRegistry([config]), [get_weather]) as orchestrator:
            if streamed:
                async with orchestrator.stream(ASKED) as stream:
                    async for _ in stream:
                        pass
                assert stream.result.content == "Sunny."
            else:
                assert (await orchestrator.run(ASKED)).content == "Sunny."
    assert len(path.read_text().splitlines()) == 2
    await replayed(ReplayAdapter(path))
