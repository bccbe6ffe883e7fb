"""Fault: LiteLLM serves its users' callbacks in each request, also where there are none: it starts a worker and prices the reply.

llmcore prices a reply itself (`usage.cost_of`). LiteLLM spent 17 % of its CPU of a request on finding that it knows no price of
the model (`python -m benchmarks.adapter`). Seen on LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch

__all__ = ["CALLBACK_SETTINGS", "PATCHES", "callbacks_disabled", "has_callbacks"]

CALLBACK_SETTINGS = (
    *("callbacks", "success_callback", "failure_callback", "_async_success_callback", "_async_failure_callback"),
    "max_budget",
)
"""Settings of LiteLLM that hold its users' callbacks, and the budget that it keeps by the prices."""

_are_disabled = ContextVar("_are_disabled", default=False)


def has_callbacks(module: Any) -> bool:
    """Has the program given LiteLLM a callback or a budget?"""
    return any(getattr(module, name, None) for name in CALLBACK_SETTINGS)


@contextmanager
def callbacks_disabled(module: Any) -> Generator[None, None, None]:
    """For the calls in this block LiteLLM starts no worker and prices nothing, unless the program gave it a callback."""
    if has_callbacks(module):
        yield
        return
    internal: ContextVar[bool] = importlib.import_module("litellm._internal_context").is_internal_call  # LiteLLM's own switch
    before, price_before = internal.set(True), _are_disabled.set(True)
    try:
        yield
    finally:
        internal.reset(before)
        _are_disabled.reset(price_before)


def _unless_disabled(calculate: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(calculate)
    def cost(self: Any, *args: Any, **kwargs: Any) -> Any:
        return None if _are_disabled.get() else calculate(self, *args, **kwargs)

    return cost


PATCHES = (Patch("litellm.litellm_core_utils.litellm_logging", "Logging", "_response_cost_calculator", _unless_disabled),)
