"""Rewrites what `litellm.completion` returns: a `ModelResponse`, or a stream of chunks.

What need not change stays the same object. A changed reply is a copy with other choices, so ids, usage, headers and
`_hidden_params` are LiteLLM's.
"""

from __future__ import annotations

from importlib import import_module
from inspect import isawaitable
from typing import Any

from llmcore.integrations.litellm.streams import RewrittenStream, is_rewritten, set_rewritten
from llmcore.wire.exchange import HttpExchange

__all__ = ["rewritten", "rewritten_response"]

_ModelResponse: Any = import_module("litellm.types.utils").ModelResponse


def rewritten(reply: Any, exchange: HttpExchange) -> Any:
    """What a caller gets for this reply of LiteLLM. A coroutine passes: `acompletion` rewrites its result."""
    if is_rewritten(reply) or isawaitable(reply):
        return reply
    if isinstance(reply, _ModelResponse):
        return rewritten_response(reply, exchange)
    if hasattr(reply, "__next__") or hasattr(reply, "__anext__"):
        return RewrittenStream(reply, exchange)
    return reply


def rewritten_response(response: Any, exchange: HttpExchange) -> Any:
    """A `ModelResponse` rewritten. The given one if nothing had to change."""
    body = {"choices": [choice.model_dump(exclude_unset=True) for choice in response.choices]}
    written = exchange.rewrite(body)
    if written is body:
        return response
    pairs = zip(response.choices, body["choices"], written["choices"], strict=True)
    choices = [choice if before is after else _with(choice, after) for choice, before, after in pairs]
    copy = response.model_copy(update={"choices": choices})
    set_rewritten(copy)
    return copy


def _with(choice: Any, written: dict[str, Any]) -> Any:
    """The choice with another message and finish reason."""
    message = type(choice.message)(**written["message"])
    return choice.model_copy(update={"message": message, "finish_reason": written["finish_reason"]})
