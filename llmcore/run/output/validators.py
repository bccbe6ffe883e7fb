"""Output validators: functions of the caller's that judge a final answer, after its type has.

One that raises `RetryTool` or `ValueError` refuses the answer: the model is told its words and asked again, which counts as a
re-ask. What it returns takes the place of the value, and must be one of the type that was asked for; None leaves the value as it
is. Anything else that it raises ends the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.run.caller_functions import CallersFunction
from llmcore.run.output.answer_type import OutputSpec
from llmcore.run.output.validation import with_types_code
from llmcore.support.code.quoted_words import MAX_LOOKED_THROUGH, MAX_WORDS, clipped_words
from llmcore.tools import RunContext
from llmcore.tools.results.rendering import error_text_of
from llmcore.types import ConfigError, LLMCoreError, RetryTool
from llmcore.validator import Problem

__all__ = ["Checked", "check_output", "output_validators"]

_NO_WORDS = "the answer was refused"


@dataclass(frozen=True, slots=True)
class Checked:
    """The value as the validators leave it, or the problem that one of them has with it, and what that one raised."""

    value: Any = None
    problem: Problem | None = None
    cause: BaseException | None = None


def output_validators(given: object) -> tuple[CallersFunction, ...]:
    """A list of functions, one function, or None. Raises `ConfigError`."""
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
    """Ask them in order, each with the value that the one before left. Raises `ConfigError` for one that returns what is no value
    of the type that was asked for."""
    for validator in validators:
        try:
            given = await validator(seconds_left(), context, value)
        except (RetryTool, ValueError) as error:
            if isinstance(error, LLMCoreError):
                raise
            said = process_scrubber().text(error_text_of(error).partition(": ")[2].strip()[:MAX_LOOKED_THROUGH]) or _NO_WORDS
            return Checked(value, Problem(kind="value", message=clipped_words(said, MAX_WORDS)), error)
        if given is not None:
            value = given if output is None else await _of_the_type(given, output, seconds_left(), validator)
    return Checked(value)


async def _of_the_type(given: Any, output: OutputSpec, seconds: float | None, validator: CallersFunction) -> Any:
    fit = await with_types_code(output, seconds, lambda: output.fitting(given))
    if fit is None:
        wanted = getattr(output.output_type, "__name__", None) or repr(output.output_type)
        raise ConfigError(
            f"{validator.name} returned a value of type {type(given).__name__}, which is no {clipped_words(wanted, MAX_WORDS)}: "
            "let an output validator return a value of the type that was asked for, or None to leave it as it is"
        )
    return given if type(fit[0]) is type(given) else fit[0]  # in its JSON form
