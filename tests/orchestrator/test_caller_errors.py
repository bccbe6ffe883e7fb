"""The caller's mistakes raise errors that name the thing and the fix, before anything is sent."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from llmcore.adapters.guard import check_requests_allowed
from llmcore.fallback import FallbackContext, Plan, Retry
from llmcore.models import ModelRegistry
from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel, block_model_requests
from llmcore.tools import Tool
from llmcore.types import (
    Budget,
    CallerError,
    ConfigError,
    FallbackExhausted,
    LLMCoreError,
    ModelError,
    ModelNotFound,
    ToolDefinition,
    ToolDefinitionError,
)
from tests.run.support import add, called, stack

pytestmark = pytest.mark.anyio

SECRET = "sk-very-secret"


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"temprature": 1}, ConfigError, "did you mean 'temperature'"),
        ({"zzz": 1}, ConfigError, "unknown option 'zzz'; there are allow_web_search"),
        ({"temperature": "hot"}, CallerError, "temperature"),
        ({"max_tokens": 0}, CallerError, "max_tokens"),
        ({"model": "gpt-9"}, ModelNotFound, "no model 'gpt-9'.*the registry has: fake"),
        ({"tool_choice": {"name": "subtract"}}, ConfigError, "'subtract', which is not one of the tools"),
        ({"tool_choice": "required", "tools": ()}, None, ""),
        ({"strictness": "lax"}, ConfigError, "'lax'"),
        ({"budget": 3}, ConfigError, "`budget` must be an llmcore.Budget"),
        ({"budget": Budget(cost=1)}, ConfigError, "price of 'fake'.*prices"),
        ({"max_tool_turns": -1}, ConfigError, "`max_tool_turns`"),
        ({"tool_errors": "ignore"}, ConfigError, "errors"),
        ({"tools": [3]}, ToolDefinitionError, "not a tool: int"),
        ({"tools": [print]}, ToolDefinitionError, "'print'"),
        (
            {"tools": [ToolDefinition(name="add")]},
            ToolDefinitionError,
            r"'add' has the name of one of the orchestrator's.*replacing\(\)",
        ),
        ({"allow_web_search": True}, ModelNotFound, "fake lacks web search"),
    ],
)
async def test_wrong_options_are_named(options: dict[str, Any], kind: type[Exception] | None, told: str) -> None:
    fake = FakeModel(default=called("add", {"a": 1, "b": 1}))
    orchestrator = Orchestrator(fake, [add])
    if kind is None:  # the orchestrator's own tools satisfy it
        orchestrator.stream("x", **options)
        return
    with pytest.raises(kind, match=told):
        await orchestrator.run("x", **options)
    assert fake.call_count == 0


async def test_a_required_call_without_tools_is_an_error() -> None:
    with pytest.raises(ConfigError, match="there are no tools"):
        await Orchestrator(FakeModel("x")).run("x", tool_choice="required")


@pytest.mark.parametrize("request_", [None, [{"role": "user"}], [{"role": "boss", "content": "x"}], 3, [3]])
async def test_wrong_requests_are_callers_errors(request_: Any) -> None:
    fake = FakeModel(default="x")
    with pytest.raises(CallerError):
        await Orchestrator(fake).run(request_)
    assert fake.call_count == 0


@pytest.mark.parametrize(
    ("models", "told"),
    [
        ("gpt-4o", "openai/gpt-4o"),
        ("missing.yaml", "missing.yaml: no such file"),
        ({"models": {"a": {"provider": "openai"}}}, "add `model:`"),
        (Path("/nowhere"), "no such file"),
    ],
)
def test_wrong_models_are_errors_when_the_orchestrator_is_made(models: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        Orchestrator(models)


def test_an_adapter_for_an_unknown_alias_is_an_error() -> None:
    registry = ModelRegistry.from_dict({"models": {"a": {"provider": "fake", "model": "m"}}})
    with pytest.raises(ModelNotFound, match="'b'"):
        Orchestrator(registry, adapter={"b": FakeModel()})


def test_strategies_must_be_strategies() -> None:
    with pytest.raises(ConfigError, match=r"strategies\[0\] is the class Retry; give an instance"):
        Orchestrator(FakeModel(), strategies=[Retry])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match="must be a list of strategies, not Retry"):
        Orchestrator(FakeModel(), strategies=Retry())  # type: ignore[arg-type]


async def test_a_strategy_at_fault_ends_the_run_with_its_name_and_the_partial_result() -> None:
    class Typo:
        def can_handle(self, failure: LLMCoreError, context: FallbackContext) -> bool:
            return True

        def execute(self, context: FallbackContext) -> Plan:
            return Plan("fake-2", "text")

    failure = ModelError("bad")
    with pytest.raises(ConfigError, match=r"strategy Typo names a model.*no model 'fake-2'; did you mean 'fake'") as caught:
        await Orchestrator(FakeModel(default=failure), strategies=[Typo()]).run("x")
    assert caught.value.__cause__ is failure
    assert [attempt.failure for attempt in caught.value.partial.attempts] == [failure]


@pytest.mark.parametrize("name", inspect.signature(Orchestrator).parameters)
def test_a_setting_that_is_assigned_later_is_refused(name: str) -> None:
    orchestrator = Orchestrator(FakeModel())
    with pytest.raises(ConfigError, match=f"`{name}` can only be set when an Orchestrator is created"):
        setattr(orchestrator, name, None)


def test_a_misspelt_setting_is_refused_as_well() -> None:
    with pytest.raises(ConfigError, match="`max_tool_turns` can only be set"):
        setattr(Orchestrator(FakeModel()), "max_tool_turn", 3)  # noqa: B010  # no attribute of it
    setattr(Orchestrator(FakeModel()), "owner", "me")  # noqa: B010  # none of ours


def next_of(number: int) -> int:
    """The next number."""
    return number + 1


@pytest.mark.parametrize("name", ["timeout", "timout", "requires_approval"])
def test_an_option_of_a_tool_is_fixed_when_it_is_made(name: str) -> None:
    with pytest.raises(ConfigError, match=r"is set when a tool is made: tool\("):
        setattr(Tool(next_of), name, 3)


def test_a_subclass_may_have_attributes_of_its_own() -> None:
    class Mine(Orchestrator):
        def __init__(self) -> None:
            super().__init__(FakeModel())
            self.mine = 5

    assert Mine().mine == 5


def test_hooks_must_be_hooks() -> None:
    with pytest.raises(ConfigError, match=r"llmcore\.Hooks, not dict"):
        Orchestrator(FakeModel(), hooks=[{}])  # type: ignore[list-item]


async def test_no_key_stands_in_what_a_failed_run_shows() -> None:
    registry = ModelRegistry.from_dict(
        {
            "models": {
                "a": {
                    "provider": "fake",
                    "model": "m",
                    "api_key": "sk-very-secret",
                    "extra_headers": {"x": "sk-very-secret"},
                }
            }
        }
    )
    fake = FakeModel(default=ConfigError("wrong"))
    with pytest.raises(ConfigError) as caught:
        await Orchestrator(registry, adapter=fake).run("x")
    told = [caught.value, caught.value.partial, caught.value.attempts, registry, fake.calls, registry.get("a")]
    shown = repr(told)
    assert SECRET not in shown


async def test_selection_by_need_through_the_orchestrator() -> None:
    fakes = {"plain": FakeModel(default="plain"), "tooled": FakeModel(default="tooled")}
    orchestrator = stack(fakes, settings={"plain": {"supports_tools": False}})
    assert (await orchestrator.run("x")).content == "plain"
    assert (await orchestrator.run("x", tools=[add])).content == "tooled"
    assert (await orchestrator.run("x", tools=[add], model="plain")).content == "plain"
    assert fakes["plain"].calls[-1].mode == "json_schema"  # asked without native tools


async def test_max_tokens_are_bounded_by_the_model() -> None:
    fake = FakeModel(default="x")
    orchestrator = stack({"m": fake}, settings={"m": {"max_output_tokens": 100}})
    bounded = await orchestrator.run("x", max_tokens=500)
    asked = await orchestrator.run("x", max_tokens=50)
    assert [request.max_tokens for request in fake.requests] == [100, 50]
    assert [result.attempts[0].dropped for result in (bounded, asked)] == [["part of max_tokens"], []]


async def test_the_registrys_tool_settings_apply() -> None:
    fake = FakeModel(default="x")
    orchestrator = stack({"m": fake}, [add, len_of], settings={"m": {"tools": {"allowed": ["add"], "tool_choice": "auto"}}})
    await orchestrator.run("x")
    assert [made.name for made in fake.calls[0].tools] == ["add"]
    disabled = stack({"m": fake}, [add], settings={"m": {"tools": {"enabled": False}}})
    await disabled.run("x")
    assert fake.calls[-1].tools == ()


def len_of(text: str) -> int:
    return len(text)


def test_a_block_on_requests_is_lifted_again() -> None:
    with block_model_requests(), pytest.raises(ConfigError):
        check_requests_allowed("x")
    check_requests_allowed("x")


async def test_execute_without_an_output_type_throws_no_answer_away() -> None:
    fake = FakeModel("null", "null", default="hi")
    orchestrator = Orchestrator(fake)
    with pytest.raises(CallerError, match=r"execute needs an output type.*use run\(\)"):
        await orchestrator.execute("x", None)
    assert fake.call_count == 0
    nothing: Any = type(None)
    assert await orchestrator.execute("x", nothing) is None
    assert (await orchestrator.run("x", output_type=None)).content == "null"
    with pytest.raises(FallbackExhausted) as caught:
        await orchestrator.execute("x", nothing)
    assert "expected null" in caught.value.details
