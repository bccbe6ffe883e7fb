"""Who is told what a run does: observers see and change nothing. Logs, statistics and traces are made of what they are told.

Rules
- Each point is told once, in order, by a plain call in the run's own task: an observer that waits holds up the run.
- What an observer raises is logged (its first error of a run as a warning) and changes nothing.
- Context variables that a `..._started` sets hold for what it announces, and for nothing else: for the run, the request or the
  tool, with the tasks and threads begun there, and never for who listens between two events.
- A run without observers pays one context variable, its id, and calls that do nothing.
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
from llmcore.run.observing.recording import Recording
from llmcore.run.results.result import RepairRecord, RunResult, ToolRecord
from llmcore.support.code.suggestions import describe_value
from llmcore.types import Attempt, ConfigError, Envelope, ToolProgress, ToolStarted, Waiting
from llmcore.types.logs import logger

__all__ = ["Observer", "Observers"]

_log, _tools = logger("run"), logger("tools")
_ENDED = "run_ended"


class Observer:
    """Derive it, and define what you want to be told. Each method is a plain function that returns nothing.

    | method | told |
    |---|---|
    | `run_started(run)` | first |
    | `attempt_started(run, attempt, call)` | a request goes out; `call` is the whole `ModelCall`: endpoint, messages, tools |
    | `attempt_ended(run, attempt, reply, error)` | it was answered and judged, or failed: `error` is what ended it, None where |
    | | the reply is used or asked for again; `reply` is the `Envelope` that came, None where nothing did |
    | `chunk_came(run, attempt, seconds)` | a chunk of a streamed reply, `seconds` after the one before it; not of the first |
    | `waiting(run, waiting)` | before a wait; `waiting` is the event |
    | `repaired(run, repair)` | a `RepairRecord` of an accepted reply |
    | `tool_started(run, tool)` | a call is carried out; `tool` is the event `ToolStarted` |
    | `tool_progress(run, progress)` | it reported progress; `progress` is the event `ToolProgress` |
    | `tool_retried(run, retry, raised)` | a try of it failed and it is tried again; `retry` is a `ToolRetry`; the last try is |
    | | told by `tool_ended` alone |
    | `tool_ended(run, record, raised)` | its `ToolRecord`, and the exception that the tool raised, if it did. Also of a call |
    | | that was refused, which no `tool_started` came before |
    | `run_ended(run, result, error)` | last: the result, whole or partial, and what the run raises, None where it ends well. A |
    | | stream that was left early ends with `GeneratorExit` |

    Each `..._started` is followed by its `..._ended`, whatever happens between. Records are shared with the result: read them,
    and change nothing. Raises `ConfigError` when a class is made with a method whose name is almost one of these, and for an
    async one.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, value in vars(cls).items():
            if name in POINTS and inspect.iscoroutinefunction(value):
                raise ConfigError(f"{cls.__name__}.{name} is async; an observer is told by a plain call: write `def {name}`")
            if (near := _meant(name)) is not None and (callable(value) or isinstance(value, staticmethod | classmethod)):
                fix = f"did you mean {near!r}? Call it _{name} if it is a helper"
                raise ConfigError(f"{cls.__name__}.{name} is never told anything; {fix}")

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


POINTS = frozenset(name for name, value in vars(Observer).items() if inspect.isfunction(value) and name[0] != "_")

_BEGINS = re.compile(
    r"(?:run|attempt|llm|model|request|tool)_\w*(?:ed|start|begin|end|finish|done|call|result|error|retry|response)"
)
_ON = re.compile(r"(?:on|before|after)_\w+")


def _meant(name: str) -> str | None:
    """The point that a method was meant for which is none: its name is almost one, or it is made as such names are."""
    if name in POINTS or name.startswith("_"):
        return None
    alike = name if _ON.match(name) is None else name.partition("_")[2]
    near = get_close_matches(name, POINTS, n=1, cutoff=0.8)
    if near or (alike is name and _BEGINS.fullmatch(name) is None):
        return near[0] if near else None
    return get_close_matches(alike, POINTS, n=1, cutoff=0)[0]


class Observers:
    """Those of an orchestrator. Raises `ConfigError` for one that is none."""

    def __init__(self, given: Observer | Iterable[Observer] | None = None, log: Observer | None = None) -> None:
        observers = _all_of(given)
        self._told = _by_point(observers)
        self._logged = self._told if log is None else _by_point([*observers, log])

    def watch(self, run: ObservedRun, recordings: Sequence[Recording] = ()) -> Watchers:
        """Let them see a run; the log too, where anything of it would be heard, and those that record it."""
        told = self._logged if _is_heard() else self._told
        if recordings:
            told = {**told, _ENDED: [*told.get(_ENDED, ()), *(one.run_ended for one in recordings)]}
        return Watchers(run, told)


def _is_heard() -> bool:
    return _log.isEnabledFor(logging.INFO) or _tools.isEnabledFor(logging.INFO)


def _by_point(observers: Sequence[Observer]) -> MethodsByPoint:
    own = {point: [method for one in observers if (method := _own(one, point)) is not None] for point in POINTS}
    return {point: methods for point, methods in own.items() if methods}


def _own(observer: Observer, point: str) -> Callable[..., None] | None:
    """Its method for the point, None where it has none of its own. Raises `ConfigError` for one that cannot be called so."""
    told = getattr(Observer, point)
    method: Callable[..., None] = getattr(observer, point)
    if getattr(method, "__func__", method) is told:
        return None
    names = list(inspect.signature(told).parameters)[1:]
    try:
        inspect.signature(method).bind(*names)
    except TypeError as error:
        name = f"{type(observer).__name__}.{point}"
        raise ConfigError(f"{name} is called with {', '.join(names)}, which it does not take: {error}") from None
    except ValueError:  # it tells no signature
        pass
    return method


def _all_of(given: object) -> list[Observer]:
    if given is None:
        return []
    several = isinstance(given, Iterable) and not isinstance(given, Observer | type | str | Mapping)
    observers: list[object] = list(cast("Iterable[object]", given)) if several else [given]
    return [_checked(each) for each in observers]


def _checked(given: object) -> Observer:
    if isinstance(given, Observer):
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
