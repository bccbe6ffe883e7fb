"""What the calls of one turn emit while they run: to the observers, and to who listens to the run's events."""

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
    """Of one turn. `hear` is told each event in the event loop; None: nobody listens. What any thread puts is told in order.

    A thread puts its events before its result, by the same queue of the event loop, so they are told before it.
    """

    def __init__(self, watch: Watchers, turn: int, hear: Callable[[Any], object] | None, *, wants_nested_events: bool) -> None:
        self.turn = turn
        self.wants_nested_events = wants_nested_events
        self._watch = watch
        self._hear = hear
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._coming: deque[tuple[TryState, Any]] = deque()

    def put(self, of: TryState, event: Any) -> None:
        self._coming.append((of, event))
        if threading.get_ident() == self._thread:
            self._tell()
        else:
            with suppress(RuntimeError):  # the loop has ended meanwhile, and nobody listens
                self._loop.call_soon_threadsafe(self._tell)

    def end(self) -> None:
        """The turn is over. It lets go of who listens, which holds this by the contexts of the calls."""
        self._hear = None

    def _tell(self) -> None:
        while self._coming:
            of, event = self._coming.popleft()
            if of.is_over:
                continue
            if isinstance(event, ToolProgress):
                self._watch.tell("tool_progress", event)
            if self._hear is not None:
                self._hear(event)
