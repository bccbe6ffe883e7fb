"""The single orchestrator: the four layers stacked behind `run`, `execute` and `stream`.

It holds settings and no run's state, so any number of runs may go on at once, in any number of tasks. The layers
are loaded when the first one is made: neither by `import llmcore`, nor in the middle of a run, where it would hold up
the event loop.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from os import PathLike
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast, overload

from llmcore.adapters.base import Adapter
from llmcore.adapters.capabilities import CapabilityStore
from llmcore.hooks import HookChain, Hooks
from llmcore.models import ModelRegistry
from llmcore.run.catalog import Catalog
from llmcore.run.options import KINDS, PER_RUN, Given, RunOptions, Strictness, check_options
from llmcore.run.result import RunEvent, RunResult
from llmcore.run.settings import Toolbox, resolve, tool_config
from llmcore.tools import ToolErrors
from llmcore.tools.web_search import Searcher, web_search_tool
from llmcore.types import Budget, ConfigError, Finished, InternalError, TextBlock
from llmcore.types.called import Kind, check_kinds, in_words

if TYPE_CHECKING:
    from llmcore.fallback import Strategy
    from llmcore.run.loop import Run

__all__ = ["Orchestrator"]

T = TypeVar("T")
Models = ModelRegistry | Adapter | Mapping[str, Any] | str | PathLike[str]


_OWN_KINDS = {
    "capabilities": Kind(lambda value: isinstance(value, CapabilityStore), "an llmcore.CapabilityStore"),
    "enforce_limits": Kind(lambda value: isinstance(value, bool), "True or False"),
}
_INSTEAD = {
    **dict.fromkeys(PER_RUN - KINDS.keys(), "that is an option of each run: give it to run(), execute() or stream()"),
    "max_turns": "it is `max_tool_turns`",
    "max_retries": "give `budget=Budget(attempts=..., reasks=...)`",
    "retries": "give `budget=Budget(attempts=..., reasks=...)`",
    "api_key": "keys stand in the model's registry entry, or in the provider's variable (OPENAI_API_KEY, ...)",
    "base_url": "a server's address stands in the model's registry entry: `base_url`",
}


@in_words(instead=_INSTEAD)
class Orchestrator:
    """Runs requests: picks a model, asks it, runs its tool calls, and gives back an answer or a classified error.

    `models`: a `ModelRegistry`, settings or a path to a YAML file or folder, a model name (`"groq/llama-3.3-70b"`),
    or an adapter (`FakeModel`, `ReplayAdapter`). `tools`: functions, `Tool`s, a `ToolRegistry`, provider tool dicts
    (those have no function: their calls come back as `RunResult.pending`). `strategies`: layer 4's, in order.
    `tool_errors`: tell the model (`"continue"`), end the run (`"abort"`), or run again with back-off first
    (`"retry"`). `budget` None = `Budget()`: 4 attempts and 2 re-asks a model and turn. `adapter`: who makes the requests,
    for all models or by alias. `enforce_limits`: refuse tools over the providers' unverified limits too. `web_search`: how a
    request with `allow_web_search` searches where the provider cannot do it itself, a function of a query (and of a number of
    results), sync or async, which the model then has as a tool. The other arguments are defaults that each call may override.

    `run`, `execute`, `stream` take text, messages or a `Request`, and as keywords any field of `Request` (which they
    override), `message_history`, `budget`, `deps`, `strictness`, `max_tool_turns`, `max_parallel_tools`,
    `tool_timeout`, `tool_errors`. A run's `tools` are offered beside the orchestrator's; one of the same name is an error
    unless it is given as `tool(f).replacing()`.

    Raises `CallerError`s before anything is sent: an unusable tool, an unknown model, option or price. Every error
    that ends a run carries `partial` (a `RunResult`) and `attempts`; so does `asyncio.CancelledError`.
    """

    def __init__(
        self,
        models: Models,
        tools: Iterable[object] = (),
        *,
        system: str | list[TextBlock] | None = None,
        hooks: Hooks | Iterable[Hooks] | None = None,
        capabilities: CapabilityStore | None = None,
        strategies: Sequence[Strategy] | None = None,
        strictness: Strictness = "safe",
        max_tool_turns: int = 10,
        max_parallel_tools: int = 8,
        tool_timeout: float | None = 60.0,
        tool_errors: ToolErrors = "continue",
        enforce_limits: bool = False,
        budget: Budget | None = None,
        deps: Any = None,
        adapter: Adapter | Mapping[str, Adapter] | None = None,
        web_search: Searcher | None = None,
    ) -> None:
        options = {
            "system": system,
            "budget": budget,
            "strictness": strictness,
            "max_tool_turns": max_tool_turns,
            "max_parallel_tools": max_parallel_tools,
            "tool_timeout": tool_timeout,
            "tool_errors": tool_errors,
        }
        check_options("Orchestrator", options)
        check_kinds(
            "Orchestrator",
            {"capabilities": capabilities, "enforce_limits": enforce_limits},
            _OWN_KINDS,
        )
        self._tools = Toolbox.of(tools)
        self._defaults: dict[str, Any] = {"system": system, "budget": budget, "deps": deps, "strictness": strictness}
        from llmcore.fallback import FallbackManager
        from llmcore.run.loop import Machinery

        self._catalog = Catalog(models, capabilities=capabilities, adapter=adapter)
        self._machinery = Machinery(
            catalog=self._catalog,
            hooks=HookChain(hooks),
            fallback=FallbackManager(strategies),
            tool_config=tool_config(options),
            enforce_limits=enforce_limits,
            web_search=None if web_search is None else web_search_tool(web_search),
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SETTINGS:
            per_run = f"; for one run, give `{name}=...` to the call" if name in PER_RUN else ""
            raise ConfigError(f"`{name}` is settled when an Orchestrator is made: make another one{per_run}")
        super().__setattr__(name, value)

    @property
    def models(self) -> ModelRegistry:
        return self._catalog.registry

    @property
    def capabilities(self) -> CapabilityStore:
        """What is known and was learnt of the endpoints."""
        return self._catalog.store

    @overload
    async def run(self, request: Given, *, output_type: type[T], **options: Unpack[RunOptions]) -> RunResult[T]: ...

    @overload
    async def run(self, request: Given, *, output_type: Any = None, **options: Unpack[RunOptions]) -> RunResult[Any]: ...

    async def run(self, request: Given, **options: Any) -> RunResult[Any]:
        """Run the tool loop until a final answer; its value is `result.value`.

        When every strategy failed but some attempt gave whole text, that text is returned with `degraded=True`; without text,
        `FallbackExhausted` is raised, which is an instance of its failures' class as well (`except RateLimited`). In its place
        comes `Truncated` where the last reply was cut, and `Refused`, also where there is text, where the last one was refused
        or a filter ended it.
        """
        return await self._finish(self._prepare(request, options, listening=False))

    @overload
    async def execute(self, request: Given, output_type: type[T], **options: Unpack[RunOptions]) -> T: ...

    @overload
    async def execute(self, request: Given, output_type: Any, **options: Unpack[RunOptions]) -> Any: ...

    async def execute(self, request: Given, output_type: Any, **options: Any) -> Any:
        """The final answer as a value of `output_type`: anything `pydantic.TypeAdapter` takes, or a JSON Schema (then
        plain data).

        Raises `FallbackExhausted` when no strategy gave one; its `__cause__` is the first failure. Raises `CallerError` at
        once when `output_type` is None, which is no type (`type(None)` is: JSON's null); and when the run ended without a
        value: calls of tools without a function are pending, or a tool or hook ended it with a value of another type (one
        that fits without any conversion is returned).
        """
        if output_type is None:
            raise ConfigError("execute needs an output type, and None is none: use run() for text, or type(None) for JSON's null")
        result = await self._finish(self._prepare(request, {**options, "output_type": output_type}, listening=False))
        if not result.has_output:
            from llmcore.run.verdict import no_output

            raise no_output(result, output_type)
        return result.output

    @overload
    def stream(
        self, request: Given, output_type: type[T], **options: Unpack[RunOptions]
    ) -> AsyncGenerator[RunEvent[T], None]: ...

    @overload
    def stream(
        self, request: Given, output_type: Any = None, **options: Unpack[RunOptions]
    ) -> AsyncGenerator[RunEvent[Any], None]: ...

    def stream(self, request: Given, output_type: Any = None, **options: Any) -> AsyncGenerator[RunEvent[Any], None]:
        """The run's events as they come; the last is `Finished(RunResult)`. Caller's errors are raised at once, here.

        With an `output_type` the value is `result.output` where `result.has_output`. A run may end well without one: calls of
        tools without a function are pending, or a tool or hook ended the run with a value of another type. `execute` raises
        then; here the result tells.

        What an attempt emitted is void when another `AttemptStarted` follows in the same turn. Close the generator
        (`aclosing`) when leaving early, so that the connection is closed at once.
        """
        if output_type is not None:
            options = {**options, "output_type": output_type}
        return self._prepare(request, options, listening=True).events()

    @overload
    def run_sync(self, request: Given, *, output_type: type[T], **options: Unpack[RunOptions]) -> RunResult[T]: ...

    @overload
    def run_sync(self, request: Given, *, output_type: Any = None, **options: Unpack[RunOptions]) -> RunResult[Any]: ...

    def run_sync(self, request: Given, **options: Any) -> RunResult[Any]:
        """`run` for code without an event loop: all such calls share one background loop.

        Raises `CallerError` where an event loop runs. Ctrl-C stops the run; `KeyboardInterrupt` then carries `partial`.
        """
        from llmcore.background import run_in_background

        return run_in_background("run", lambda: self.run(request, **options))

    @overload
    def execute_sync(self, request: Given, output_type: type[T], **options: Unpack[RunOptions]) -> T: ...

    @overload
    def execute_sync(self, request: Given, output_type: Any, **options: Unpack[RunOptions]) -> Any: ...

    def execute_sync(self, request: Given, output_type: Any, **options: Any) -> Any:
        """`execute` for code without an event loop; see `run_sync`."""
        from llmcore.background import run_in_background

        return run_in_background("execute", lambda: self.execute(request, output_type, **options))

    async def aclose(self) -> None:
        """Close the adapters' connections in the running loop; share what was learnt and could not be shared before."""
        await self._catalog.store.tell()
        for adapter in self._catalog.adapters:
            close = getattr(adapter, "close", None)
            if close is not None:
                await close()

    async def __aenter__(self) -> Orchestrator:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.aclose()

    def _prepare(self, request: Given, options: Mapping[str, Any], *, listening: bool) -> Run:
        if request is None:  # pyright: ignore[reportUnnecessaryComparison]  # callers without a type checker
            raise ConfigError("the request is None; give text, messages or a Request")
        from llmcore.run.loop import Run

        self._tools = self._tools.now()
        settings = resolve(request, options, tools=self._tools, **self._defaults)
        return Run(settings, self._machinery, listening=listening)

    async def _finish(self, run: Run) -> RunResult[Any]:
        """Fold the run's events into its result."""
        async with aclosing(run.events()) as events:
            async for event in events:
                if isinstance(event, Finished):
                    return cast("RunResult[Any]", event.result)
        raise InternalError("a run ended without a result")


_SETTINGS = frozenset(inspect.signature(Orchestrator).parameters)
"""What its constructor takes; an attribute of that name would change nothing."""
