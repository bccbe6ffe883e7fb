"""One run's settings: the orchestrator's, the request's and the call's options, resolved and checked before anything
is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from pydantic import ValidationError

from llmcore.run.copies import refusing
from llmcore.run.output import OutputSpec
from llmcore.tools import Tool, ToolConfig, as_tool, compile_tools
from llmcore.types import (
    Budget,
    CallerError,
    ConfigError,
    Message,
    Request,
    ToolDefinition,
    ToolDefinitionError,
    ToolSet,
)
from llmcore.types.copies import updated
from llmcore.types.given_messages import given_messages
from llmcore.types.tools import tools_in

__all__ = ["PER_RUN", "Given", "RunSettings", "Toolbox", "check_option_names", "resolve_request"]

Given = str | Message | Sequence[Message | Mapping[str, Any]] | Request
"""What `run`, `execute` and `stream` take: text, a message, a list of messages, or a whole `Request`."""

_REQUEST_OPTIONS = frozenset(Request.model_fields) - {"messages"}
_SENT_AS_DATA = ("messages", "system", "tool_choice", "stop", "extra_body", "extra_headers")
_TOOL_OPTIONS = {
    "max_tool_turns": "max_turns",
    "max_parallel_tools": "max_parallel",
    "tool_timeout": "timeout",
    "tool_errors": "errors",
}
_RUN_OPTIONS = frozenset({"message_history", "budget", "deps", "strictness"})
PER_RUN = _REQUEST_OPTIONS | _TOOL_OPTIONS.keys() | _RUN_OPTIONS
"""The options of `run`, `execute` and `stream`."""
_OPTIONS = sorted(PER_RUN)
_INSTEAD = {
    "timeout": "the whole run has its `deadline`, a model its `timeout` in the registry, a tool its `tool_timeout`",
    "images": "an image is an ImageBlock in a message's content, or a part `image_url` of OpenAI's form",
    "messages": "messages are the first argument",
    "history": "a history is `message_history`",
    "prompt": "the prompt is the first argument",
}
"""What is often looked for under another name."""


class Toolbox:
    """The tools of one run, by name. Raises `ToolDefinitionError` for two tools of one name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            known = self._tools.setdefault(tool.name, tool)
            if not _same(known, tool):
                raise ToolDefinitionError(f"two tools of one list are called {tool.name!r}; name one by tool(f).renamed('...')")
        self._dynamic = any(tool.is_dynamic for tool in self._tools.values())
        self._compiled: ToolSet | None = None

    @classmethod
    def of(cls, tools: Iterable[object]) -> Toolbox:
        """Anything that is a tool. Raises `ToolDefinitionError`."""
        return cls(as_tool(given) for given in tools_in(tools))

    def extended(self, tools: Iterable[object]) -> Toolbox:
        """These, with a run's own. One of those stands in for one of these only when it says so (`Tool.replacing`).

        Raises `ToolDefinitionError`.
        """
        own = Toolbox.of(tools)
        for tool in own:
            known = self._tools.get(tool.name)
            if known is None and tool.replaces:
                raise ToolDefinitionError(
                    f"the run's tool {tool.name!r} is to replace one, but there are only {list(self._tools)}"
                )
            if known is not None and not tool.replaces and not _same(known, tool):
                raise ToolDefinitionError(
                    f"the run's tool {tool.name!r} has the name of one of the orchestrator's; give tool(f).replacing() to "
                    "let it stand in for that one in this run, or tool(f).renamed('...') to have both"
                )
        return Toolbox((self._tools | own._tools).values())

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def can_run(self, name: str) -> bool:
        """Is there such a tool, and has it a function?"""
        tool = self._tools.get(name)
        return tool is not None and tool.function is not None

    def tool_set(self) -> ToolSet:
        """What the model is told now; schemas that ask at run time are asked anew."""
        if self._compiled is None or self._dynamic:
            self._compiled = compile_tools(self._tools.values())
        return self._compiled

    def told(self, names: Iterable[str]) -> Iterable[tuple[Tool, ToolDefinition]]:
        """Some of the tools, each with what the model is told of it now."""
        told = self.tool_set()
        return [(self._tools[name], tool.definition) for name in names if (tool := told.get(name)) is not None]

    @classmethod
    def telling(cls, told: Iterable[tuple[Tool, ToolDefinition]]) -> Toolbox:
        """Tools under the names and with the schemas of these definitions; of one name the last stands."""
        by_name = {definition.name: (tool, definition) for tool, definition in told}
        box = cls()
        box._tools = {name: tool for name, (tool, _) in by_name.items()}
        box._compiled = compile_tools([definition for _, definition in by_name.values()])
        return box

    def limited(self, config: ToolConfig) -> Toolbox:
        """Those that the configuration allows."""
        if not config.enabled:
            return Toolbox()
        if config.allowed is None:
            return self
        return Toolbox(tool for tool in self._tools.values() if tool.name in config.allowed)

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())


