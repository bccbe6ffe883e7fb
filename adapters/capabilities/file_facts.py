"""Learned facts in a local file that several processes share.

The file is replaced as a whole, so a reader never sees a partial write. Writers merge under a lock, so none loses another's
facts. The file is bounded and keeps the latest facts. A file with other content is never overwritten.

The lock is `flock` on a file beside it. Windows has no `flock`: two processes that write at the same moment may lose a fact,
which is then learned again.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from llmcore.adapters.capabilities.facts import BACKEND_KINDS, DAY, MAX_CLOCK_SKEW, Fact, fact_of
from llmcore.support.code.threads import in_thread
from llmcore.support.values.narrowing import is_object, object_in
from llmcore.types import ConfigError
from llmcore.types.input.argument_errors import check_kinds

__all__ = ["FileFacts"]

_MAX_BYTES = 16_000_000
_LOCK_SECONDS = 1.5
_BETWEEN_TRIES = 0.01
_MAX_KEY = 2048


class FileFacts:
    """Learned facts in the file `path`. The file and its folder are created when the first fact is saved.

    `maxsize` is the most facts in the file, the latest ones. `ttl` is the age in seconds after which a fact is dropped.
    Raises `ConfigError` if the path is a folder or a setting is invalid.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        maxsize: int = 10_000,
        ttl: float = DAY,
        clock: Callable[[], float] = time.time,
    ) -> None:
        check_kinds("FileFacts", {"maxsize": maxsize, "ttl": ttl, "clock": clock}, BACKEND_KINDS)
        self._path = Path(path)
        self._maxsize = maxsize
        self._ttl = ttl
        self._clock = clock
        if self._path.is_dir():
            raise ConfigError(f"{self._path}: is a folder; give the path of a file")

    def __repr__(self) -> str:
        return f"FileFacts({str(self._path)!r})"

    async def load(self) -> Mapping[str, Mapping[str, Fact]]:
        """Raises `OSError` for an unreadable file, `ValueError` for a file with other content."""
        return await in_thread(self._read)

    async def save(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        """Raises the same errors as `load`, and `TimeoutError` if another process holds the lock."""
        await in_thread(partial(self._merge, facts))

    def _read(self) -> dict[str, dict[str, Fact]]:
        try:
            with self._path.open("rb") as file:
                text = file.read(_MAX_BYTES + 1)
        except FileNotFoundError:
            return {}
        if len(text) > _MAX_BYTES:
            raise ValueError(f"{self._path}: larger than {_MAX_BYTES} bytes")
        return _facts_in(text) if text.strip() else {}

    def _merge(self, facts: Mapping[str, Mapping[str, Fact]]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self._path.with_name(f"{self._path.name}.lock")):
            merged = {(key, name): fact for key, found in self._read().items() for name, fact in found.items()}
            latest = self._clock() + MAX_CLOCK_SKEW
            for key, found in facts.items():
                for name, fact in found.items():
                    known = merged.get((key, name))
                    if known is None or known.learnt_at <= fact.learnt_at or known.learnt_at > latest:
                        merged[key, name] = fact
            self._write(self._bounded(merged))

    def _bounded(self, facts: dict[tuple[str, str], Fact]) -> dict[str, dict[str, Fact]]:
        """The facts that have not expired, at most `maxsize`."""
        oldest = self._clock() - self._ttl
        latest = sorted(facts.items(), key=lambda item: item[1].learnt_at, reverse=True)[: self._maxsize]
        latest_facts: dict[str, dict[str, Fact]] = {}
        for (key, name), fact in latest:
            if fact.learnt_at > oldest and len(key) <= _MAX_KEY:
                latest_facts.setdefault(key, {})[name] = fact
        return latest_facts

    def _write(self, facts: dict[str, dict[str, Fact]]) -> None:
        new = self._path.with_name(f"{self._path.name}.new")  # under the lock, one process writes at a time
        is_there = self._path.exists()
        if is_there and not os.access(self._path, os.W_OK):  # `os.replace` needs only a writable folder
            raise PermissionError(f"{self._path} may not be written")
        try:
            new.write_text(json.dumps({"llmcore_capabilities": 1, "facts": facts}, indent=1, sort_keys=True), "utf-8")
            if is_there:
                shutil.copymode(self._path, new)
            os.replace(new, self._path)
        except OSError:
            new.unlink(missing_ok=True)
            raise


def _facts_in(text: bytes) -> dict[str, dict[str, Fact]]:
    """The facts in a file's text, without invalid entries. Raises `ValueError` for a file of another kind."""
    try:
        data: Any = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error}) and was not changed; repair or delete it, or name another file") from None
    if not is_object(data) or data.get("llmcore_capabilities") != 1:
        raise ValueError("it has other content than learnt capabilities; name another file")
    found: dict[str, dict[str, Fact]] = {}
    for key, entries in object_in(data.get("facts")).items():
        for name, entry in object_in(entries).items():
            fact = fact_of(entry)
            if fact is not None:
                found.setdefault(key, {})[name] = fact
    return found


@contextmanager
def _locked(path: Path) -> Generator[None, None, None]:
    """Hold the lock of a file. Raises `TimeoutError`."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    until = time.monotonic() + _LOCK_SECONDS
    with path.open("a") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise TimeoutError(f"{path}: another process holds the lock") from None
                time.sleep(_BETWEEN_TRIES)
        yield  # closing the file releases the lock
