"""What enters a run once code of the caller was awaited: messages that are added meanwhile, and the value of who ends it.

It stands apart from `state`, which is compiled: coroutines are not (docs/compiled.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from llmcore.run.interjections import interjected
from llmcore.run.state import RunState
from llmcore.run.validating import with_types_code
from llmcore.tools.results import UnwritableResult, written
from llmcore.types import Message, TerminateLoop
from llmcore.types.copies import copied
from llmcore.types.json_data import encodable

__all__ = ["end_by", "goes_on_by_interjections", "take_interjections"]


async def take_interjections(state: RunState) -> Sequence[Message]:
    """Enter what was added to the run, or to the one that it goes on with; returns it as it stands in the history."""
    source, added = state.settings.interjections, state.take_not_entered()
    if source is not None:
        added += await interjected(source, state.context(), state.ledger.seconds_left)
    return state.enter(added) if added else ()


async def goes_on_by_interjections(state: RunState) -> bool:
    """The final message is there: ask a function for messages that let the run go on, and enter them. What is put into a box by
    then is for the next run."""
    source = state.settings.interjections
    if source is None:
        return False
    added = await interjected(source, state.context(), state.ledger.seconds_left, is_over=True)
    return bool(added) and len(state.enter(added)) > 0


async def end_by(state: RunState, ended: TerminateLoop) -> None:
    """A tool or hook ended the run: its value is the final content, and the output if it is of the type asked for.

    Raises `Timeout` when the deadline passes while the type's own code looks at it.
    """
    asked = state.settings.output
    try:
        text, is_written = encodable(written(ended.value) if ended.text is None else ended.text), True
    except UnwritableResult as error:
        text, is_written = f"({error})", False
    value = copied(ended.value)
    fit = None
    if asked is not None and is_written:
        fit = await with_types_code(asked, state.ledger.seconds_left, lambda: asked.fitting(value))
    state.end(value, text, fit)
