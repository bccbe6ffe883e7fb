"""What layers cost on top of `litellm.acompletion`: one request with a tool and a call as its answer, on loopback.

    python -m benchmarks.adapter                # ten pairs of batches of 60, then 100 at once
    python -m benchmarks.adapter --pairs 4 --batch 20

The server is a process of its own (`tests/helpers/wire_server.py`); what is counted is this process's CPU. Batches of
`litellm.acompletion`, of `LiteLLMAdapter` and of an `Orchestrator` take turns, whole and streamed (100 chunks), and all ask
the same. A ratio is that of neighbours in time, and the median of all is printed: a shared machine changes speed while one watches.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

import llmcore
from benchmarks.loopback import KEY, MODEL, registry, served
from benchmarks.timing import conditions, no_gc, table
from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.adapter import LiteLLMAdapter
from llmcore.adapters.litellm.engine import litellm
from llmcore.types import Message, Request, ToolDefinition

__all__ = ["main"]

_SCRIPT = """[Turn(
    "The pump in hall two stopped twice during the night shift. " * 10,
    calls=[("file_report", {"title": "Pump", "priority": 2})],
    chunk=6,
)]"""
_PARAMETERS = {"type": "object", "properties": {"title": {"type": "string"}, "priority": {"type": "integer"}}}
_TOOL = ToolDefinition(name="file_report", description="File a report.", parameters=_PARAMETERS)
_QUESTION = "Report the pump in hall two."
_SECONDS_TO_SETTLE = 0.5

Ask = Callable[[bool], Awaitable[None]]
"""One request, whole or streamed (True), that ends when its answer is read and checked."""


def _checked(name: str, arguments: Any) -> None:
    assert (name, arguments) == ("file_report", {"title": "Pump", "priority": 2}), (name, arguments)


async def _peer(base_url: str) -> Ask:
    """What a program does that calls LiteLLM itself, arguments parsed."""
    module = await litellm()
    tool = {"type": "function", "function": {"name": _TOOL.name, "description": _TOOL.description, "parameters": _PARAMETERS}}
    asked: dict[str, Any] = {
        "model": f"openai/{MODEL}",
        "api_base": base_url,
        "api_key": KEY,
        "messages": [{"role": "user", "content": _QUESTION}],
        "tools": [tool],
        "timeout": 60,
        "num_retries": 0,
        "max_retries": 0,
    }

    async def ask(streamed: bool) -> None:
        if not streamed:
            answer = await module.acompletion(**asked)
            (call,) = answer.choices[0].message.tool_calls
            _checked(call.function.name, json.loads(call.function.arguments))
            return
        name, arguments = "", ""
        async for chunk in await module.acompletion(**asked, stream=True, stream_options={"include_usage": True}):
            for call in (chunk.choices[0].delta.tool_calls or []) if chunk.choices else []:
                name += call.function.name or ""
                arguments += call.function.arguments or ""
        _checked(name, json.loads(arguments))

    return ask


def _adapter(base_url: str) -> Ask:
    """The adapter alone, and what reads its reply."""
    adapter, endpoint = LiteLLMAdapter(), registry(base_url).get("m").endpoint
    request = Request(messages=[Message(role="user", content=_QUESTION)], tools=[_TOOL])
    call = ModelCall(endpoint=endpoint, request=request, mode="native_tools")
    tools = llmcore.ToolSet([_TOOL])

    async def ask(streamed: bool) -> None:
        if not streamed:
            (called,) = llmcore.normalize(await adapter.complete(call), tools).tool_calls
        else:
            normalizer = llmcore.Normalizer(tools)
            async for event in adapter.stream(call):
                normalizer.feed(event)
            normalizer.finish()
            (called,) = normalizer.envelope.tool_calls
        _checked(called.name, called.arguments)

    return ask


def _orchestrator(base_url: str) -> Ask:
    """All layers: one run whose call is returned, not executed."""
    orchestrator = llmcore.Orchestrator(registry(base_url), [_TOOL])

    async def ask(streamed: bool) -> None:
        result = None
        if not streamed:
            result = await orchestrator.run(_QUESTION)
        else:
            async for event in orchestrator.stream(_QUESTION):
                result = event.result if isinstance(event, llmcore.Finished) else result
        assert result is not None
        (called,) = result.envelope.tool_calls
        _checked(called.name, called.arguments)

    return ask


async def _batch(ask: Ask, count: int, streamed: bool) -> float:
    """CPU seconds of this process for so many requests, one after the other, and for what they leave behind: LiteLLM does a
    part of its work in tasks that run later."""
    started = time.process_time()
    for _ in range(count):
        await ask(streamed)
    await asyncio.sleep(_SECONDS_TO_SETTLE)
    return time.process_time() - started


async def _at_once(ask: Ask, count: int, streamed: bool) -> float:
    """Requests a second of so many at once."""
    started = time.perf_counter()
    await asyncio.gather(*[ask(streamed) for _ in range(count)])
    spent = time.perf_counter() - started
    await asyncio.sleep(_SECONDS_TO_SETTLE)
    return count / spent


async def _measured(base_url: str, given: argparse.Namespace) -> None:
    peer = await _peer(base_url)
    ours = {"LiteLLMAdapter": _adapter(base_url), "Orchestrator": _orchestrator(base_url)}
    rows: list[list[str]] = []
    for streamed in (False, True):
        for name, ask in ours.items():
            await _batch(peer, 5, streamed)
            await _batch(ask, 5, streamed)
            spent: list[tuple[float, float]] = []
            rates: list[float] = []
            for _ in range(given.pairs):
                with no_gc():
                    spent.append((await _batch(ask, given.batch, streamed), await _batch(peer, given.batch, streamed)))
                    rates.append(await _at_once(ask, given.at_once, streamed) / await _at_once(peer, given.at_once, streamed))
            more = statistics.median(mine / other for mine, other in spent) - 1
            each = min(other for _, other in spent) / given.batch * 1e3
            rows.append(
                [name, "streamed" if streamed else "whole", f"{each:.2f}", f"{more:+.1%}", f"{statistics.median(rates):.0%}"]
            )
    print(table(["on top of litellm.acompletion", "reply", "its ms of CPU", "CPU on top", "rate at once"], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=60, help="requests of a batch, one after the other")
    parser.add_argument("--at-once", type=int, default=100, help="requests of a batch, all at once")
    given = parser.parse_args()
    print(conditions(), end="\n\n", flush=True)
    with served(_SCRIPT) as base_url:
        asyncio.run(_measured(base_url, given))


if __name__ == "__main__":
    main()
