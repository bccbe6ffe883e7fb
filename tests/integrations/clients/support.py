"""Replies of the corpus over loopback, and what a client has in its hands in the end."""

from __future__ import annotations

import importlib
import inspect
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from llmcore.support.values.narrowing import is_list, is_object
from llmcore.wire.sse import event_bytes
from tests.helpers.wire_server import Raw, Seen, Step, Turn, WireServer, wire_of
from tests.helpers.wires import WIRES, frames
from tests.packaging.tree import ROOT

__all__ = [
    "DIALECTS",
    "DONE",
    "Answer",
    "Sample",
    "cut_reply",
    "failure_of",
    "ids_of_results",
    "items",
    "resolved",
    "sample",
    "serving",
    "the_module",
]

Json = dict[str, Any]
DIALECTS = (
    *("hermes", "qwen3_coder", "llama3_json", "mistral_v11", "harmony", "deepseek_v31"),
    *("kimi_k2", "glm45", "pythonic", "minimax_m2", "granite3", "functionary_v31"),
)
"""Twelve dialects of different families."""
DONE = "It is sunny."
"""What the model answers to a result."""


@dataclass(frozen=True)
class Sample:
    """A row of the corpus (docs/corpus.md). `tools`: name and `parameters` of each. `calls`: (name, arguments) of each."""

    text: str
    tools: list[Json]
    calls: list[tuple[str, Json]]
    content: str


@cache
def _rows(file: str) -> dict[str, Json]:
    lines = (ROOT / "fixtures" / "dialects" / f"{file}.jsonl").read_text("utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def sample(file: str, dialect: str, place: str) -> Sample:
    """The row of a dialect in a place."""
    row = _rows(file)[f"{file}/{dialect}/{place}"]
    calls = [(call["name"], call["arguments"]) for call in row["calls"]]
    return Sample(row["text"], row["tools"], calls, row["content"] or "")


@dataclass
class Answer:
    """What a client, or the functions of an agent, received. It is filled while it comes, so that a cut reply leaves its part.

    `ids`: of the calls. `end`: the finish reason. `usage`: (input, output) tokens. `id`: of the reply.
    """

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    ids: list[str] = field(default_factory=list[str])
    end: str = ""
    usage: tuple[int, int] = (0, 0)
    id: str = ""

    def add(self, call_id: str, name: str, arguments: Any) -> None:
        """Note a call."""
        self.ids.append(call_id)
        self.calls.append((name, json.loads(arguments) if isinstance(arguments, str) else dict(arguments)))

    def run(self, name: str, arguments: Any) -> str:
        """Run a tool: note the call, whose id an agent keeps to itself."""
        self.calls.append((name, json.loads(arguments) if isinstance(arguments, str) else dict(arguments)))
        return "22 degrees"


def the_module(name: str) -> Any:
    """A client's module. Skips the test if it is not installed, unless this environment was made with it."""
    if name.partition(".")[0] in os.environ.get("LLMCORE_CLIENTS", "").split():
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed: `make test-integrations` makes environments with it")


async def resolved(value: Any) -> Any:
    """What a sync client returned, or an async one promises."""
    return await value if inspect.isawaitable(value) else value


async def failure_of(asking: Awaitable[object]) -> Exception | None:
    """The error of a client whose reply was cut; None if it takes the end of the connection for the end of the reply."""
    try:
        await asking
    except AssertionError:
        raise
    except Exception as error:
        return error
    return None


async def items(stream: Any) -> AsyncIterator[Any]:
    """The items of a sync or async stream, as they come."""
    if hasattr(stream, "__aiter__"):
        async for item in stream:
            yield item
    else:
        for item in stream:
            yield item


def _objects(value: Any) -> Iterator[Json]:
    if is_object(value):
        yield value
    for inner in value.values() if is_object(value) else value if is_list(value) else ():
        yield from _objects(inner)


_RESULT_IDS = {"function_call_output": "call_id", "tool_result": "tool_use_id"}
_CALL_IDS = {"function": "id", "function_call": "call_id", "tool_use": "id"}


def ids_of_results(body: Json) -> tuple[list[str], list[str]]:
    """The ids of the calls and those of the results in the history of a request, of any wire."""
    calls: list[str] = []
    results: list[str] = []
    for item in _objects(body.get("messages") or body.get("input")):
        if item.get("role") == "tool":
            results.append(item["tool_call_id"])
        kind = str(item.get("type") or ("function" if "function" in item else ""))
        if kind in _RESULT_IDS:
            results.append(item[_RESULT_IDS[kind]])
        elif kind in _CALL_IDS:
            calls.append(item[_CALL_IDS[kind]])
    return calls, results


def serving(first: Step | Callable[[Seen], Step]) -> WireServer:
    """A model that answers with `first`, and with `DONE` as soon as the history has a result."""

    def script(seen: Seen) -> Step:
        step = Turn(DONE) if ids_of_results(seen.body)[1] else first(seen) if callable(first) else first
        return _of_groq(step) if isinstance(step, Turn) and seen.streaming and seen.path.startswith("/openai/") else step

    return WireServer(script)


def _of_groq(turn: Turn) -> Raw:
    """A stream of Groq: the usage stands in a field of its own, in the chunk with the finish reason."""
    *events, end, last = WIRES["openai-chat"].events(turn)
    end["x_groq"] = {"id": "req_wire", "usage": {**last["usage"], "total_time": 0.5}}
    return Raw([*map(event_bytes, [*events, end, last]), b"data: [DONE]\n\n"], "text/event-stream")


def cut_reply(text: str, ending: str) -> Any:
    """A script: a stream that has the whole text and ends before the reply does. `ending`: as of `Raw`."""

    def script(seen: Seen) -> Step:
        parts = [*frames(wire_of(seen.path), Turn(text))]
        last = max(
            at
            for at, part in enumerate(parts)
            if any(mark in part for mark in (b'"content": "', b'text_delta"', b"output_text.delta"))
        )
        return Raw(parts[: last + 1], "text/event-stream", ending=ending)

    return script
