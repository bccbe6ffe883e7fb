"""The runs within one: those that were made, those that wait for the caller, and those that carry out calls just now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import replace

from llmcore.fallback import Ledger
from llmcore.run.results.result import RunResult
from llmcore.run.setup.parent_run import EnclosingRun, LeftWithin
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
"""Characters, of all of them."""


class ChildRuns:
    """Of one run. `waiting`: by the ids of its calls, the runs that an earlier run left."""

    def __init__(self, ledger: Ledger, waiting: Mapping[str, RunResult]) -> None:
        self.ended: list[RunResult] = []
        """Those that were made within this one, by its tools or other code of the caller's."""
        self._waiting = dict(waiting)
        self._under_way: dict[str, RunResult] = {}
        """By the id of a call that is begun, the run that carries it out, as it was saved last."""
        self._unsaved: Exception | None = None
        self._ledger = ledger
        self.enclosing = EnclosingRun(ledger, self.ended.append)

    def save_by(self, save: Callable[[Callable[[], object]], Awaitable[object]]) -> None:
        """Runs that carry out calls are saved with this one."""

        async def save_with(run: RunResult) -> None:
            def take() -> None:
                if not run.ended:  # its end is the call's result, or the call waits
                    self._under_way[run.parent_call] = run

            try:
                await save(take)
            except Exception as error:
                self._unsaved = self._unsaved or error
                raise

        self.enclosing = replace(self.enclosing, save=save_with)

    def check(self) -> None:
        """Raises what ends this run as well as one within it: `LimitExceeded` of its budget, and what its checkpoint raised."""
        self._ledger.check_refused_below()
        if self._unsaved is not None:
            raise self._unsaved

    def go_on(self, left: Mapping[str, LeftWithin]) -> None:
        """Those runs go on when their calls begin."""
        self.enclosing.left.update(left)

    def begin(self, call_id: str) -> None:
        """The call's tool is about to be started."""
        self._under_way.pop(call_id, None)
        left = self.enclosing.left.get(call_id)
        if left is not None and self.enclosing.save is not None:  # else nobody would tell how far it has come since
            self._under_way[call_id] = left.state

    def hold(self, call_id: str) -> None:
        """The call's run has ended with calls that wait, or could not go on."""
        self._under_way.pop(call_id, None)
        made = [run for run in self.ended if run.parent_call == call_id and run.pending]
        self._waiting[call_id] = made[-1] if made else self._waiting[call_id]

    def under_way(self, call_id: str) -> RunResult | None:
        """The run that carries out a call that is begun, as it was saved last."""
        return self._under_way.get(call_id)

    def waiting(self, call_id: str) -> RunResult:
        """The one whose calls wait."""
        return self._waiting[call_id]

    def with_child_work(self, outcome: Outcome, max_chars: int) -> Outcome:
        """The outcome of a call that failed or was cut short, which tells the model what the runs within it had done: it would
        have that done again. Whatever becomes of the call, the program has those runs whole, by `child_results`."""
        if outcome.error is None or not self.ended or _HAD_RUN in outcome.text[-_MOST_NAMES:]:
            return outcome
        names = _run_within([run for run in self.ended if run.parent_call == outcome.call.id])
        if not names:
            return outcome
        said = f"\n{_HAD_RUN} {shortened_text(names, _MOST_NAMES - len(_HAD_RUN) - len('  .'))}."
        content = [*outcome.content, TextBlock(text=said)]
        if len(outcome.text) + len(said) > max_chars:
            content = [TextBlock(text=shortened_text(outcome.text, max_chars - len(said)) + said)]
        return replace(outcome, content=content)

    @property
    def is_any(self) -> bool:
        """Was one made, or is one to go on?"""
        return bool(self.ended or self._waiting or self._under_way)

    def child_results(self, held: Collection[str], begun: Collection[str]) -> list[RunResult]:
        """Those that were made, and those of an earlier run that still wait for the calls `held`, or of the calls `begun`."""
        left = [run for call_id, run in self._waiting.items() if call_id in held]
        left += [run for call_id, run in self._under_way.items() if call_id in begun]
        return [*self.ended, *(run for run in left if not any(run is one for one in self.ended))]

    def given_up(self, call_id: str) -> str:
        """What is said of a call whose run nobody goes on with."""
        run = self._waiting[call_id]
        left = ", ".join(dict.fromkeys(call.name for call in run.pending))
        done = _run_within([run]) or "nothing"
        return _STOPPED_WITHIN.format(left=left, done=done)


def _run_within(runs: Iterable[RunResult]) -> str:
    """The names of the tools that were run, of each with those within it: `look_up, ask (search 3 times)`."""
    counts: dict[str, int] = {}
    for run in runs:
        for record in run.tool_results:
            if record.ran:
                within = _run_within([one for one in run.runs if one.parent_call == record.id])
                name = f"{record.name} ({within})" if within else record.name
                counts[name] = counts.get(name, 0) + 1
    return ", ".join(name if count == 1 else f"{name} {count} times" for name, count in counts.items())
