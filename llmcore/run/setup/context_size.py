"""Is a request too long for the model it would go to? Looked at before each request, so that what cannot fit is not sent.

The bound is the smaller one of the run's `max_context_tokens` and the model's `context_window`. Tokens are counted by the
orchestrator's `token_counter`, else by the adapter's own `counted_tokens`, where it has one; else they are estimated, a fourth
of the characters. An estimate may be wrong by half: by it alone a request is too long for a window of which it would take two.

A request that is too long is a `ContextOverflow`: a model with a larger window is tried, where there is one, and else the run
ends with what was done. O(length of the history), and only where there is a bound.
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

__all__ = ["ContextBound", "check_context", "context_bound"]

_DOUBT = 2


@dataclass(frozen=True, slots=True)
class ContextBound:
    """`most`: tokens of a request of this run, None = as many as the model takes. `counter`: who counts them."""

    most: int | None = None
    counter: Callable[[Request], Any] | None = None


_NO_BOUND = ContextBound()


def context_bound(most: Any, counter: Any) -> ContextBound:
    """Raises `ConfigError`."""
    if most is not None and (not isinstance(most, int) or isinstance(most, bool) or most < 1):
        raise ConfigError(f"max_context_tokens is a whole number of tokens of at least 1, not {most!r}")
    if counter is not None:
        check_takes_one("token_counter", counter)
    return _NO_BOUND if most is None and counter is None else ContextBound(most, counter)


async def check_context(
    bound: ContextBound, config: ModelConfig, call: ModelCall, adapter: object, seconds: float | None
) -> None:
    """Raises `ContextOverflow`, `ConfigError` where the counter gives no number, and `Timeout` where it has none within
    `seconds`: it may be slow (a tokenizer loads its tables at first), so it runs in a thread."""
    window = config.context_window
    if bound.most is None and window is None:
        return
    counter = bound.counter or getattr(adapter, "counted_tokens", None)
    counted = None if counter is None else await _counted(counter, call.request, seconds)
    tokens = needs_of(call.request, tools=True).tokens if counted is None else counted
    about = "about " if counted is None else ""
    if bound.most is not None and tokens > bound.most:
        raise ContextOverflow(f"the request has {about}{tokens} tokens, and max_context_tokens is {bound.most}; {NOTHING_SENT}")
    if window is not None and tokens > (window * _DOUBT if counted is None else window):
        where = f"the context window of {config.alias!r} has {window}"
        raise ContextOverflow(f"the request has {about}{tokens} tokens, and {where}; {NOTHING_SENT}")


async def _counted(counter: Callable[[Request], Any], request: Request, seconds: float | None) -> int | None:
    with naming("the token_counter", counter):
        tokens = await called("the token_counter", counter, seconds, request.model_copy())
    if tokens is not None and (not isinstance(tokens, int | float) or isinstance(tokens, bool) or not tokens >= 0):
        raise ConfigError(f"the token_counter gave {tokens!r}, which is no number of tokens")
    return None if tokens is None else int(tokens)
