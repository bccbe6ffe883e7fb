"""The parts of an agent that all its conversations share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, cast

from llmcore.agent.options import ORCHESTRATOR_ONLY, checked_agent_options, orchestrator_options, run_options
from llmcore.hooks import HookChain
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Models, Orchestrator
from llmcore.run.setup.options import TOOL_OPTIONS
from llmcore.run.setup.settings import tool_settings
from llmcore.run.setup.tool_source import ToolSource, is_tool_provider
from llmcore.tools import Tool
from llmcore.types import CallerError, ConfigError, ToolSet
from llmcore.types.tools import LiveTools, tools_given

__all__ = ["Core"]


@dataclass(slots=True)
class Core:
    """The settings of an agent and its orchestrator.

    - `base`: the orchestrator, without the agent's tools and hooks. Those are bound to a conversation.
    - `per_run`: the options of each run.
    - `given`: the options that the object was made with.
    """

    settings: Mapping[str, Any]
    base: Orchestrator
    owns_base: bool
    per_run: Mapping[str, Any]
    given: Collection[str]
    tool: Tool | None = None

    @classmethod
    def of(cls, kind: str, settings: Mapping[str, Any], given: Collection[str]) -> Core:
        """Raises `CallerError` for a wrong client, and for options that do not go with it."""
        client = _client(settings)
        if client is None:
            raise ConfigError(
                f"{kind} has no model: write {kind}('groq/llama-3.3-70b-versatile'), a registry or an adapter in its place, or "
                "give the class a `client`"
            )
        settings = _with_reusable_tools({"tools": (), **settings})
        if isinstance(client, Orchestrator):
            _refuse_fixed(kind, settings)
            return cls(settings, client, False, _run_options(settings, client, whole=True), given)
        base = Orchestrator(cast("Models", client), **orchestrator_options(settings))
        return cls(settings, base, True, _run_options(settings, base, whole=False), given)

    def option(self, name: str) -> Any:
        """The value of an option for a chat: as it was set, else as the orchestrator has it, else None."""
        models = [*self.base.models]
        model = next((one for one in models if one.alias == self.settings.get("model") or len(models) == 1), None)
        if name in TOOL_OPTIONS or name == "tool_config":
            config = self.base._option("tool_config")  # pyright: ignore[reportPrivateUsage]  # the same settings
            config = config.overlaid(None if model is None else model.tools)
            if not self.owns_base:  # otherwise they are the orchestrator's, and win over a model's
                named = {option: self.settings[option] for option in TOOL_OPTIONS if option in self.settings}
                config = config.overlaid(tool_settings(self.settings.get("tool_config"), named))
            return config if name == "tool_config" else getattr(config, TOOL_OPTIONS[name])
        if name == "tools" and not self.owns_base and not self.settings["tools"]:
            return self.base._option("tools")  # pyright: ignore[reportPrivateUsage]  # the same settings
        if name in self.settings:
            return self.settings[name]
        if name == "tool_choice" and (choice := self.option("tool_config").tool_choice) is not None:
            return choice
        if name == "model":
            return None if model is None else model.alias
        return self.base._option(name)  # pyright: ignore[reportPrivateUsage]  # the same settings

    def tool_options_set(self) -> dict[str, Any]:
        """The tool options that were set, each with its value for a chat. A registry's `tools:` may win."""
        return {name: self.option(name) for name in (*TOOL_OPTIONS, "tool_config") if name in self.settings}

    def with_option(self, kind: str, name: str, value: Any) -> Core:
        """A core with this option changed. Models, connections and what is known about endpoints stay.

        Raises `CallerError` for a value that does not fit, and for an option that decides which models and connections there
        are.
        """
        if value is self.settings.get(name):
            return self
        if name in _MODEL_OPTIONS or (name == "model" and self.settings.get("client") is None):
            raise ConfigError(
                f"{kind}: `{name}` is fixed when the object is made: give it to super().__init__(..., {name}=...), or as an "
                "attribute of the class"
            )
        try:
            return self._with(kind, name, value)
        except CallerError as error:
            raise type(error)(
                f"{error}. `{name}` is an option of every agent: call an attribute of your own otherwise"
            ) from error

    def _with(self, kind: str, name: str, value: Any) -> Core:
        settings, base = {**self.settings, **_with_reusable_tools(checked_agent_options(kind, {name: value}))}, self.base
        if self.owns_base:
            options = {
                option: set_to for option, set_to in orchestrator_options(settings).items() if option not in _MODEL_OPTIONS
            }
            base = Orchestrator(cast("Models", base._catalog), **options)  # pyright: ignore[reportPrivateUsage]  # the same models
        else:
            _refuse_fixed(kind, {name: value})
        per_run = _run_options(settings, base, whole=not self.owns_base)
        return replace(self, settings=settings, base=base, per_run=per_run, given={*self.given, name}, tool=None)


_MODEL_OPTIONS = frozenset({"client", "adapter", "capabilities"})


def _client(settings: Mapping[str, Any]) -> Any:
    """Where the models are: the client, else the model that is named alone."""
    client = settings.get("client")
    return settings.get("model") if client is None else client


def _with_reusable_tools(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with tools that can be read more than once. Raises `CallerError` for wrong tools and hooks, as an
    orchestrator would."""
    HookChain(settings.get("hooks"))
    if "tools" not in settings:
        return dict(settings)
    tools = _reusable_tools(settings["tools"])
    ToolSource(tools)
    return {**settings, "tools": tools}


def _refuse_fixed(kind: str, settings: Mapping[str, Any]) -> None:
    if fixed := sorted(ORCHESTRATOR_ONLY & settings.keys()):
        raise ConfigError(f"{kind}: `{fixed[0]}` is fixed by the orchestrator that was given as client")


def _reusable_tools(tools: Any) -> Any:
    """The given tools in a form that can be read more than once."""
    may_be_read_again = is_tool_provider(tools) or isinstance(tools, LiveTools | ToolSet | str | Mapping)
    return cast("Any", tools) if may_be_read_again else tuple(tools_given(cast("object", tools)))


def _run_options(settings: Mapping[str, Any], base: Orchestrator, *, whole: bool) -> dict[str, Any]:
    """Raises `ModelNotFound` for an alias that the models of `base` do not have."""
    options = {name: value for name, value in run_options(settings, whole=whole).items() if name != "model"}
    client, model = settings.get("client"), settings.get("model")
    may_choose = isinstance(
        client, str | Mapping | PathLike | ModelRegistry | Orchestrator
    )  # an adapter is the one model there is
    if not may_choose or model is None:
        return options
    base.models.get(model)
    return {**options, "model": model}
