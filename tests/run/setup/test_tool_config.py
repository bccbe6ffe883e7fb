"""The settings of tools, given in code as in a registry's file."""

from __future__ import annotations

from typing import Any

import pytest

from llmcore.orchestrator import Orchestrator
from llmcore.testing import FakeModel
from llmcore.tools import ToolConfig
from llmcore.types import ConfigError, MaxToolTurns, RetryConfig
from tests.run.support import add, get_weather, stack

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("per_run", [False, True])
@pytest.mark.parametrize(
    ("config", "names"), [({"allowed": {"add"}}, ["add"]), ({"enabled": False}, []), ({}, ["add", "get_weather"])], ids=str
)
async def test_what_is_offered(config: Any, names: list[str], per_run: bool) -> None:
    options: dict[str, Any] = {"tool_config": ToolConfig(**config)}
    fake = FakeModel("ok")
    config_of_all = None if per_run else ToolConfig(**config)
    await Orchestrator(fake, [add, get_weather], tool_config=config_of_all).run(
        "go", **(options if per_run else dict[str, Any]())
    )
    assert [tool.name for tool in fake.requests[0].tools] == names


@pytest.mark.parametrize("per_run", [False, True])
async def test_retries_and_the_length_of_results(per_run: bool) -> None:
    tries: list[int] = []

    def shaky() -> str:
        tries.append(len(tries))
        if len(tries) < 3:
            raise RuntimeError("shaky")
        return "x" * 1000

    config = ToolConfig(errors="retry", retry=RetryConfig(max_retries=2, base=0), max_result_chars=200)
    fake = FakeModel().tool_call("shaky").text("ok")
    orchestrator = Orchestrator(fake, [shaky], tool_config=None if per_run else config)
    result = await orchestrator.run("go", tool_config=config if per_run else None)
    assert (len(tries), result.tool_results[0].retries) == (3, 2)
    assert len(result.tool_results[0].content) <= 300


async def test_the_models_own_lie_over_the_orchestrators_and_the_runs_over_both() -> None:
    def options(turns: int) -> dict[str, Any]:
        return {"tool_config": ToolConfig(max_turns=turns)}

    def fakes() -> dict[str, FakeModel]:
        return {"a": FakeModel(default="x").tool_call("add", {"a": 1, "b": 1}).tool_call("add", {"a": 1, "b": 1})}

    own = {"a": {"tools": {"max_turns": 1}}}
    with pytest.raises(MaxToolTurns, match="after 1 tool turns"):
        await stack(fakes(), [add], settings=own, **options(5)).run("go")
    assert (await stack(fakes(), [add], settings=own, **options(1)).run("go", **options(5))).content == "x"
    with pytest.raises(MaxToolTurns, match="after 1 tool turns"):
        await stack(fakes(), [add], **options(1)).run("go")


async def test_an_allowed_tool_that_does_not_exist_is_named_with_the_nearest() -> None:
    for config, words in (
        ({"zzz"}, "'zzz' is not one of the tools; there are add, get_weather"),
        ({"get_wether"}, "did you mean 'get_weather'"),
    ):
        with pytest.raises(ConfigError, match=words):
            await Orchestrator(FakeModel("ok"), [add, get_weather]).run("go", tool_config=ToolConfig(allowed=frozenset(config)))
    settings = {"a": {"tools": {"allowed": ["zzz"]}}}
    with pytest.raises(ConfigError, match="'zzz' is not one of the tools"):
        await stack({"a": FakeModel("ok")}, [add], settings=settings).run("go")
    some = ToolConfig(allowed=frozenset({"add", "of_another_run"}))
    assert (await Orchestrator(FakeModel("ok"), [add, get_weather]).run("go", tool_config=some)).content == "ok"


async def test_one_setting_is_given_once() -> None:
    config = ToolConfig(max_turns=3)
    with pytest.raises(ConfigError, match=r"max_tool_turns and tool_config\.max_turns are the same setting"):
        Orchestrator(FakeModel("ok"), [add], tool_config=config, max_tool_turns=4)
    with pytest.raises(ConfigError, match=r"max_tool_turns and tool_config\.max_turns are the same setting"):
        await Orchestrator(FakeModel("ok"), [add]).run("go", tool_config=config, max_tool_turns=4)
    wrong: Any = {"max_turns": 3}
    with pytest.raises(ConfigError, match=r"`tool_config` must be an llmcore\.ToolConfig, not dict"):
        Orchestrator(FakeModel("ok"), tool_config=wrong)


@pytest.mark.parametrize("per_run", [False, True])
async def test_a_choice_holds_where_the_request_makes_none(per_run: bool) -> None:
    config = ToolConfig(tool_choice="none")
    for options, choice in (({}, "none"), ({"tool_choice": "auto"}, "auto")):
        fake = FakeModel("ok")
        given: dict[str, Any] = {**options, "tool_config": config} if per_run else options
        await Orchestrator(fake, [add], tool_config=None if per_run else config).run("go", **given)
        assert fake.requests[0].tool_choice == choice


@pytest.mark.parametrize("choice", ["required", "any", {"name": "add"}])
@pytest.mark.parametrize("tools", [[add], lambda: [add]], ids=["list", "function"])
@pytest.mark.parametrize("per_run", [False, True])
@pytest.mark.parametrize("with_choice", [False, True])
def test_a_choice_that_the_settings_leave_no_tool_for_is_reported_before_anything_is_sent(
    choice: Any, tools: Any, per_run: bool, with_choice: bool
) -> None:
    fake = FakeModel("never asked")
    off = ToolConfig(enabled=False, tool_choice=choice if with_choice else None)
    orchestrator = Orchestrator(fake, tools, tool_config=None if per_run else off)
    options: dict[str, Any] = {"tool_config": off if per_run else None} | ({} if with_choice else {"tool_choice": choice})
    with pytest.raises(ConfigError, match="tools are disabled"):
        orchestrator.run_sync("x", **options)
    assert fake.call_count == 0


def test_a_choice_of_a_tool_that_is_not_allowed_names_those_that_are() -> None:
    orchestrator = Orchestrator(FakeModel("never asked"), [add, get_weather])
    with pytest.raises(ConfigError, match=r"names 'add', but ToolConfig.allowed leaves \['get_weather'\]"):
        orchestrator.run_sync("x", tool_choice={"name": "add"}, tool_config=ToolConfig(allowed={"get_weather"}))
    for choice in ("auto", "none"):
        assert Orchestrator(FakeModel("ok"), [add], tool_config=ToolConfig(enabled=False)).run_sync("x", tool_choice=choice)
