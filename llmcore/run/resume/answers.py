"""The caller's answers to calls that wait, when a run resumes: `run(result, answers={call_id: Approve(), ...})`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llmcore.run.results.boundary_copies import checked_copy
from llmcore.support.code.suggestions import describe_value
from llmcore.support.values.copies import copied
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_object
from llmcore.types import CallerError, ConfigError
from llmcore.types.input.argument_errors import Kind, check_kinds, in_words

__all__ = ["Answer", "Answers", "Approve", "CallAnswer", "Deny", "check_answers"]

_MAX_SHOWN = 80


class CallAnswer:
    """An answer to a call that waits: `Approve`, `Deny` or `Answer`."""

    __slots__ = ()


@in_words()
@dataclass(frozen=True, slots=True)
class Approve(CallAnswer):
    """The call may run. `arguments` replace those of the model and are copied; None keeps the model's.

    Raises `ConfigError` if they are no dict of plain JSON data.
    """

    arguments: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        check_kinds("Approve", {"arguments": self.arguments}, {"arguments": Kind(is_object, "a dict of the arguments by name")})
        arguments = checked_copy(self.arguments, lambda words: ConfigError(f"Approve: `arguments`: {words}"))
        try:
            as_json(arguments)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"Approve: `arguments` must be plain JSON data: {error}") from None
        object.__setattr__(self, "arguments", arguments)


@in_words()
@dataclass(frozen=True, slots=True)
class Deny(CallAnswer):
    """The call does not run. The model is told so, with the `reason` if there is one."""

    reason: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise ConfigError(f"Deny: `reason` must be a text, not {type(self.reason).__name__}")


@in_words()
@dataclass(frozen=True, slots=True)
class Answer(CallAnswer):
    """The call was carried out elsewhere. `value` is its result: text, a list of `ResultBlock`, or any value that
    a tool may return. It is copied. `is_error`: the call failed, and the value says why."""

    value: Any = None
    is_error: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.is_error, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers without a type checker
            raise ConfigError(f"Answer: `is_error` must be True or False, not {describe_value(self.is_error)}")
        object.__setattr__(self, "value", copied(self.value))


_NONE_WAITS = "none waits: the result whose calls wait is what the run is given, as in run(result, answers=...)"
Answers = Mapping[str, CallAnswer]
"""Answers by call id."""


def check_answers(answers: Mapping[str, object], waiting: Mapping[str, str]) -> None:
    """Raises `CallerError` for an answer to a call that does not wait, and `ConfigError` for what is no answer. `waiting`: the
    names of the waiting calls, by id."""
    for call_id, answer in answers.items():
        if not isinstance(answer, Approve | Deny | Answer):
            rule = f"answers: that of {str(call_id)[:_MAX_SHOWN]!r} must be Approve(), Deny(...) or Answer(...)"
            raise ConfigError(f"{rule}, not {describe_value(answer)}")
        if call_id not in waiting:
            listed = ", ".join(f"{one!r} ({name})" for one, name in waiting.items())
            wait = f"those that wait are {listed}" if waiting else _NONE_WAITS
            raise CallerError(f"answers: no call {str(call_id)[:_MAX_SHOWN]!r} waits for an answer; {wait}")
