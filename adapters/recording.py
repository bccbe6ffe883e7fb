"""Recording at LiteLLM's level: what an adapter sent and got, as one line of a transcript file a run.

    recorder = Recorder(provenance="live: openai gpt-4o, 2026-01-31")
    adapter = LiteLLMAdapter(observer=recorder.observe)
    ...
    recorder.write("fixtures/recorded/run.jsonl", id="weather", tools=tools)

The format is the project's own (JSON Lines; design section 4) and what `llmcore replay` reads. Secrets are never
written: keys and secret headers are left out, and whatever looks like a key is hidden wherever it stands. Safe to use
from several threads; exchanges stand in the order of their requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.secrets import Scrubber
from llmcore.types import AttemptReason, JsonSchema, ToolDefinition
from llmcore.types.locks import ForkSafeLock

__all__ = ["Exchange", "Recorder", "tool_dict", "transcript"]

Exchange = dict[str, Any]
_NOT_WRITTEN = frozenset({"api_key", "api_base", "timeout", "num_retries", "max_retries", "extra_headers"})


def tool_dict(tool: ToolDefinition) -> dict[str, Any]:
    """A tool as transcripts hold it: OpenAI's form."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def transcript(
    exchanges: Iterable[Exchange],
    *,
    id: str,
    provider: str,
    model: str,
    provenance: str,
    level: str,
    tools: Iterable[ToolDefinition] = (),
    output_schema: JsonSchema | None = None,
    expect: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One line of a transcript file."""
    line: dict[str, Any] = {
        "id": id,
        "provider": provider,
        "model": model,
        "provenance": provenance,
        "level": level,
        "tools": [tool_dict(tool) for tool in tools],
    }
    if output_schema is not None:
        line["output_schema"] = output_schema
    line["exchanges"] = list(exchanges)
    return line | ({"expect": dict(expect)} if expect is not None else {})


class Recorder:
    """Collects the exchanges of one run. `observe` is an adapter's observer; `secrets` are hidden besides the calls'
    own."""

    def __init__(self, *, provenance: str, secrets: Iterable[str | None] = ()) -> None:
        self._provenance = provenance
        self._secrets = list(secrets)
        self._lock = ForkSafeLock()
        self._open: dict[int, Exchange] = {}
        self._previous: ModelCall | None = None
        self._first: ModelCall | None = None
        self.exchanges: list[Exchange] = []

    def observe(self, call: ModelCall, what: str, value: Any) -> None:
        """See `llmcore.adapters.litellm.Observer`."""
        with self._lock:
            if what == "request":
                self._begin(call, value)
            elif (exchange := self._open.get(id(call))) is not None:
                self._add(call, exchange, what, self._scrubber(call).value(value))

    def _begin(self, call: ModelCall, arguments: Mapping[str, Any]) -> None:
        sent = {key: value for key, value in arguments.items() if key not in _NOT_WRITTEN}
        attempt = {"model": call.endpoint.model, "mode": call.mode, "reason": call.reason or self._reason(call)}
        exchange = {"attempt": attempt, "request": self._scrubber(call).value(sent)}
        self.exchanges.append(exchange)
        self._open[id(call)] = exchange
        self._first = self._first or call
        self._previous = call

    def _add(self, call: ModelCall, exchange: Exchange, what: str, value: Any) -> None:
        if what == "chunk":
            exchange.setdefault("chunks", []).append(value)
            return
        if what != "end":
            exchange[what] = value
        del self._open[id(call)]

    def _reason(self, call: ModelCall) -> AttemptReason:
        """Why a request was made, where the orchestrator did not say, by what changed since the one before."""
        before = self._previous
        if before is None:
            return "first"
        if before.endpoint.key != call.endpoint.key:
            return "model"
        if before.mode != call.mode:
            return "mode"
        last = call.request.messages[-1:]
        answered = any(message.tool_results for message in last)
        return "turn" if answered and len(call.request.messages) > len(before.request.messages) else "reask"

    def _scrubber(self, call: ModelCall) -> Scrubber:
        key = call.endpoint.api_key
        headers = (*call.endpoint.extra_headers.values(), *call.request.extra_headers.values())
        return Scrubber([*self._secrets, key.get_secret_value() if key else None, *headers])

    def line(
        self,
        *,
        id: str,
        tools: Iterable[ToolDefinition] = (),
        output_schema: JsonSchema | None = None,
        expect: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """The run so far, as one line. Raises `ValueError` when nothing was recorded."""
        if self._first is None:
            raise ValueError("nothing was recorded: give `recorder.observe` to the adapter as its observer")
        endpoint = self._first.endpoint
        return transcript(
            self.exchanges,
            id=id,
            provider=endpoint.provider,
            model=endpoint.model,
            provenance=self._provenance,
            level="litellm",
            tools=tools,
            output_schema=output_schema,
            expect=expect,
        )

    def write(self, path: str | Path, **line: Any) -> None:
        """Append the run to a transcript file; keywords as for `line`."""
        text = json.dumps(self.line(**line), ensure_ascii=False)
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text + "\n")
