"""LiteLLM's streams, rewritten: `ChunkRewriter` takes chunks and gives chunks, `RewrittenStream` stands for LiteLLM's stream."""

from __future__ import annotations

from collections import deque
from functools import wraps
from importlib import import_module
from typing import Any, Self

from llmcore.adapters.litellm.patches.patch import replace
from llmcore.support.values.narrowing import kind_of, object_in
from llmcore.wire.exchange import HttpExchange

__all__ = ["ChunkRewriter", "RewrittenStream", "hidden_params", "is_rewritten", "note_invented_ends", "set_rewritten"]

_StreamingChoices: Any = import_module("litellm.types.utils").StreamingChoices
_REWRITTEN = "llmcore_rewritten"
"""The key in `_hidden_params` of what was rewritten. LiteLLM's calls may be nested, and each reply is read once."""
_INVENTED_END = "llmcore_invented_end"
"""The key in `_hidden_params` of a chunk whose finish reason no server sent."""


def hidden_params(thing: Any) -> dict[str, Any]:
    """LiteLLM's `_hidden_params` of a reply, a stream or a chunk."""
    return object_in(getattr(thing, "_hidden_params", None))


def is_rewritten(reply: Any) -> bool:
    return _REWRITTEN in hidden_params(reply)


def set_rewritten(reply: Any) -> None:
    if hasattr(reply, "_hidden_params"):  # a plain generator has none
        reply._hidden_params = {**hidden_params(reply), _REWRITTEN: True}


def note_invented_ends() -> None:
    """Make LiteLLM's streams mark an end that they invent.

    At the end of a stream that was cut, LiteLLM sends a chunk with the finish reason `stop`. Nothing in the chunk says so, and
    the router's streams hide the one that knows. Seen on LiteLLM 1.105.3 and 1.110.2.

    Raises `ConfigError` if the installed LiteLLM has no such function.
    """
    handler: Any = import_module("litellm.litellm_core_utils.streaming_handler")
    replace(handler.CustomStreamWrapper, "finish_reason_handler", _marking)


def _marking(function: Any) -> Any:
    @wraps(function)
    def finish_reason_handler(self: Any) -> Any:
        chunk = function(self)
        if self.received_finish_reason is None and self.intermittent_finish_reason is None:
            chunk._hidden_params[_INVENTED_END] = True
        return chunk

    return finish_reason_handler


class ChunkRewriter:
    """Rewrites the chunks of one stream. A chunk that need not change is the given object."""

    def __init__(self, exchange: HttpExchange) -> None:
        self._exchange, self._rewriter = exchange, exchange.rewriter()
        self._has_end = self._finished = False

    def feed(self, chunk: Any) -> list[Any]:
        """The chunks to send for this one."""
        choices = getattr(chunk, "choices", None)
        if choices is None:
            return [chunk]
        if _INVENTED_END in hidden_params(chunk):
            return [*self.finish(), chunk]
        event: dict[str, Any] = {"chunk": chunk, "choices": [_choice_data(choice) for choice in choices]}
        if (usage := getattr(chunk, "usage", None)) is not None:
            event["usage"] = usage
        self._has_end |= any(choice.finish_reason for choice in choices)
        return [chunk if each is event else _chunk(each) for each in self._rewriter.feed(event)]

    def finish(self) -> list[Any]:
        """The last chunks. A second call returns none. Without an end, the reply was cut, and no call is handed out."""
        if self._finished:
            return []
        self._finished = True
        written = self._rewriter.finish(done=self._has_end)
        self._exchange.report(self._rewriter.reports)
        return [*map(_chunk, written)]


def _choice_data(choice: Any) -> dict[str, Any]:
    data: dict[str, Any] = choice.model_dump(exclude_none=True)
    return data


def _chunk(written: dict[str, Any]) -> Any:
    """The chunk of an event of the rewriter: a copy of the one it was made of, with other choices."""
    source = written["chunk"]
    update: dict[str, Any] = {"choices": [_StreamingChoices(**choice) for choice in written["choices"]]}
    if "usage" not in written and getattr(source, "usage", None) is not None:
        update["usage"] = None
    return source.model_copy(update=update)


class RewrittenStream:
    """LiteLLM's stream with rewritten chunks, sync or async.

    Its class and all its other attributes are those of LiteLLM's stream. The router reads `completion_stream`, callers read
    `logging_obj` and call `aclose`, and both ask whether it is a `CustomStreamWrapper`.
    """

    __slots__ = ("__weakref__", "_ended", "_error", "_inner", "_ready", "_rewriter")
    _inner: Any
    _rewriter: ChunkRewriter
    _ready: deque[Any]
    _ended: bool
    _error: Exception | None
    """What ended the stream. It is raised after the text that was withheld."""

    def __init__(self, inner: Any, exchange: HttpExchange) -> None:
        note_invented_ends()
        set_rewritten(inner)
        own = {"_inner": inner, "_rewriter": ChunkRewriter(exchange), "_ready": deque[Any](), "_ended": False, "_error": None}
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name in RewrittenStream.__slots__:  # a copy that is not set up yet
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._inner, name, value)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride, reportIncompatibleVariableOverride]
        kind: Any = kind_of(self._inner)
        return kind

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        while not self._ready:
            if self._ended:
                raise self._reason(StopIteration())
            try:
                chunk = next(self._inner)
            except StopIteration:
                self._end()
            except Exception as error:
                self._end(error)
            else:
                self._ready.extend(self._rewriter.feed(chunk))
        return self._ready.popleft()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        while not self._ready:
            if self._ended:
                raise self._reason(StopAsyncIteration())
            try:
                chunk = await anext(self._inner)
            except StopAsyncIteration:
                self._end()
            except Exception as error:
                self._end(error)
            else:
                self._ready.extend(self._rewriter.feed(chunk))
        return self._ready.popleft()

    def _reason(self, stop: Exception) -> Exception:
        """What ends the iteration: the error of the stream, once."""
        error = self._error or stop
        object.__setattr__(self, "_error", None)
        return error

    def _end(self, error: Exception | None = None) -> None:
        object.__setattr__(self, "_ended", True)
        object.__setattr__(self, "_error", error)
        self._ready.extend(self._rewriter.finish())
