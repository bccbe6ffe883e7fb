"""`LiteLLMAdapter`: the one adapter that talks to providers, through LiteLLM.

One request per `complete` or `stream`: no retry, no loop, no reading of the reply. Errors leave as `LLMCoreError`s
without secrets. litellm is imported with the first request. Deadlines over the whole call are the caller's
(`asyncio.timeout`); cancelling or closing a stream closes its connection at once.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any, NoReturn

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.capabilities import CapabilityStore, known_capabilities
from llmcore.adapters.engine import close_clients, litellm, raw_reply
from llmcore.adapters.failures import classify, failed_generation, is_clean, recordable
from llmcore.adapters.guard import check_requests_allowed
from llmcore.adapters.log_scrubbing import hide_in_logs
from llmcore.adapters.parameters import Prepared, prepare
from llmcore.adapters.replies import ReplyMapper, holds_litellm_tool
from llmcore.adapters.secrets import Scrubber, secrets_in, without_key
from llmcore.adapters.usage import read_usage
from llmcore.types import Reply, Usage
from llmcore.types.narrowing import object_in, objects_in

__all__ = ["LiteLLMAdapter", "Observer"]

Observer = Callable[[ModelCall, str, Any], None]
"""Is told what goes out and comes in, for recording: `(call, "request", arguments)`, then `"response"` with the body,
or `"chunk"` for each chunk and `"end"`, or `"error"` with the error as `failures.recordable` gives it. Values are not
yet free of secrets."""

_STREAM_WIRE = "openai-chat"  # LiteLLM makes every provider's stream OpenAI-shaped
_STREAMED: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}


class LiteLLMAdapter:
    """Layer 1 over LiteLLM, for every provider of the table and any other that LiteLLM routes.

    `store` tells what an endpoint can do, learnt facts included (give the orchestrator's own, so that both see the
    same); without one the tables alone are asked. `observer` sees the traffic for recording. One instance serves any
    number of endpoints, tasks and threads.
    """

    provider_id = "litellm"

    def __init__(self, store: CapabilityStore | None = None, observer: Observer | None = None) -> None:
        self._store = store
        self._observer = observer

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return known_capabilities(endpoint)

    async def complete(self, call: ModelCall) -> Reply:
        prepared = self._prepare(call)
        module = await litellm()
        call_id = uuid.uuid4().hex
        started = time.perf_counter()
        with raw_reply(call_id) as raw:
            try:
                answer = await module.acompletion(**prepared.arguments, litellm_call_id=call_id)
            except Exception as error:
                return self._failed(error, call, prepared, started)
        body = _dumped(answer)
        return self._reply(call, prepared, body, raw.text, time.perf_counter() - started)

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        prepared = self._prepare(call)
        module = await litellm()
        mapper, progress = ReplyMapper(prepared), _Progress(call, prepared)
        answer: Any = None
        try:
            answer = await module.acompletion(**prepared.arguments, **_STREAMED, litellm_call_id=uuid.uuid4().hex)
            while True:
                async with asyncio.timeout(call.timeout):  # LiteLLM's own covers not every provider's reads
                    chunk = await anext(answer, None)
                if chunk is None:
                    break
                event = mapper.map(_without_echo(_dumped(chunk)))
                self._observe(call, "chunk", event)
                progress.saw(event)
                yield event
        except Exception as error:
            body = failed_generation(error)
            if body is None:
                self._raise(error, call, prepared)
            self._observe(call, "error", {"error": body})
            yield {"error": body}
        finally:
            if answer is not None:
                with suppress(Exception):  # closing a stream that broke
                    await answer.aclose()
        self._observe(call, "end", None)
        yield {"llmcore": progress.summary()}

    async def close(self) -> None:
        """Close the HTTP clients of the running event loop; to be called before the loop ends."""
        await close_clients()

    def _prepare(self, call: ModelCall) -> Prepared:
        check_requests_allowed(call.endpoint.model)
        store = self._store
        prepared = prepare(call, store.get(call.endpoint) if store is not None else known_capabilities(call.endpoint))
        hide_in_logs(secrets_in(prepared.arguments))
        self._observe(call, "request", prepared.arguments)
        return prepared

    def _observe(self, call: ModelCall, what: str, value: Any) -> None:
        if self._observer is not None:
            self._observer(call, what, value)

    def _reply(self, call: ModelCall, prepared: Prepared, body: dict[str, Any], raw: str | None, duration: float) -> Reply:
        """The provider's own body where it is at hand, else LiteLLM's reading of it."""
        own = _parsed(raw)
        reading = body if own is None or (raw is not None and holds_litellm_tool(raw)) else own
        mapped = without_key(ReplyMapper(prepared).map(reading), prepared.arguments)
        self._observe(call, "response", mapped)
        return Reply(
            raw=mapped,
            wire=_STREAM_WIRE if reading is body else prepared.provider.wire,
            provider=call.endpoint.provider,
            model=_identity(own, body, "model", "modelVersion") or call.endpoint.model,
            id=_identity(own, body, "id", "responseId"),
            usage=read_usage(body.get("usage"), call.endpoint),
            time_to_first_token=duration,
            duration=duration,
            forced_tool=_forced_tool(call, prepared),
        )

    def _failed(self, error: Exception, call: ModelCall, prepared: Prepared, started: float) -> Reply:
        """The model's own words, if the provider could not read its call; otherwise the error is raised as ours."""
        body = failed_generation(error)
        if body is None:
            self._raise(error, call, prepared)
        self._observe(call, "error", {"error": body})
        return Reply(
            raw={"error": body},
            provider=call.endpoint.provider,
            model=call.endpoint.model,
            usage=Usage(estimated=True),
            duration=time.perf_counter() - started,
            forced_tool=_forced_tool(call, prepared),
        )

    def _raise(self, error: Exception, call: ModelCall, prepared: Prepared) -> NoReturn:
        """Raise the error as ours. The original is chained only when its own text holds no secret."""
        scrubber = Scrubber(secrets_in(prepared.arguments))
        ours = classify(error, call, scrubber)
        self._observe(call, "error", recordable(error, scrubber))
        cause = error if ours is not error and is_clean(error, scrubber) else None
        try:
            raise ours from cause
        except type(ours):
            ours.__context__ = None  # Python keeps the original there, secrets and all
            raise


