"""Hooks change or veto what a run does. Events only report it.

Each hook is a function, sync or async. Give it to `Hooks`, write it as a method of a derived class, or mark it by
`@hook.before_tool_run` and the like. A marked function may stand wherever hooks are given; a marked method is a hook of its
object.

What a hook returns replaces what it was given. None keeps that, with the changes made in place. If a hook raises, the run ends
with the partial result; `TerminateLoop` ends it cleanly. Several `Hooks` run in order, each with the value of the one before.

Async hooks run under the run's deadline, and are abandoned if they do not end. Those after a reply or a tool have half a
second more, so that a reply that came in time is not lost. A sync hook runs on the event loop: if it blocks, it blocks every
run, and no deadline can stop it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from llmcore.support.code.signatures import misfit
from llmcore.support.code.suggestions import hint
from llmcore.tools.definition.function_checks import HOOK_MARK
from llmcore.tools.execution.abandonment import Abandoned, await_foreign, nothing_uncounted
from llmcore.tools.schema.unwrapping import getattr_or_none
from llmcore.types import ConfigError, Envelope, Message, Request, Timeout, ToolCall
from llmcore.types.input.argument_errors import in_words, naming

if TYPE_CHECKING:
    from llmcore.tools.results.outcome import Outcome

__all__ = ["HookChain", "Hooks", "HooksGiven", "StreamedSoFar", "Veto", "check_members", "hook"]


@in_words()
@dataclass(frozen=True, slots=True)
class Veto:
    """Return this from `before_tool_run` to refuse a call: the tool does not run, and the model gets the reason."""

    reason: str

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str) or not self.reason.strip():  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise ConfigError("Veto.reason must be text: it tells the model why the tool does not run")


@dataclass(slots=True)
class StreamedSoFar:
    """The part of a streamed reply that came so far. `calls` are the complete calls in order, as the model wrote them, before
    validation. If the rest of the reply shows that one is no call, it is removed."""

    content: str = ""
    reasoning: str = ""
    done: bool = False
    calls: list[ToolCall] = field(default_factory=list[ToolCall])


T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
Maybe: TypeAlias = Awaitable[T | None] | T | None
"""What a hook returns, sync or async: a replacement for its argument, or None."""

_PARAMETERS = {
    "before_request": ("request",),
    "on_response": ("envelope",),
    "on_streaming_response": ("so_far",),
    "before_tool_run": ("call", "context"),
    "after_tool_run": ("call", "outcome"),
    "on_tool_response": ("message",),
}
"""The hooks, and the positional arguments of each."""
_ASSIGNED = frozenset(_PARAMETERS)
_GRACE = 0.5
_HOOKS_WITH_GRACE = frozenset({"on_response", "on_streaming_response", "after_tool_run", "on_tool_response"})


class _UnknownHook(ConfigError, AttributeError):
    """An attribute that names no hook."""


class _Mark:
    """`@hook.before_request`: marks a function or method as that hook and returns it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, function: F) -> F:
        _check_callable(self._name, function, may_be_method=True)
        marked: object = function
        if not isinstance(marked, FunctionType):
            kind = type(function).__name__
            fix = "a tool is no hook: write two functions" if kind == "Tool" else "let it stand below other decorators"
            raise ConfigError(f"@hook.{self._name} stands on a function or method, not on {kind}; {fix}")
        setattr(marked, HOOK_MARK, (*getattr(marked, HOOK_MARK, ()), self._name))
        return function


class _Marks:
    """Decorators by the names of the hooks. Raises `ConfigError` for an unknown name, and for a function that cannot be called as
    its hook."""

    before_request = _Mark("before_request")
    on_response = _Mark("on_response")
    on_streaming_response = _Mark("on_streaming_response")
    before_tool_run = _Mark("before_tool_run")
    after_tool_run = _Mark("after_tool_run")
    on_tool_response = _Mark("on_tool_response")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _UnknownHook(f"there is no hook {name!r}; {hint(name, _PARAMETERS)}")


hook = _Marks()
"""`@hook.before_tool_run` marks a function, given as `hooks=[function]`, or a method of a class derived from `Hooks` or
`Agent`."""


