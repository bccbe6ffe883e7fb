"""`replaying`: replays the recorded runs of a file to all runs of the process. A program needs no change for its tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from os import PathLike
from typing import Any, Self

from llmcore.adapters.base import Adapter, Capabilities, Endpoint, ModelCall
from llmcore.api import normalize
from llmcore.run.observing.events import ObservedRun
from llmcore.run.observing.recording import close_for_all_runs, open_for_all_runs
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.code.test_failures import mark_test_failure
from llmcore.testing.fake import why
from llmcore.testing.matching import difference
from llmcore.testing.replay import ReplayAdapter, runs_in
from llmcore.transcripts import Exchange, Transcript
from llmcore.types import ConfigError, Reply

__all__ = ["Replay", "replaying"]

_WIDTH = 120
"""How much of a reply's text a trajectory shows, in characters."""


def replaying(path: str | PathLike[str]) -> Replay:
    """Replay the runs of a transcript file: the counterpart of `llmcore.record(path)`.

    Within `with llmcore.testing.replaying("runs.jsonl"):` (or `async with`), no run of the process sends a request. Each run gets
    the replies of the first unused run of the file that began with the same request. The file may also be a VCR cassette.

    A request that no recorded run began with, one that differs later, and one too many raise a `ConfigError` that names the
    first difference. Raises a `TranscriptError` for a file that cannot be read.
    """
    return Replay(runs_in(path))


class Replay:
    """The recorded runs. `used` has a `ReplayAdapter` of each one that was replayed, in the order of the program's runs."""

    def __init__(self, runs: list[Transcript]) -> None:
        self.runs = runs
        self.used: list[ReplayAdapter] = []
        self._left = [*runs]
        self._of_run: dict[str, ReplayAdapter] = {}
        self._lock = ForkSafeLock()

    @property
    def finished(self) -> bool:
        """Whether all exchanges of all runs were used."""
        return not self._left and all(each.finished for each in self.used)

    def trajectory(self) -> str:
        """What was recorded beside what was asked: a line for each step, and the first difference of a run."""
        lines: list[str] = []
        for used in self.used:
            lines.append(f"{used.transcript.label}: {len(used.calls)} of {len(used.transcript.exchanges)} steps")
            for number, exchange in enumerate(used.transcript.exchanges, 1):
                sign = "-" if number > len(used.calls) else "!" if number == len(used.calls) and used.differs else " "
                lines.append(f"  {sign} step {number}: {_shown(exchange)}")
            lines += [f"    differs: {used.differs}"] if used.differs else []
        return "\n".join([*lines, *(f"{run.label}: not used" for run in self._left)])

    def __enter__(self) -> Self:
        open_for_all_runs(self)
        return self

    def __exit__(self, *_: object) -> None:
        close_for_all_runs(self)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    def adapter(self, run_id: str, adapter: Adapter) -> Adapter:
        """For runs: an adapter that replays. What is known of the endpoint stays that of the given one."""
        return _ReplayedRun(self, run_id, adapter)

    def run_ended(self, run: ObservedRun, *_: object) -> None:
        """For runs: a run has ended."""

    def begin(self, run_id: str, call: ModelCall) -> ReplayAdapter:
        """The recorded run for this run, whose first request is `call`."""
        with self._lock:
            if run_id not in self._of_run:
                self._of_run[run_id] = self._begun(call)
            return self._of_run[run_id]

    def _begun(self, call: ModelCall) -> ReplayAdapter:
        if not self._left:
            recorded = f"{len(self.runs)} {'run' if len(self.runs) == 1 else 'runs'}"
            raise mark_test_failure(ConfigError(f"the recording holds {recorded}, and this is one more, {why(call)}"))
        fitting = (run for run in self._left if run.exchanges and _differs(call, run) is None)
        run = next(fitting, self._left[0])  # the first one says how the request differs
        self._left.remove(run)
        self.used.append(ReplayAdapter(run))
        return self.used[-1]


def _shown(exchange: Exchange) -> str:
    """The model's reply of a step: its calls with their arguments, and its text."""
    reply = exchange.response if exchange.response is not None else exchange.text or exchange.sse or exchange.chunks or ""
    if exchange.kind == "error":
        return f"error {exchange.error}"
    envelope = normalize(reply)
    calls = [
        f"{call.name}({call.arguments if call.arguments is not None else call.raw_arguments})" for call in envelope.tool_calls
    ]
    return "; ".join([*calls, *([repr(envelope.content[:_WIDTH])] if envelope.content.strip() else [])]) or "an empty reply"


def _differs(call: ModelCall, run: Transcript) -> str | None:
    return difference(call, run.exchanges[0], users=None, same_model=False)


class _ReplayedRun:
    """The adapter of one run."""

    heeds_cancellation = True
    provider_id = "replay"

    def __init__(self, replay: Replay, run_id: str, adapter: Adapter) -> None:
        self._replay, self._run_id, self._adapter = replay, run_id, adapter

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        return self._adapter.capabilities(endpoint)

    async def complete(self, call: ModelCall) -> Reply:
        return await self._replay.begin(self._run_id, call).complete(call)

    async def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        async for chunk in self._replay.begin(self._run_id, call).stream(call):
            yield chunk
