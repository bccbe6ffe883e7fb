"""What a saved run says in the types of layer 3: `types`, where attempts and errors are defined, does not know them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import ValidationError

from llmcore.support.values.copies import updated
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import Attempt, FallbackExhausted, OutputParseError

__all__ = ["as_they_were"]


def as_they_were(attempts: list[Attempt]) -> list[Attempt]:
    """The attempts with each report that was read as data as a `ValidationReport`, and each problem of a failure as a `Problem`.
    What is none, in a file that somebody wrote, stays data."""
    return [_with_report(attempt) for attempt in attempts]


def _with_report(attempt: Attempt) -> Attempt:
    for error in _unfit(attempt.failure):
        from llmcore.validator import Problem  # loads jsonschema: only where there is one

        error.with_problems([_read(Problem.model_validate, problem) for problem in error.problems])
    if not is_object(attempt.report):
        return attempt
    from llmcore.validator import ValidationReport

    return updated(attempt, {"report": _read(ValidationReport.model_validate, attempt.report)})


def _unfit(failure: object) -> Iterator[OutputParseError]:
    """The errors that say what is wrong with a value."""
    if isinstance(failure, OutputParseError) and is_list(getattr(failure, "problems", None)):
        yield failure
    for inner in failure.failures if isinstance(failure, FallbackExhausted) else ():
        yield from _unfit(inner)


def _read(read: Callable[[Any], Any], given: Any) -> Any:
    try:
        return read(given) if is_object(given) else given
    except ValidationError:
        return given
