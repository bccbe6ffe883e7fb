"""A final result that the model gave beside calls that had to wait. It is accepted or refused when those calls have their
results.

The model gave it before it knew those results. It is accepted only if each call succeeded and no message followed. Otherwise
the model sees the results and gives another one.
"""

from __future__ import annotations

from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.run.output.validators import Checked, check_output, run_types_code
from llmcore.run.resume.resumption import Resumed
from llmcore.run.setup.settings import Toolbox
from llmcore.run.turn.state import RunState
from llmcore.tools.results.outcome import synthetic
from llmcore.types import OutputParseError, ToolCall

__all__ = ["close_deferred_final_call", "deferred_final_call"]

_NOT_ACCEPTED = (
    "The final result was not accepted: the calls beside it had to wait, and their results, or a message since, may change it. "
    "Give the final result again."
)


def deferred_final_call(resumed: Resumed, state: RunState, toolbox: Toolbox) -> ToolCall | None:
    """The call of the output tool among the open calls; None if the caller answers it or a tool of that name exists."""
    if state.settings.output is None or toolbox.get(FINAL_RESULT) is not None:
        return None
    found = (call for call in resumed.calls if call.name == FINAL_RESULT and call.id not in resumed.answers)
    return next(found, None)


async def close_deferred_final_call(final: ToolCall, state: RunState) -> bool:
    """Accept the final result, or tell the model that it was not accepted. Returns whether it was accepted.

    Raises `Timeout` if the deadline passes, and what the caller's validators raise.
    """
    checked = await _checked_value(final, state) if state.all_calls_succeeded else None
    if checked is not None and checked.problem is None:
        state.accept_final_call(final)
        state.set_output(checked.value)
        return True
    text = _NOT_ACCEPTED if checked is None or checked.problem is None else f"{_NOT_ACCEPTED} {checked.problem.message}"
    state.add_results([synthetic(final, text).block()])
    return False


async def _checked_value(final: ToolCall, state: RunState) -> Checked | None:
    """The validated value; None if it does not fit the output type of this run."""
    output, ledger = state.settings.output, state.ledger
    assert output is not None  # otherwise no call is the output tool's
    text, strictness = output.text_of(final), state.settings.strictness
    try:
        detail = await run_types_code(output, ledger.seconds_left, lambda: output.read(text, strictness))
    except OutputParseError:
        return None
    return await check_output(
        state.settings.output_validators, detail.value, state.context(), lambda: ledger.seconds_left, output
    )
