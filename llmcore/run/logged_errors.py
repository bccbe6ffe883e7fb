"""Copies of exceptions of the caller's code that are safe to log."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.support.code.quoted_words import clipped_words
from llmcore.tools.results.rendering import error_text_of
from llmcore.types.logs import content_logger

__all__ = ["without_content"]

_DEEPEST = 8
"""The most causes of an exception that are logged."""


def without_content(error: BaseException, deep: int = 0) -> BaseException:
    """A copy of an exception that is safe to log: its class, traceback, causes and group members. It has the message only
    if content may be logged."""
    logs_content = content_logger() is not None
    words = process_scrubber().text(clipped_words(error_text_of(error).partition(": ")[2])) if logs_content else ""
    own = type(error)
    within: Sequence[BaseException] = getattr(error, "exceptions", ()) if issubclass(own, BaseExceptionGroup) else ()
    members = [without_content(one, deep + 1) for one in within] if deep < _DEEPEST else []
    body = {"__module__": own.__module__, "__qualname__": own.__qualname__}
    kind: Any = type(own.__name__, (ExceptionGroup if members else Exception,), body)
    made: BaseException = kind(words, members) if members else kind(words)
    if deep < _DEEPEST:
        made.__cause__ = None if error.__cause__ is None else without_content(error.__cause__, deep + 1)
        made.__context__ = None if error.__context__ is None else without_content(error.__context__, deep + 1)
    made.__suppress_context__ = error.__suppress_context__
    return made.with_traceback(_of_the_callers(error.__traceback__))


def _of_the_callers(trace: TracebackType | None) -> TracebackType | None:
    """The traceback from where llmcore called the caller's code; the whole one if it never did."""
    first = trace
    while first is not None and str(first.tb_frame.f_globals.get("__name__")).startswith("llmcore."):
        first = first.tb_next
    return first or trace
