"""Restores the validator's types in the attempts of a saved run. `types`, which defines attempts and errors, does not know
them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError

from llmcore.support.values.copies import updated
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import Attempt, FallbackExhausted, OutputParseError

__all__ = ["typed_attempts"]


def typed_attempts(attempts: list[Attempt]) -> list[Attempt]:
    """The attempts with their reports as `ValidationReport`s, and the problems of failures as `Problem`s.

    Data that is no such report or problem, in a file written by hand, stays data.
    """
    return [_with_report(attempt) for attempt in attempts]


def _with_report(attempt: Attempt) -> Attempt:
    for error in _output_errors(attempt.failure):
        from llmcore.validator import Problem  # loads jsonschema, so only if needed

        error.with_problems([_read(Problem.model_validate, problem) for problem in error.problems])
    if not is_object(attempt.report):
        return attempt
    from llmcore.validator import ValidationReport

    return updated(attempt, {"report": _read(ValidationReport.model_validate, attempt.report)})


def _output_errors(failure: object) -> Iterator[OutputParseError]:
    """The `OutputParseError`s in a failure."""
    if isinstance(failure, OutputParseError) and is_list(getattr(failure, "problems", None)):
        yield failure
    for inner in failure.failures if isinstance(failure, FallbackExhausted) else ():
        yield from _output_errors(inner)


def _read(read: Callable[[Any], Any], given: Any) -> Any:
    try:
        return read(given) if is_object(given) else given
    except ValidationError:
        return given
