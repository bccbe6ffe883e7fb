"""The child runs of a run: those that ended, those that wait for the caller, and those that carry out calls now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import replace

from llmcore.fallback import Ledger
from llmcore.run.results.result import RunResult
from llmcore.run.setup.parent_run import OpenRun, WaitingRun
from llmcore.tools.results.outcome import Outcome
from llmcore.tools.results.rendering import shortened_text
from llmcore.types import TextBlock

__all__ = ["ChildRuns"]

_STOPPED_WITHIN = (
    "No result: the conversation went on before anybody answered what it asked for ({left}), which was not run. What it had run "
    "before: {done}."
)
_HAD_RUN = "What it had run before:"
_MOST_NAMES = 1000
"""Characters of the whole list of names."""


class ChildRuns:
    """The child runs of one run. `waiting`: the runs that an earlier run left, by the ids of its calls."""

    def __init__(self, ledger: Ledger, waiting: Mapping[str, RunResult]) -> None:
        self.ended: list[RunResult] = []
        """The runs that the tools and other code of the caller's made within this one."""
        self._waiting = dict(waiting)
        self._running: dict[str, RunResult] = {}
        """By the id of a started call, the run that carries it out, as it was last saved."""
        self._unsaved: Exception | None = None
        self._ledger = ledger
        self.enclosing = OpenRun(ledger, self.ended.append)

    def save_by(self, save: Callable[[Callable[[], object]], Awaitable[object]]) -> None:
        """Save this run whenever a child run that carries out a call is saved."""

        async def save_with(run: RunResult) -> None:
            def take() -> None:
                if not run.ended:  # an ended run is the call's result, or the call waits
                    self._running[run.parent_call] = run

            try:
                await save(take)
            except Exception as error:
                self._unsaved = self._unsaved or error
                raise

        self.enclosing = replace(self.enclosing, save=save_with)

    def check(self) -> None:
        """Raises what a child run met and must end this run, too: `LimitExceeded` of the shared budget, or an error of the
        checkpoint."""
        self._ledger.check_refused_child()
        if self._unsaved is not None:
            raise self._unsaved

    def resume(self, left: Mapping[str, WaitingRun]) -> None:
        """Let these runs resume when their calls start."""
        self.enclosing.waiting_runs.update(left)

    def start_call(self, call_id: str) -> None:
        """Record that the call's tool is about to start."""
        self._running.pop(call_id, None)
        left = self.enclosing.waiting_runs.get(call_id)
        if left is not None and self.enclosing.save is not None:  # otherwise its progress would not be saved
            self._running[call_id] = left.state

    def keep_waiting(self, call_id: str) -> None:
        """Record that the call's run ended with calls that wait, or could not resume."""
        self._running.pop(call_id, None)
        made = [run for run in self.ended if run.parent_call == call_id and run.pending]
        self._waiting[call_id] = made[-1] if made else self._waiting[call_id]

    def running_run(self, call_id: str) -> RunResult | None:
        """The run that carries out the call, as it was last saved; None if there is none."""
        return self._running.get(call_id)

    def waiting_run(self, call_id: str) -> RunResult:
        """The run within the call whose calls wait for the caller."""
        return self._waiting[call_id]

    def with_child_work(self, outcome: Outcome, max_chars: int) -> Outcome:
        """The outcome of a failed or interrupted call, with the names of the tools that its child runs ran.

        Without those names, the model would have the work done again. `child_results` has those runs as a whole.
        """
        if outcome.error is None or not self.ended or _HAD_RUN in outcome.text[-_MOST_NAMES:]:
            return outcome
        names = _names_of_tools_run([run for run in self.ended if run.parent_call == outcome.call.id])
        if not names:
            return outcome
        note = f"\n{_HAD_RUN} {shortened_text(names, _MOST_NAMES - len(_HAD_RUN) - len('  .'))}."
        content = [*outcome.content, TextBlock(text=note)]
        if len(outcome.text) + len(note) > max_chars:
            content = [TextBlock(text=shortened_text(outcome.text, max_chars - len(note)) + note)]
        return replace(outcome, content=content)

    @property
    def has_runs(self) -> bool:
        return bool(self.ended or self._waiting or self._running)

    def child_results(self, waiting_ids: Collection[str], started_ids: Collection[str]) -> list[RunResult]:
        """The child runs that ended, and those of an earlier run that wait in the calls `waiting_ids` or run in `started_ids`."""
        left = [run for call_id, run in self._waiting.items() if call_id in waiting_ids]
        left += [run for call_id, run in self._running.items() if call_id in started_ids]
        return [*self.ended, *(run for run in left if not any(run is one for one in self.ended))]

    def unanswered_text(self, call_id: str) -> str:
        """The result text of a call whose child run nobody resumes."""
        run = self._waiting[call_id]
        left = ", ".join(dict.fromkeys(call.name for call in run.pending))
        done = _names_of_tools_run([run]) or "nothing"
        return _STOPPED_WITHIN.format(left=left, done=done)


def _names_of_tools_run(runs: Iterable[RunResult]) -> str:
    """The names of the tools that ran, each with those within it: `look_up, ask (search 3 times)`."""
    counts: dict[str, int] = {}
    for run in runs:
        for record in run.tool_results:
            if record.ran:
                within = _names_of_tools_run([one for one in run.runs if one.parent_call == record.id])
                name = f"{record.name} ({within})" if within else record.name
                counts[name] = counts.get(name, 0) + 1
    return ", ".join(name if count == 1 else f"{name} {count} times" for name, count in counts.items())