@in_words()
class Hooks:
    """Functions that a run calls at fixed points; each is optional.

    | hook | is given | may return |
    |---|---|---|
    | `before_request` | the `Request` about to be sent (with its tools and history) | another `Request` |
    | `on_response` | the reply's `Envelope`, before validation | another `Envelope` |
    | `on_streaming_response` | `StreamedSoFar`, at each delta of a stream | nothing |
    | `before_tool_run` | the `ToolCall` and its `RunContext` | another `ToolCall`, or a `Veto` |
    | `after_tool_run` | the call and its `Outcome` | another `Outcome` |
    | `on_tool_response` | the `Message` with all results of the turn | another `Message` |

    Give them as keyword arguments, `Hooks(before_tool_run=check)`, or as methods of your own class:

        class Guard(Hooks):
            async def before_tool_run(self, call, context):
                return Veto("not today") if call.name == "delete" else None

    If an instance has both, its method runs first. From each hook on, its result counts:

    - `before_request` runs before each request, including re-asks. A re-ask builds on the changes of the first request, so make
      changes that may be made twice. A tool that it removes can neither be called nor run in that turn. A tool that it renames
      runs under the new name. A tool that it adds runs; if that has no function, its calls become `pending`. The history keeps
      its own messages. `model`, `output_type` and `deadline` cannot be changed.
    - `on_response`: text, reasoning and calls are validated, stored, shown and sent as it returns them. If the text of a
      thinking block changes, its signature is removed. If text or reasoning changes, opaque parts that may repeat it are
      dropped. You may also change blocks, in place or by `model_copy(update={"blocks": [...]})`: they are stored and sent so,
      and text, reasoning and calls that you did not change follow them. The listener of a stream has seen the deltas already;
      the result is the hook's. A reply that breaks off never reaches this hook, so with this hook its text is not kept.
    - `before_tool_run`: a changed call is validated again and keeps its id. If it does not fit its tool, the model gets an
      error. It runs, and stands in the history and the attempt's report, as changed. Calls of tools without a function come
      here, too: a refused one is answered and does not become `pending`. A call that needs approval comes here before it waits
      and before it runs. A call that runs here cannot become one that does not, nor the other way round.
    - `after_tool_run`: the outcome must belong to that call. If you set `ended` to a `TerminateLoop`, the run ends. If you
      change `content`, `value` or `error`, the others follow: new content becomes the value and the error's message; a new
      value or error is written as the content. If the hook raises, the history says only that the tool ran.
    - `on_tool_response`: return exactly one result for each call; `RunResult.tool_results` follow. With this hook, a listener
      gets a turn's results only after it.

    Raises `ConfigError` for a hook that cannot be called so, and when a class is made with a method whose name is almost a
    hook's. If a hook's result cannot be applied, a `ConfigError` ends the run.
    """

    _given: Mapping[str, Callable[..., Any]] = {}
    _owner: object = None

    if TYPE_CHECKING:  # at runtime, a derived class has only the hooks that it defines

        def before_request(self, request: Request, /) -> Maybe[Request]: ...

        def on_response(self, envelope: Envelope, /) -> Maybe[Envelope]: ...

        def on_streaming_response(self, so_far: StreamedSoFar, /) -> Awaitable[None] | None: ...

        def before_tool_run(self, call: ToolCall, context: Any, /) -> Maybe[ToolCall | Veto]: ...

        def after_tool_run(self, call: ToolCall, outcome: Outcome, /) -> Maybe[Outcome]: ...

        def on_tool_response(self, message: Message, /) -> Maybe[Message]: ...

    def __init__(
        self,
        *,
        before_request: Callable[[Request], Maybe[Request]] | None = None,
        on_response: Callable[[Envelope], Maybe[Envelope]] | None = None,
        on_streaming_response: Callable[[StreamedSoFar], Awaitable[None] | None] | None = None,
        before_tool_run: Callable[[ToolCall, Any], Maybe[ToolCall | Veto]] | None = None,
        after_tool_run: Callable[[ToolCall, Outcome], Maybe[Outcome]] | None = None,
        on_tool_response: Callable[[Message], Maybe[Message]] | None = None,
    ) -> None:
        given: dict[str, Callable[..., Any] | None] = {
            "before_request": before_request,
            "on_response": on_response,
            "on_streaming_response": on_streaming_response,
            "before_tool_run": before_tool_run,
            "after_tool_run": after_tool_run,
            "on_tool_response": on_tool_response,
        }
        self._given = {name: function for name, function in given.items() if function is not None}
        for name in _PARAMETERS:
            self.functions(name)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_members(cls, but=Hooks)

    @classmethod
    def of(cls, owner: object) -> Hooks:
        """The hooks among the methods of an object of another class, by name or marked. Raises `ConfigError`."""
        made = Hooks()
        made._owner = owner
        for name in _PARAMETERS:
            made.functions(name)
        return made

    def functions(self, name: str) -> list[Callable[..., Any]]:
        """The functions of one hook in the order in which they run: the class's method of this name, its marked methods, then the
        given one.

        Raises `ConfigError` for a function that cannot be called so.
        """
        owner = self._hook_owner
        marked = _marked_in(cast("Any", type(owner))).get(name, ())
        methods = [_bound(owner, name), *(_bound(owner, each) for each in marked if each != name)]
        found = [function for function in (*methods, vars(owner).get(name), self._given.get(name)) if function is not None]
        for function in found:
            _check_callable(name, function)
        return found

    @property
    def has_assigned(self) -> bool:
        """Whether a function was assigned to a hook's name on the object. That may happen at any time."""
        return not _ASSIGNED.isdisjoint(vars(self._hook_owner))

    @property
    def _hook_owner(self) -> object:
        return self if self._owner is None else self._owner


