"""Checks before each request that it fits the model's context, so that llmcore sends no request that cannot fit.

The limit is the smaller of the run's `max_context_tokens` and the model's `context_window`. The orchestrator's
`token_counter` counts the tokens, else the adapter's `counted_tokens`. Without both, the estimate is a fourth of the
characters. An estimate may be wrong by half, so an estimated request is too long only at twice the window.

A request that is too long raises `ContextOverflow`. If there is a model with a larger window, it is tried. Otherwise the
run ends with its partial result. The check costs O(length of the history), and is skipped if there is no limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llmcore.adapters.base import NOTHING_SENT, ModelCall
from llmcore.models import ModelConfig, needs_of
from llmcore.run.caller_functions import called
from llmcore.types import ConfigError, ContextOverflow, Request
from llmcore.types.input.argument_errors import check_takes_one, naming

__all__ = ["ContextLimit", "check_context", "context_limit"]

_ESTIMATE_TOLERANCE = 2


@dataclass(frozen=True, slots=True)
class ContextLimit:
    """`max_tokens`: the most tokens of a request of this run; None = the model's limit. `counter`: the function that counts
    them."""

    max_tokens: int | None = None
    counter: Callable[[Request], Any] | None = None


_NO_LIMIT = ContextLimit()


def context_limit(most: Any, counter: Any) -> ContextLimit:
    """The limit of the given options. Raises `ConfigError` for a wrong one."""
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        raise ConfigError(f"max_context_tokens must be a whole number of tokens of at least 1, not {most!r}")
    if counter is not None:
        check_takes_one("token_counter", counter)
    return _NO_LIMIT if most is None and counter is None else ContextLimit(most, counter)


async def check_context(
    bound: ContextLimit, config: ModelConfig, call: ModelCall, adapter: object, seconds: float | None
) -> None:
    """Raises `ContextOverflow` if the request is too long.

    Raises `ConfigError` if the counter returns no number, and `Timeout` if it takes longer than `seconds`. It runs in a
    thread, because tokenizers may load tables.
    """
    window = config.context_window
    if bound.max_tokens is None and window is None:
        return
    counter = bound.counter or getattr(adapter, "counted_tokens", None)
    counted = None if counter is None else await _counted_tokens(counter, call.request, seconds)
    tokens = needs_of(call.request, tools=True).tokens if counted is None else counted
    about = "about " if counted is None else ""
    if bound.max_tokens is not None and tokens > bound.max_tokens:
        raise ContextOverflow(
            f"the request has {about}{tokens} tokens, and max_context_tokens is {bound.max_tokens}; {NOTHING_SENT}"
        )
    if window is not None and tokens > (window * _ESTIMATE_TOLERANCE if counted is None else window):
        where = f"the context window of {config.alias!r} has {window}"
        raise ContextOverflow(f"the request has {about}{tokens} tokens, and {where}; {NOTHING_SENT}")


async def _counted_tokens(counter: Callable[[Request], Any], request: Request, seconds: float | None) -> int | None:
    with naming("the token_counter", counter):
        tokens = await called("the token_counter", counter, seconds, request.model_copy())
    if tokens is not None and (not isinstance(tokens, int | float) or isinstance(tokens, bool) or not tokens >= 0):
        raise ConfigError(f"the token_counter returned {tokens!r}, which is not a number of tokens")
    return None if tokens is None else int(tokens)
