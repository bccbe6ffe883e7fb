"""What LiteLLM does for callbacks of its users, left out where there are none: its worker, and what a reply cost.

Every request would pay for both, and nobody reads them: llmcore prices a reply itself (`usage.cost_of`). To find that it knows no
price of a model took LiteLLM 17 % of its CPU of a request (`python -m benchmarks.adapter`, LiteLLM 1.105.3).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patching import replace

__all__ = ["is_unheard", "price_only_what_is_heard", "unheard"]

_LISTENERS = (
    *("callbacks", "success_callback", "failure_callback", "_async_success_callback", "_async_failure_callback"),
    "max_budget",
)
"""Settings of LiteLLM that its users' callbacks stand in, and the budget that it keeps by the prices."""

_is_unheard = ContextVar("_is_unheard", default=False)


def is_unheard(module: Any) -> bool:
    """Does nobody listen to LiteLLM?"""
    return not any(getattr(module, name, None) for name in _LISTENERS)


@contextmanager
def unheard(module: Any) -> Generator[None, None, None]:
    """LiteLLM starts no worker and prices nothing for the calls that are made in here, unless somebody listens to it."""
    if not is_unheard(module):
        yield
        return
    internal: ContextVar[bool] = importlib.import_module("litellm._internal_context").is_internal_call  # told to nobody
    before, price_before = internal.set(True), _is_unheard.set(True)
    try:
        yield
    finally:
        internal.reset(before)
        _is_unheard.reset(price_before)


def price_only_what_is_heard(logging: Any) -> None:
    """Let LiteLLM's class of a request's log say that the cost is unknown where nobody hears of it."""

    def where_heard(calculated: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(calculated)
        def cost(self: Any, *args: Any, **kwargs: Any) -> Any:
            return None if _is_unheard.get() else calculated(self, *args, **kwargs)

        return cost

    replace(logging, "_response_cost_calculator", where_heard)
