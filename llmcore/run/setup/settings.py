"""One run's settings. Merges and checks the options of the orchestrator, the request and the call before anything is
sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, cast

from pydantic import PydanticUndefinedAnnotation, ValidationError

from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.compiling import compile_tools
from llmcore.run.caller_functions import CallersFunction
from llmcore.run.output.answer_type import OutputSpec
from llmcore.run.results.boundary_copies import checked_copy, is_encodable
from llmcore.run.results.openai_history import check_ends_with_request, check_not_empty, check_results_answer_calls
from llmcore.run.results.result import RepairRecord, RunResult
from llmcore.run.resume.claims import RunStore
from llmcore.run.resume.resumption import Resumed, enter_history
from llmcore.run.resume.saving import checkpoint_of
from llmcore.run.resume.seals import SigningKey, as_signing_key
from llmcore.run.setup.context_size import ContextLimit, context_limit
from llmcore.run.setup.interjections import interjections_function
from llmcore.run.setup.options import OPTIONS, REQUEST_OPTIONS, TOOL_OPTIONS, Given, Strictness, check_options
from llmcore.run.setup.parent_run import ParentRun, parent_run_of
from llmcore.support.code.suggestions import mistake_in
from llmcore.support.values.copies import made, updated
from llmcore.tools import Tool, ToolConfig, checked_tool
from llmcore.tools.schema.fragments import without_empty_enums
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
from llmcore.types.input.message_input import given_messages
from llmcore.types.logs import logger
from llmcore.types.requests import TextCalls
from llmcore.types.shared.budgets import SharedBudget
from llmcore.types.tools import LiveTools, live_tools_in, tools_given, tools_in

__all__ = [
    "RunSettings",
    "Toolbox",
    "check_allowed",
    "check_choice",
    "check_tool_names",
    "checked_options",
    "resolve_request",
    "resolve_settings",
    "seconds_allowed",
    "tool_settings",
    "validators_of",
    "with_types",
]

_SENT_AS_DATA = ("messages", "system", "tool_choice", "stop", "extra_body", "extra_headers")
_log = logger("tools")
_MAX_NAMES = 50
_NOTHING_SET = ToolConfig()
_NO_BUDGET = Budget()


class Toolbox:
    """The tools of one run, by name. Raises `ToolDefinitionError` for two tools with the same name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            known = self._tools.setdefault(tool.name, tool)
            if not known.is_same(tool):
                raise ToolDefinitionError(
                    f"two tools in one list are called {tool.name!r}; rename one with tool(f).renamed('...')"
                )
        self._dynamic = any(tool.is_dynamic for tool in self._tools.values())
        self._compiled: ToolSet | None = None
        self._sources: tuple[tuple[LiveTools, int], ...] = ()
        self._anew: Callable[[], Toolbox] | None = None
        self._disabled: Toolbox | None = None

    @classmethod
    def of(cls, tools: Iterable[object]) -> Toolbox:
        """The toolbox of any objects that are tools. Raises `ToolDefinitionError`."""
        given = tools if isinstance(tools, LiveTools | ToolSet) else tuple(tools_given(tools))
        seen = [(source, source.version) for source in live_tools_in(given)]  # first, so that `now` notices any later change
        return cls(checked_tool(one) for one in tools_in(given))._following(seen, lambda: cls.of(given))

    def _following(self, sources: Iterable[tuple[LiveTools, int]], anew: Callable[[], Toolbox]) -> Toolbox:
        self._sources, self._anew = tuple(sources), anew
        return self

    def now(self) -> Toolbox:
        """The tools with the current state of their registries: itself if no registry changed."""
        if not self._sources or self._anew is None or all(source.version == seen for source, seen in self._sources):
            return self
        return self._anew()

    def extended(self, tools: Iterable[object], *, judged: bool = False, more: bool = False) -> Toolbox:
        """These tools plus a run's own. A run's tool replaces one of these only with `Tool.replacing`. Then that one must
        exist, unless there may be `more` tools (a function gives others in other turns).

        Raises `ToolDefinitionError`, unless the tools were `judged` at the start of the run: a registry may change since.
        """
        own = Toolbox.of(tools)
        for tool in () if judged else own:
            known = self._tools.get(tool.name)
            if known is None and tool.replaces and not more:
                raise ToolDefinitionError(
                    f"the run's tool {tool.name!r} replaces a tool that does not exist; there are {list(self._tools)}"
                )
            if known is not None and not tool.replaces and not known.is_same(tool):
                raise ToolDefinitionError(
                    f"the run's tool {tool.name!r} has the name of one of the orchestrator's; give tool(f).replacing() to "
                    "replace that one in this run, or tool(f).renamed('...') to have both"
                )
        both = Toolbox((self._tools | own._tools).values())
        return both._following(self._sources + own._sources, lambda: self.now().extended(tools, judged=True, more=more))

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def can_run(self, name: str) -> bool:
        """Is there a tool with this name and a function?"""
        tool = self._tools.get(name)
        return tool is not None and tool.function is not None

    def tool_set(self) -> ToolSet:
        """The definitions for the model now. Dynamic schemas are computed again. A tool is left out while a required choice
        has no options."""
        if self._dynamic:
            self._compiled = ToolSet([one for tool in self._tools.values() if (one := _current_definition(tool)) is not None])
        elif self._compiled is None:
            self._compiled = compile_tools(self._tools.values())
        return self._compiled

    def known(self) -> ToolSet:
        """The definitions as if tools were enabled. They show whether a text is a call of a disabled tool."""
        return self.tool_set() if self._disabled is None else self._disabled.known()

    def definitions(self, names: Iterable[str]) -> Iterable[tuple[Tool, ToolDefinition]]:
        """The named tools, each with its current definition for the model."""
        current = self.tool_set()
        return [(self._tools[name], tool.definition) for name in names if (tool := current.get(name)) is not None]

    @classmethod
    def redefined(cls, defined: Iterable[tuple[Tool, ToolDefinition]]) -> Toolbox:
        """Tools with the names and schemas of these definitions. If a name is repeated, the last one counts."""
        by_name = {definition.name: (tool, definition) for tool, definition in defined}
        box = cls()
        box._tools = {name: tool for name, (tool, _) in by_name.items()}
        box._compiled = compile_tools([definition for _, definition in by_name.values()])
        return box

    def limited(self, config: ToolConfig) -> Toolbox:
        """The tools that the configuration allows."""
        if not config.enabled:
            none = Toolbox()
            none._disabled = self
            return none
        if config.allowed is None:
            return self
        allowed = Toolbox(tool for tool in self._tools.values() if tool.name in config.allowed)
        return allowed._following(self._sources, lambda: self.now().limited(config))

    @property
    def is_none(self) -> bool:
        """Does it have no tools, and no registry that may add some?"""
        return not self._tools and not self._sources

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())


