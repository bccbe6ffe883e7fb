"""LiteLLM itself: imported once, on the first call, with an environment in which it looks nothing up, its transports watched.

Why all this: the import takes 2-3 s and 185 MB; without the variables below it fetches a price map from GitHub and
loads the user's `.env` into `os.environ`; it keeps nothing of what the provider sent. Sources: LiteLLM 1.105.3, re-run for this
project.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import logging
import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import wraps
from typing import Any, TypeVar

from llmcore.adapters.base import IMPORTING, Adapter
from llmcore.adapters.litellm.evicted import client_of, close_evicted, hold_evicted, name_loop, transport_of
from llmcore.adapters.litellm.gemini_usage import read_without_usage
from llmcore.adapters.litellm.loop_ends import at_loop_end, end_worker, exit_first, give_each_loop_a_worker
from llmcore.adapters.litellm.ollama_lines import leave_text_as_it_is
from llmcore.adapters.litellm.patching import TRIED, replace
from llmcore.adapters.litellm.rehearsal import CAN_REHEARSE, rehearse
from llmcore.adapters.litellm.unheard import is_unheard, price_only_what_is_heard
from llmcore.adapters.secrets.log_scrubbing import filter_clients
from llmcore.adapters.wire.watching import current_watch, tells_what_it_makes
from llmcore.types import ConfigError
from llmcore.types.collecting import paused_collector
from llmcore.types.locks import ForkSafeLock

__all__ = ["ENVIRONMENT", "check_package", "close_clients", "in_thread", "is_ready", "litellm", "litellm_now", "make_ready"]

T = TypeVar("T")

ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else the import fetches the price map, 5 s timeout
    "LITELLM_MODE": "PRODUCTION",  # else the import runs dotenv.load_dotenv()
    "LITELLM_LOG": "ERROR",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",  # else the first anthropic json_schema call fetches a list
}
"""Set before the import, with `setdefault`: the user may know better."""

_TEMPLATES = "litellm.litellm_core_utils.prompt_templates.huggingface_template_handler"
_NO_TEMPLATE = {"status": "failure"}
_LOOKS_UP = (
    ("litellm.llms.ollama.common_utils", "OllamaModelInfo", "get_model_info", None),
    ("litellm.llms.lemonade.chat.transformation", "LemonadeChatConfig", "get_model_info", None),
    ("litellm.utils", "", "_get_max_position_embeddings", None),
    (_TEMPLATES, "", "_get_tokenizer_config", _NO_TEMPLATE),
    (_TEMPLATES, "", "_get_chat_template_file", _NO_TEMPLATE),
    (_TEMPLATES, "", "_aget_tokenizer_config", _NO_TEMPLATE),
    (_TEMPLATES, "", "_aget_chat_template_file", _NO_TEMPLATE),
)
"""Where LiteLLM asks a server what a model is: the module, the class in it, the function, and what it gives for none it knows."""
_ODD_REPLY = r"pydantic serializer warnings:[\s\S]*(chatcompletion|_tokens|usage)"
_TYPED_DICT = r"items? .* on typeddict class '(\w+' (is|are) using the `readonly` qualifier|chatcompletion|standardlog)"
_QUIET = (
    (
        "ignore",
        re.compile(_TYPED_DICT, re.IGNORECASE),
        UserWarning,
        None,
        0,
    ),
    ("ignore", re.compile(_ODD_REPLY, re.IGNORECASE), UserWarning, None, 0),
    ("ignore", None, DeprecationWarning, re.compile(r"litellm\."), 0),
)
"""Warnings of LiteLLM's own code, as entries of `warnings.filters`. LiteLLM ignores some at its import, but test
runners reset the filters for each test, and where warnings are errors a stream would then break inside LiteLLM."""

_lock = ForkSafeLock()
_loaded: Any = None
_rehearsed: set[str] = set()
"""The providers whose first request was rehearsed, or will not be."""


async def litellm() -> Any:
    """The module, imported in a thread when this is the first call, so that the event loop goes on.

    What it leaves open on the running loop is closed when that loop ends.
    """
    module = _loaded if _loaded is not None else await in_thread(litellm_now)
    _hush()
    filter_clients()
    name_loop(module)
    await at_loop_end(_end)
    return module


async def in_thread(function: Callable[[], T]) -> T:
    """What the function gives in a thread. A cancellation meanwhile says that LiteLLM was being imported."""
    try:
        return await asyncio.to_thread(function)
    except asyncio.CancelledError as error:
        raise asyncio.CancelledError(IMPORTING) from error


def litellm_now() -> Any:
    """The module, imported in this thread when this is the first call.

    Raises `ConfigError` when the installed LiteLLM cannot be imported.
    """
    global _loaded
    with _lock:
        if _loaded is None:
            with paused_collector():
                _loaded = _load()
    return _loaded


def is_ready(provider: str) -> bool:
    """Is LiteLLM imported, and the provider's first request rehearsed?"""
    return _loaded is not None and provider in _rehearsed


