"""`FallbackExhausted` is of its failures' kind, so that what a caller would catch fires."""

from __future__ import annotations

import copy
from typing import Annotated

import pytest
from pydantic import AfterValidator

from llmcore.orchestrator import Orchestrator
from llmcore.run.turn.reply_checks import always_raises
from llmcore.testing import FakeModel
from llmcore.types import (
    Budget,
    ContextOverflow,
    FallbackExhausted,
    LLMCoreError,
    ModelError,
    OutputParseError,
    Overloaded,
    ProviderError,
    RateLimited,
    Refused,
    RemoteServerError,
)
from tests.helpers.processes import sent


def test_one_kind_of_failure_is_caught_by_its_class() -> None:
    fake = FakeModel(default=RateLimited("slow down, please " * 40, retry_after=0))
    with pytest.raises(RateLimited) as caught:
        Orchestrator(fake, strategies=()).run_sync("x")
    error = caught.value
    assert isinstance(error, FallbackExhausted)
    assert (error.retry_after, error.status) == (0, 429)
    assert len(str(error)) <= 200
    assert "\n" not in str(error)
    assert "slow down" in error.details
    assert [type(one.failure) for one in error.attempts] == [RateLimited]


def test_the_line_of_a_long_failure_keeps_its_cause() -> None:
    def refuse(value: int) -> int:
        raise ZeroDivisionError(f"boo {value}")

    with pytest.raises(FallbackExhausted) as caught:
        Orchestrator(FakeModel(default="1"), strategies=()).execute_sync("?", Annotated[int, AfterValidator(refuse)])
    assert len(str(caught.value)) <= 200
    assert "the answer does not fit the output type" in str(caught.value)
    assert "ZeroDivisionError: boo 1" in str(caught.value)


def test_kinds_that_differ_are_caught_by_each_with_its_fields() -> None:
    parse, limit = OutputParseError("a", ["why"], "text"), RateLimited("b", retry_after=3)
    made = FallbackExhausted.of("no", (), [limit, parse, RemoteServerError("c", status=500)])
    for kind in (RateLimited, OutputParseError, RemoteServerError, ProviderError, ModelError, FallbackExhausted):
        assert isinstance(made, kind)
    assert not isinstance(made, Overloaded)
    assert (made.retry_after, made.problems, made.text, made.status) == (3, ["why"], "text", 500)  # type: ignore[attr-defined]
    assert [type(one) for one in made.failures] == [RateLimited, OutputParseError, RemoteServerError]


def test_a_class_and_a_case_of_it_are_one_kind() -> None:
    made = FallbackExhausted.of("no", (), [OutputParseError("a"), ModelError("b"), OutputParseError("c")])
    assert type(made).__bases__ == (FallbackExhausted, OutputParseError)
    assert type(FallbackExhausted.of("no", (), [])) is FallbackExhausted
    nested = FallbackExhausted.of("no", (), [made, Overloaded("d")])
    assert type(nested).__bases__ == (FallbackExhausted, Overloaded, OutputParseError)


def test_an_adapters_own_classes_count_unless_they_are_builtin_exceptions_too() -> None:
    class Busy(Overloaded):
        pass

    class Disk(ProviderError, OSError):
        pass

    class Key(ModelError, KeyError):
        pass

    assert isinstance(FallbackExhausted.of("no", (), [Busy("a")]), Busy)
    made = FallbackExhausted.of("no", (), [Disk("a"), Key("b")])
    assert isinstance(made, ProviderError)
    assert isinstance(made, ModelError)


def test_a_run_of_mixed_failures_is_caught_by_any_of_them() -> None:
    """Whatever came last, and with text that could stand in for an answer: it was asked for typed."""
    limit = RateLimited("slow", retry_after=0)
    for fake in (FakeModel("no number", limit), FakeModel(limit, "no number")):
        with pytest.raises(RateLimited) as caught:
            Orchestrator(fake).execute_sync("x", int, budget=Budget(attempts=2, reasks=0))
        assert isinstance(caught.value, OutputParseError)
        assert "integer" in str(caught.value.problems[0])
        assert caught.value.partial is not None


def test_text_stands_in_unless_all_is_for_the_caller_to_mend() -> None:
    mixed = FallbackExhausted.of("no", (), [ContextOverflow("a"), ModelError("b")])
    assert isinstance(mixed, ContextOverflow)
    assert not always_raises(mixed)
    assert always_raises(FallbackExhausted.of("no", (), [ContextOverflow("a"), ContextOverflow("b")]))
    assert always_raises(Refused("no"))


def test_it_survives_another_process_and_json() -> None:
    made = FallbackExhausted.of("no", (), [RateLimited("slow", retry_after=2), RemoteServerError("down", status=502)])
    for again in (sent(made), LLMCoreError.from_data(made.as_data()), copy.copy(made), copy.deepcopy(made)):
        assert isinstance(again, RemoteServerError)
        assert isinstance(again, RateLimited)
        assert isinstance(again, FallbackExhausted)
        assert (str(again), again.status, again.retry_after) == ("no", 502, 2)
        assert [str(one) for one in again.failures] == ["slow", "down"]
