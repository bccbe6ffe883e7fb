"""`wrap`, `unwrap`, `completion` and `acompletion`: LiteLLM's functions, whose replies have native calls.

`litellm.Router` and most libraries look `litellm.acompletion` up when they call it, so they get the wrapped one. A module that
ran `from litellm import completion` before `wrap` keeps the function without native calls.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any
from urllib.parse import urlsplit

from llmcore.adapters.wire.traffic_watch import current_watch
from llmcore.integrations.litellm.replies import rewritten
from llmcore.integrations.options import exchange_options
from llmcore.types.requests import TextCalls
from llmcore.wire.exchange import ExchangeOptions, HttpExchange
from llmcore.wire.rewriting import ReplyReport

__all__ = ["acompletion", "completion", "unwrap", "wrap"]

_litellm: Any = import_module("litellm")
_PATH = "/chat/completions"
_MARK = "llmcore_wrapper"
_POSITIONAL = 2
"""Almost all callers give at most the model and the messages by position."""
_options: ExchangeOptions | None = None
"""The options of `wrap`; None while LiteLLM is not wrapped."""
_installed: dict[str, Any] = {}
"""What `wrap` put in place, by name."""


def wrap(
    *,
    text_calls: TextCalls = "standard",
    dialects: Collection[str] | None = None,
    reasoning_open: bool = False,
    on_reply: Callable[[ReplyReport], object] | None = None,
) -> None:
    """Make calls that a model writes as text native calls, in all replies of `litellm.completion` and `litellm.acompletion`.

    Replaces both functions in the module `litellm`. Whole replies and streams are rewritten if the request offers functions. All
    others are the objects that LiteLLM returned. Errors, retries, fallbacks, caches and callbacks stay LiteLLM's own.
    An `Orchestrator` of llmcore in the same process is not affected: it reads the replies as the servers sent them.

    The options are those of `llmcore.integrations.httpx.wrap`. If you wrap twice, the second options count.
    `unwrap` restores the functions. Raises `ConfigError` for an option of a wrong type.
    """
    global _options
    given = {"text_calls": text_calls, "dialects": dialects, "reasoning_open": reasoning_open, "on_reply": on_reply}
    _options = exchange_options("wrap", given)
    for name, wrapper in _WRAPPERS.items():
        function = getattr(_litellm, name)
        if not hasattr(function, _MARK):
            _installed[name] = wrapper(function, lambda: _options)
            setattr(_litellm, name, _installed[name])


def unwrap() -> None:
    """Undo `wrap`. Does nothing if LiteLLM is not wrapped.

    If another library has wrapped the functions since, its wrappers stay, and llmcore's below them pass everything unchanged.
    """
    global _options
    _options = None
    for name, function in _installed.items():
        if getattr(_litellm, name) is function:
            setattr(_litellm, name, _original(function))
    _installed.clear()


def _original(function: Any) -> Any:
    """LiteLLM's function below a wrapper of this module."""
    return getattr(function, _MARK, function)


def _wrapped(function: Any, options: Callable[[], ExchangeOptions | None]) -> Any:
    @wraps(function)
    def completion(*args: Any, **kwargs: Any) -> Any:
        exchange = _exchange(function, args, kwargs, options())
        reply = function(*args, **kwargs)
        return reply if exchange is None else rewritten(reply, exchange)

    setattr(completion, _MARK, function)
    return completion


def _wrapped_async(function: Any, options: Callable[[], ExchangeOptions | None]) -> Any:
    @wraps(function)
    async def acompletion(*args: Any, **kwargs: Any) -> Any:
        exchange = _exchange(function, args, kwargs, options())
        reply = await function(*args, **kwargs)
        return reply if exchange is None else rewritten(reply, exchange)

    setattr(acompletion, _MARK, function)
    return acompletion


def _exchange(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], options: ExchangeOptions | None
) -> HttpExchange | None:
    """The exchange of a call; None if its reply must pass unchanged.

    llmcore's own adapter calls LiteLLM with a `TrafficWatch`. It must see the reply as it came.
    """
    if options is None or current_watch() is not None:
        return None
    if len(args) > _POSITIONAL:
        try:
            kwargs = {**signature(function).bind(*args, **kwargs).arguments, **kwargs}
        except TypeError:  # LiteLLM says what is wrong
            return None
    if not kwargs.get("tools"):
        return None
    return HttpExchange.of_request(_PATH, kwargs, options, _host(str(kwargs.get("model") or (args or ("",))[0]), kwargs))


def _host(model: str, kwargs: Mapping[str, Any]) -> str:
    """The host that serves the model, as far as the form of ids depends on it."""
    if kwargs.get("custom_llm_provider") == "mistral" or model.startswith("mistral/"):
        return "api.mistral.ai"
    return urlsplit(str(kwargs.get("api_base") or kwargs.get("base_url") or "")).hostname or ""


_WRAPPERS: dict[str, Callable[..., Any]] = {"completion": _wrapped, "acompletion": _wrapped_async}


def _imported(name: str) -> Callable[..., Any]:
    """The function to import. The options of `wrap` count for it too; without `wrap`, it has the default ones."""
    function: Callable[..., Any] = _WRAPPERS[name](_original(getattr(_litellm, name)), lambda: _options or ExchangeOptions())
    return function


completion = _imported("completion")
"""`litellm.completion`, with calls in text as native calls."""
acompletion = _imported("acompletion")
"""`litellm.acompletion`, with calls in text as native calls."""
