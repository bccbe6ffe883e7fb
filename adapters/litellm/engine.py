"""Imports LiteLLM once, on the first call, with settings that forbid look-ups, and patches it.

The import takes 2-3 s and 185 MB. Without the variables below, LiteLLM fetches a price map from GitHub and loads the user's
`.env` into `os.environ`. Measured with LiteLLM 1.105.3.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any, TypeVar

from llmcore.adapters.base import IMPORTING, Adapter
from llmcore.adapters.litellm.patches import apply_patches
from llmcore.adapters.litellm.patches.client_cache import close_clients_of_loop, register_loop
from llmcore.adapters.litellm.patches.diagnostics import filter_warnings
from llmcore.adapters.litellm.patches.disable_callbacks import has_callbacks
from llmcore.adapters.litellm.patches.logging_worker import end_worker
from llmcore.adapters.litellm.patches.patch import INSTALL_TESTED
from llmcore.adapters.litellm.warm_up import PROVIDERS_WITH_A_KEY, send_warm_up_requests
from llmcore.adapters.secrets.log_scrubbing import filter_clients
from llmcore.support.code.collector_pause import paused_collector
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.types import ConfigError

__all__ = [
    "ENVIRONMENT",
    "SETTINGS",
    "check_package",
    "close_clients",
    "import_in_thread",
    "is_ready",
    "litellm",
    "litellm_now",
    "make_ready",
]

T = TypeVar("T")

ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # otherwise the import fetches the price map, with a timeout of 5 s
    "LITELLM_MODE": "PRODUCTION",  # otherwise the import runs dotenv.load_dotenv()
    "LITELLM_LOG": "ERROR",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",  # otherwise the first anthropic json_schema call fetches a list
}
"""Set before the import with `setdefault`, so that the user's values stay."""
SETTINGS = {
    "suppress_debug_info": True,  # otherwise each error prints coloured text on stdout
    "disable_hf_tokenizer_download": True,  # otherwise counting tokens offline blocks for about 23 s
    "REPEATED_STREAMING_CHUNK_LIMIT": 1_000_000_000,  # otherwise a hundred equal chunks, such as a ruled line, are an error
}
"""Set on the module after the import."""

_lock = ForkSafeLock()
_loaded: Any = None
_warmed_up: set[str] = set()
"""The providers whose warm-up requests were sent, or will not be sent."""
_loop_ends: dict[asyncio.AbstractEventLoop, AsyncGenerator[None, None]] = {}
"""Stored here, since event loops refer to their generators weakly. Each generator refers to its loop, so a weak key would not
help."""


async def litellm() -> Any:
    """Return the module. The first call imports it in a thread, so that the event loop continues.

    What LiteLLM leaves open on the running loop is closed when that loop ends.
    """
    module = _loaded if _loaded is not None else await import_in_thread(litellm_now)
    filter_warnings()
    filter_clients()
    register_loop(module)
    await _close_at_loop_end()
    return module


async def import_in_thread(function: Callable[[], T]) -> T:
    """Run the function in a thread and return its result. If cancelled meanwhile, the error says that LiteLLM was being
    imported."""
    try:
        return await asyncio.to_thread(function)
    except asyncio.CancelledError as error:
        raise asyncio.CancelledError(IMPORTING) from error


def litellm_now() -> Any:
    """Return the module. The first call imports it in this thread.

    Raises `ConfigError` if the installed LiteLLM cannot be imported.
    """
    global _loaded
    with _lock:
        if _loaded is None:
            with paused_collector():
                _loaded = _load()
    return _loaded


def _load() -> Any:
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        module: Any = importlib.import_module("litellm")
    except ImportError as error:
        raise ConfigError(f"litellm cannot be imported ({error}); {INSTALL_TESTED}") from error
    for setting in SETTINGS.items():
        setattr(module, *setting)
    apply_patches()
    return module


def is_ready(provider: str) -> bool:
    """Return whether LiteLLM is imported and the provider's warm-up requests were sent."""
    return _loaded is not None and provider in _warmed_up


def make_ready(adapter: Adapter, provider: str) -> None:
    """Import LiteLLM and send the provider's warm-up requests, once per process, in this thread, where no event loop runs.

    Raises `ConfigError` if the installed LiteLLM cannot be imported.
    """
    with _lock, paused_collector():
        module = litellm_now()
        if provider not in _warmed_up:
            _warmed_up.add(provider)
            if provider in PROVIDERS_WITH_A_KEY and not has_callbacks(module) and _is_unobserved(module):
                send_warm_up_requests(adapter, provider)


def _is_unobserved(module: Any) -> bool:
    """Whether a warm-up request would reach neither a client of the program's own nor a test double of a server."""
    own: object = getattr(module, "aclient_session", None)
    transports = importlib.import_module("llmcore.adapters.litellm.patches.http_transport").PATCHES
    return own is None and all(patch.is_applied() for patch in transports)


def check_package(needed: str, provider: str) -> None:
    """Raises `ConfigError` if a module that a provider's row names, as `a.b (c)`, is not installed."""
    module, _, package = needed.partition(" ")
    try:
        found = importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # a missing parent package, or a blocked module
        found = False
    if not found:
        raise ConfigError(f"{provider} needs the package {package.strip('()')}, which is not installed: pip install it")


async def close_clients() -> None:
    """Close the HTTP clients that LiteLLM keeps for the running event loop. Does nothing if LiteLLM was never imported.

    `asyncio.run` and the like do so at the loop's end. For any other loop, call this before it ends; otherwise unclosed
    transports warn when they are collected. Later calls get new clients. Clients of other loops stay open.
    """
    if _loaded is not None:
        await close_clients_of_loop(_loaded)


async def _close_at_loop_end() -> None:
    """Close what LiteLLM leaves on the running loop when that loop ends. Registered once per loop.

    asyncio offers an asynchronous generator for that: `asyncio.run` and the like close a loop's generators once all tasks
    have ended.
    """
    loop = asyncio.get_running_loop()
    if loop in _loop_ends:
        return
    for closed in [other for other in tuple(_loop_ends) if other.is_closed()]:  # closed without an end
        _loop_ends.pop(closed, None)
    _loop_ends[loop] = _until_loop_end(loop)
    await anext(_loop_ends[loop])


async def _until_loop_end(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _loop_ends.pop(loop, None)
        with suppress(Exception):  # LiteLLM's worker may have changed
            await end_worker()
        await close_clients()
