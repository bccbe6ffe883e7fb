"""Runs the code of the caller's output type off the event loop and within the run's deadline.

A validator may sleep or compute for seconds. On the event loop it would block every run of the process, and no deadline could
end it. Types without the caller's code are validated in place, because a thread costs more than that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from llmcore.run.deadline import thread_within
from llmcore.run.output.answer_type import OutputSpec

__all__ = ["run_types_code"]

T = TypeVar("T")


async def run_types_code(output: OutputSpec | None, seconds: float | None, function: Callable[[], T]) -> T:
    """The function's value. The function may run the code of the output type.

    Raises what the function raises, and `Timeout` if the deadline, `seconds` from now, passes. Then its thread is abandoned,
    and its value dropped.
    """
    return function() if output is None or not output.runs_code else await thread_within(seconds, function)
