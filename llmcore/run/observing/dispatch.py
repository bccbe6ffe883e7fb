"""The observers of one run, and the context variables that they set for the run's work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, Token, copy_context
from time import perf_counter
from typing import Any, TypeVar

from llmcore.adapters.base import ModelCall
from llmcore.run.logged_errors import without_content
from llmcore.run.observing.events import ObservedRun
from llmcore.support.code.emitter import Emit, emit_outside, silently
from llmcore.types import Attempt, Envelope
from llmcore.types.logs import current_run, logger

__all__ = ["AttemptNotices", "ChunkClock", "MethodsByPoint", "Scope", "Watchers"]

T = TypeVar("T")
_log = logger("run")

MethodsByPoint = Mapping[str, Sequence[Callable[..., None]]]
"""By point, the methods of those observers that have one of their own."""


class Watchers:
    """The observers of one run."""

    __slots__ = ("_failed", "_methods", "run")

    def __init__(self, run: ObservedRun, methods: MethodsByPoint) -> None:
        self.run = run
        self._methods = methods
        self._failed: set[int] = set()

    def has(self, point: str) -> bool:
        """Whether any observer has a method for this point. Ask before you prepare costly arguments."""
        return point in self._methods

    def notify(self, point: str, *what: object) -> None:
        """Call the observers' methods for this point. If one raises, log that and go on."""
        for method in self._methods.get(point, ()):
            try:
                method(self.run, *what)
            except Exception as error:
                self._log_failure(method, point, error)

    def begin(self, point: str, *what: object) -> Scope:
        """Notify the observers of the start of some work. The work goes on under the returned scope."""
        if point not in self._methods:
            return EMPTY_SCOPE if current_run.get() == self.run.id else Scope([(current_run, self.run.id)])
        context = copy_context()
        context.run(current_run.set, self.run.id)
        context.run(self.notify, point, *what)
        return Scope([(one, value) for one, value in context.items() if one.get(_UNSET) is not value])

    def _log_failure(self, method: Callable[..., None], point: str, error: Exception) -> None:
        observer: object = getattr(method, "__self__", method)
        level = logging.DEBUG if id(observer) in self._failed else logging.WARNING
        self._failed.add(id(observer))
        words = "an observer failed, which changes nothing: %s.%s"
        _log.log(level, words, type(observer).__name__, point, exc_info=without_content(error))  # its words may hold content


class Scope:
    """Context variables that hold for a stretch of work. Enter it around the work, and emit the work's events by `emitting`:
    while a listener has an event, the variables do not hold."""

    __slots__ = ("_tokens", "_variables")

    def __init__(self, variables: Sequence[tuple[ContextVar[Any], Any]]) -> None:
        self._variables = variables
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> None:
        if self._variables:
            self._tokens = [variable.set(value) for variable, value in self._variables]

    def __exit__(self, *_: object) -> None:
        if not self._tokens:
            return
        for (variable, _value), token in zip(self._variables, self._tokens, strict=True):
            try:
                variable.reset(token)
            except ValueError:  # an unclosed generator is collected in any context
                return

    def emitting(self, tell: Emit[T]) -> Emit[T]:
        return tell if not self._variables or tell is silently else emit_outside(self, tell)


class ChunkClock:
    """Notifies the observers of the seconds between two chunks of a reply."""

    __slots__ = ("_attempt", "_last", "_watch")

    def __init__(self, watch: Watchers, attempt: Attempt) -> None:
        self._watch, self._attempt = watch, attempt
        self._last: float | None = None

    def tick(self) -> None:
        last, self._last = self._last, perf_counter()
        if last is not None:
            self._watch.notify("chunk_came", self._attempt, self._last - last)


class AttemptNotices:
    """Notifies the observers of a turn's attempts, one after another.

    An attempt ends when it is validated: when the next one begins, or when the `with` block ends, with that block's exception.
    """

    def __init__(self, watch: Watchers) -> None:
        self._watch = watch
        self._under_way: Attempt | None = None
        self.reply: Envelope | None = None
        """The reply of the attempt in progress, or the part of it that came."""

    def begin(self, attempt: Attempt, call: ModelCall) -> Scope:
        self._end(None)
        self._under_way, self.reply = attempt, None
        return self._watch.begin("attempt_started", attempt, call)

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._end(error)

    def _end(self, error: BaseException | None) -> None:
        attempt, self._under_way = self._under_way, None
        if attempt is not None:
            self._watch.notify("attempt_ended", attempt, self.reply, error)


EMPTY_SCOPE = Scope([])
_UNSET = object()