def make_ready(adapter: Adapter, provider: str) -> None:
    """Import LiteLLM and rehearse the provider's first requests, in this thread, where no event loop runs. Once for a process.

    Raises `ConfigError` when the installed LiteLLM cannot be imported.
    """
    with _lock, paused_collector():
        module = litellm_now()
        if provider not in _rehearsed:
            _rehearsed.add(provider)
            if provider in CAN_REHEARSE and is_unheard(module) and _is_apart(module):
                rehearse(adapter, provider)


def _is_apart(module: Any) -> bool:
    """Would a rehearsed request reach no client of the program's own, and no double of a server that a test has set up?"""
    transport = importlib.import_module("llmcore.adapters.litellm.transport")
    own: object = getattr(module, "aclient_session", None)
    aiohttp = importlib.import_module("litellm.llms.custom_httpx.aiohttp_transport").LiteLLMAiohttpTransport
    return own is None and transport.is_watched(aiohttp, importlib.import_module("httpx").AsyncHTTPTransport)


def check_package(needed: str, provider: str) -> None:
    """Raises `ConfigError` when a provider's row names a module, as `a.b (c)`, that is not installed."""
    module, _, package = needed.partition(" ")
    try:
        found = importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # a package that it is in, or a module that is barred
        found = False
    if not found:
        raise ConfigError(f"{provider} needs the package {package.strip('()')}, which is not installed: pip install it")


class _ToldAsError(logging.Filter):
    """Keeps LiteLLM from logging tracebacks of what goes wrong in a call of ours: it leaves as an error in our words. At DEBUG
    they are shown."""

    def filter(self, record: logging.LogRecord) -> bool:
        is_shown = not record.exc_info or logging.getLogger(record.name).isEnabledFor(logging.DEBUG)
        return is_shown or current_watch() is None


_told_as_error = _ToldAsError()


def _hush() -> None:
    """Put our filters in front, unless they stand there already: changing the list resets what was shown once."""
    for action, message, category, module, line in _QUIET:
        if (action, message, category, module, line) not in warnings.filters:
            warnings.filterwarnings("ignore", message.pattern if message else "", category, module.pattern if module else "")


def _load() -> Any:
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        module: Any = importlib.import_module("litellm")
        aiohttp = importlib.import_module("litellm.llms.custom_httpx.aiohttp_transport").LiteLLMAiohttpTransport
    except ImportError as error:
        raise ConfigError(f"litellm cannot be imported ({error}); {TRIED}") from error
    logging.getLogger("LiteLLM").addFilter(_told_as_error)
    module.suppress_debug_info = True  # else coloured text on stdout with every error
    module.disable_hf_tokenizer_download = True  # else counting tokens offline blocks for ~23 s
    module.REPEATED_STREAMING_CHUNK_LIMIT = 1_000_000_000  # else a hundred equal chunks, a ruled line, are an error
    _keep_context(importlib.import_module("litellm.litellm_core_utils.thread_pool_executor").executor)
    for where, holder, name, unknown in _LOOKS_UP:
        found: Any = importlib.import_module(where)
        _ask_no_server(getattr(found, holder) if holder else found, name, unknown)
    _stream_what_is_not_known(importlib.import_module("litellm.utils"))
    replace(importlib.import_module("litellm.main"), "completion", tells_what_it_makes)
    for model in (importlib.import_module("openai.types.chat").ChatCompletion, module.ModelResponse):
        _dump_without_warnings(model)
    # The first look for a name that LiteLLM loads late registers what it does at the interpreter's end.
    getattr(module, "llmcore", None)
    exit_first()
    leave_text_as_it_is(importlib.import_module("litellm.llms.ollama.chat.transformation").OllamaChatCompletionResponseIterator)
    gemini: Any = importlib.import_module("litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini")
    read_without_usage(gemini.VertexGeminiConfig)
    price_only_what_is_heard(importlib.import_module("litellm.litellm_core_utils.litellm_logging").Logging)
    hold_evicted(module)
    give_each_loop_a_worker(importlib.import_module("litellm.litellm_core_utils.logging_worker").GLOBAL_LOGGING_WORKER)
    importlib.import_module("llmcore.adapters.litellm.transport").install(
        aiohttp, importlib.import_module("httpx").AsyncHTTPTransport
    )
    return module


