"""What `wrap(client)` adds to a chunk of a stream, against reading and dumping the JSON of the same chunks.

    python -m benchmarks.wire [--chunk 4] [--rounds 40]

Each stream is made anew, so that no text is read twice. `rewritten` is the work on the bytes. `in a client` is a wrapped
`httpx.Client` less a bare one, both on a transport in memory: the bytes, and what httpx does once more. Both are ratios to
`json.loads` and `json.dumps` of each chunk, taken in turn in one run, as the median of the rounds. CPU time of the thread.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import httpx

from benchmarks.texts import MARKDOWN, PROSE, TOOL_DICTS, TOOLS, call, sentence, word
from benchmarks.timing import conditions, on_each, ratio, table
from llmcore import TextDelta, normalize
from llmcore.integrations.httpx import wrap
from llmcore.types import ReasoningDelta
from llmcore.wire import ExchangeOptions, HttpExchange, Offered, anthropic, offered, openai_chat, openai_responses
from llmcore.wire.sse import event_bytes

__all__ = ["main", "streams"]

_BAR = 3.0
_Stream = list[bytes]
_Events = Callable[[list[Any]], list[dict[str, Any]]]
_OPENAI = [{"type": "function", "function": tool} for tool in TOOL_DICTS]
_ANTHROPIC = [{"name": tool["name"], "input_schema": tool["parameters"]} for tool in TOOL_DICTS]
_RESPONSES = [{"type": "function", **tool} for tool in TOOL_DICTS]
_WIRES: dict[str, tuple[str, Any, Any]] = {
    "openai chat": ("/v1/chat/completions", openai_chat.StreamEncoder, _OPENAI),
    "openai responses": ("/v1/responses", openai_responses.StreamEncoder, _RESPONSES),
    "anthropic": ("/v1/messages", anthropic.StreamEncoder, _ANTHROPIC),
}


def _texts(draw: random.Random, size: int) -> dict[str, list[Any]]:
    """The deltas of each kind of reply, never made before."""

    def cut(text: str, kind: Any = TextDelta) -> list[Any]:
        return [kind(text[at : at + size]) for at in range(0, len(text), size)]

    at = draw.randint(0, 2000)
    prose = f"{word(draw)} {PROSE[at : at + 1500]}"
    return {
        "prose": cut(prose),
        "Markdown": cut(f"{word(draw)} {MARKDOWN[:1500]}"),
        "reasoning, then prose": [*cut(prose[:700], ReasoningDelta), *cut(prose[700:])],
        "a sentence and a call": cut(f"{sentence(draw)}\n{call('hermes', 1000, draw=draw)[0]}"),
        "a native call": [offered(normalize(call("hermes", 1000, draw=draw)[0], TOOLS))],
    }


def streams(wire: str, kind: str, size: int, draw: random.Random) -> _Stream:
    """One stream as a server sends it, an event an item."""
    _, made, _ = _WIRES[wire]
    encoder = made(model="m")
    deltas = _texts(draw, size)[kind]
    result = deltas.pop() if isinstance(deltas[-1], Offered) else Offered()
    events = encoder.start() if hasattr(encoder, "start") else []
    for delta in deltas:
        events += encoder.feed([delta])
    ends = list(_native_in_pieces(encoder.finish(result, "stop"), size))
    named = wire != "openai chat"
    written = [event_bytes(event, event["type"] if named else "") for event in [*events, *ends]]
    return written if named else [*written, b"data: [DONE]\n\n"]


def _native_in_pieces(events: Iterable[dict[str, Any]], size: int) -> Iterator[dict[str, Any]]:
    """The events, with the arguments of native calls in deltas, as models stream them."""
    for event in events:
        text = event.get("delta") if event.get("type") == "response.function_call_arguments.delta" else None
        inner: Any = event.get("delta")
        if isinstance(inner, dict) and inner.get("type") == "input_json_delta":
            for at in range(0, len(inner["partial_json"]), size):
                yield {**event, "delta": {**inner, "partial_json": inner["partial_json"][at : at + size]}}
        elif isinstance(text, str):
            for at in range(0, len(text), size):
                yield {**event, "delta": text[at : at + size]}
        elif event.get("choices") and event["choices"][0]["delta"].get("tool_calls"):
            choice = event["choices"][0]
            (entry,) = choice["delta"]["tool_calls"]
            arguments = entry["function"]["arguments"]
            head = {**entry, "function": {**entry["function"], "arguments": ""}}
            parts = [
                {"index": entry["index"], "function": {"arguments": arguments[at : at + size]}}
                for at in range(0, len(arguments), size)
            ]
            for part in (head, *parts):
                yield {**event, "choices": [{**choice, "delta": {"tool_calls": [part]}}]}
        else:
            yield event


def _read_and_dumped(stream: _Stream) -> None:
    for event in stream:
        data = event[event.index(b"data: ") + 6 :]
        if data.startswith(b"{"):
            json.dumps(json.loads(data)).encode()


def _rewritten(path: str, request: bytes, stream: _Stream) -> None:
    exchange = HttpExchange.of(path, request, ExchangeOptions())
    assert exchange is not None
    reply = exchange.stream()
    for event in stream:
        reply.feed(event)
    reply.finish()


class _Memory(httpx.BaseTransport):
    """Answers with the stream that is set."""

    stream: _Stream

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=_Bytes(self.stream))


class _Bytes(httpx.SyncByteStream):
    def __init__(self, parts: _Stream) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)


def _asked(client: httpx.Client, transport: _Memory, url: str, request: bytes, stream: _Stream) -> None:
    transport.stream = stream
    with client.stream("POST", url, content=request) as response:
        for _ in response.iter_bytes():
            pass


def _row(wire: str, kind: str, size: int, rounds: int) -> tuple[list[str], float]:
    path, _, tools = _WIRES[wire]
    request = json.dumps({"model": "m", "stream": True, "tools": tools}).encode()
    draw = random.Random(f"{wire} {kind}")  # reproducible texts, no secret
    transport = _Memory()
    bare, wrapped = httpx.Client(transport=transport), wrap(httpx.Client(transport=transport))
    url = f"http://model.invalid{path}"
    readers: dict[str, Callable[[_Stream], object]] = {
        "json": _read_and_dumped,
        "rewritten": partial(_rewritten, path, request),
        "bare": partial(_asked, bare, transport, url, request),
        "wrapped": partial(_asked, wrapped, transport, url, request),
    }
    lengths: list[int] = []

    def fresh() -> _Stream:
        made = streams(wire, kind, size, draw)
        lengths.append(len(made))
        return made

    spent = on_each(readers, fresh, rounds, batch=2)
    adds = [one - other for one, other in zip(spent["wrapped"], spent["bare"], strict=True)]
    factors = ratio(spent["rewritten"], spent["json"]), ratio(adds, spent["json"])
    chunk = min(spent["json"]) / (sum(lengths) / len(lengths)) * 1e6
    cells = [f"{wire}, {kind}", f"{chunk:.1f}", f"{chunk * factors[0]:.1f}", f"{factors[0]:.2f}", f"{factors[1]:.2f}"]
    return [*cells, "" if max(factors) <= _BAR else "over"], max(factors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--chunk", type=int, default=4, help="characters of a delta")
    parser.add_argument("--rounds", type=int, default=40)
    given = parser.parse_args()
    print(conditions(), end="\n\n")
    kinds = list(_texts(random.Random(0), given.chunk))
    rows = [_row(wire, kind, given.chunk, given.rounds) for wire in _WIRES for kind in kinds]
    head = ["stream", "json us/chunk", "rewritten us/chunk", "rewritten/json", "in a client/json", f"bar {_BAR:g}"]
    print(table(head, [cells for cells, _ in rows]))


if __name__ == "__main__":
    main()
