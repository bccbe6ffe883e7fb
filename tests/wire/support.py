"""Replies whose text holds calls, on each wire, and how a client reads what was made of them.

The upstream replies are written by the encoders under test, from text alone: a server that knows no dialect sends exactly that.
What a client reads is put together here, by index, as the SDKs do it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from llmcore import Envelope, ToolSet, Usage
from llmcore.normalizer import dialect
from llmcore.types import TextDelta
from llmcore.wire import Offered, RewriteSettings, Rewritten, anthropic, openai_chat, openai_responses
from llmcore.wire.rewriting import StreamRewriter

__all__ = ["CALL", "TOOLS", "TWELVE", "WIRES", "Read", "Wire", "pieces", "rewritten", "settings", "written"]

Json = dict[str, Any]
TOOLS = ToolSet(
    [
        {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city"],
            },
        },
        {"name": "get_time", "parameters": {"type": "object", "properties": {"zone": {"type": "string"}}}},
    ]
)
TWELVE = (
    *("hermes", "llama3_json", "mistral_v11", "deepseek_v31", "qwen3_coder", "kimi_k2"),
    *("glm45", "minimax_m2", "harmony", "pythonic", "fenced_json", "react"),
)
"""Twelve dialects of different families."""
ARGUMENTS: Json = {"city": "Paris", "days": 3}
CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}</tool_call>'
USAGE = Usage(input_tokens=21, output_tokens=9)


def settings(**options: Any) -> RewriteSettings:
    return RewriteSettings(TOOLS, **options)


def written(name: str, *calls: tuple[str, Json]) -> str:
    """Calls as the dialect writes them; one of `get_weather` by default."""
    return dialect(name).write(calls or (("get_weather", ARGUMENTS),))


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


@dataclass
class Read:
    """What a client has in its hands. `ids` are those of the calls; `end` the finish reason, None if none came."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    ids: list[str] = field(default_factory=list[str])
    end: str | None = None
    usage: Any = None

    def add(self, call_id: str, name: str, arguments: str | Json) -> None:
        self.ids.append(call_id)
        self.calls.append((name, json.loads(arguments) if isinstance(arguments, str) else arguments))


class Wire(Protocol):
    """One wire: an upstream's replies of plain text, the rewriters, and a client.

    `ends`: the finish reason with calls, and without. `tail`: how many events follow the last text.
    """

    name: str
    tail: int
    ends: tuple[str, str]
    id_form: str

    def body(self, text: str) -> Json: ...
    def events(self, texts: Sequence[str]) -> list[Json]: ...
    def rewrite(self, body: Json) -> Rewritten: ...
    def stream(self) -> StreamRewriter: ...
    def read_body(self, body: Json) -> Read: ...
    def read_events(self, events: Iterable[Json]) -> Read: ...


def _text(text: str) -> Envelope:
    return Envelope(content=text, finish_reason="stop")


class _Chat:
    name, tail, ends, id_form = "openai-chat", 2, ("tool_calls", "stop"), r"call_[A-Za-z0-9]{24}"

    def body(self, text: str) -> Json:
        return openai_chat.encode(_text(text), model="m", usage=USAGE, id="chatcmpl-up")

    def events(self, texts: Sequence[str]) -> list[Json]:
        encoder = openai_chat.StreamEncoder(model="m", id="chatcmpl-up")
        events = [event for text in texts for event in encoder.feed([TextDelta(text)])]
        return [*events, *encoder.finish(Offered(), "stop"), *encoder.end(USAGE)]

    def rewrite(self, body: Json) -> Rewritten:
        return openai_chat.rewrite(body, settings())

    def stream(self) -> StreamRewriter:
        return openai_chat.StreamRewriter(settings())

    def read_body(self, body: Json) -> Read:
        choice = body["choices"][0]
        message = choice["message"]
        read = Read(
            message["content"] or "", message.get("reasoning_content") or "", end=choice["finish_reason"], usage=body.get("usage")
        )
        for call in message.get("tool_calls") or ():
            read.add(call["id"], call["function"]["name"], call["function"]["arguments"])
        return read

    def read_events(self, events: Iterable[Json]) -> Read:
        return self.read_choice(events, 0)

    def read_choice(self, events: Iterable[Json], index: int) -> Read:
        read, calls = Read(), dict[int, Json]()
        for event in events:
            read.usage = event.get("usage") or read.usage
            for choice in event["choices"]:
                if choice["index"] != index:
                    continue
                delta = choice["delta"]
                assert read.end is None or not delta, "nothing may follow the finish reason"
                read.text += delta.get("content") or ""
                read.reasoning += delta.get("reasoning_content") or ""
                read.end = choice["finish_reason"] or read.end
                for part in delta.get("tool_calls") or ():
                    call = calls.setdefault(part["index"], {"id": part.get("id"), "name": "", "arguments": ""})
                    for key, value in part["function"].items():
                        call[key] += value
        for call in calls.values():
            read.add(call["id"], call["name"], call["arguments"])
        return read


