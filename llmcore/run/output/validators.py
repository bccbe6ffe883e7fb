"""Output validators: the caller's functions that check a final answer, after its type has.

If a validator raises `RetryTool` or `ValueError`, the answer is refused: the model gets the message and answers again, which
counts as a re-ask. What it returns replaces the value, and must fit the output type; None keeps the value. Any other exception
ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.run.caller_functions import CallersFunction
from llmcore.run.deadline import thread_within
from llmcore.run.output.answer_type import OutputSpec
from llmcore.support.code.quoted_words import MAX_LOOKED_THROUGH, MAX_WORDS, clipped_words
from llmcore.tools import RunContext
from llmcore.tools.results.rendering import error_text_of
from llmcore.types import ConfigError, LLMCoreError, RetryTool
from llmcore.validator import Problem

__all__ = ["Checked", "check_output", "output_validators", "run_types_code"]

_NO_WORDS = "the answer was refused"


@dataclass(frozen=True, slots=True)
class Checked:
    """The value as the validators returned it, or the problem that one of them found, and the exception that it raised."""

    value: Any = None
    problem: Problem | None = None
    cause: BaseException | None = None


def output_validators(given: object) -> tuple[CallersFunction, ...]:
    """A list of functions, one function, or None, as validators. Raises `ConfigError`."""
    if given is None:
        return ()
    functions: list[object] = [given] if callable(given) else [*given] if isinstance(given, Iterable) else [given]
    if isinstance(given, str):
        raise ConfigError("output_validators is a list of functions, not text")
    return tuple(CallersFunction("an output validator", function, 1) for function in functions)


async def check_output(
    validators: Sequence[CallersFunction],
    value: Any,
    context: RunContext[Any],
    seconds_left: Callable[[], float | None],
    output: OutputSpec | None,
) -> Checked:
    """Run the validators in order, each with the value that the one before returned. Raises `ConfigError` if one returns a value
    that does not fit the output type."""
    for validator in validators:
        try:
            given = await validator(seconds_left(), context, value)
        except (RetryTool, ValueError) as error:
            if isinstance(error, LLMCoreError):
                raise
            text = process_scrubber().text(error_text_of(error).partition(": ")[2].strip()[:MAX_LOOKED_THROUGH]) or _NO_WORDS
            return Checked(value, Problem(kind="value", message=clipped_words(text, MAX_WORDS)), error)
        if given is not None:
            value = given if output is None else await _as_output_type(given, output, seconds_left(), validator)
    return Checked(value)


async def _as_output_type(given: Any, output: OutputSpec, seconds: float | None, validator: CallersFunction) -> Any:
    fit = await run_types_code(output, seconds, lambda: output.fitting(given))
    if fit is None:
        wanted = getattr(output.output_type, "__name__", None) or repr(output.output_type)
        raise ConfigError(
            f"{validator.name} returned a value of type {type(given).__name__}, which is no {clipped_words(wanted, MAX_WORDS)}: "
            "let an output validator return a value of the type that was asked for, or None to leave it as it is"
        )
    return given if type(fit[0]) is type(given) else fit[0]  # in its JSON form


T = TypeVar("T")


async def run_types_code(output: OutputSpec | None, seconds: float | None, function: Callable[[], T]) -> T:
    """The function's value. The function may run the code of the output type.

    That code may block for seconds. On the event loop it would block every run of the process, and no deadline could end it.
    So it runs in a thread. A type without the caller's code is validated in place, because a thread costs more than that.

    Raises what the function raises, and `Timeout` if the deadline, `seconds` from now, passes. Then the thread is abandoned,
    and its value dropped.
    """
    return function() if output is None or not output.runs_code else await thread_within(seconds, function)