HooksGiven = Hooks | Callable[..., Any] | Iterable[Hooks | Callable[..., Any]]
"""`Hooks`, a marked function, or several of them."""


def _bound(owner: object, name: str) -> Any:
    method = next((vars(base)[name] for base in type(owner).__mro__ if name in vars(base)), None)
    return method.__get__(owner, type(owner)) if hasattr(method, "__get__") and method is not None else method


@lru_cache(maxsize=256)
def _marked_in(kind: type) -> Mapping[str, Sequence[str]]:
    """The names of the marked methods by hook: those of a base before those of derived classes, in the order of their
    definition."""
    members: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        members.update(vars(base))
    found: dict[str, list[str]] = {}
    for name, value in members.items():
        for marked_as in _marks_of(value):
            found.setdefault(marked_as, []).append(name)
    return found


def _marks_of(value: object) -> tuple[str, ...]:
    """The hooks that a function or method was marked as."""
    given = getattr_or_none(value, "__func__") or value
    return getattr(given, HOOK_MARK, ()) if isinstance(given, FunctionType) else ()


def check_members(
    kind: type, *, but: type, near_only: bool = False, passed: Callable[[object], bool] = lambda value: False
) -> None:
    """Raises `ConfigError` for a method that looks like a hook and would never be called.

    These are marked methods that a decorator hides, names that are almost a hook's or (unless `near_only`) begin like one, and
    methods that replace a marked one without a mark. `but`: the class whose own methods are exempt, as are members that have
    `passed`.
    """
    for base in kind.__mro__:
        for name, value in () if base in but.__mro__ else vars(base).items():
            if not passed(value) and not _marks_of(value):
                _refuse_hidden(base, name, value)
                _refuse_misspelt(base, name, value, near_only)
                _refuse_unmarked(kind, base, name)


def _refuse_hidden(owner: type, name: str, value: object) -> None:
    for below in ("fget", "func", "__wrapped__"):
        if _marks_of(getattr_or_none(value, below)):
            kind = type(value).__name__
            raise ConfigError(
                f"{owner.__name__}.{name}: {kind} hides the hook below it, which would never be called; mark a method"
            )


def _refuse_misspelt(owner: type, name: str, value: object, near_only: bool) -> None:
    if name in _PARAMETERS or name.startswith("_") or not (callable(value) or isinstance(value, staticmethod | classmethod)):
        return
    near = get_close_matches(name, _PARAMETERS, n=1, cutoff=0.75)
    if near or (not near_only and name.startswith(("before_", "after_", "on_"))):
        near = near or get_close_matches(name, _PARAMETERS, n=1, cutoff=0)
        raise ConfigError(f"{owner.__name__}.{name} is no hook; did you mean {near[0]!r}? Call it _{name} if it is a helper")


def _refuse_unmarked(kind: type, base: type, name: str) -> None:
    above = kind.__mro__[kind.__mro__.index(base) + 1 :]
    marks = next((marks for one in above if name in vars(one) and (marks := _marks_of(vars(one)[name]))), None)
    if marks and name not in _PARAMETERS and vars(base)[name] is not None:
        fix = f"put @hook.{marks[0]} above it, or set `{name} = None` to leave that hook out"
        raise ConfigError(f"{base.__name__}.{name} takes the place of a hook and is none itself; {fix}")


def _check_callable(name: str, function: object, *, may_be_method: bool = False) -> None:
    expected = f"{name}({', '.join(_PARAMETERS[name])})"
    if not callable(function):
        raise ConfigError(f"the hook {name} must be a function, called as {expected}, not {type(function).__name__}")
    error = misfit(function, *_PARAMETERS[name])
    if error is not None and may_be_method:
        error = misfit(function, "self", *_PARAMETERS[name])
    if error is not None:
        raise ConfigError(f"the hook {name} is called as {expected}, which its function does not take: {error}")


def _hooks_in(given: object) -> list[Hooks]:
    """One or several `Hooks`, as a list. Raises `ConfigError` for anything else."""
    if given is None:
        return []
    several = not isinstance(given, Hooks | type | str | Mapping) and isinstance(given, Iterable)
    hooks: list[object] = list(cast("Iterable[object]", given)) if several else [given]
    return [_checked_hooks(each) for each in hooks]