class _Anthropic:
    name, tail, ends, id_form = "anthropic", 3, ("tool_use", "end_turn"), r"toolu_[A-Za-z0-9]{24}"

    def body(self, text: str) -> Json:
        return anthropic.encode(_text(text), model="m", usage=USAGE, id="msg_up")

    def events(self, texts: Sequence[str]) -> list[Json]:
        encoder = anthropic.StreamEncoder(model="m", id="msg_up")
        events = [event for text in texts for event in encoder.feed([TextDelta(text)])]
        return [*encoder.start(USAGE), *events, *encoder.finish(Offered(), "stop", USAGE)]

    def rewrite(self, body: Json) -> Rewritten:
        return anthropic.rewrite(body, settings(ids="anthropic"))

    def stream(self) -> StreamRewriter:
        return anthropic.StreamRewriter(settings(ids="anthropic"))

    def read_body(self, body: Json) -> Read:
        read = Read(end=body["stop_reason"], usage=body["usage"])
        for block in body["content"]:
            if block["type"] == "tool_use":
                read.add(block["id"], block["name"], block["input"])
            else:
                read.text += block.get("text", "")
                read.reasoning += block.get("thinking", "")
        return read

    def read_events(self, events: Iterable[Json]) -> Read:
        message: Json = {"stop_reason": None, "usage": None}
        blocks: list[Json] = []
        inputs: list[str] = []
        open_block: int | None = None
        for event in events:
            kind = event["type"]
            if kind == "content_block_start":
                assert open_block is None, "one block at a time"
                assert event["index"] == len(blocks), "indexes have no gap"
                open_block = event["index"]
                blocks.append(dict(event["content_block"]))
                inputs.append("")
            elif kind == "content_block_delta":
                assert event["index"] == open_block
                delta = event["delta"]
                if delta["type"] == "input_json_delta":
                    inputs[-1] += delta["partial_json"]
                for field_name in ("text", "thinking", "signature"):
                    if field_name in delta:
                        blocks[-1][field_name] = blocks[-1].get(field_name, "") + delta[field_name]
            elif kind == "content_block_stop":
                assert event["index"] == open_block
                open_block = None
                if blocks[-1]["type"] == "tool_use":
                    blocks[-1]["input"] = json.loads(inputs[-1] or "{}")
            elif kind == "message_delta":
                message |= {"stop_reason": event["delta"]["stop_reason"], "usage": event["usage"]}
        return self.read_body({**message, "content": blocks})


class _Responses:
    name, tail, ends, id_form = "openai-responses", 4, ("completed", "completed"), r"call_[A-Za-z0-9]{24}"

    def body(self, text: str) -> Json:
        return openai_responses.encode(_text(text), model="m", usage=USAGE, id="resp_up")

    def events(self, texts: Sequence[str]) -> list[Json]:
        encoder = openai_responses.StreamEncoder(model="m", id="resp_up")
        events = encoder.start()
        events += [event for text in texts for event in encoder.feed([TextDelta(text)])]
        return [*events, *encoder.finish(Offered(), "stop", USAGE)]

    def rewrite(self, body: Json) -> Rewritten:
        return openai_responses.rewrite(body, settings())

    def stream(self) -> StreamRewriter:
        return openai_responses.StreamRewriter(settings())

    def read_body(self, body: Json) -> Read:
        read = Read(end=body["status"], usage=body["usage"])
        for item in body["output"]:
            if item["type"] == "function_call":
                read.add(item["call_id"], item["name"], item["arguments"])
            for part in item.get("content") or ():
                if part["type"] == "output_text":
                    read.text += part["text"]
                else:
                    read.reasoning += part["text"]
        return read

    def read_events(self, events: Iterable[Json]) -> Read:
        """As of the deltas. They must agree with the whole response at the end."""
        read, calls, last = Read(), dict[int, Json](), dict[str, Any]()
        numbers: list[int] = []
        added = 0
        for event in events:
            kind = event["type"]
            numbers.append(event["sequence_number"])
            if kind == "response.output_item.added":
                assert event["output_index"] == added, "indexes have no gap"
                added += 1
                if event["item"]["type"] == "function_call":
                    calls[event["output_index"]] = dict(event["item"])
            elif kind == "response.function_call_arguments.delta":
                calls[event["output_index"]]["arguments"] += event["delta"]
            elif kind == "response.output_text.delta":
                read.text += event["delta"]
            elif kind == "response.reasoning_text.delta":
                read.reasoning += event["delta"]
            elif kind == "response.completed":
                last = event["response"]
        assert numbers == sorted({*numbers}), "the numbers of events increase"
        for call in calls.values():
            read.add(call["call_id"], call["name"], call["arguments"])
        if last:
            read.end, read.usage = last["status"], last["usage"]
            assert len(last["output"]) == added
            assert self.read_body(last) == read
        return read


WIRES: tuple[Wire, ...] = (_Chat(), _Anthropic(), _Responses())


def rewritten(wire: Wire, events: Iterable[Json], *, done: bool = True) -> tuple[list[Json], StreamRewriter]:
    """The events that a client gets for these, and the rewriter. `done`: the stream ended with its end mark."""
    rewriter = wire.stream()
    sent = [each for event in events for each in rewriter.feed(event)]
    return [*sent, *rewriter.finish(done=done and wire.name == "openai-chat")], rewriter
