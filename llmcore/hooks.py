"""Hooks alter or veto; events only observe.

Each hook is a function, sync or async. What it returns takes the place of what it was given; None leaves it as it is.
What it raises ends the run with the partial result (`TerminateLoop` ends it cleanly). Several `Hooks` are asked in
order, each with what the one before made of it.

Async hooks stand under the run's deadline and are left behind when they do not end; those after a reply or a tool have
half a second more, so that what had come in time is not lost. A sync hook runs on the event loop: one that blocks
holds up everything, and no deadline can stop it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from llmcore.tools.leaving import LeftBehind, bounded
from llmcore.types import ConfigError, Envelope, Message, Request, Timeout, ToolCall

if TYPE_CHECKING:
    from llmcore.tools.execution import Outcome

__all__ = ["HookChain", "Hooks", "StreamedSoFar", "Veto"]


@dataclass(frozen=True, slots=True)
class Veto:
    """Returned by `before_tool_run`: the tool does not run, and the model is told the reason."""

    reason: str


@dataclass(slots=True)
class StreamedSoFar:
    """A streamed reply as far as it has come."""

    content: str = ""
    reasoning: str = ""
    done: bool = False


T = TypeVar("T")
Maybe = Awaitable[Any] | Any

_GRACE = 0.5
_HAVE_GRACE = frozenset({"on_response", "on_streaming_response", "after_tool_run", "on_tool_response"})


@dataclass(frozen=True, slots=True)
class Hooks:
    """Functions called at fixed points of a run; each is optional.

    | hook | is given | may return |
    |---|---|---|
    | `before_request` | the `Request` about to go out (tools and history as they will be sent) | another `Request` |
    | `on_response` | the reply's `Envelope`, before it is judged | another `Envelope` |
    | `on_streaming_response` | `StreamedSoFar`, at each piece of a stream | nothing |
    | `before_tool_run` | the `ToolCall` and its `RunContext` | another `ToolCall`, or a `Veto` |
    | `after_tool_run` | the call and its `Outcome` | another `Outcome` |
    | `on_tool_response` | the `Message` with all results of the turn | another `Message` |
    """

    before_request: Callable[[Request], Maybe] | None = None
    on_response: Callable[[Envelope], Maybe] | None = None
    on_streaming_response: Callable[[StreamedSoFar], Maybe] | None = None
    before_tool_run: Callable[[ToolCall, Any], Maybe] | None = None
    after_tool_run: Callable[[ToolCall, Outcome], Maybe] | None = None
    on_tool_response: Callable[[Message], Maybe] | None = None


class HookChain:
    """Several `Hooks` as one. Costs nothing at points where none of them has a function."""

    def __init__(self, hooks: Hooks | Iterable[Hooks] | None) -> None:
        given = [] if hooks is None else [hooks] if isinstance(hooks, Hooks) else list(hooks)
        for each in given:
            if not isinstance(each, Hooks):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
                raise ConfigError(f"hooks must be llmcore.Hooks, not {type(each).__name__}")
        self._by_name: dict[str, list[Callable[..., Any]]] = {
            name: [function for each in given if (function := getattr(each, name)) is not None]
            for name in Hooks.__dataclass_fields__
        }
        self._seconds_left: Callable[[], float | None] = lambda: None

    def under(self, seconds_left: Callable[[], float | None]) -> HookChain:
        """The same hooks under a run's deadline; `seconds_left` may give None: there is none."""
        made = copy.copy(self)
        made._seconds_left = seconds_left
        return made

    def has(self, name: str) -> bool:
        return bool(self._by_name[name])

    async def before_request(self, request: Request) -> Request:
        return await self._altered("before_request", Request, request)

    async def on_response(self, envelope: Envelope) -> Envelope:
        return await self._altered("on_response", Envelope, envelope)

    async def on_streaming_response(self, so_far: StreamedSoFar) -> None:
        for function in self._by_name["on_streaming_response"]:
            await self._awaited("on_streaming_response", function(so_far))

    async def before_tool_run(self, call: ToolCall, context: Any) -> ToolCall | Veto:
        for function in self._by_name["before_tool_run"]:
            answer = await self._awaited("before_tool_run", function(call, context))
            changed = _checked("before_tool_run", (ToolCall, Veto), answer)
            if isinstance(changed, Veto):
                return changed
            call = call if changed is None else changed
        return call

    async def after_tool_run(self, call: ToolCall, outcome: Outcome) -> Outcome:
        for function in self._by_name["after_tool_run"]:
            answer = await self._awaited("after_tool_run", function(call, outcome))
            changed = _checked("after_tool_run", (type(outcome),), answer)
            outcome = outcome if changed is None else changed
        return outcome

    async def on_tool_response(self, message: Message) -> Message:
        return await self._altered("on_tool_response", Message, message)

    async def _altered(self, name: str, kind: type[T], value: T) -> T:
        for function in self._by_name[name]:
            changed: T | None = _checked(name, (kind,), await self._awaited(name, function(value)))
            value = value if changed is None else changed
        return value

    async def _awaited(self, name: str, value: Any) -> Any:
        """The answer of a hook. Raises `Timeout` when it does not come before the deadline."""
        if not inspect.isawaitable(value):
            return value
        left = self._seconds_left()
        if left is not None and name in _HAVE_GRACE:
            left += _GRACE
        try:
            return await bounded(value, left, f"the hook {name}")
        except LeftBehind:
            raise Timeout(f"the run's deadline has passed while the hook {name} ran", status=None) from None


def _checked(name: str, kinds: tuple[type[Any], ...], value: Any) -> Any:
    if value is None or isinstance(value, kinds):
        return value
    expected = " or ".join(kind.__name__ for kind in kinds)
    raise ConfigError(f"the hook {name} must return None or {expected}, not {type(value).__name__}")
