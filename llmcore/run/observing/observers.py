"""Observers are notified of what a run does, and change nothing. Logs, statistics and traces are observers.

- Each point is notified once, in order, by a plain call in the run's own task. An observer that blocks delays the run.
- If an observer raises, that is logged (the first error of a run as a warning), and changes nothing.
- Context variables that a `..._started` method sets hold for the run, request or tool that it announces, and for the tasks and
  threads started there. They never hold for a listener between two events.
- A run without observers costs one context variable, its id, and calls that do nothing.
"""

from __future__ import annotations

import inspect
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

from llmcore.adapters.base import ModelCall
from llmcore.run.observing.dispatch import MethodsByPoint, Watchers
from llmcore.run.observing.events import ObservedRun, ToolRetry
from llmcore.run.observing.recording import AdapterContext
from llmcore.run.results.result import RepairRecord, RunResult, ToolRecord
from llmcore.support.code.signatures import misfit
from llmcore.support.code.suggestions import describe_value
from llmcore.types import Attempt, ConfigError, Envelope, ToolProgress, ToolStarted, Waiting
from llmcore.types.logs import logger

__all__ = ["Observer", "Observers"]

_log, _tools = logger("run"), logger("tools")
_ENDED = "run_ended"


class Observer:
    """Derive this class, and define the methods that you need. Each is a plain function that returns nothing.

    | method | called |
    |---|---|
    | `run_started(run)` | first |
    | `attempt_started(run, attempt, call)` | when a request is sent; `call` is the whole `ModelCall`: endpoint, messages, tools |
    | `attempt_ended(run, attempt, reply, error)` | when the reply was validated, or the request failed. `error` ended the |
    | | attempt; None if the reply is used or a re-ask follows. `reply` is the `Envelope`, None if no part of it came |
    | `chunk_came(run, attempt, seconds)` | for each chunk of a streamed reply but the first, `seconds` after the one before |
    | `waiting(run, waiting)` | before a wait; `waiting` is the event |
    | `repaired(run, repair)` | for each `RepairRecord` of an accepted reply |
    | `tool_started(run, tool)` | when a call starts; `tool` is the event `ToolStarted` |
    | `tool_progress(run, progress)` | when a tool reports progress; `progress` is the event `ToolProgress` |
    | `tool_retried(run, retry, raised)` | when a try failed and another follows; `retry` is a `ToolRetry`. After |
    | | the last try, only `tool_ended` is called |
    | `tool_ended(run, record, raised)` | with the `ToolRecord`, and the exception that the tool raised, if any. Also |
    | | for refused calls, which have no `tool_started` |
    | `run_ended(run, result, error)` | last: with the result, whole or partial, and the exception that the run raises, |
    | | or None. A stream that was left early ends with `GeneratorExit` |

    Each `..._started` is followed by its `..._ended`, whatever happens between them. Records are shared with the result: read
    them, but do not change them.

    Raises `ConfigError` when a class is made with a method whose name is almost one of these, and for an async method.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, value in vars(cls).items():
            if name in POINTS and inspect.iscoroutinefunction(value):
                raise ConfigError(f"{cls.__name__}.{name} is async; observers are called as plain functions: write `def {name}`")
            if (near := _intended_point(name)) is not None and (callable(value) or isinstance(value, staticmethod | classmethod)):
                fix = f"did you mean {near!r}? Call it _{name} if it is a helper"
                raise ConfigError(f"{cls.__name__}.{name} is never called; {fix}")

    def run_started(self, run: ObservedRun, /) -> None: ...

    def run_ended(self, run: ObservedRun, result: RunResult[Any], error: BaseException | None, /) -> None: ...

    def attempt_started(self, run: ObservedRun, attempt: Attempt, call: ModelCall, /) -> None: ...

    def attempt_ended(
        self, run: ObservedRun, attempt: Attempt, reply: Envelope | None, error: BaseException | None, /
    ) -> None: ...

    def chunk_came(self, run: ObservedRun, attempt: Attempt, seconds: float, /) -> None: ...

    def waiting(self, run: ObservedRun, waiting: Waiting, /) -> None: ...

    def repaired(self, run: ObservedRun, repair: RepairRecord, /) -> None: ...

    def tool_started(self, run: ObservedRun, tool: ToolStarted, /) -> None: ...

    def tool_progress(self, run: ObservedRun, progress: ToolProgress, /) -> None: ...

    def tool_retried(self, run: ObservedRun, retry: ToolRetry, raised: BaseException | None, /) -> None: ...

    def tool_ended(self, run: ObservedRun, record: ToolRecord, raised: BaseException | None, /) -> None: ...


POINTS = {
    name: tuple(inspect.signature(value).parameters)[1:]
    for name, value in vars(Observer).items()
    if inspect.isfunction(value) and name[0] != "_"
}
"""The points, with the names of their parameters."""

_EVENT_NAME = re.compile(
    r"(?:run|attempt|llm|model|request|tool)_\w*(?:ed|start|begin|end|finish|done|call|result|error|retry|response)"
)
_HOOK_NAME = re.compile(r"(?:on|before|after)_\w+")


def _intended_point(name: str) -> str | None:
    """The point that a misspelt or differently named method was meant for; None for any other name."""
    if name in POINTS or name.startswith("_"):
        return None
    alike = name if _HOOK_NAME.match(name) is None else name.partition("_")[2]
    near = get_close_matches(name, POINTS, n=1, cutoff=0.8)
    if near or (alike is name and _EVENT_NAME.fullmatch(name) is None):
        return near[0] if near else None
    return get_close_matches(alike, POINTS, n=1, cutoff=0)[0]


class Observers:
    """The observers of an orchestrator. Raises `ConfigError` for an object that is no observer."""

    def __init__(self, given: Observer | Iterable[Observer] | None = None, log: Observer | None = None) -> None:
        observers = _observers_in(given)
        self._methods = _by_point(observers)
        self._methods_with_log = self._methods if log is None else _by_point([*observers, log])

    def watchers(self, run: ObservedRun, recordings: Sequence[AdapterContext] = ()) -> Watchers:
        """The observers for one run, with the log if it is enabled, and with the recordings."""
        methods = self._methods_with_log if _is_log_enabled() else self._methods
        if recordings:
            methods = {**methods, _ENDED: [*methods.get(_ENDED, ()), *(one.run_ended for one in recordings)]}
        return Watchers(run, methods)


def _is_log_enabled() -> bool:
    return _log.isEnabledFor(logging.INFO) or _tools.isEnabledFor(logging.INFO)


def _by_point(observers: Sequence[Observer]) -> MethodsByPoint:
    own = [_own_methods(one) for one in observers]
    return {point: found for point in POINTS if (found := [methods[point] for methods in own if point in methods])}


def _own_methods(observer: Observer) -> dict[str, Callable[..., None]]:
    """The observer's own methods, by point."""
    methods = {point: getattr(observer, point) for point in POINTS}
    return {point: one for point, one in methods.items() if getattr(one, "__func__", one) is not getattr(Observer, point)}