def _dumped(answer: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = answer.model_dump(exclude_none=True)
    return dumped


def _without_echo(event: dict[str, Any]) -> dict[str, Any]:
    """LiteLLM says thinking blocks twice in one delta; the copy would stand between the pieces of one thought."""
    for choice in objects_in(event.get("choices")):
        delta = object_in(choice.get("delta"))
        fields = object_in(delta.get("provider_specific_fields"))
        if "thinking_blocks" in delta and fields.pop("thinking_blocks", None) is not None and not fields:
            del delta["provider_specific_fields"]
    return event


def _parsed(raw: str | None) -> Any:
    try:
        return json.loads(raw) if raw else None
    except (ValueError, RecursionError):
        return raw or None


def _identity(own: Any, body: dict[str, Any], *keys: str) -> str:
    """What the provider's own body says, else LiteLLM's, which may have made it up."""
    told = (source.get(key) for source in (object_in(own), body) for key in keys)
    return str(next((value for value in told if value), ""))


def _forced_tool(call: ModelCall, prepared: Prepared) -> str | None:
    """The tool this request allowed no way around: the one named, or the only one where a call was required."""
    choice = call.request.tool_choice
    if isinstance(choice, dict):
        return choice["name"]
    names = [tool.name for tool in prepared.tools]
    required = choice == "required" or prepared.plan == "tool"
    return names[0] if required and len(names) == 1 and call.mode == "native_tools" else None


class _Progress:
    """What only the whole stream tells."""

    def __init__(self, call: ModelCall, prepared: Prepared) -> None:
        self._call = call
        self._prepared = prepared
        self._started = time.perf_counter()
        self._first: float | None = None
        self._id = self._model = ""
        self._usage: Any = None

    def saw(self, event: dict[str, Any]) -> None:
        if self._first is None and _says_something(event):
            self._first = time.perf_counter() - self._started
        self._id = self._id or str(event.get("id") or "")
        self._model = self._model or str(event.get("model") or "")
        self._usage = event.get("usage") or self._usage

    def summary(self) -> dict[str, Any]:
        """`usage` as a `Usage` dict; times in seconds; the identity of the reply."""
        usage = read_usage(self._usage, self._call.endpoint, estimated=self._prepared.provider.estimates_usage)
        return {
            "usage": usage.model_dump(),
            "time_to_first_token": self._first,
            "duration": time.perf_counter() - self._started,
            "id": self._id,
            "model": self._model or self._call.endpoint.model,
            "provider": self._call.endpoint.provider,
            "wire": _STREAM_WIRE,
            "forced_tool": _forced_tool(self._call, self._prepared),
        }


def _says_something(event: dict[str, Any]) -> bool:
    deltas = (object_in(choice.get("delta")) for choice in objects_in(event.get("choices")))
    return any(delta.get(key) for delta in deltas for key in ("content", "tool_calls", "reasoning_content"))
