"""Whatever the type's own validators raise is a problem of the value, told with its cause; only the user's Ctrl-C passes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel, Field, field_validator

import llmcore
from llmcore.types import OutputParseError
from llmcore.validator import parse


class Unshowable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


ERRORS: list[BaseException] = [
    KeyError("x"), RuntimeError("r"), SystemExit(3), GeneratorExit(), RecursionError(), StopIteration(), MemoryError(),
    asyncio.CancelledError(), ExceptionGroup("g", [ValueError("inner")]), BaseExceptionGroup("b", [SystemExit(1)]), Unshowable(),
]  # fmt: skip


def _raising(error: BaseException) -> Any:
    class Checked(BaseModel):
        count: int

        @field_validator("count")
        @classmethod
        def check(cls, count: int) -> int:
            if count < 0:
                raise error
            return count

    return Checked


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_it_is_a_problem_and_its_cause_is_kept(error: BaseException) -> None:
    with pytest.raises(OutputParseError, match=type(error).__name__) as caught:
        parse('{"count": -1}', _raising(error))
    assert caught.value.__cause__ is error
    assert caught.value.problems
    assert parse('Not sure: {"count": -1}. Final answer: {"count": 2}', _raising(error)).count == 2
    of_it: Any = _raising(error)
    parse('[{"count": -1}, {"cou', list[of_it], partial=True)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_run_asks_again_and_goes_on(error: BaseException) -> None:
    fake = llmcore.FakeModel('{"count": -1}', '{"count": 2}')
    assert llmcore.Orchestrator(fake).execute_sync("go", _raising(error)).count == 2
    assert type(error).__name__ in str(fake.requests[-1].messages[-1])


def test_a_run_that_ends_so_tells_the_cause() -> None:
    error = KeyError("x")
    with pytest.raises(llmcore.FallbackExhausted) as caught:
        llmcore.Orchestrator(llmcore.FakeModel(default='{"count": -1}')).execute_sync("go", _raising(error))
    causes: list[BaseException | None] = [caught.value]
    while causes[-1] is not None:
        causes.append(causes[-1].__cause__)
    assert error in causes


def test_the_users_interrupt_passes() -> None:
    with pytest.raises(KeyboardInterrupt):
        parse('{"count": -1}', _raising(KeyboardInterrupt()))


def test_an_error_that_cannot_be_shown_is_told_by_its_class() -> None:
    class Odd(BaseModel):
        count: int

        @field_validator("count")
        @classmethod
        def check(cls, count: int) -> int:
            raise type("Odd", (ValueError,), {"__str__": Unshowable.__str__})

    with pytest.raises(OutputParseError):
        parse('{"count": 1}', Odd)


def test_a_default_factory_that_fails_is_no_partial_value() -> None:
    def fail() -> int:
        raise SystemExit(1)

    class Lazy(BaseModel):
        name: str
        count: int = Field(default_factory=fail)

    assert parse('{"name": "a', Lazy, partial=True) is None
    with pytest.raises(OutputParseError):
        parse('{"name": "a"}', Lazy)
