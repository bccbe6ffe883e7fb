"""A run that is made, with everything checked: what it holds, the plan of each of its turns, and its end. `loop` derives from it
and carries the run out. It stands apart since this part is compiled, and coroutines are not (docs/compiled.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from os import urandom
from typing import Literal, cast

from llmcore.adapters.secrets.known_secrets import hide_in_error
from llmcore.fallback import FallbackContext, Plan, best_place, first_well, resting
from llmcore.run.choices import RunModels
from llmcore.run.choosing import Chosen
from llmcore.run.claims import Journal
from llmcore.run.learning import SPARE_REQUESTS
from llmcore.run.machinery import Machinery
from llmcore.run.observed import ObservedRun
from llmcore.run.result import RunResult
from llmcore.run.saving import SavePoints
from llmcore.run.settings import Toolbox
from llmcore.run.state import RunState
from llmcore.run.stepping import Step
from llmcore.run.tool_source import ToolSource
from llmcore.run.turn_request import TurnRequest
from llmcore.run.turn_state import TurnState
from llmcore.tools.outcome import unfinished
from llmcore.types import (
    Event,
    LLMCoreError,
    MaxToolTurns,
    OutputMode,
    PartialOutput,
    Timeout,
    ToolCall,
)
from llmcore.types.copies import copied
from llmcore.types.logs import current_run, logger
from llmcore.types.native import mypyc_attr

__all__ = ["STOPPED", "RunCourse"]

_log = logger("run")
STOPPED = "The run ended before this call was answered."


@mypyc_attr(allow_interpreted_subclasses=True)
class RunCourse:
    """What one run holds."""

    def __init__(self, chosen: Chosen, machinery: Machinery, source: ToolSource, *, listening: bool) -> None:
        self._chosen = chosen
        self._source = source
        self._search, self._spare_search = chosen.search, chosen.spare_search
        self._model, self._tools, settings = chosen.model, chosen.tools, chosen.settings
        request, place = settings.request, settings.place
        self._machinery = machinery
        listening = listening or (place is not None and place.hears)
        self._listening = listening
        self.is_told = listening
        """Are events told, though nothing is streamed?"""
        self.copy_of: RunResult | None = None
        """The result that the one which this goes on with is a copy of, until it is claimed."""
        self.is_stepped = False
        """Are the run's steps told among its events?"""
        self._mode: OutputMode | None = None
        self._place = ""
        self._without: frozenset[str] = frozenset()
        self._doubted: OutputMode | None = None
        self._looked_again = False
        self._shown: PartialOutput | None = None
        self._attempts_fixed = "attempts" in settings.budget.model_fields_set
        self._toolbox: Toolbox = settings.toolbox
        run = ObservedRun(urandom(16).hex(), self._model.alias, machinery.name, current_run.get(), request, self._model)
        recordings = [*machinery.recordings, *machinery.open_recordings()]
        self.state = RunState(settings, machinery.observers.watch(run, recordings), recordings)
        self._models = RunModels(machinery.catalog, chosen.needs, priced_only=self.state.ledger.bounds_cost)
        self._hooks = machinery.hooks.under(self._seconds_left)
        above = place.save if place is not None and place.saves else None
        store = None if place is not None and place.is_the_calls else settings.run_store  # the outer run has it then
        journal = None if store is None else Journal(store, run.id)
        saves = settings.checkpoint is not None or above is not None or journal is not None
        points = (settings.checkpoint, self.state.snapshot, above, journal, self.state.is_saved_as)
        self._save_points = SavePoints(*points) if saves else None

    def _check_price(self) -> None:
        """Raises `ConfigError` under a cost budget where the model, or one that it escalates to, has no price."""
        if self.state.ledger.bounds_cost:
            self._machinery.catalog.check_prices(self._model)

    def _seconds_left(self) -> float | None:
        return self.state.ledger.seconds_left

    def so_far(self) -> RunResult:
        return self.state.result()

    def _result(self) -> RunResult:
        """What it ends with, which a run around it has among its own."""
        result, place = self.state.result(), self.state.settings.place
        if unpriced := result.unpriced:
            _log.warning("the cost of the run is unknown: %s answered and has no `prices` in the registry", ", ".join(unpriced))
        if place is not None:
            place.keep(result)
        return result

    def leave(self) -> None:
        """The run is not carried on: let its history be valid."""
        self.state.close_open_calls(STOPPED)
        self.state.ended = True

    def _attach_partial(self, error: BaseException) -> None:
        """Let what was done so far ride on the error; also on cancellation and on what hooks raise."""
        self.state.ended = True
        result = self._result()
        if isinstance(error, Timeout) and not result.attempts:
            error.with_words(f"{error}; nothing was sent")
        if isinstance(error, LLMCoreError):
            hide_in_error(error)
            error.with_partial(result, result.attempts)
        else:
            error.__dict__.update(partial=result, attempts=result.attempts)
        self.state.watch.tell("run_ended", result, error)

    # The plan of a turn

    def _begin_turn(self, attempt: TurnState) -> FallbackContext:
        """What layer 4 is told, which sees to one accepted reply, by whatever attempts it takes."""
        mode_matters = attempt.mode_matters
        self.state.ledger.start_turn(None if self._attempts_fixed else self._models.attempts)
        plan, asked = self._first_plan(mode_matters), TurnRequest(self.state, attempt)
        return FallbackContext(self._models, self.state.ledger, plan, mode_matters, asked=asked)

    def _first_plan(self, mode_matters: bool) -> Plan:
        """The turn's model, or another one that it may escalate to while it is to be left aside."""
        models, wanted = self._models, self._model.alias
        model = wanted if models.all_well else first_well(models, wanted)
        places = models.deployments(model)
        place = self._place if model == wanted and self._place in places else places[0]
        if len(places) > 1 and (place != self._place or models.resting(model, place)):
            place = best_place(models, model)
        mode = self._first_mode(models.modes(model, place), mode_matters, stays=model == wanted and place == self._place)
        if model == wanted:
            without = self._without if place == self._place and mode == self._mode else frozenset[str]()
            return Plan(model, mode, detail=self._why_mode(mode, models.modes(model, place)), deployment=place, without=without)
        detail = f"{wanted} failed before and is left aside for {resting(models, wanted):.1f} s more"
        _log.info("%s; %s is asked", detail, model)
        return Plan(model, mode, "model", detail, deployment=place)

    def _first_mode(self, modes: Sequence[OutputMode], mode_matters: bool, *, stays: bool) -> OutputMode:
        """What worked, where later turns stay (at another place nothing did yet). But an endpoint that was seen to write its
        calls as text is asked for text from the next request on: in native mode its server may drop calls and results from the
        history."""
        writes_text = self._mode == "native_tools" and modes[0] == "text"
        if stays and self._doubted == modes[0]:
            self._looked_again = True
            return modes[0]
        if stays and self._mode is not None and self._mode in modes and not writes_text:
            return self._mode
        plain: OutputMode = "native_tools" if "native_tools" in modes else "text"
        return modes[0] if mode_matters else plain

    def _why_mode(self, mode: OutputMode, modes: Sequence[OutputMode]) -> str:
        """Why a later turn is asked for in another mode than the one before; "" where it is not."""
        last = self._mode
        if last is None or mode == last:
            return ""
        if self._looked_again and mode == self._doubted:
            return f"{mode} is tried again: what refused it may have been a passing thing"
        if last not in modes:
            return f"{last} is not asked for any more: the endpoint was seen not to take it"
        if mode == "text" and last == "native_tools":
            return f"{last} gives way to text: the endpoint writes its calls as text"
        return f"{last} worked at another place; {mode} is this one's first mode"

    def _to_look_at(self, context: FallbackContext) -> OutputMode | None:
        """The first mode, where the turn was answered in another one since words that nobody knows refused it: it may have been a
        passing thing. The next turn's request tells, once in a run, if as many attempts as this turn made are allowed."""
        ledger, now = self.state.ledger, context.plan
        first = context.tried[0] if context.tried else now
        if self._looked_again or first.mode == now.mode or (first.model, first.deployment) != (now.model, now.deployment):
            return None
        spare = ledger.requests_left
        if ledger.attempts_allowed(now.model) <= len(context.tried) or (spare is not None and spare <= SPARE_REQUESTS):
            return None
        return first.mode

    # Its tools

    def _with_search(self, toolbox: Toolbox) -> Toolbox:
        """The tools, and the one that searches the web in the provider's stead."""
        search = self._spare_search
        return toolbox if search is None or toolbox.get(search.name) else toolbox.extended([search]).limited(self._tools)

    def _may_run_tools(self, calls: Sequence[ToolCall] = ()) -> None:
        """Count a turn. Raises `MaxToolTurns` when it is one too many: then its calls are told as not run."""
        if self.state.tool_turns >= self._tools.max_turns:
            self.state.note_outcomes(list(map(unfinished, calls)))
            raise MaxToolTurns(
                f"no final answer after {self._tools.max_turns} tool turns; raise max_tool_turns or look at the partial result"
            )
        self.state.tool_turns += 1

    def _step(self, kind: Literal["reply", "results"], turn: int, role: str) -> Event:
        """The step just made, with the last message of the role: the one it entered. It goes the way of the events, though it is
        none: only `Steps` asks for it."""
        last = next((one for one in reversed(self.state.messages[-2:]) if one.role == role), None)
        return cast("Event", Step(kind, turn, copied(last)))