def _current_definition(tool: Tool) -> ToolDefinition | Tool | None:
    if not tool.is_dynamic:
        return tool
    definition = tool.definition
    parameters = without_empty_enums(definition.parameters)
    if parameters is None:
        _log.info("tool %s is left out, since a required choice has no options now", tool.name, extra={"tool": tool.name})
        return None
    return definition if parameters is definition.parameters else updated(definition, {"parameters": parameters})


@dataclass(slots=True)
class RunSettings:
    """The checked settings of one run. `request.messages`: the whole history. `tool_overrides`: the call's own tool options.
    `repairs`: those of the given history. `resumed`: the turn that it left open."""

    request: Request
    toolbox: Toolbox
    budget: Budget
    deps: Any
    strictness: Strictness
    tool_overrides: ToolConfig
    output: OutputSpec | None
    output_validators: tuple[CallersFunction, ...] = ()
    interjections: CallersFunction | None = None
    context: ContextLimit = field(default_factory=ContextLimit)
    place: ParentRun | None = None
    """The run around this one."""
    repairs: Sequence[RepairRecord] = ()
    resumed: Resumed | None = None
    checkpoint: CallersFunction | None = None
    nested_events: bool = False
    """Does it emit the events of its child runs among its own?"""
    run_store: RunStore | None = None
    shared_budget: SharedBudget | None = None
    signing_key: SigningKey | None = None
    text_calls: TextCalls | None = None
    """The run's own setting; None = the model's, else the orchestrator's."""
    default_text_calls: TextCalls = "standard"


