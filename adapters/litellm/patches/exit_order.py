"""Fault: when the interpreter ends, LiteLLM closes the clients of every event loop from a loop of its own.

The sockets of those clients stay open, and Python warns of them. LiteLLM registers that late, so Python does it first. This patch
calls llmcore's own exit functions before. They close the clients on the loops that they belong to.
Seen on LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch

__all__ = ["PATCHES", "at_exit"]

_functions: list[Callable[[], None]] = []


def at_exit(function: Callable[[], None]) -> None:
    """As `atexit.register`, but before what LiteLLM does then. The function may be called twice."""
    _functions.append(function)
    atexit.register(function)


def _after_ours(close: Any) -> Any:
    @wraps(close)
    async def close_litellm_async_clients() -> None:
        for function in _functions:
            function()
        await close()

    return close_litellm_async_clients


PATCHES = (Patch("litellm.llms.custom_httpx.async_client_cleanup", "", "close_litellm_async_clients", _after_ours),)
