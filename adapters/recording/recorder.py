"""Records what an adapter sent and received at LiteLLM's level, one line of a transcript file per run.

    recorder = Recorder(provenance="live: openai gpt-4o, 2026-01-31")
    adapter = LiteLLMAdapter(observer=recorder.observe)
    ...
    recorder.write("fixtures/recorded/run.jsonl", id="weather", tools=tools)

The format is llmcore's own (JSON Lines), which `llmcore replay` reads. Secrets are never written: keys and secret headers are
omitted, and known secrets and what looks like a key are hidden anywhere in a line, even if a stream split them. Thread-safe;
exchanges are in the order of their requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from llmcore.adapters.base import ModelCall
from llmcore.adapters.secrets.known_secrets import process_scrubber, remember
from llmcore.adapters.secrets.request_secrets import secrets_in
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.values.json_data import as_json, encodable, read_object
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import AttemptReason, JsonSchema, ToolDefinition

__all__ = ["Exchange", "Recorder", "TranscriptFile", "tool_dict", "transcript"]

Exchange = dict[str, Any]
_NUMBERED = re.compile(r"-[0-9]{1,9}\Z")
_NOT_WRITTEN = frozenset({"api_key", "api_base", "timeout", "num_retries", "max_retries", "extra_headers"})


def tool_dict(tool: ToolDefinition) -> dict[str, Any]:
    """Return a tool in OpenAI's form, as in transcripts."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def transcript(
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
    """Return one line of a transcript file, without exchanges."""
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
    line["exchanges"] = []
    return line | ({"expect": dict(expect)} if expect is not None else {})


class TranscriptFile:
    """A file to which lines are appended. Each line has its own id: after `run` comes `run-2`, and after `run-1` too.

    The existing ids are read with the first line. Thread-safe. Lines that several processes write at once may share an id.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = ForkSafeLock()
        self._ids: set[str] | None = None
        self._last: dict[str, int] = {}

    def append(self, line: Mapping[str, Any]) -> str:
        """Write a line and return its id. Lone surrogates are written as escapes."""
        with self._lock:
            unique = self._unique(str(line["id"]))
            numbered = {**line, "id": unique}
            written = as_json(numbered)
            if encodable(written) != written:
                written = as_json(numbered, ascii_only=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(written + "\n")
        return unique

    def _unique(self, id: str) -> str:
        if self._ids is None:
            self._ids = _ids_in(self._path)
        name, _, number = id.rpartition("-") if _NUMBERED.search(id) else (id, "", "1")
        last = self._last.get(name, int(number))
        while id in self._ids:
            last += 1
            id = f"{name}-{last}"
        self._ids.add(id)
        self._last[name] = last
        return id


def _ids_in(path: Path) -> set[str]:
    if not path.exists():
        return set()
    ids: set[str] = set()
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            if (line := read_object(text)) is not None:  # the file's reader reports others
                ids.add(str(line.get("id")))
    return ids


class Recorder:
    """Collects the exchanges of one run. `observe` is an adapter's observer. `secrets` are hidden, besides those of the calls
    and of the process.

    Exchanges are stored as they arrived and scrubbed on access. Then every secret of the run is known, so that none is hidden
    only in part.
    """

    def __init__(self, *, provenance: str, secrets: Iterable[str | None] = ()) -> None:
        self._provenance = provenance
        remember(secrets)
        self._secrets: set[str] = set()
        self._lock = ForkSafeLock()
        self._exchanges: list[Exchange] = []
        self._open: dict[int, Exchange] = {}
        self._previous: ModelCall | None = None
        self._first: ModelCall | None = None

    def observe(self, call: ModelCall, what: str, value: Any) -> None:
        """Record one event. See `llmcore.adapters.litellm.adapter.Observer`."""
        with self._lock:
            if what == "request":
                self._begin(call, value)
            elif (exchange := self._open.get(id(call))) is not None:
                self._add(call, exchange, what, _copied(value))

    @property
    def exchanges(self) -> list[Exchange]:
        """The exchanges so far, without secrets."""
        scrubber = self._scrubber()
        with self._lock:
            return [_clean(scrubber, exchange) for exchange in self._exchanges]

    def clean(self, text: str) -> str:
        """Return a text without the secrets known by now."""
        return self._scrubber().text(text)

    def _scrubber(self) -> Scrubber:
        return process_scrubber(self._secrets)

    def _begin(self, call: ModelCall, arguments: Mapping[str, Any]) -> None:
        sent = {key: value for key, value in arguments.items() if key not in _NOT_WRITTEN}
        self._secrets |= {*secrets_in(arguments)}
        if self._previous is call and id(call) in self._open:  # prepared again before anything was sent
            self._open[id(call)]["request"] = _copied(sent)
            return
        attempt: dict[str, Any] = {"model": call.endpoint.model, "mode": call.mode, "reason": call.reason or self._reason(call)}
        if call.text_calls != "standard":
            attempt["text_calls"] = call.text_calls
        if call.own_dialects is not None:
            attempt["own_dialects"] = sorted(call.own_dialects)
        exchange = {"attempt": attempt, "request": _copied(sent)}
        self._exchanges.append(exchange)
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
        """The reason of a request, if the orchestrator did not give it, from what changed since the previous one."""
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

    def line(
        self,
        *,
        id: str,
        tools: Iterable[ToolDefinition] = (),
        output_schema: JsonSchema | None = None,
        expect: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the run so far as one line. Raises `ValueError` if nothing was recorded."""
        if self._first is None:
            raise ValueError("nothing was recorded: give `recorder.observe` to the adapter as its observer")
        endpoint = self._first.endpoint
        line = transcript(
            id=id,
            provider=endpoint.provider,
            model=endpoint.model,
            provenance=self._provenance,
            level="litellm",
            tools=tools,
            output_schema=output_schema,
            expect=expect,
        )
        clean: dict[str, Any] = self._scrubber().value(line)
        clean["exchanges"] = self.exchanges
        return clean

    def write(self, path: str | Path, **line: Any) -> str:
        """Append the run to a transcript file; keywords as for `line`. Return the line's id, which differs from the given one
        if that is in use."""
        return TranscriptFile(path).append(self.line(**line))


def _copied(value: Any) -> Any:
    """A copy of JSON data."""
    if is_object(value):
        return {str(key): _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if is_list(value) else value


def _clean(scrubber: Scrubber, exchange: Exchange) -> Exchange:
    fresh: Exchange = scrubber.value({key: value for key, value in exchange.items() if key != "chunks"})
    return fresh | ({"chunks": scrubber.events(exchange["chunks"])} if "chunks" in exchange else {})
