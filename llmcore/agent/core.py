"""What an agent is made of beside its conversation, and what all its conversations share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, cast

from llmcore.agent.options import ONLY_ORCHESTRATORS, orchestrators, per_run
from llmcore.hooks import HookChain
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Models, Orchestrator
from llmcore.run.tool_source import ToolSource, is_provider
from llmcore.tools import Tool
from llmcore.types import ConfigError, ToolSet
from llmcore.types.tools import LiveTools, tools_given

__all__ = ["Core"]


@dataclass(slots=True)
class Core:
    """`base` has no tools or hooks of the agent: those are bound to a conversation. `per_run` are the options of each run;
    `given` those that the object was made with."""

    settings: Mapping[str, Any]
    base: Orchestrator
    owns_base: bool
    per_run: Mapping[str, Any]
    given: Collection[str]
    tool: Tool | None = None

    @classmethod
    def of(cls, kind: str, settings: Mapping[str, Any], given: Collection[str]) -> Core:
        """Raises `CallerError` for a client that is none, and for options that do not go with it."""
        client: Any = settings.get("client")
        model: str | None = settings.get("model")
        if client is None:
            client, model = model, None
        if client is None:
            raise ConfigError(
                f"{kind} has no model: write {kind}('groq/llama-3.3-70b-versatile'), a registry or an adapter in its place, or "
                "give the class a `client`"
            )
        HookChain(settings.get("hooks"))  # so that what does not fit is told now, as for an orchestrator
        settings = {**settings, "tools": _kept(settings.get("tools", ()))}
        ToolSource(settings["tools"])
        if isinstance(client, Orchestrator):
            if settled := sorted(ONLY_ORCHESTRATORS & settings.keys()):
                raise ConfigError(f"{kind}: `{settled[0]}` is settled by the orchestrator that was given as client")
            return cls(settings, client, False, _run_options(settings, model, whole=True), given)
        if not isinstance(client, str | Mapping | PathLike | ModelRegistry):
            model = None  # an adapter, which is the one model there is
        base = Orchestrator(cast("Models", client), **orchestrators(settings))
        return cls(settings, base, True, _run_options(settings, model, whole=False), given)


def _kept(tools: Any) -> Any:
    """What was given as tools, to be read more than once."""
    may_be_read_again = is_provider(tools) or isinstance(tools, LiveTools | ToolSet | str | Mapping)
    return cast("Any", tools) if may_be_read_again else tuple(tools_given(cast("object", tools)))


def _run_options(settings: Mapping[str, Any], model: str | None, *, whole: bool) -> dict[str, Any]:
    options = {name: value for name, value in per_run(settings, whole=whole).items() if name != "model"}
    return options if model is None else {**options, "model": model}
