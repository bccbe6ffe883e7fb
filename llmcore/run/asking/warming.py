"""Loads in a thread what the first run of a process needs.

Modules are imported, expressions compiled and pydantic validators built on first use. A first run would do all of that on its
event loop. So a rehearsal runs the loop once with a scripted model, on an event loop of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from importlib import import_module
from typing import Any

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.capabilities import known_capabilities
from llmcore.run.deadline import needed_loop
from llmcore.run.observing.observers import Observers
from llmcore.support.code.collector_pause import paused_collector
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.types import LLMCoreError, Reply

__all__ = ["layers_ready", "load_layers", "must_load_layers"]

_lock = ForkSafeLock()
_are_ready = False
_is_rehearsal: ContextVar[bool] = ContextVar("llmcore_layers_rehearsal", default=False)
_ANY_PROVIDER = "openai_compatible"


def must_load_layers() -> bool:
    """Whether a run that starts here would load the layers on a running event loop."""
    if _are_ready or _is_rehearsal.get():
        return False
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def layers_ready(make: Callable[..., Any]) -> None:
    """Wait until a thread has loaded llmcore's layers; return at once if they are loaded. `make` is the `Orchestrator` class.

    Raises `CallerError` if no asyncio event loop runs.
    """
    if not _are_ready and not _is_rehearsal.get():
        needed_loop()
        await asyncio.to_thread(load_layers, make)


def load_layers(make: Callable[..., Any]) -> None:
    """Load the layers in this thread, where no event loop runs."""
    global _are_ready
    with _lock:
        if _are_ready:
            return
        with paused_collector(), suppress(Exception):  # the first run loads what is missing
            import_module("llmcore.adapters.litellm.adapter")  # not LiteLLM itself
            known_capabilities(Endpoint(provider=_ANY_PROVIDER, model="m"))  # reads the table of models
            asyncio.run(_rehearsal(make))
        _are_ready = True


class _ScriptedModel:
    """A model that plays its turns in order: a dict is a call's arguments, a str is text, an error is raised."""

    provider_id = "llmcore-rehearsal"
    heeds_cancellation = True

    def __init__(self, *turns: dict[str, Any] | str | Exception) -> None:
        self._turns = iter(turns)

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return Capabilities(native_tools=True, json_schema=True, json_object=True)

    def _message(self, call: ModelCall) -> dict[str, Any]:
        turn = next(self._turns)
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, str):
            return {"role": "assistant", "content": turn}
        name = call.tools[0].name if call.tools else "final_result"
        return {"role": "assistant", "content": None, "tool_calls": [_call(name, turn)]}

    async def complete(self, call: ModelCall) -> Reply:
        message = self._message(call)
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
        body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": _COUNTS}
        return Reply(raw=body, wire="openai-chat", provider=call.endpoint.provider, model=call.endpoint.model)

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        message = self._message(call)
        for delta, finish in ((message, None), ({}, "tool_calls" if "tool_calls" in message else "stop")):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            yield {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def _call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    import json

    return {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


_COUNTS = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
_SCHEMA = {
    "type": "object",
    "properties": {"at": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["at", "count"],
}


async def _rehearsal(make: Callable[..., Any]) -> None:
    from pydantic import BaseModel

    from llmcore.run.results.result import RunResult
    from llmcore.run.resume.answers import Approve
    from llmcore.tools import tool

    _is_rehearsal.set(True)

    class Look(BaseModel):
        at: str
        count: int

    def look(at: str, count: int) -> dict[str, Any]:
        return {"at": at, "count": count}

    def orchestrator(*turns: dict[str, Any] | str | Exception, tools: Any = ()) -> Any:
        made = make(_ScriptedModel(*turns), tools)
        # Logs and recordings emit of real runs.
        made._runtime = replace(made._runtime, observers=Observers(None), open_recordings=tuple)
        return made

    good, bad = {"at": "it", "count": 1}, {"at": "it", "count": "many"}
    await orchestrator("Yes.").run("Look.")
    await orchestrator(bad, good, "Yes.", tools=[look]).run("Look.")
    async for _ in orchestrator(good, "Yes.", tools=[look]).stream("Look."):
        pass
    await orchestrator('{"at": "it", "count": "many"}', '```json\n{"at": "it", "count": 1,}\n```').execute("Look.", Look)
    await orchestrator('{"at": "it", "count": 1}').execute("Look.", _SCHEMA)
    async for _ in orchestrator('{"at": "it", "count": 1}').stream("Look.", Look):
        pass
    waits = orchestrator(good, "Yes.", tools=[tool(look, requires_approval=True)])
    saved = (await waits.run("Look.")).model_dump_json()
    result: RunResult[Any] = RunResult.model_validate_json(saved)
    await waits.run(result, answers={call.id: Approve() for call in result.pending})
    with suppress(LLMCoreError):
        await orchestrator(LLMCoreError("no")).run("Look.")