def _observers_in(given: object) -> list[Observer]:
    if given is None:
        return []
    several = isinstance(given, Iterable) and not isinstance(given, Observer | type | str | Mapping)
    observers: list[object] = list(cast("Iterable[object]", given)) if several else [given]
    return [_checked(each) for each in observers]


def _checked(given: object) -> Observer:
    if isinstance(given, Observer):
        for point, method in _own_methods(given).items():
            if (error := misfit(method, *POINTS[point])) is not None:
                name = f"{type(given).__name__}.{point}"
                raise ConfigError(f"{name} is called with {', '.join(POINTS[point])}, which it does not take: {error}")
        return given
    if isinstance(given, type) and issubclass(given, Observer):
        raise ConfigError(f"observers must be instances: write {given.__name__}() for {given.__name__}")
    kind: type[Any] = given if isinstance(given, type) else type(given)  # pyright: ignore[reportUnknownVariableType]  # of anything
    if inspect.isroutine(given) or kind.__module__ == "builtins":
        fix = "derive a class of it, with a method for each point: `class Watch(llmcore.Observer)`"
        raise ConfigError(f"observers must be llmcore.Observer, not {describe_value(given)}; {fix}")
    raise ConfigError(
        f"observers must be llmcore.Observer, not {kind.__name__}; derive it: `class {kind.__name__}(llmcore.Observer)`"
    )
