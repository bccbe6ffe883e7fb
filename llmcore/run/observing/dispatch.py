"""The observers of one run, and the context variables that they set for what a run does."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, Token, copy_context
from time import perf_counter
from typing import Any, TypeVar

from llmcore.adapters.base import ModelCall
from llmcore.run.logged_errors import without_content
from llmcore.run.observing.events import ObservedRun
from llmcore.support.code.emitter import Tell, emit_outside, silently
from llmcore.types import Attempt, Envelope
from llmcore.types.logs import current_run, logger

__all__ = ["ChunkClock", "Requests", "Scope", "Told", "Watchers"]

T = TypeVar("T")
_log = logger("run")

Told = Mapping[str, Sequence[Callable[..., None]]]
"""By point, the methods of those observers that have one of their own."""


class Watchers:
    """The observers of one run."""

    __slots__ = ("_failed", "_told", "run")

    def __init__(self, run: ObservedRun, told: Told) -> None:
        self.run = run
        self._told = told
        self._failed: set[int] = set()

    def has(self, point: str) -> bool:
        """Is anybody told? Ask where it takes work to say it."""
        return point in self._told

    def tell(self, point: str, *what: object) -> None:
        for method in self._told.get(point, ()):
            try:
                method(self.run, *what)
            except Exception as error:
                self._blame(method, point, error)

    def begins(self, point: str, *what: object) -> Scope:
        """Tell it. What it announces goes on under the scope."""
        if point not in self._told:
            return NOTHING if current_run.get() == self.run.id else Scope([(current_run, self.run.id)])
        context = copy_context()
        context.run(current_run.set, self.run.id)
        context.run(self.tell, point, *what)
        return Scope([(one, value) for one, value in context.items() if one.get(_UNSET) is not value])

    def _blame(self, method: Callable[..., None], point: str, error: Exception) -> None:
        observer: object = getattr(method, "__self__", method)
        level = logging.DEBUG if id(observer) in self._failed else logging.WARNING
        self._failed.add(id(observer))
        words = "an observer failed, which changes nothing: %s.%s"
        _log.log(level, words, type(observer).__name__, point, exc_info=without_content(error))  # it was told what was said


class Scope:
    """Context variables that hold for a stretch of work. Enter it around the work, which tells its events by `emitting`: while a
    listener has one, they do not hold."""

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
            except ValueError:  # a generator that nobody closed ends wherever it is collected
                return

    def emitting(self, tell: Tell[T]) -> Tell[T]:
        return tell if not self._variables or tell is silently else emit_outside(self, tell)


class ChunkClock:
    """Tells how long after the chunk before it each chunk of a reply came."""

    __slots__ = ("_attempt", "_last", "_watch")

    def __init__(self, watch: Watchers, attempt: Attempt) -> None:
        self._watch, self._attempt = watch, attempt
        self._last: float | None = None

    def tick(self) -> None:
        last, self._last = self._last, perf_counter()
        if last is not None:
            self._watch.tell("chunk_came", self._attempt, self._last - last)


class Requests:
    """Tells of a turn's attempts, which follow one another. One has ended when it was judged: when the next one begins, or where
    this is left (`with`), with what it is left by."""

    def __init__(self, watch: Watchers) -> None:
        self._watch = watch
        self._under_way: Attempt | None = None
        self.reply: Envelope | None = None
        """What came of the one that is under way."""

    def begins(self, attempt: Attempt, call: ModelCall) -> Scope:
        self._ended(None)
        self._under_way, self.reply = attempt, None
        return self._watch.begins("attempt_started", attempt, call)

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._ended(error)

    def _ended(self, error: BaseException | None) -> None:
        attempt, self._under_way = self._under_way, None
        if attempt is not None:
            self._watch.tell("attempt_ended", attempt, self.reply, error)


NOTHING = Scope([])
_UNSET = object()
