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
from contextvars import ContextVar, Token, copy_context
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, TypeVar, cast

from llmcore.adapters.base import Endpoint, ModelCall
from llmcore.models import ModelConfig
from llmcore.run.result import RepairRecord, RunResult, ToolFailure, ToolRecord
from llmcore.run.wordless import wordless
from llmcore.types import Attempt, ConfigError, Envelope, Request, ToolStarted, Waiting
from llmcore.types.logs import current_run, logger
from llmcore.types.telling import Tell, silently
from llmcore.types.wordings import described

__all__ = ["ObservedRun", "Observer", "Observers", "Requests", "Scope", "ToolRetry", "Watch"]

T = TypeVar("T")

_log, _tools = logger("run"), logger("tools")


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ObservedRun:
    """One run, the same object at each point. `id` is that of its result; `name` the orchestrator's; `parent_id` the id of the
    run in whose tool this one was begun, "" for none. `model` is the alias of the model it begins with. `request` is what was
    asked, the history included; it is not for changing. `config` is that model's entry in the registry, `endpoint` where it is
    asked."""

    id: str
    model: str
    name: str = ""
    parent_id: str = ""
    request: Request = field(default_factory=lambda: Request(messages=[]), repr=False)
    config: ModelConfig | None = field(default=None, repr=False)

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(provider="", model=self.model) if self.config is None else self.config.endpoint


@dataclass(frozen=True, slots=True)
class ToolRetry:
    """Try `n` (from 1) of a call failed with `error` after `duration` seconds, and the tool is tried again in `wait` seconds.
    `tool_use_id` and `turn` are those of its `ToolStarted`."""

    tool_use_id: str
    name: str
    turn: int
    n: int
    error: ToolFailure
    duration: float
    wait: float


class Observer:
    """Derive it, and define what you want to be told. Each method is a plain function that returns nothing.

    | method | told |
    |---|---|
    | `run_started(run)` | first |
    | `attempt_started(run, attempt, call)` | a request goes out; `call` is the whole `ModelCall`: endpoint, messages, tools |
    | `attempt_ended(run, attempt, reply, error)` | it was answered and judged, or failed: `error` is what ended it, None where |
    | | the reply is used or asked for again; `reply` is the `Envelope` that came, None where nothing did |
    | `waiting(run, waiting)` | before a wait; `waiting` is the event |
    | `repaired(run, repair)` | a `RepairRecord` of an accepted reply |
    | `tool_started(run, tool)` | a call is carried out; `tool` is the event `ToolStarted` |
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

    def waiting(self, run: ObservedRun, waiting: Waiting, /) -> None: ...

    def repaired(self, run: ObservedRun, repair: RepairRecord, /) -> None: ...

    def tool_started(self, run: ObservedRun, tool: ToolStarted, /) -> None: ...

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


Told = Mapping[str, Sequence[Callable[..., None]]]
"""By point, the methods of those observers that have one of their own."""


class Observers:
    """Those of an orchestrator. Raises `ConfigError` for one that is none."""

    def __init__(self, given: Observer | Iterable[Observer] | None = None, log: Observer | None = None) -> None:
        observers = _all_of(given)
        self._told = _by_point(observers)
        self._logged = self._told if log is None else _by_point([*observers, log])

    def watch(self, run: ObservedRun) -> Watch:
        """Let them see a run; the log too, where anything of it would be heard."""
        return Watch(run, self._logged if _is_heard() else self._told)


class Watch:
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
        _log.log(level, words, type(observer).__name__, point, exc_info=wordless(error))  # it was told what was said


class Scope:
    """Context variables that hold for a stretch of work. Enter it around the work, which tells its events by `telling`: while a
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

    def telling(self, tell: Tell[T]) -> Tell[T]:
        if not self._variables or tell is silently:
            return tell

        async def told(event: T) -> None:
            self.__exit__()
            try:
                await tell(event)
            finally:
                self.__enter__()

        return told


class Requests:
    """Tells of a turn's attempts, which follow one another. One has ended when it was judged: when the next one begins, or where
    this is left (`with`), with what it is left by."""

    def __init__(self, watch: Watch) -> None:
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


def _is_heard() -> bool:
    return _log.isEnabledFor(logging.INFO) or _tools.isEnabledFor(logging.INFO)


def _by_point(observers: Sequence[Observer]) -> Told:
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
        raise ConfigError(f"observers must be llmcore.Observer, not {described(given)}; {fix}")
    raise ConfigError(
        f"observers must be llmcore.Observer, not {kind.__name__}; derive it: `class {kind.__name__}(llmcore.Observer)`"
    )
