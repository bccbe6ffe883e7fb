"""The single orchestrator: the four layers stacked behind `run`, `execute` and `stream`.

It holds settings and no run's state, so any number of runs may go on at once, in any number of tasks. The layers
are loaded when the first one is made: neither by `import llmcore`, nor in the middle of a run, where it would hold up
the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from importlib import import_module
from math import inf
from os import PathLike
from types import TracebackType, UnionType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, overload

from llmcore.adapters.base import Adapter
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.fallback import SharedCooldowns
from llmcore.hooks import HookChain, HooksGiven
from llmcore.models import ModelRegistry
from llmcore.run.endpoints.catalog import Catalog, KnownModels
from llmcore.run.endpoints.first_choice import choose_first
from llmcore.run.observing.observers import Observer, Observers
from llmcore.run.observing.recording import Recording
from llmcore.run.results.result import RunResult
from llmcore.run.resume.seals import as_signing_key
from llmcore.run.setup.context_size import context_limit
from llmcore.run.setup.interjections import box_of
from llmcore.run.setup.options import (
    PER_RUN,
    SHARED,
    TOOL_OPTIONS,
    Given,
    Option,
    RunOptions,
    SharedOptions,
    other_names,
)
from llmcore.run.setup.settings import (
    checked_options,
    resolve_settings,
    seconds_allowed,
    tool_settings,
    validators_of,
    with_types,
)
from llmcore.run.setup.tool_source import ToolSource, is_tool_provider
from llmcore.run.streaming.run_stream import RunStream, SyncRunStream, sync_stream
from llmcore.run.turn.lazy_run import LazyRun
from llmcore.support.code.emitter import silently
from llmcore.support.code.function_types import OfContext
from llmcore.support.code.option_signatures import show_options
from llmcore.support.code.suggestions import meant, unknown
from llmcore.tools import RunContext, Tool
from llmcore.tools.definition.web_search import Searcher, web_search_tool
from llmcore.types import ConfigError, JsonSchema, Request, TextBlock
from llmcore.types.input.argument_errors import Kind, check_kinds, in_words, trim_arguments

if TYPE_CHECKING:
    from typing_extensions import TypeForm  # unions and literals are no `type`, but forms of one

    from llmcore.fallback import Strategy
    from llmcore.run.asking.probing import ProbeReport
    from llmcore.run.streaming.steps import Steps
    from llmcore.run.turn.loop import Run

__all__ = ["INSTEAD", "OWN_KINDS", "Models", "Orchestrator"]

T = TypeVar("T")
Models = ModelRegistry | Adapter | Mapping[str, Any] | str | PathLike[str]


class OrchestratorSettings(SharedOptions, total=False):
    """The settings that an orchestrator and an agent share."""

    system: str | list[TextBlock] | None
    hooks: HooksGiven | None
    capabilities: CapabilityStore | None
    cooldowns: SharedCooldowns | None
    strategies: Sequence[Strategy] | None
    enforce_limits: bool
    adapter: Adapter | Mapping[str, Adapter] | None
    web_search: Searcher | None
    token_counter: Callable[[Request], int | Awaitable[int]] | None
    observers: Observer | Iterable[Observer] | None


class OrchestratorOptions(OrchestratorSettings, total=False):
    """All settings of an orchestrator. An agent has a `name` of its own type."""

    name: str


OWN_SETTINGS: Mapping[str, Option] = {
    "hooks": Option("the `Hooks` of all runs", default=None),
    "capabilities": Option(
        "the `CapabilityStore`",
        default=None,
        kind=Kind(lambda value: isinstance(value, CapabilityStore), "an llmcore.CapabilityStore"),
    ),
    "cooldowns": Option(
        "where processes share which models and deployments cool down ([fleet](fleet.md))",
        default=None,
        kind=Kind(lambda value: value is None or isinstance(value, SharedCooldowns), "an object with load() and save(cooldowns)"),
    ),
    "strategies": Option("the strategies of the fallback layer, in order", default=None),
    "enforce_limits": Option(
        "whether tools over the providers' unverified limits are refused, too",
        default=False,
        kind=Kind(lambda value: isinstance(value, bool), "True or False"),
    ),
    "adapter": Option("who makes the requests: for all models, or by alias", default=None),
    "web_search": Option("the function that searches where the provider cannot", default=None),
    "token_counter": Option("the function that counts the tokens of a `Request`", default=None),
    "observers": Option("who is told what each run does", default=None),
    "name": Option("what logs and traces call the runs", default="", kind=Kind(lambda value: isinstance(value, str), "a text")),
}
"""The settings that no run has."""
OWN_KINDS = {name: option.kind for name, option in OWN_SETTINGS.items() if option.kind is not None}
_DEFAULTS = {name: option.default for name, option in (*SHARED.items(), *OWN_SETTINGS.items())}
_TOOL_DEFAULTS = {name: _DEFAULTS[name] for name in TOOL_OPTIONS}
"""If a tool option has its default, `tool_config` may set it."""
SETTINGS = frozenset({"models", "tools", *_DEFAULTS})
"""What the constructor takes. An attribute of that name would change nothing."""
_PROBE_KINDS = {
    "timeout": Kind(
        lambda value: value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < inf),
        "a positive number of seconds",
    )
}
INSTEAD = {
    **dict.fromkeys(PER_RUN - SETTINGS, "that is an option of each run: give it to run(), execute() or stream()"),
    **other_names()["orchestrator"],
}


@in_words(instead=INSTEAD)
class Orchestrator:
    """Runs requests: picks a model, asks it, runs its tool calls, and gives back an answer or a classified error.

    `models`: a `ModelRegistry`, settings or a path to a YAML file or folder, a model name (`"groq/llama-3.3-70b"`), or an
    adapter (`FakeModel`, `ReplayAdapter`). `tools`: functions, `Tool`s, a `ToolRegistry`, provider tool dicts (those have no
    function: their calls come back as `RunResult.pending`, as those that need approval do). A registry is read before each
    turn; so is a function given in place of the list, sync or async, of nothing or of the `RunContext`, that gives the tools.
    `strategies`: layer 4's, in order. `tool_errors`: tell the model (`"continue"`), end the run (`"abort"`), or run again with
    back-off first (`"retry"`). `tool_config`: those of these settings, and the others a `ToolConfig` has, as the registry's
    `tools:` of a model may have them too; what it sets, the model's `tools:` may override, and a run's own what both say.
    `budget` None = `Budget()`: 4 attempts and 2 re-asks a model and turn. `adapter`: who makes the requests, for all models or
    by alias. `enforce_limits`: refuse tools over the providers' unverified limits too. `web_search`: how a request with
    `allow_web_search` searches where the provider cannot do it itself, a function of a query (and of a number of results), sync
    or async, which the model then has as a tool. `output_validators`: functions of a final answer (and of the `RunContext`),
    sync or async; one that raises `RetryTool` or `ValueError` has the model asked again, and what one returns, if not None, is
    the value. A run's own are asked after these. `max_context_tokens`: a request that has more, or more than its model's
    `context_window`, is not sent: a model with a larger window is tried, else the run ends with a `ContextOverflow`.
    `token_counter` counts a `Request`'s tokens. `checkpoint`: a function of a `RunResult`, sync or async, that saves the run:
    it is called after each reply, before each tool starts, after it ended, and at the end. What it raises ends the run.
    `run_store`: saves the run so, too, and lets each saved state be resumed once, by all processes that use it.
    `shared_budget`: each request reserves its cost from it, so that runs and processes together stay within it. `cooldowns`:
    shares the cooldowns of models and deployments with other processes (docs/fleet.md). `signing_key` (16 bytes or more) signs
    the calls of a saved run; one that was changed, or not signed, is refused when it is resumed.
    `observers` are told what each run does (docs/observability.md); `name` is what its logs and traces call it. The other
    arguments are defaults that each call may override.

    `run`, `execute`, `stream` take text, messages or a `Request`, and as keywords any field of `Request` (which they override),
    `message_history`, `answers`, `budget`, `deps`, `strictness`, `text_calls`, `output_validators`, `max_tool_turns`,
    `max_parallel_tools`, `tool_timeout`, `tool_errors`, `tool_config`, `interjections`, `checkpoint`, `max_context_tokens`. A
    run's `tools` are offered beside the orchestrator's; one of the same name is an error unless it is given as
    `tool(f).replacing()`.

    Raises `CallerError`s before anything is sent: an unusable tool, an unknown model, option or price. Every error
    that ends a run carries `partial` (a `RunResult`) and `attempts`; so does `asyncio.CancelledError`.
    """

    def __init__(self, models: Models, tools: Iterable[object] | OfContext = (), **options: Unpack[OrchestratorOptions]) -> None:
        given = _checked_settings(options)
        self._tools = ToolSource(tools)
        self._settings: Mapping[str, Any] = given
        self._defaults: Mapping[str, Any] = {**given, "output_validators": validators_of(given["output_validators"])}
        from llmcore.fallback import FallbackManager
        from llmcore.run.asking.warming import layers_ready
        from llmcore.run.endpoints.runtime import Runtime
        from llmcore.run.observing.logs import Logbook

        Request.model_rebuild()  # else a first stream would build it on its event loop
        known: object = models  # an agent whose options changed gives what it had
        self._catalog = (
            known
            if isinstance(known, Catalog)
            else Catalog(models, capabilities=given["capabilities"], adapter=given["adapter"], cooldowns=given["cooldowns"])
        )
        self._runtime = Runtime(
            catalog=self._catalog,
            hooks=HookChain(given["hooks"]),
            fallback=FallbackManager(given["strategies"]),
            tool_config=tool_settings(given["tool_config"], given, ignoring=_TOOL_DEFAULTS),
            enforce_limits=given["enforce_limits"],
            web_search=None if given["web_search"] is None else web_search_tool(given["web_search"]),
            observers=Observers(given["observers"], Logbook()),
            name=given["name"],
            ready=partial(layers_ready, Orchestrator),
        )

    def beside(self, *tools: Iterable[object] | OfContext, hooks: HooksGiven = ()) -> Orchestrator:
        """An orchestrator of the same settings, models, connections and knowledge of endpoints, with these tools (lists, or
        functions that give them) and hooks beside its own, which come first. Raises `CallerError`."""
        made = copy(self)
        made._tools = self._tools.beside(*tools)
        made._runtime = replace(self._runtime, hooks=self._runtime.hooks.beside(hooks))
        return made

    def _recorded(self, recording: Recording) -> Self:
        """One of the same settings, whose runs are recorded."""
        made = copy(self)
        made._runtime = replace(self._runtime, recordings=(*self._runtime.recordings, recording))
        return made

    def list_tools(self, *, deps: Any = None) -> list[Tool]:
        """The tools that a run would offer at its first turn; raises `ToolDefinitionError`.

        A function given as `tools` is asked for them, with `deps` (default: the orchestrator's) and no messages. That waits, so
        within an event loop it raises `CallerError`: there, `await asyncio.to_thread(orchestrator.list_tools)`.
        """
        if not self._tools.is_open:
            return list(self._tools.snapshot())
        from llmcore.background import refuse_to_block, shared_loop

        refuse_to_block("list_tools", "await asyncio.to_thread(list_tools)")
        context: RunContext[Any] = RunContext(self._defaults["deps"] if deps is None else deps)
        return list(shared_loop().run(self._tools.current_toolbox(context, None)))

    def __setattr__(self, name: str, value: Any) -> None:
        if (setting := meant(name, SETTINGS)) is not None:
            per_run = f"; for one run, give `{setting}=...` to the call" if setting in PER_RUN else ""
            raise ConfigError(f"`{setting}` can only be set when an Orchestrator is created: create another one{per_run}")
        if INSTEAD.get(name, "").removeprefix("it is `").removesuffix("`") in SETTINGS:
            raise ConfigError(
                f"`{name}` is not a setting: {INSTEAD[name]}, which can only be set when an Orchestrator is created"
            )
        super().__setattr__(name, value)

    @property
    def models(self) -> ModelRegistry:
        return self._catalog.registry

    @property
    def capabilities(self) -> KnownModels:
        """What is known and was learnt of the endpoints. `capabilities.get(alias)` shows what is believed of a model, with the
        source of each belief."""
        return KnownModels(self._catalog)

    @overload
    async def run(
        self, request: Given | None = None, *, output_type: TypeForm[T], **options: Unpack[RunOptions]
    ) -> RunResult[T]: ...

    @overload
    async def run(
        self, request: Given | None = None, *, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> RunResult[Any]: ...

    async def run(self, request: Given | None = None, **options: Any) -> RunResult[Any]:
        """Run the tool loop until a final answer; its value is `result.value`.

        Given a result, it goes on where that ended: with `answers` (`{call_id: Approve() | Deny("why") | Answer(value)}`) to the
        calls that wait. Those that are not answered are pending again.

        When every strategy failed but some attempt gave whole text, that text is returned with `degraded=True`; without text,
        `FallbackExhausted` is raised, which is an instance of each failure's class as well (`except RateLimited`). In its place
        comes `Truncated` where the last reply was cut, and `Refused`, also where there is text, where the last one was refused
        or a filter ended it.
        """
        return await self._begun(request, options, listening=False).carry_out(silently)

    @overload
    async def execute(self, request: Given | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> T: ...

    @overload
    async def execute(self, request: Given | None, output_type: JsonSchema | UnionType, **options: Unpack[RunOptions]) -> Any: ...

    async def execute(self, request: Given | None, output_type: Any, **options: Any) -> Any:
        """The final answer as a value of `output_type`: anything `pydantic.TypeAdapter` takes, or a JSON Schema (then
        plain data).

        Raises `FallbackExhausted` when no strategy gave one; its `__cause__` is the first failure. Raises `CallerError` at
        once when `output_type` is None, which is no type (`type(None)` is: JSON's null); and when a tool or hook ended the run
        with a value of another type (one that fits without any conversion is returned). Raises `CallsPending` when calls wait
        for you.
        """
        return _value_of(await self._executed(request, output_type, options), output_type)

    async def _executed(self, request: Given | None, output_type: Any, options: dict[str, Any]) -> RunResult[Any]:
        if output_type is None:
            raise ConfigError("execute needs an output type, and None is none: use run() for text, or type(None) for JSON's null")
        return await self._begun(request, {**options, "output_type": output_type}, listening=False).carry_out(silently)

    @overload
    def stream(self, request: Given | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> RunStream[T]: ...

    @overload
    def stream(
        self, request: Given | None = None, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> RunStream[Any]: ...

    def stream(self, request: Given | None = None, output_type: Any = None, **options: Any) -> RunStream[Any]:
        """The run's events as they come; the last is `Finished(RunResult)`. Caller's errors are raised at once,
        here. If this is the first run of a process, an unusable `output_type` is told at the first read. The stream
        itself holds what they add up to: `text`, `reasoning`, `calls`, `results`, `partial`, and at the end `result`.

        With an `output_type` the value is `result.output` where `result.has_output`. A run may end well without one: calls are
        pending, or a tool or hook ended the run with a value of another type. `execute` raises
        then; here the result tells.

        What an attempt emitted is void when another `AttemptStarted` follows in the same turn. Read it in an `async with` where
        you may leave early, so that the connection is closed at once.
        """
        if output_type is not None:
            options = {**options, "output_type": output_type}
        return RunStream(self._begun(request, options, listening=True))

    @overload
    def iterate(self, request: Given | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> Steps[T]: ...

    @overload
    def iterate(
        self, request: Given | None = None, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> Steps[Any]: ...

    def iterate(self, request: Given | None = None, output_type: Any = None, **options: Any) -> Steps[Any]:
        """The run step by step: `async for step in orchestrator.iterate(...)`, a step for each reply and each batch of tool
        results. Between two steps nothing goes on. `Steps.result` is the run as far as it has come, also where it is left
        early; `Steps.interject` adds a message. Errors are those of `run`; caller's errors are raised at once, here.
        If this is the first run of a process, an unusable `output_type` is told at the first step."""
        from llmcore.run.streaming.steps import Steps

        asked = options if output_type is None else {**options, "output_type": output_type}
        box = box_of(asked.get("interjections"))
        return Steps(self._begun(request, {**asked, "interjections": box}, listening=False), box)

    @overload
    def run_sync(
        self, request: Given | None = None, *, output_type: TypeForm[T], **options: Unpack[RunOptions]
    ) -> RunResult[T]: ...

    @overload
    def run_sync(
        self, request: Given | None = None, *, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> RunResult[Any]: ...

    def run_sync(self, request: Given | None = None, **options: Any) -> RunResult[Any]:
        """`run` for code without an event loop: all such calls share one background loop.

        Raises `CallerError` where an event loop runs. Ctrl-C stops the run; `KeyboardInterrupt` then carries `partial`.
        """
        from llmcore.background import run_in_background

        return run_in_background("run", lambda: self.run(request, **options))

    @overload
    def execute_sync(self, request: Given | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> T: ...

    @overload
    def execute_sync(self, request: Given | None, output_type: JsonSchema | UnionType, **options: Unpack[RunOptions]) -> Any: ...

    def execute_sync(self, request: Given | None, output_type: Any, **options: Any) -> Any:
        """`execute` for code without an event loop; see `run_sync`."""
        from llmcore.background import run_in_background

        if getattr(self.execute, "__func__", None) is not Orchestrator.execute:  # a derived class has its own
            return run_in_background("execute", lambda: self.execute(request, output_type, **options))
        return _value_of(run_in_background("execute", lambda: self._executed(request, output_type, options)), output_type)

    @overload
    def stream_sync(self, request: Given | None, output_type: TypeForm[T], **options: Unpack[RunOptions]) -> SyncRunStream[T]: ...

    @overload
    def stream_sync(
        self, request: Given | None = None, output_type: JsonSchema | UnionType | None = None, **options: Unpack[RunOptions]
    ) -> SyncRunStream[Any]: ...

    def stream_sync(self, request: Given | None = None, output_type: Any = None, **options: Any) -> SyncRunStream[Any]:
        """`stream` for code without an event loop; see `run_sync`. The run begins with the first event that is asked for and
        goes on while the caller does something else; closing the stream, or leaving its `with`, cancels it."""
        from llmcore.background import refuse_to_block, shared_loop

        refuse_to_block("stream_sync", "async for ... in stream(...)")
        return sync_stream(self.stream(*trim_arguments(request, output_type), **options), shared_loop())

    async def probe(self, model: str, *, deployment: str | None = None, timeout: float | None = None) -> ProbeReport:
        """Ask a model small questions in every output mode, and report what holds: eight requests of a few tokens each at most.

        `model`: an alias of the registry. `deployment`: which of its places is asked; an alias that has several needs it.
        `timeout`: seconds for each question, counted from when its request can be sent; None = the model's own. Nothing is learnt
        until `report.record(orchestrator.capabilities)`.

        Raises the error of the first question, which is a plain one: a model that does not answer it cannot be probed. An error
        of a later question stands in its finding. Raises `ModelNotFound` for an unknown alias, and `ConfigError` for a deployment
        that the model does not have and for a timeout that is no positive number.
        """
        config = self.models.get(model)
        if deployment is None and len(config.places) > 1:
            raise ConfigError(f"{model!r} has the deployments {', '.join(config.places)}: give `deployment=` one of them")
        if deployment not in (None, *config.places):
            raise ConfigError(
                f"{model!r} has no deployment {deployment!r}; there are {', '.join(filter(None, config.places)) or 'none'}"
            )
        check_kinds("probe", {"timeout": timeout}, _PROBE_KINDS)
        await self._runtime.ready()
        await asyncio.to_thread(import_module, "llmcore.run.asking.probing")
        from llmcore.run.asking.probing import probe

        return await probe(config.at(deployment or ""), self._catalog, timeout=timeout)

    def probe_sync(self, model: str, *, deployment: str | None = None, timeout: float | None = None) -> ProbeReport:
        """`probe` for code without an event loop; see `run_sync`."""
        from llmcore.background import run_in_background

        return run_in_background("probe", lambda: self.probe(model, deployment=deployment, timeout=timeout))

    async def aclose(self) -> None:
        """Close the adapters' connections in the running loop; share what was learnt and could not be shared before."""
        await self._catalog.store.publish_if_needed()
        await self._catalog.cooldown.publish()
        for adapter in self._catalog.adapters:
            close = getattr(adapter, "close", None)
            if close is not None:
                await close()

    async def __aenter__(self) -> Orchestrator:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def _option(self, name: str) -> Any:
        """What a run has for this option, where neither it nor the request says; None for one that an orchestrator has not."""
        values = {
            **self._settings,
            "hooks": self._settings["hooks"] or (),
            "observers": self._settings["observers"] or (),
            "capabilities": self.capabilities,
            "strategies": self._runtime.fallback.strategies,
            "tool_config": self._runtime.tool_config,
            "tools": () if self._tools.is_open else tuple(self.list_tools()),
        }
        field = Request.model_fields.get(name)
        if name in values or field is None:
            return values.get(name)
        return field.get_default(call_default_factory=True)

    def _seconds_allowed(self, options: Mapping[str, Any]) -> float | None:
        """How long a run of these options may take."""
        return seconds_allowed(options, self._defaults["budget"])

    def _prepare(self, request: Given | None, options: Mapping[str, Any], *, listening: bool) -> Run:
        return self._checked(request, options, listening=listening)()

    def _begun(self, request: Given | None, options: Mapping[str, Any], *, listening: bool) -> Run | LazyRun:
        """The run, checked. Where it would hold up an event loop, it loads the layers when it begins."""
        from llmcore.run.asking.warming import must_load_layers

        make = self._checked(request, options, listening=listening)
        return LazyRun(self._runtime.ready, make) if must_load_layers() else make()

    def _checked(self, request: Given | None, options: Mapping[str, Any], *, listening: bool) -> Callable[[], Run]:
        """What makes the run, which is checked, but for what loads the validator."""
        if request is None and options.get("message_history") is None:
            raise ConfigError("the request is None; give text, messages, a Request or a result to go on from")
        source, own = self._tools, options.get("tools")
        if is_tool_provider(own):
            source, options = source.beside(own), {name: given for name, given in options.items() if name != "tools"}
        settings = resolve_settings(request, options, defaults=self._defaults, tools=source.snapshot(), more_tools=source.is_open)
        chosen = choose_first(self._runtime, settings, more_tools=source.is_open)

        def make() -> Run:
            from llmcore.run.turn.loop import Run

            settings = with_types(chosen.settings, options.get("output_validators"))
            return Run(replace(chosen, settings=settings), self._runtime, source, listening=listening)

        return make


def _checked_settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with the defaults of those that were not given. Raises `CallerError` for one that does not exist or fit."""
    for name in options:
        if name not in _DEFAULTS:
            raise ConfigError(unknown("Orchestrator", "option", name, ["models", "tools", *_DEFAULTS], INSTEAD))
    given = {**_DEFAULTS, **options}
    check_kinds("Orchestrator", given, OWN_KINDS)
    shared = checked_options("Orchestrator", {name: given[name] for name in SHARED if given[name] is not None or name in options})
    context_limit(given["max_context_tokens"], given["token_counter"])
    return {**given, **shared, "signing_key": as_signing_key(given["signing_key"])}


show_options(Orchestrator.__init__, OrchestratorOptions, defaults=_DEFAULTS)
for _run in (Orchestrator.run, Orchestrator.run_sync):
    show_options(_run, RunOptions, {"output_type": "Any"})
for _name in ("execute", "stream", "iterate", "execute_sync", "stream_sync"):
    show_options(getattr(Orchestrator, _name), RunOptions)


def _value_of(result: RunResult[Any], output_type: Any) -> Any:
    """The typed value of a run. Raises `CallsPending` where calls wait, and `CallerError` where it ended without one."""
    if not result.has_output:
        from llmcore.run.turn.reply_checks import no_output_error

        raise no_output_error(result, output_type)
    return result.output
