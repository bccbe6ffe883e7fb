"""What an orchestrator shares with its runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from llmcore.fallback import FallbackManager
from llmcore.hooks import HookChain
from llmcore.run.endpoints.catalog import Catalog
from llmcore.run.observing.observers import Observers
from llmcore.run.observing.recording import AdapterContext, Recording, open_recordings
from llmcore.tools import Tool, ToolConfig

__all__ = ["Runtime"]


async def _nothing_to_load() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Runtime:
    """The parts of an orchestrator that its runs use."""

    catalog: Catalog
    hooks: HookChain
    fallback: FallbackManager
    tool_config: ToolConfig
    enforce_limits: bool
    web_search: Tool | None = None
    observers: Observers = field(default_factory=Observers)
    name: str = ""
    recordings: tuple[Recording, ...] = ()
    open_recordings: Callable[[], Sequence[AdapterContext]] = open_recordings
    """Returns the recordings of all runs of the process."""
    ready: Callable[[], Awaitable[None]] = _nothing_to_load
    """Awaited before a run begins. It loads what the first run of a process needs."""
