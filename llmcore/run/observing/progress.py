"""Delivers what the calls of one turn emit while they run, to the observers and to the run's listener."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from llmcore.run.observing.dispatch import Watchers
from llmcore.tools.context import TryState
from llmcore.types import ToolProgress

__all__ = ["Progress"]


class Progress:
    """Delivers the events of one turn's calls, in order, on the event loop. `listener` receives each event; None: nobody listens.

    A thread puts its events and its result on the same queue of the event loop, so its events come first.
    """

    def __init__(
        self, watch: Watchers, turn: int, listener: Callable[[Any], object] | None, *, wants_nested_events: bool
    ) -> None:
        self.turn = turn
        self.wants_nested_events = wants_nested_events
        self._watch = watch
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._coming: deque[tuple[TryState, Any]] = deque()

    def put(self, of: TryState, event: Any) -> None:
        self._coming.append((of, event))
        if threading.get_ident() == self._thread:
            self._deliver()
        else:
            with suppress(RuntimeError):  # the loop is closed, and nobody listens
                self._loop.call_soon_threadsafe(self._deliver)

    def end(self) -> None:
        """The turn is over. This drops the listener, which would otherwise stay in a reference cycle with the calls' contexts."""
        self._listener = None

    def _deliver(self) -> None:
        while self._coming:
            of, event = self._coming.popleft()
            if of.is_over:
                continue
            if isinstance(event, ToolProgress):
                self._watch.notify("tool_progress", event)
            if self._listener is not None:
                self._listener(event)
