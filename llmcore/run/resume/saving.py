"""Save points: the caller gets the run as it stands, each time before something that cannot be undone.

Saves are serialised, so the last one saved is the newest. If the caller's function raises, the run ends. A run that carries
out a call of a parent run is saved with that parent, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from llmcore.run.caller_functions import CallersFunction
from llmcore.run.deadline import within
from llmcore.run.results.result import RunResult
from llmcore.run.resume.claims import Journal
from llmcore.tools import RunContext

__all__ = ["SavePoints", "checkpoint_of"]


def checkpoint_of(given: object) -> CallersFunction | None:
    """The option `checkpoint` as a function of a `RunResult`. Raises `ConfigError`."""
    return None if given is None else CallersFunction("checkpoint", given, 1)


class SavePoints:
    """The save points of one run. Each of `function`, `save_parent` and `journal` may be None.

    - `function`: the run's own checkpoint.
    - `save_parent`: saves the parent run with this one.
    - `journal`: the run's entries in a store.
    - `set_saved_as`: receives the key of the next entry.
    """

    def __init__(
        self,
        function: CallersFunction | None,
        snapshot: Callable[[], RunResult[Any]],
        save_parent: Callable[[RunResult[Any]], Awaitable[object]] | None,
        journal: Journal | None,
        set_saved_as: Callable[[str], object],
    ) -> None:
        self._function = function
        self._snapshot = snapshot
        self._save_parent = save_parent
        self._journal = journal
        self._set_saved_as = set_saved_as
        self._lock = asyncio.Lock()

    async def save(
        self,
        seconds: float | None,
        context: Callable[[], RunContext[Any]],
        change: Callable[[], object] | None = None,
    ) -> None:
        """Make the `change`, if there is one, and save. Nothing saved before holds the change. Raises what the functions
        raise."""
        async with self._lock:
            if change is not None:
                change()
            await self._add_entry(seconds)
            if self._function is not None:
                await self._function(seconds, context(), self._snapshot())
            if self._save_parent is not None:
                await self._save_parent(self._snapshot())

    async def claim(self, seconds: float | None, saved: RunResult[Any]) -> bool:
        """Claim the state that this run resumes in the store. Returns False if there is no store. Raises `CallerError` if another
        run has claimed it."""
        if self._journal is None:
            return False
        async with self._lock:
            await self._add_entry(seconds)  # first, so that each claim has a checkpoint behind it
            await within(seconds, self._journal.claim(saved))
        return True

    async def _add_entry(self, seconds: float | None) -> None:
        if self._journal is not None:
            self._set_saved_as(self._journal.next)
            await within(seconds, self._journal.add(self._snapshot()))
