"""Claims on saved runs: each saved state is resumed once, so that its tools run once.

A store holds one chain of entries for each run. An entry is a checkpoint, or names the run that claimed the checkpoint before
it. Entries are added by one atomic step, which fails if the key exists. So each checkpoint is followed either by the run's own
next checkpoint or by one claim, whichever came first. This needs neither clocks nor locks. A run whose checkpoint was claimed
cannot save any more, and no tool starts that is not saved.
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

_SUPERSEDED = "{}"
"""The text of a checkpoint that a newer one superseded."""


class RunStore(ABC):
    """Where runs save their checkpoints, and where the one run that resumes a saved run claims it (`run_store=`).

    For your own store, derive this class and write three operations on texts by key. Keys are `<run id>/<number>`. All
    processes that resume a run must use the same store.
    """

    @abstractmethod
    async def add(self, key: str, text: str) -> bool:
        """Put the text under the key if the key does not exist: one atomic step for all processes (`SET key text NX` in Redis).
        Returns False, and changes nothing, if it exists."""

    @abstractmethod
    async def get(self, key: str) -> str | None:
        """The text under the key; None if there is none."""

    @abstractmethod
    async def replace(self, key: str, text: str) -> None:
        """Replace the text under a key that exists."""

    async def newest(self, run_id: str) -> RunResult[Any] | None:
        """The newest checkpoint of a run, or of the run that resumed it; None if the store has none.

        After a crash, resume from it: `run(await store.newest(run_id))`. If the run that saved it is still going on, it ends:
        before it starts another tool, it finds its checkpoint claimed.
        """
        seen = set[str]()
        while run_id not in seen:
            seen.add(run_id)
            last = await self._last(run_id)
            if not last:
                return None
            entry = object_in(from_json(await self.get(_key(run_id, last)) or _SUPERSEDED))
            if (state := entry.get("state")) is not None:
                return RunResult.model_validate(state)
            run_id = str(entry.get("claimed_by"))
        return None

    def newest_sync(self, run_id: str) -> RunResult[Any] | None:
        """`newest` for code without an event loop. Raises `CallerError` if an event loop runs in this thread."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.newest(run_id))
        raise CallerError("newest_sync would block the event loop that runs here: write `await store.newest(run_id)`")

    async def _last(self, run_id: str) -> int:
        """The number of the run's last entry, 0 if there is none. The numbers have no gaps."""
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
    """A store in a folder, which is created if needed. Only the owner may read its files. The folder must be on a file system
    with hard links; all processes that use it share the store. Raises `ConfigError` for a path that is no folder."""

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
        """The file of an entry. Ids from a hand-written file may be anything, so unusual ones are hashed."""
        run, _, number = key.rpartition("/")
        name = run if re.fullmatch(r"[0-9a-f]{1,64}", run) else f"other-{hashlib.sha256(run.encode()).hexdigest()}"
        return self._folder / f"{name}.{number}.json"

    def _add(self, key: str, text: str) -> bool:
        written = self._written(text)
        try:
            os.link(written, self._path(key))  # atomic
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
        return _key(self._run, self._count + 1)

    async def add(self, state: RunResult[Any]) -> None:
        """Add a checkpoint. Raises `CallerError` if another run has claimed the last one."""
        key = self.next
        if not await self._store.add(key, f'{{"state": {state.model_dump_json()}}}'):
            other = await self._claimant(key)
            raise CallerError(
                f"run {self._run} ends here, for {f'run {other}' if other else 'another run'} has resumed what it had saved last"
            )
        self._count += 1
        if self._count > 1:
            await self._store.replace(_key(self._run, self._count - 1), _SUPERSEDED)

    async def claim(self, saved: RunResult[Any]) -> None:
        """Claim the state that this run resumes. This run's first checkpoint is stored by then. Raises `CallerError` if another
        run has claimed it."""
        run, number = _position_of(saved)
        key = _key(run, number + 1)
        if await self._store.add(key, as_json({"claimed_by": self._run})):
            return
        await self._store.replace(_key(self._run, self._count), _SUPERSEDED)  # nobody resumes it
        other = await self._claimant(key)
        if other:
            raise CallerError(_already_resumed(saved, other) + f"; after a crash of that run, resume run_store.newest({other!r})")
        raise CallerError(
            f"run {run} went on behind the state that it is to be resumed from; its newest one is run_store.newest({run!r})"
        )

    async def _claimant(self, key: str) -> str:
        entry = object_in(from_json(await self._store.get(key) or _SUPERSEDED))
        return str(entry.get("claimed_by") or "")


def _key(run: str, number: int) -> str:
    return f"{run}/{number}"


def _position_of(saved: RunResult[Any]) -> tuple[str, int]:
    """The run and the number of a checkpoint; the beginning of its run for a result that is in no store."""
    run, _, number = saved.saved_as.rpartition("/")
    return (run, int(number)) if run and number.isdecimal() else (saved.id, 0)


def _already_resumed(saved: RunResult[Any], other: str) -> str:
    return (
        f"this state of run {saved.id} was resumed already, by run {other}: go on from that run's result, or from the `partial` "
        "of the error that it ended in"
    )


_lock = ForkSafeLock()
_claimed: dict[int, tuple[weakref.ref[RunResult[Any]], str]] = {}
"""The run that resumed each living result, by the result's `id()`."""


def claim_object(saved: RunResult[Any], by: str) -> None:
    """Claim a result in this process, if there is no store. Raises `CallerError` if another run has resumed this object."""
    at = id(saved)
    with _lock:
        known, other = _claimed.get(at, (None, ""))
        if known is not None and known() is saved:
            raise CallerError(
                f"{_already_resumed(saved, other)}; to resume it once more all the same, read it back again "
                "(RunResult.model_validate_json), and its tools run once more"
            )
        _claimed[at] = weakref.ref(saved, lambda ref: _forget(at, ref)), by


def _forget(at: int, ref: object) -> None:
    with suppress(KeyError):
        if _claimed[at][0] is ref:
            del _claimed[at]