def _checked_hooks(given: object) -> Hooks:
    if isinstance(given, Hooks):
        return given
    if marks := _marks_of(given):
        function = cast("Callable[..., Any]", given)
        return Hooks(**dict.fromkeys(marks, function))
    kind: type[Any] = given if isinstance(given, type) else type(given)
    name = kind.__name__
    if issubclass(kind, Hooks):
        raise ConfigError(f"hooks must be instances: write {name}() for {name}")
    fix = "write `Hooks(before_tool_run=check)`, or mark the function: `@hook.before_tool_run`"
    if any(hasattr(kind, hook) for hook in _PARAMETERS):
        fix = f"derive it: `class {name}(llmcore.Hooks)`"
    raise ConfigError(f"hooks must be llmcore.Hooks, not {name}; {fix}")


class HookChain:
    """Several `Hooks` as one. A point without functions costs nothing."""

    def __init__(self, hooks: HooksGiven | None) -> None:
        self._given = _hooks_in(hooks)
        self._by_name = self._functions_by_name()
        self._seconds_left: Callable[[], float | None] = lambda: None
        self._uncounted: Callable[[], float] = nothing_uncounted

    def beside(self, hooks: HooksGiven | None) -> HookChain:
        """These hooks, then others. Raises `ConfigError`."""
        return HookChain([*self._given, *_hooks_in(hooks)])

    def with_deadline(
        self, seconds_left: Callable[[], float | None], uncounted: Callable[[], float] = nothing_uncounted
    ) -> HookChain:
        """The same hooks under a run's deadline. `seconds_left` returns None if there is none. `uncounted` returns the seconds
        that extend it."""
        if not self._given:
            return self
        made = copy.copy(self)
        made._seconds_left, made._uncounted = seconds_left, uncounted
        if any(one.has_assigned for one in self._given):
            made._by_name = self._functions_by_name()
        return made

    def _functions_by_name(self) -> dict[str, list[Callable[..., Any]]]:
        return {name: [function for each in self._given for function in each.functions(name)] for name in _PARAMETERS}

    def has(self, name: str) -> bool:
        return bool(self._by_name[name])

    async def before_request(self, request: Request) -> Request:
        return await self._transform("before_request", Request, request)

    async def on_response(self, envelope: Envelope) -> Envelope:
        return await self._transform("on_response", Envelope, envelope)

    async def on_streaming_response(self, so_far: StreamedSoFar) -> None:
        for function in self._by_name["on_streaming_response"]:
            answer = await self._call("on_streaming_response", function, so_far)
            _check_answer("on_streaming_response", (), answer)

    async def before_tool_run(self, call: ToolCall, context: Any) -> ToolCall | Veto:
        for function in self._by_name["before_tool_run"]:
            answer = await self._call("before_tool_run", function, call, context)
            changed = _check_answer("before_tool_run", (ToolCall, Veto), answer)
            if isinstance(changed, Veto):
                return changed
            call = call if changed is None else changed
        return call

    async def after_tool_run(self, call: ToolCall, outcome: Outcome) -> Outcome:
        for function in self._by_name["after_tool_run"]:
            answer = await self._call("after_tool_run", function, call, outcome)
            changed = _check_answer("after_tool_run", (type(outcome),), answer)
            outcome = outcome if changed is None else changed
        return outcome

    async def on_tool_response(self, message: Message) -> Message:
        return await self._transform("on_tool_response", Message, message)

    async def _transform(self, name: str, kind: type[T], value: T) -> T:
        for function in self._by_name[name]:
            changed: T | None = _check_answer(name, (kind,), await self._call(name, function, value))
            value = value if changed is None else changed
        return value

    async def _call(self, name: str, function: Callable[..., Any], *values: Any) -> Any:
        with naming(f"the hook {name}", function):
            return await self._await_answer(name, function(*values))

    async def _await_answer(self, name: str, value: Any) -> Any:
        """The answer of a hook. Raises `Timeout` if it does not come before the deadline."""
        if not inspect.isawaitable(value):
            return value
        left = self._seconds_left()
        if left is not None and name in _HOOKS_WITH_GRACE:
            left += _GRACE
        try:
            return await await_foreign(value, left, f"the hook {name}", self._uncounted)
        except Abandoned:
            raise Timeout(f"the run's deadline has passed while the hook {name} ran", status=None) from None


def _check_answer(name: str, kinds: tuple[type[Any], ...], value: Any) -> Any:
    if value is None or isinstance(value, kinds):
        return value
    expected = " or ".join(["None", *(kind.__name__ for kind in kinds)])
    raise ConfigError(f"the hook {name} must return {expected}, not {type(value).__name__}")