def _same(one: Tool, other: Tool) -> bool:
    """Would it make no difference which of them runs?"""
    if one is other:
        return True
    runs_the_same = one.function == other.function and one.instance is other.instance and one.options == other.options
    return runs_the_same and one.definition == other.definition


@dataclass(frozen=True, slots=True)
class RunSettings:
    """One run, resolved. `request.messages` is the whole history; `tool_overrides` are the call's own tool options."""

    request: Request
    toolbox: Toolbox
    budget: Budget | None
    deps: Any
    strictness: Literal["off", "safe", "lenient"]
    tool_overrides: ToolConfig
    output: OutputSpec | None


def check_option_names(options: Mapping[str, Any]) -> None:
    """Raises `ConfigError` for an option that does not exist, with the one that was probably meant."""
    for name in options:
        if name not in _OPTIONS:
            near = get_close_matches(name, _OPTIONS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(_OPTIONS)}"
            hint = _INSTEAD.get(name, hint)
            raise ConfigError(f"unknown option {name!r}; {hint}")


def resolve_request(given: Given, options: Mapping[str, Any]) -> Request:
    """The request with the options laid over it and the history before it, as a copy that shares no data with what
    was given. Raises `CallerError` naming what does not fit or cannot be encoded."""
    history: Sequence[Any] = options.get("message_history") or ()
    overrides = {name: value for name, value in options.items() if name in _REQUEST_OPTIONS}
    if isinstance(given, Request):
        base: dict[str, Any] = {name: getattr(given, name) for name in given.model_fields_set}
    else:
        base = {"messages": [given] if isinstance(given, Message) else given}
    try:
        base["messages"] = [*(given_messages(history) if history else ()), *given_messages(base["messages"])]
        request = _owned(Request.model_validate({**base, **overrides}))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"]))
        raise CallerError(f"the request's {where}: {problem['msg']}") from None
    except TypeError as error:
        raise CallerError(f"the request cannot be read: {error}") from None
    if not request.messages:
        raise CallerError("the request holds no messages; give text, or at least one message")
    return request


def _owned(request: Request) -> Request:
    copied = {name: getattr(request, name) for name in _SENT_AS_DATA}
    return updated(request, refusing(copied, lambda words: CallerError(f"the request's {words}")))


def resolve(
    given: Given,
    options: Mapping[str, Any],
    *,
    tools: Toolbox,
    system: Any,
    budget: Budget | None,
    deps: Any,
    strictness: Literal["off", "safe", "lenient"],
) -> RunSettings:
    """Everything a run needs to know, from the orchestrator's defaults and the call's options. Raises
    `CallerError`s."""
    check_option_names(options)
    request = resolve_request(given, options)
    if request.system is None and system is not None:
        request = _owned(updated(request, {"system": system}))
    toolbox = tools.extended(request.tools) if request.tools else tools
    choice = request.tool_choice
    if isinstance(choice, dict) and toolbox.get(choice.get("name", "")) is None:
        raise ConfigError(f"tool_choice names {choice.get('name')!r}, which is none of the tools {[t.name for t in toolbox]}")
    if choice == "required" and not len(toolbox):
        raise ConfigError("tool_choice is 'required' and there are no tools; give tools or leave it at 'auto'")
    return RunSettings(
        request=request,
        toolbox=toolbox,
        budget=_budget(options.get("budget", budget), request.deadline),
        deps=options.get("deps", deps),
        strictness=_strictness(options.get("strictness", strictness)),
        tool_overrides=tool_config(**{_TOOL_OPTIONS[name]: options[name] for name in _TOOL_OPTIONS if name in options}),
        output=OutputSpec.of(request.output_type),
    )


def tool_config(**settings: Any) -> ToolConfig:
    """A `ToolConfig`; a value that does not fit is a `ConfigError` naming it."""
    try:
        return ToolConfig(**settings)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise ConfigError(f"the tool setting {'.'.join(map(str, problem['loc']))}: {problem['msg']}") from None


def _strictness(value: Any) -> Literal["off", "safe", "lenient"]:
    known: tuple[Literal["off", "safe", "lenient"], ...] = ("off", "safe", "lenient")
    for strictness in known:
        if value == strictness:
            return strictness
    raise ConfigError(f"strictness must be 'off', 'safe' or 'lenient', not {value!r}")


def _budget(given: Any, deadline: float | None) -> Budget | None:
    """The budget, with the request's deadline in it if that is the earlier one. None = nothing was set."""
    if given is not None and not isinstance(given, Budget):
        raise ConfigError(f"budget must be an llmcore.Budget, not {type(given).__name__}")
    if deadline is None:
        return given
    base = given or Budget()
    nearest = deadline if base.deadline is None else min(deadline, base.deadline)
    return updated(base, {"deadline": nearest})
