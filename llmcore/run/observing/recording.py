"""`record`: writes the runs of the user's program as lines of a transcript file, which `llmcore replay` and `ReplayAdapter`
read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar, cast, overload

from llmcore.adapters.base import OWN_ADAPTER, Adapter, Endpoint, ModelCall
from llmcore.adapters.recording.observed import observed
from llmcore.adapters.recording.recorder import Recorder, TranscriptFile
from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.run.observing.events import ObservedRun
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.suggestions import describe_value
from llmcore.transcripts.formats.hosts import is_local
from llmcore.types import ConfigError, JsonSchema, ToolDefinition
from llmcore.types.logs import logger

__all__ = ["AdapterContext", "Recording", "close_for_all_runs", "open_for_all_runs", "open_recordings", "record"]

_log = logger("recording")


class AdapterContext(Protocol):
    """Stands between runs and their adapters: records them, or replays a recording."""

    def adapter(self, run_id: str, adapter: Adapter) -> Adapter:
        """The adapter that the run uses instead of this one."""
        ...

    def run_ended(self, run: ObservedRun, *_: object) -> None: ...


_open: list[AdapterContext] = []


class _Orchestrator(Protocol):
    """An object that can make a recorded copy of itself."""

    def _recorded(self, recording: Recording) -> Self: ...


Recorded = TypeVar("Recorded", bound=_Orchestrator)


class _RecordedRun:
    """A run in progress."""

    def __init__(self, endpoint: Endpoint, provenance: str | None) -> None:
        self.recorder = Recorder(provenance=provenance or _provenance(endpoint))
        self.tools: dict[str, ToolDefinition] = {}
        self.output_schema: JsonSchema | None = None


class Recording:
    """Writes each run as a line when the run ends. As a context (`with`, `async with`), it records all runs of the process."""

    def __init__(self, path: str | PathLike[str], provenance: str | None = None) -> None:
        self.path = Path(path)
        self.runs = 0
        """The number of runs written."""
        self._provenance = provenance
        self._file = TranscriptFile(self.path)
        self._lock = ForkSafeLock()
        self._in_progress: dict[str, _RecordedRun] = {}
        self._is_closed = False

    def __enter__(self) -> Self:
        self._is_closed = False
        open_for_all_runs(self)
        return self

    def __exit__(self, *_: object) -> None:
        close_for_all_runs(self)
        self._is_closed = True
        with self._lock:
            left, self._in_progress = self._in_progress, {}
        for run in left.values():  # runs in progress
            self._write(run)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    def __repr__(self) -> str:
        return f"Recording({str(self.path)!r}: {self.runs} runs)"

    def adapter(self, run_id: str, adapter: Adapter) -> Adapter:
        """For runs: the adapter, whose requests of this run are recorded."""
        return observed(adapter, partial(self._observe, run_id))

    def _observe(self, run_id: str, call: ModelCall, what: str, value: Any) -> None:
        with self._lock:
            if self._is_closed:
                return
            run = self._in_progress.get(run_id)
            if run is None:
                run = self._in_progress[run_id] = _RecordedRun(call.endpoint, self._provenance)
            run.tools |= {tool.name: tool for tool in call.tools if tool.name != FINAL_RESULT}
            run.output_schema = run.output_schema or call.output_schema
        run.recorder.observe(call, what, value)

    def run_ended(self, run: ObservedRun, *_: object) -> None:
        """For runs: a run has ended."""
        with self._lock:
            ended = self._in_progress.pop(run.id, None)
        if ended is not None:
            self._write(ended)

    def _write(self, run: _RecordedRun) -> None:
        line = run.recorder.line(id=f"{self.path.stem}-1", tools=run.tools.values(), output_schema=run.output_schema)
        try:
            self._file.append(line)
        except OSError as error:
            _log.warning("a run is not recorded: %s: %s", self.path, error.strerror or type(error).__name__)
        else:
            self.runs += 1


def open_recordings() -> Sequence[AdapterContext]:
    """The recordings and replays of all runs of the process."""
    return tuple(_open)


def open_for_all_runs(context: AdapterContext) -> None:
    """From now on, all runs of the process use this context. Undone by `close_for_all_runs`."""
    _open.append(context)


def close_for_all_runs(context: AdapterContext) -> None:
    _open.remove(context)


def _provenance(endpoint: Endpoint) -> str:
    is_here = endpoint.provider == "ollama" if endpoint.base_url is None else is_local(endpoint.base_url)
    where = "local" if is_here or endpoint.provider in OWN_ADAPTER else "live"
    return f"{where}: {endpoint.provider} {endpoint.model}, {datetime.now(UTC):%Y-%m-%d}"


@overload
def record(path: str | PathLike[str], orchestrator: None = None, *, provenance: str | None = None) -> Recording: ...


@overload
def record(path: str | PathLike[str], orchestrator: Recorded, *, provenance: str | None = None) -> Recorded: ...


def record(
    path: str | PathLike[str], orchestrator: Recorded | None = None, *, provenance: str | None = None
) -> Recording | Recorded:
    """Record runs to a transcript file: each run is a line, appended when the run ends, even if it fails.

    With an `orchestrator`, returns a copy with the same settings, models and connections, whose runs are recorded. Without
    one, returns a context: `with llmcore.record("runs.jsonl"):` (or `async with`). It records all runs of the process,
    including those of agents, of child runs and of all threads. `ReplayAdapter("runs.jsonl")` replays the first run of the
    file, `run="runs-2"` another.

    `provenance` says where the replies are from. The default is the model with `live`, or with `local` for an address of this
    machine. No key or secret is written. Everything else is, so a recording is as confidential as its conversations.

    Raises `ConfigError` for a path that cannot be written to, and for an `orchestrator` of another kind.
    """
    try:
        Path(path).open("a").close()
    except OSError as error:
        raise ConfigError(f"record: {path}: {error.strerror or error}") from None
    except TypeError:
        raise ConfigError(f"record: `path` must be a path, not {describe_value(path)}") from None
    recording = Recording(path, provenance)
    if orchestrator is None:
        return recording
    made = getattr(orchestrator, "_recorded", None)
    if made is None:
        fix = "an agent's runs are recorded by `with llmcore.record(path):`, or by an orchestrator that is given as its client"
        raise ConfigError(f"record: `orchestrator` must be an Orchestrator, not {describe_value(orchestrator)}; {fix}")
    return cast("Recorded", made(recording))
