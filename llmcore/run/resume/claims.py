"""Who may resume a saved run: each state once, so that its tools run once.

A store holds one chain of entries for each run. An entry is a checkpoint of the run, or says which other run has claimed the last
checkpoint. Entries are added by one atomic step that fails where there is one already. So behind each checkpoint stands either
the run's own next one or one claim, whichever came first, and neither clocks nor locks are needed: a run whose checkpoint was
claimed cannot save any more, and no tool starts that is not saved.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tempfile
import weakref
from abc import ABC, abstractmethod
from contextlib import suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from llmcore.run.deadline import thread_within
from llmcore.run.results.result import RunResult
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import object_in
from llmcore.types import CallerError, ConfigError

__all__ = ["FileStore", "Journal", "RunStore", "claim_object"]

_TOLD_ANEW = "{}"
"""What is left of a checkpoint when a newer one is there."""


class RunStore(ABC):
    """Where runs save their checkpoints, and where a saved run is claimed by the one run that resumes it (`run_store=`).

    Derive it for a store of your own: three operations on texts by key. Keys are `<run id>/<number>`. All processes that resume a
    run must use the same store.
    """

    @abstractmethod
    async def add(self, key: str, text: str) -> bool:
        """Put the text under the key if nothing is there: one atomic step for all processes (`SET key text NX` in Redis). Returns
        False, and changes nothing, where something is there."""

    @abstractmethod
    async def get(self, key: str) -> str | None:
        """The text under the key, None where there is none."""

    @abstractmethod
    async def replace(self, key: str, text: str) -> None:
        """Put the text under a key that is there."""

    async def newest(self, run_id: str) -> RunResult[Any] | None:
        """The newest checkpoint of a run, or of the run that resumed it; None where the store has none.

        After a crash, go on from it: `run(await store.newest(run_id))`. The run that saved it is ended by that, should it still
        go on: before it starts another tool it finds its checkpoint claimed.
        """
        seen = set[str]()
        while run_id not in seen:
            seen.add(run_id)
            last = await self._last(run_id)
            if not last:
                return None
            entry = object_in(from_json(await self.get(_key(run_id, last)) or _TOLD_ANEW))
            if (state := entry.get("state")) is not None:
                return RunResult.model_validate(state)
            run_id = str(entry.get("claimed_by"))
        return None

    def newest_sync(self, run_id: str) -> RunResult[Any] | None:
        """`newest` for code without an event loop, in a loop of its own. Raises `CallerError` where one runs."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.newest(run_id))
        raise CallerError("newest_sync would block the event loop that runs here: write `await store.newest(run_id)`")

    async def _last(self, run_id: str) -> int:
        """The number of the run's last entry, 0 where there is none. They have no gaps."""
        first, beyond = 0, 1
        while await self.get(_key(run_id, beyond)) is not None:
            first, beyond = beyond, beyond * 2
        while beyond - first > 1:
            middle = (first + beyond) // 2
            if await self.get(_key(run_id, middle)) is not None:
                first = middle
            else:
                beyond = middle
        return first


