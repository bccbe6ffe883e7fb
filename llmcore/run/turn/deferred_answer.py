"""A final result that was given beside calls that had to wait: it is taken when those have their results.

The model gave it before it knew them. So it holds only where each of them went well, and nobody said anything since; else the
model is told what became of them, and gives another one.
"""

from __future__ import annotations

from llmcore.adapters.request.output import FINAL_RESULT
from llmcore.run.output.validation import with_types_code
from llmcore.run.output.validators import Checked, check_output
from llmcore.run.resume.resumption import Resumed
from llmcore.run.setup.settings import Toolbox
from llmcore.run.turn.state import RunState
from llmcore.tools.results.outcome import synthetic
from llmcore.types import OutputParseError, ToolCall

__all__ = ["accept_deferred", "deferred_answer"]

_NOT_TAKEN = (
    "It was not taken: the calls beside it had to wait, and what became of them, or was said since, may change it. Give the "
    "final result again."
)


def deferred_answer(resumed: Resumed, state: RunState, toolbox: Toolbox) -> ToolCall | None:
    """The call of the output tool among the open ones; None where that is one for the caller or for a tool of that name."""
    if state.settings.output is None or toolbox.get(FINAL_RESULT) is not None:
        return None
    found = (call for call in resumed.calls if call.name == FINAL_RESULT and call.id not in resumed.answers)
    return next(found, None)


async def accept_deferred(final: ToolCall, state: RunState) -> bool:
    """Take the final result as the run's, or tell the model that it was not taken. Raises `Timeout` when the deadline passes
    meanwhile, and what the caller's validators raise."""
    checked = await _checked(final, state) if state.went_well else None
    if checked is not None and checked.problem is None:
        state.take_final(final)
        state.take_output(checked.value)
        return True
    said = _NOT_TAKEN if checked is None or checked.problem is None else f"{_NOT_TAKEN} {checked.problem.message}"
    state.add_results([synthetic(final, said).block()])
    return False


async def _checked(final: ToolCall, state: RunState) -> Checked | None:
    """The value, which was fit when it was given; of another type than was asked for then it may be none."""
    output, ledger = state.settings.output, state.ledger
    assert output is not None  # without it no call is the output tool's
    text, strictness = output.text_of(final), state.settings.strictness
    try:
        detail = await with_types_code(output, ledger.seconds_left, lambda: output.read(text, strictness))
    except OutputParseError:
        return None
    return await check_output(
        state.settings.output_validators, detail.value, state.context(), lambda: ledger.seconds_left, output
    )
