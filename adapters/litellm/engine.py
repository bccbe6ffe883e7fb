"""LiteLLM itself: imported once, on the first call, with an environment in which it looks nothing up, and patched.

The import takes 2-3 s and 185 MB. Without the variables below LiteLLM fetches a price map from GitHub, and loads the user's
`.env` into `os.environ`. Sources: LiteLLM 1.105.3, re-run for this project.
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
    "in_thread",
    "is_ready",
    "litellm",
    "litellm_now",
    "make_ready",
]

T = TypeVar("T")

ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else the import fetches the price map, 5 s timeout
    "LITELLM_MODE": "PRODUCTION",  # else the import runs dotenv.load_dotenv()
    "LITELLM_LOG": "ERROR",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",  # else the first anthropic json_schema call fetches a list
}
"""Set before the import, with `setdefault`: the user may know better."""
SETTINGS = {
    "suppress_debug_info": True,  # else coloured text on stdout with every error
    "disable_hf_tokenizer_download": True,  # else counting tokens offline blocks for ~23 s
    "REPEATED_STREAMING_CHUNK_LIMIT": 1_000_000_000,  # else a hundred equal chunks, a ruled line, are an error
}
"""Set on the module after the import."""

_lock = ForkSafeLock()
_loaded: Any = None
_warm: set[str] = set()
"""The providers whose warm-up requests were sent, or will not be."""
_loop_ends: dict[asyncio.AbstractEventLoop, AsyncGenerator[None, None]] = {}
"""Held here, for loops know their generators weakly. A generator knows its loop, so that a weak key would not help."""


async def litellm() -> Any:
    """The module, imported in a thread when this is the first call, so that the event loop goes on.

    What it leaves open on the running loop is closed when that loop ends.
    """
    module = _loaded if _loaded is not None else await in_thread(litellm_now)
    filter_warnings()
    filter_clients()
    register_loop(module)
    await _close_at_loop_end()
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
    """Is LiteLLM imported, and were the provider's warm-up requests sent?"""
    return _loaded is not None and provider in _warm


def make_ready(adapter: Adapter, provider: str) -> None:
    """Import LiteLLM and send the provider's warm-up requests, in this thread, where no event loop runs. Once for a process.

    Raises `ConfigError` when the installed LiteLLM cannot be imported.
    """
    with _lock, paused_collector():
        module = litellm_now()
        if provider not in _warm:
            _warm.add(provider)
            if provider in PROVIDERS_WITH_A_KEY and not has_callbacks(module) and _is_unobserved(module):
                send_warm_up_requests(adapter, provider)


def _is_unobserved(module: Any) -> bool:
    """Would a warm-up request reach no client of the program's own, and no double of a server that a test has set up?"""
    own: object = getattr(module, "aclient_session", None)
    transports = importlib.import_module("llmcore.adapters.litellm.patches.http_transport").PATCHES
    return own is None and all(patch.is_applied() for patch in transports)


def check_package(needed: str, provider: str) -> None:
    """Raises `ConfigError` when a provider's row names a module, as `a.b (c)`, that is not installed."""
    module, _, package = needed.partition(" ")
    try:
        found = importlib.util.find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):  # a package that it is in, or a module that is barred
        found = False
    if not found:
        raise ConfigError(f"{provider} needs the package {package.strip('()')}, which is not installed: pip install it")


async def close_clients() -> None:
    """Close the HTTP clients LiteLLM keeps for the running event loop; does nothing when it was never imported.

    A loop that ends by `asyncio.run` and the like does so itself. Any other must before it ends, else unclosed transports warn
    when they are collected. Calls made afterwards get new clients. Clients of other loops are left alone.
    """
    if _loaded is not None:
        await close_clients_of_loop(_loaded)


async def _close_at_loop_end() -> None:
    """Let what LiteLLM leaves on the running loop be closed when that loop ends; once a loop, however often it is asked for.

    asyncio's way for that is a generator: `asyncio.run` and the like close those of their loop when all its tasks have ended.
    """
    loop = asyncio.get_running_loop()
    if loop in _loop_ends:
        return
    for closed in [other for other in tuple(_loop_ends) if other.is_closed()]:  # without an end
        _loop_ends.pop(closed, None)
    _loop_ends[loop] = _until_loop_end(loop)
    await anext(_loop_ends[loop])


async def _until_loop_end(loop: asyncio.AbstractEventLoop) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _loop_ends.pop(loop, None)
        with suppress(Exception):  # of LiteLLM's worker, whose insides may be others
            await end_worker()
        await close_clients()