class FileStore(RunStore):
    """A folder, which is made if there is none. Each entry is a file that only its owner may read. The folder must be on a file
    system with hard links; all processes on it share the store. Raises `ConfigError` for a path that is no folder."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"FileStore: {folder}: {error.strerror or error}") from None

    def __repr__(self) -> str:
        return f"FileStore({str(self._folder)!r})"

    async def add(self, key: str, text: str) -> bool:
        return await thread_within(None, partial(self._add, key, text))

    async def get(self, key: str) -> str | None:
        return await thread_within(None, partial(self._get, key))

    async def replace(self, key: str, text: str) -> None:
        await thread_within(None, partial(self._replace, key, text))

    def _path(self, key: str) -> Path:
        """Ids of a file that somebody wrote may be anything."""
        run, _, number = key.rpartition("/")
        name = run if re.fullmatch(r"[0-9a-f]{1,64}", run) else f"other-{hashlib.sha256(run.encode()).hexdigest()}"
        return self._folder / f"{name}.{number}.json"

    def _add(self, key: str, text: str) -> bool:
        written = self._written(text)
        try:
            os.link(written, self._path(key))  # whole, or not at all
        except FileExistsError:
            return False
        finally:
            written.unlink()
        return True

    def _get(self, key: str) -> str | None:
        try:
            return self._path(key).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def _replace(self, key: str, text: str) -> None:
        written = self._written(text)
        try:
            written.replace(self._path(key))
        except BaseException:
            with suppress(OSError):
                written.unlink()
            raise

    def _written(self, text: str) -> Path:
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=self._folder)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        return Path(name)


class Journal:
    """The entries of one run in a store."""

    def __init__(self, store: RunStore, run_id: str) -> None:
        self._store = store
        self._run = run_id
        self._count = 0

    @property
    def next(self) -> str:
        """What the next checkpoint is saved as."""
        return _key(self._run, self._count + 1)

    async def enter(self, state: RunResult[Any]) -> None:
        """Add a checkpoint. Raises `CallerError` where another run has claimed the one before."""
        key = self.next
        if not await self._store.add(key, f'{{"state": {state.model_dump_json()}}}'):
            other = await self._claimant(key)
            raise CallerError(
                f"run {self._run} ends here, for {f'run {other}' if other else 'another run'} has resumed what it had saved last"
            )
        self._count += 1
        if self._count > 1:
            await self._store.replace(_key(self._run, self._count - 1), _TOLD_ANEW)

    async def claim(self, saved: RunResult[Any]) -> None:
        """Claim the state that this run resumes, whose first checkpoint is there. Raises `CallerError` where another one has."""
        run, number = _place_of(saved)
        key = _key(run, number + 1)
        if await self._store.add(key, as_json({"claimed_by": self._run})):
            return
        await self._store.replace(_key(self._run, self._count), _TOLD_ANEW)  # nobody goes on from it
        other = await self._claimant(key)
        if other:
            raise CallerError(_resumed_by(saved, other) + f"; after a crash of that run go on from run_store.newest({other!r})")
        raise CallerError(
            f"run {run} went on behind the state that it is to be resumed from; its newest one is run_store.newest({run!r})"
        )

    async def _claimant(self, key: str) -> str:
        entry = object_in(from_json(await self._store.get(key) or _TOLD_ANEW))
        return str(entry.get("claimed_by") or "")


def _key(run: str, number: int) -> str:
    return f"{run}/{number}"


def _place_of(saved: RunResult[Any]) -> tuple[str, int]:
    """The run whose checkpoint it is, and which; one that is in no store as the beginning of its run."""
    run, _, number = saved.saved_as.rpartition("/")
    return (run, int(number)) if run and number.isdecimal() else (saved.id, 0)


def _resumed_by(saved: RunResult[Any], other: str) -> str:
    return (
        f"this state of run {saved.id} was resumed already, by run {other}: go on from that run's result, or from the `partial` "
        "of the error that it ended in"
    )


_lock = ForkSafeLock()
_claimed: dict[int, tuple[weakref.ref[RunResult[Any]], str]] = {}
"""By the ids of results that are alive: which run has resumed each."""


def claim_object(saved: RunResult[Any], by: str) -> None:
    """Claim a result in this process, where there is no store. Raises `CallerError` where another run has resumed this object."""
    at = id(saved)
    with _lock:
        known, other = _claimed.get(at, (None, ""))
        if known is not None and known() is saved:
            raise CallerError(
                f"{_resumed_by(saved, other)}; to resume it once more all the same, read it back again "
                "(RunResult.model_validate_json), and its tools run once more"
            )
        _claimed[at] = weakref.ref(saved, lambda ref: _forget(at, ref)), by


def _forget(at: int, ref: object) -> None:
    with suppress(KeyError):
        if _claimed[at][0] is ref:
            del _claimed[at]