def _keep_context(executor: Any) -> None:
    """What a call of ours leaves to LiteLLM's threads is still a part of it, as is told by the context."""

    def keeping(submit: Any) -> Any:
        @wraps(submit)
        def submitted(function: Any, /, *args: Any, **kwargs: Any) -> Any:
            return submit(copy_context().run, function, *args, **kwargs)

        return submitted

    replace(executor, "submit", keeping)


def _ask_no_server(holder: Any, name: str, unknown: Any) -> None:
    """LiteLLM asks servers what a model is (Ollama and Lemonade, where the call went or at their usual place; Hugging Face) when
    it adds up what a reply cost, or writes a prompt: on the event loop, for as long as they take. In calls of ours nobody is
    asked; its tables count.
    """

    def unasked(ask: Any) -> Any:
        @wraps(ask)
        def asked(*args: Any, **kwargs: Any) -> Any:
            return ask(*args, **kwargs) if current_watch() is None else unknown

        @wraps(ask)
        async def asked_later(*args: Any, **kwargs: Any) -> Any:
            return await ask(*args, **kwargs) if current_watch() is None else unknown

        return asked_later if inspect.iscoroutinefunction(ask) else asked

    replace(holder, name, unasked)


def _stream_what_is_not_known(utils: Any) -> None:
    """Of a model that its table does not know LiteLLM believes that OpenAI's other endpoint has no streams: it asks for the whole
    reply, and cuts that up. In calls of ours only what the table denies is no stream."""

    def streaming(ask: Any) -> Any:
        @wraps(ask)
        def streams(model: str, custom_llm_provider: str | None) -> bool:
            answer: bool = ask(model, custom_llm_provider)
            if answer or current_watch() is None:
                return answer
            try:
                utils._get_model_info_helper(model=model, custom_llm_provider=custom_llm_provider)
            except Exception:  # how it says that it does not know the model
                return True
            return False

        return streams

    replace(utils, "supports_native_streaming", streaming)


def _dump_without_warnings(model: Any) -> None:
    """LiteLLM dumps models of replies, OpenAI's and its own, which take anything in any field: pydantic's warnings would
    quote the model's words on stderr, and name no class that a filter could know them by."""

    def silent(dump: Any) -> Any:
        @wraps(dump)
        def model_dump(self: Any, **options: Any) -> Any:
            return dump(self, **{"warnings": False, **options})

        return model_dump

    replace(model, "model_dump", silent)


async def _end() -> None:
    with suppress(Exception):  # of LiteLLM's worker, whose insides may be others
        await end_worker()
    await close_clients()


async def close_clients() -> None:
    """Close the HTTP clients LiteLLM keeps for the running event loop; does nothing when it was never imported.

    A loop that ends by `asyncio.run` and the like does so itself (`loop_ends`); any other must before it ends, else unclosed
    transports warn when they are collected. Calls made afterwards get new clients; those of other loops are left alone.
    (LiteLLM's own function closes the clients of every loop and leaves the closed ones in its cache, where the next call
    finds them.)
    """
    if _loaded is None:
        return
    loop = asyncio.get_running_loop()
    cache = _loaded.in_memory_llm_clients_cache
    of_loop = cache.update_cache_key_with_event_loop("")  # "-" and the name of the loop
    for key, handler in list(cache.cache_dict.items()):
        if str(key).endswith(of_loop):
            cache.cache_dict.pop(key, None)
            cache.ttl_dict.pop(key, None)
            await _close(handler)
        else:
            await _close_session(handler, loop)
    await close_evicted()
    await _close_session(getattr(_loaded, "module_level_aclient", None), loop)
    await asyncio.sleep(0)  # a transport is closed one step after it was told to


async def _close(handler: Any) -> None:
    client = client_of(handler)
    for part in (getattr(client, "_transport", None), client):
        close = getattr(part, "aclose", None)
        if close is not None:
            with suppress(Exception):  # it may be closed already
                await close()


async def _close_session(handler: Any, loop: asyncio.AbstractEventLoop) -> None:
    """Handlers made at import serve any loop with one session at a time, and make a new one when it is closed."""
    session: Any = getattr(transport_of(handler), "client", None)
    if getattr(session, "_loop", None) is loop:
        with suppress(Exception):
            await session.close()