def checked_options(thing: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that are given before a run, in the form of a run's options. Raises `ConfigError` for the first one that is
    unknown or that no run could use.

    An output type may name a type that is not defined yet, since it may be defined when the run begins.
    """
    check_options(thing, options)
    fields = {name: value for name, value in options.items() if name in _FIELDS}
    read_fields: dict[str, Any] = {}
    try:
        if fields:
            request = _owned(Request.model_validate({"messages": thing, **fields}))
            read_fields = {name: getattr(request, name) for name in fields}
        for name, read in _READ.items():
            if options.get(name) is not None:
                read(options[name])
    except ValidationError as error:
        raise ConfigError(mistake_in(error, thing, Request.model_fields)) from None
    except TypeError as error:
        raise ConfigError(f"{thing}: its options cannot be read: {error}") from None
    except CallerError as error:
        if not _names_undefined_type(error.__cause__):
            if type(error) is not CallerError:
                raise
            raise ConfigError(f"{thing}: {error}") from error.__cause__
    return {**options, **read_fields}


def _names_undefined_type(error: BaseException | None) -> bool:
    return isinstance(error, PydanticUndefinedAnnotation) or getattr(error, "code", None) == "class-not-fully-defined"


def resolve_request(given: Given, options: Mapping[str, Any]) -> Request:
    """A copy of the request with the options applied. It shares no data with `given`. Raises `CallerError` that names what
    is wrong or cannot be encoded."""
    request, _ = _resolved(given, options)
    check_results_answer_calls(request.messages)
    return request


def _resolved(given: Given | None, options: Mapping[str, Any]) -> tuple[Request, int]:
    """The request, and how many of its messages are the history before it."""
    if given.__class__ is str and not options:
        if is_encodable(given):  # llmcore makes the message itself
            return made(Request, messages=given_messages(given)), 0
        return _owned(made(Request, messages=given_messages(given))), 0
    history = _history(options.get("message_history"))
    overrides = {name: value for name, value in options.items() if name in REQUEST_OPTIONS}
    if isinstance(given, Request):
        base: dict[str, Any] = {name: getattr(given, name) for name in given.model_fields_set}
    elif isinstance(given, RunResult):
        base = {"messages": given.messages}
    else:
        base = {"messages": () if given is None else [given] if isinstance(given, Message) else given}
    try:
        before = given_messages(history) if history else []
        base["messages"] = [*before, *given_messages(base["messages"])]
        request = _owned(Request.model_validate({**base, **overrides}))
    except ValidationError as error:
        raise CallerError(mistake_in(error, "Request", Request.model_fields)) from None
    except TypeError as error:
        raise CallerError(f"the request cannot be read: {error}") from None
    if not request.messages:
        raise CallerError("the request has no messages; give text, or at least one message")
    return request, len(request.messages if isinstance(given, RunResult) else before)


_FIELDS = REQUEST_OPTIONS - {"tools", "output_type"}


def _saved(*given: Given | None) -> RunResult[Any] | None:
    return next((one for one in given if isinstance(one, RunResult)), None)


def _history(given: object) -> Sequence[Any]:
    """The earlier messages, from a result or a list of messages."""
    if isinstance(given, RunResult):
        return given.messages
    return cast("Sequence[Any]", given or ())


def _owned(request: Request) -> Request:
    copied = {name: getattr(request, name) for name in _SENT_AS_DATA if name in request.model_fields_set}
    return updated(request, checked_copy(copied, lambda words: CallerError(f"the request's {words}")))


def resolve_settings(
    given: Given | None, options: Mapping[str, Any], *, defaults: Mapping[str, Any], tools: Toolbox, more_tools: bool = False
) -> RunSettings:
    """All settings of a run, from the orchestrator's `defaults` and the run's own options. `more_tools`: whether a function
    gives other tools in each turn. Raises `CallerError`s. `with_types` adds the settings that load the validator."""
    check_options("run", options)
    request, history = _resolved(given, options)
    is_new = len(request.messages) > history
    if is_new:
        check_not_empty(request.messages)
    if request.system is None and defaults["system"] is not None:
        request = _owned(updated(request, {"system": defaults["system"]}))
    chosen = {name: options.get(name, defaults.get(name)) for name in OPTIONS}
    key = as_signing_key(chosen["signing_key"])
    entered = enter_history(
        request.messages,
        history=history,
        saved=_saved(given, options.get("message_history")),
        answers=chosen["answers"],
        system=request.system if isinstance(request.system, str) else "",
        key=key,
    )
    if not is_new and entered.resumed is None and chosen["interjections"] is None:
        check_ends_with_request(entered.messages)
    if entered.messages is not request.messages:
        request = updated(request, {"messages": entered.messages})
    place = parent_run_of(chosen["parent"])
    return RunSettings(
        request=request,
        toolbox=tools.extended(request.tools, more=more_tools) if request.tools else tools,
        budget=_budget(chosen["budget"], request.deadline) or _NO_BUDGET,
        deps=chosen["deps"],
        strictness=chosen["strictness"],
        tool_overrides=tool_settings(options.get("tool_config"), options),
        output=None,
        context=context_limit(chosen["max_context_tokens"], defaults["token_counter"]),
        interjections=interjections_function(chosen["interjections"]),
        place=place,
        output_validators=defaults["output_validators"],
        repairs=entered.repairs,
        resumed=entered.resumed,
        checkpoint=checkpoint_of(chosen["checkpoint"]),
        nested_events=chosen["nested_events"] or (place is not None and place.emits_nested),
        run_store=chosen["run_store"],
        shared_budget=chosen["shared_budget"],
        signing_key=key,
        text_calls=options.get("text_calls"),
        default_text_calls=defaults["text_calls"],
    )


def with_types(settings: RunSettings, validators: object) -> RunSettings:
    """The settings plus the output type and the run's own output validators. Raises `CallerError`."""
    output_type = settings.request.output_type
    if output_type is None and validators is None:
        return settings
    own = validators_of(validators)
    return replace(settings, output=OutputSpec.of(output_type), output_validators=(*settings.output_validators, *own))


_READ: Mapping[str, Callable[[Any], object]] = {  # output_type is last: its types may not be defined yet
    "interjections": interjections_function,
    "output_validators": lambda given: validators_of(given),
    "checkpoint": checkpoint_of,
    "signing_key": as_signing_key,
    "max_context_tokens": lambda given: context_limit(given, None),
    "output_type": OutputSpec.of,
}
"""How a run reads the options that are not fields of its request and have no `Kind`."""


def check_choice(request: Request, toolbox: Toolbox, config: ToolConfig) -> None:
    """Raises `ConfigError` if the request's tool_choice forces a tool that the configuration does not allow or that does not
    exist."""
    choice = request.tool_choice
    if choice in ("auto", "none"):
        return
    name = choice.get("name", "") if isinstance(choice, dict) else None
    left = toolbox.limited(config)
    if len(left) and (name is None or left.get(name) is not None):
        return
    asked = f"tool_choice is {choice!r}" if name is None else f"tool_choice names {name!r}"
    if not config.enabled:
        raise ConfigError(f"{asked}, but tools are disabled (ToolConfig.enabled): enable them, or leave tool_choice at 'auto'")
    if len(toolbox) and (name is None or toolbox.get(name) is not None):
        raise ConfigError(
            f"{asked}, but ToolConfig.allowed leaves {_names(left)} of {_names(toolbox)}: allow it, or choose another"
        )
    if name is None:
        raise ConfigError(f"{asked}, but there are no tools; give tools or leave it at 'auto'")
    raise ConfigError(f"{asked}, which is not one of the tools {_names(toolbox)}")


def check_tool_names(toolbox: Toolbox, *, typed: bool) -> None:
    """Raises `ToolDefinitionError` if a tool has the name that the model uses for a typed answer."""
    if typed and toolbox.get(FINAL_RESULT) is not None:
        raise ToolDefinitionError(
            f"a tool is called {FINAL_RESULT!r}, the name reserved for a typed answer (output_type): rename it with "
            "tool(f).renamed('...')"
        )


def _names(tools: Toolbox) -> list[str]:
    return [tool.name for tool in tools][:_MAX_NAMES]


def validators_of(given: object) -> tuple[CallersFunction, ...]:
    if given is None:
        return ()
    from llmcore.run.output.validators import output_validators  # loads the validator

    return output_validators(given)


def tool_settings(given: object, options: Mapping[str, Any], ignoring: Mapping[str, Any] = MappingProxyType({})) -> ToolConfig:
    """The given `ToolConfig` plus the options that set tools. If one is given, options with the same value in `ignoring` are
    skipped. Raises `ConfigError` for a wrong value, and for a setting given twice."""
    if given is not None and not isinstance(given, ToolConfig):
        raise ConfigError(f"tool_config must be an llmcore.ToolConfig, not {type(given).__name__}")
    named = {name: options[name] for name in TOOL_OPTIONS if name in options}
    if not named:
        return given or _NOTHING_SET
    if given is not None:
        named = {name: value for name, value in named.items() if name not in ignoring or value != ignoring[name]}
        twice = [name for name in named if TOOL_OPTIONS[name] in given.model_fields_set]
        if twice:
            raise ConfigError(f"{twice[0]} and tool_config.{TOOL_OPTIONS[twice[0]]} are the same setting: give it once")
    settings = {TOOL_OPTIONS[name]: value for name, value in named.items()}
    return (given or ToolConfig()).overlaid(ToolConfig(**settings))


def check_allowed(config: ToolConfig, toolbox: Toolbox) -> None:
    """Raises `ConfigError` if `allowed` leaves no tool, or if one of its names is unknown and close to that of an excluded
    tool. Other unknown names may belong to tools of other runs."""
    if config.allowed is None or not config.enabled or not len(toolbox):
        return
    names = [tool.name for tool in toolbox]
    left_out = [name for name in names if name not in config.allowed]
    for name in sorted(config.allowed - set(names)):
        near = get_close_matches(name, left_out, n=1)
        if near or len(left_out) == len(names):
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names[:_MAX_NAMES])}"
            raise ConfigError(f"the allowed tool {name!r} is not one of the tools; {hint}")


def seconds_allowed(options: Mapping[str, Any], budget: Budget | None) -> float | None:
    """The seconds that a run with these options may take: the least of its own deadline, its budget's (default: `budget`)
    and what the run around it has left. None = no limit."""
    own, place = _budget(options.get("budget", budget), options.get("deadline")), parent_run_of(options.get("parent"))
    bounds = (None if own is None else own.deadline, None if place is None else place.ledger.seconds_left)
    return min((seconds for seconds in bounds if seconds is not None), default=None)


def _budget(given: Budget | None, deadline: float | None) -> Budget | None:
    """The budget, with the request's deadline if that is earlier. None = neither was given."""
    if deadline is None:
        return given
    base = given or Budget()
    nearest = deadline if base.deadline is None else min(deadline, base.deadline)
    return updated(base, {"deadline": nearest})
