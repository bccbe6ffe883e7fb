"""The code of the caller's output type, off the event loop and under the run's deadline.

A validator may sleep or compute for seconds: on the loop it would hold up every run of the process, and no deadline could end it.
Types without code of the caller's are judged where they are, for a thread costs more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from llmcore.run.deadline import thread_within
from llmcore.run.output.answer_type import OutputSpec

__all__ = ["with_types_code"]

T = TypeVar("T")


async def with_types_code(output: OutputSpec | None, seconds: float | None, function: Callable[[], T]) -> T:
    """What the function gives, which may run the code of the type. Raises what it raises, and `Timeout` when the deadline,
    `seconds` from now, passes meanwhile: then it is left behind in its thread, and what it gives at last is dropped."""
    return function() if output is None or not output.runs_code else await thread_within(seconds, function)
