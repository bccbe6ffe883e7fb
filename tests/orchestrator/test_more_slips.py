"""Mistakes of callers that earlier versions accepted silently, or reported without a fix."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Self

import pytest
from pydantic import BaseModel, field_validator, model_validator
from pydantic_core import PydanticCustomError

from llmcore import (
    CallerError,
    ConfigError,
    FakeModel,
    Observer,
    Orchestrator,
    OutputParseError,
    Tool,
    ToolDefinition,
    parse,
    tool,
)
from llmcore.types import ToolDefinitionError


def add(a: int) -> int:
    """Add."""
    return a


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("tool_finished", "tool_ended"),
        ("tool_start", "tool_started"),
        ("tool_call", "tool_ended"),
        ("tool_failed", "tool_ended"),
        ("run_finished", "run_ended"),
        ("attempt_done", "attempt_ended"),
        ("on_run_started", "run_started"),
        ("on_tool_end", "tool_ended"),
        ("request_started", "attempt_started"),
        ("repaird", "repaired"),
        ("run_starts", "run_started"),
    ],
)
def test_a_method_of_an_observer_that_is_meant_for_a_point_is_refused(name: str, meant: str) -> None:
    def told(self: Any, *what: Any) -> None: ...

    for method in (told, staticmethod(told), classmethod(told)):
        with pytest.raises(ConfigError, match=rf"{name} is never called; did you mean '\w+'\?"):
            type("Watch", (Observer,), {name: method})
    with pytest.raises(ConfigError) as raised:
        type("Watch", (Observer,), {name: told})
    assert meant in str(raised.value) or name in ("tool_call", "tool_failed", "request_started")


@pytest.mark.parametrize(
    "name", ["report", "flush", "tools", "tool_names", "run_ids", "waiting_time", "_tool_finished", "started_at"]
)
def test_helpers_of_an_observer_are_its_own(name: str) -> None:
    assert type("Watch", (Observer,), {name: lambda: None})


@pytest.mark.parametrize("given", [5, [1], "x"])
def test_a_preprocess_that_gives_no_arguments_is_named(given: Any) -> None:
    made = tool(add, preprocess=lambda arguments: given)
    run = Orchestrator(FakeModel().tool_call("add", {"a": 1}).text("x"), [made]).run_sync("?")
    record = run.tool_results[0]
    assert record.error is not None
    assert f"the preprocess of tool 'add' returned {type(given).__name__}; it returns a dict" in record.error.message
    assert not record.ran


def test_an_optional_property_without_a_default_arrives_as_none() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "unit": {"type": "string"}, "n": {"type": "integer", "default": 3}},
        "required": ["city"],
    }
    definition = ToolDefinition(name="clock", description="", parameters=schema)
    made = Tool.from_definition(definition, lambda city, unit, n: f"{city} {unit!r} {n}")
    run = Orchestrator(FakeModel().tool_call("clock", {"city": "Rome"}).text("z"), [made]).run_sync("?")
    assert run.tool_results[0].content == "Rome None 3"


WORDS: list[tuple[Callable[[], object], type[Exception], str]] = [
    (
        lambda: tool(add, params=dict[str, int]),
        ToolDefinitionError,
        "a type with fields (a model, a dataclass, a TypedDict), not dict[str, int]",
    ),
    (lambda: Orchestrator(FakeModel(), system_prompt="x"), ConfigError, "has no option 'system_prompt'; it is `system`"),  # type: ignore[call-arg]  # the slip
    (lambda: Orchestrator(FakeModel(), instructions="x"), ConfigError, "has no option 'instructions'; it is `system`"),  # type: ignore[call-arg]  # the slip
    (lambda: Orchestrator(FakeModel(), observers=print), ConfigError, "not the function print; derive a class of it"),  # type: ignore[arg-type]  # the slip
    (lambda: Orchestrator(FakeModel(), observers=5), ConfigError, "not 5; derive a class of it"),  # type: ignore[arg-type]  # the slip
]


@pytest.mark.parametrize("number", range(len(WORDS)))
def test_a_slip_is_reported_with_its_fix(number: int) -> None:
    slip, kind, words = WORDS[number]
    with pytest.raises(kind, match=re.escape(words)) as raised:
        slip()
    assert "an Agent keeps it" not in str(raised.value)


def test_what_is_said_to_do_works() -> None:
    model = FakeModel("x")
    Orchestrator(model, system="S").run_sync("?")
    assert model.requests[0].system == "S"


@pytest.mark.parametrize(
    ("key", "meant"),
    [("toolcalls", "tool_calls"), ("tool_cals", "tool_calls"), ("tool_callid", "tool_call_id"), ("contents", "content")],
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_misspelt_field_of_a_message_is_refused(role: str, key: str, meant: str) -> None:
    history: list[dict[str, Any]] = [{"role": "user", "content": "q"}, {"role": role, "content": "x", key: [{"id": "c"}]}]
    with pytest.raises(CallerError, match=rf"message 1 of the request has no field '{key}'; did you mean '{meant}'\?"):
        Orchestrator(FakeModel("ok")).run_sync("more", message_history=history)


@pytest.mark.parametrize("key", ["created_at", "x_request_id", "foo", "additional_kwargs"])
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_a_field_that_is_unknown_is_refused(role: str, key: str) -> None:
    history: list[dict[str, Any]] = [{"role": "user", "content": "q"}, {"role": role, "content": "x", key: "c"}]
    with pytest.raises(CallerError, match=rf"message 1 of the request has no field '{key}'; "):
        Orchestrator(FakeModel("ok")).run_sync("more", message_history=history)


@pytest.mark.parametrize("key", ["id", "name", "citations", "logprobs", "index", "parsed"])
def test_fields_of_others_stay(key: str) -> None:
    history: list[dict[str, Any]] = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "x", key: "c"}]
    run = Orchestrator(FakeModel("ok")).run_sync("more", message_history=history)
    assert f"'{key}': 'c'" in str(run.messages[1])


class Pair(BaseModel):
    a: int
    b: int

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.a > self.b:
            raise ValueError("a must be at most b")
        return self

    @field_validator("b")
    @classmethod
    def _is_even(cls, b: int) -> int:
        if b % 2:
            raise PydanticCustomError("odd", "b is to be even")
        assert b < 100, "b is small"
        return b


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 9, "b": 2}', "expected a value that the type's own validators take, got object of 2: a must be at most b"),
        ('{"a": 9, "b": 11}', "`b`: expected a value that the type's own validators take, got integer 11: b is to be even"),
        ('{"a": 9, "b": 200}', "`b`: expected a value that the type's own validators take, got integer 200: b is small"),
    ],
)
def test_the_words_of_a_validator_are_reported_as_such(text: str, said: str) -> None:
    with pytest.raises(OutputParseError, match=re.escape(said)):
        parse(text, Pair)
    model = FakeModel(text).text('{"a": 1, "b": 2}')
    Orchestrator(model).execute_sync("?", Pair)
    assert said.partition("got ")[2] in str(model.requests[1].messages[-1])
