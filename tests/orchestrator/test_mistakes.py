"""What newcomers get wrong: each is a `CallerError` at once that names the thing and the fix, and nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from pydantic import BaseModel, ValidationError

import llmcore
from llmcore import CallerError, FakeModel, Hooks, Orchestrator, ToolRegistry

FACE = cast("Any", llmcore)  # callers without a type checker


class City(BaseModel):
    name: str


def add(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


def made(**options: Any) -> Any:
    return Orchestrator(FakeModel(default="x"), **options)


def run(**options: Any) -> Any:
    return made().run_sync("q", **options)


MISTAKES: list[tuple[Callable[[], Any], str, str]] = [
    # the orchestrator
    (lambda: FACE.Orchestrator(), "needs `models`", "write Orchestrator(models"),
    (lambda: FACE.Orchestrator(None), "models must be", "a model name such as 'openai/gpt-4o'"),
    (lambda: FACE.Orchestrator(3), "models must be", "a path to a YAML file"),
    (lambda: FACE.Orchestrator([FakeModel()]), "models must be", "adapter={alias: ...}"),
    (lambda: FACE.Orchestrator(FakeModel), "FakeModel", r"write FakeModel()"),
    (lambda: FACE.Orchestrator("gpt-4o"), "'gpt-4o'", "'openai/gpt-4o'"),
    (lambda: made(sytem="x"), "'sytem'", "did you mean 'system'?"),
    (lambda: made(max_turns=3), "'max_turns'", "max_tool_turns"),
    (lambda: made(temperature=1), "'temperature'", "give it to run()"),
    (lambda: made(temprature=1), "'temprature'", "'temperature'"),
    (lambda: made(api_key="k"), "'api_key'", "registry entry"),
    (lambda: made(system=5), "`system`", "text or a list of TextBlocks"),
    (lambda: made(adapter="litellm"), "`adapter`", "LiteLLM needs none"),
    (lambda: made(enforce_limits="no"), "`enforce_limits`", "True or False"),
    (lambda: made(strictness="strict"), "`strictness`", "'off', 'safe' or 'lenient'"),
    (lambda: made(max_tool_turns="3"), "`max_tool_turns`", "a whole number"),
    (lambda: made(max_parallel_tools=0), "`max_parallel_tools`", "at least 1"),
    (lambda: made(tool_timeout=-1), "`tool_timeout`", "seconds above 0"),
    (lambda: made(tool_errors="cont"), "`tool_errors`", "'continue', 'abort' or 'retry'"),
    (lambda: made(budget={"tokens": 3}), "`budget`", "an llmcore.Budget"),
    (lambda: made(capabilities={}), "`capabilities`", "llmcore.CapabilityStore"),
    (lambda: made(strategies=3), "strategies", "must be a list of strategies"),
    (lambda: made(web_search="bing"), "web_search", "must"),
    (lambda: made(hooks=print), "hooks", "Hooks(before_tool_run=check)"),
    (lambda: made(hooks=Hooks), "hooks must be instances", "Hooks()"),
    # a run
    (lambda: made().run_sync(), "needs `request`", "write Orchestrator.run_sync(request)"),
    (lambda: made().execute_sync("q"), "needs `output_type`", "(request, output_type)"),
    (lambda: made().execute_sync("q", None), "output type", "type(None)"),
    (lambda: made().execute_sync("q", lambda: 1), "is the function", "give the type"),
    (lambda: made().execute_sync("q", City(name="x")), "City", "give the class itself"),
    (lambda: run(temprature=1), "'temprature'", "did you mean 'temperature'?"),
    (lambda: run(max_retries=2), "'max_retries'", "Budget(attempts="),
    (lambda: run(stream=True), "'stream'", "call `stream(...)`"),
    (lambda: run(response_format=City), "'response_format'", "`output_type`"),
    (lambda: run(timeout=3), "'timeout'", "`deadline`"),
    (lambda: run(history=[]), "'history'", "`message_history`"),
    (lambda: run(force_tools=True), "'force_tools'", "tool_choice='required'"),
    (lambda: run(temperature="hot"), "Request.temperature", "a finite number of at least 0"),
    (lambda: run(temperature=-3), "Request.temperature", "at least 0"),
    (lambda: run(top_p=7), "Request.top_p", "less than or equal to 1"),
    (lambda: run(thinking="yes"), "Request.thinking", "True or False"),
    (lambda: run(max_tokens=0), "Request.max_tokens", "at least 1"),
    (lambda: run(stop=3), "Request.stop", "must be list"),
    (lambda: run(tool_choice="requird"), "'requird'", "did you mean 'required'?"),
    (lambda: run(tool_choice="add", tools=[add]), "'add'", "{\"name\": 'add'}"),
    (lambda: run(tool_choice={"name": "ad"}, tools=[add]), "'ad'", "'add'"),
    (lambda: run(tool_choice={"type": "function"}), "tool_choice", "{'name': tool}"),
    (lambda: run(message_history="x"), "`message_history`", "a list of messages"),
    (lambda: run(message_history=run().model_dump_json()), "`message_history`", "RunResult.model_validate_json"),
    (lambda: made().run_sync({"role": "user", "content": "x"}), "dict", "give text, a list of messages or a Request"),
    # values
    (lambda: FACE.Budget(token=5), "'token'", "did you mean 'tokens'?"),
    (lambda: FACE.Budget(tokens=0), "Budget.tokens", "at least 1"),
    (lambda: FACE.Budget(5), "Budget", "Budget(attempts=...)"),
    (lambda: FACE.Request(), "Request", "needs `messages`"),
    (lambda: FACE.Request("hi"), "Request", "Request(messages=...)"),
    (lambda: FACE.Request(messages="x", temprature=1), "'temprature'", "did you mean 'temperature'?"),
    (lambda: FACE.Message(role="usr", content="x"), "Message.role", "did you mean 'user'?"),
    (lambda: FACE.Message("user", "x"), "Message", "Message(role=...)"),
    (lambda: FACE.Message(role="user", text="x"), "'text'", "content"),
    (lambda: FACE.ImageBlock(), "ImageBlock", "either `url` or `data`"),
    (lambda: FACE.ImageBlock(data="aGk="), "ImageBlock", "`media_type`"),
    (lambda: FACE.RetryConfig(max=3), "'max'", "max_retries"),
    (lambda: FACE.parse("3", None), "output_type", "type(None)"),
    (lambda: FACE.Hooks(before_tol_run=print), "'before_tol_run'", "did you mean 'before_tool_run'?"),
    # the double
    (lambda: FACE.FakeModel(chunksize=3), "'chunksize'", "did you mean 'chunk_size'?"),
    (lambda: FACE.FakeModel(chunk_size="3"), "`chunk_size`", "1 or more"),
    (lambda: FACE.FakeModel(capabilities={}), "`capabilities`", "Capabilities"),
    (lambda: FACE.FakeModel(lambda: "x"), "a reply function", "called with the request"),
    (lambda: FACE.FakeModel().error("x"), "`error`", "an exception or its class"),
    (lambda: FACE.FakeModel().usage(tokens=3), "'tokens'", "`input_tokens`"),
    (lambda: FACE.FakeModel().usage(input_tokens=-3), "`input_tokens`", "at least 0"),
    (lambda: FACE.FakeModel().on_request(3), "on_request", "a function of the request"),
    (lambda: FACE.FakeModel().tool_calls("f", {}), "tool_calls", "a pair (name, arguments)"),
    # tools
    (lambda: FACE.tool(nme="x"), "'nme'", "did you mean 'name'?"),
    (lambda: FACE.tool(timeout="3"), "timeout", "seconds above 0"),
    (lambda: FACE.ToolDefinition(name="f", params={}), "'params'", "parameters"),
    (lambda: FACE.ToolDefinition(parameters={}), "ToolDefinition", "needs `name`"),
    (lambda: made(tools=add), "function", "give a list of tools"),
    (lambda: run(tools=[3]), "int", "give a function, a Tool"),
    (lambda: ToolRegistry([add]).register(add), "'add'", "replace=True"),
    (lambda: ToolRegistry().unregister("f"), "'f'", "there is none"),
]


def test_there_are_sixty() -> None:
    assert len(MISTAKES) >= 60


@pytest.mark.parametrize("index", range(len(MISTAKES)), ids=[thing for _, thing, _ in MISTAKES])
def test_a_mistake_is_named_with_its_fix(index: int) -> None:
    mistake, thing, fix = MISTAKES[index]
    with pytest.raises(CallerError) as caught:
        mistake()
    assert thing in str(caught.value)
    assert fix in str(caught.value)
    assert not caught.value.attempts, "it was found before anything was sent"


def test_pydantics_error_is_the_cause() -> None:
    with pytest.raises(CallerError) as caught:
        FACE.Budget(token=5)
    assert isinstance(caught.value.__cause__, ValidationError)


@pytest.mark.parametrize(
    "given",
    ["any", {"type": "function", "function": {"name": "add"}}, {"type": "tool", "name": "add"}, {"type": "any"}],
)
def test_choices_of_other_wires_are_read(given: Any) -> None:
    fake = FakeModel().tool_call("add", {"a": 1}).text("2")
    Orchestrator(fake, [add]).run_sync("q", tool_choice=given)
    assert fake.requests[0].tool_choice in ("required", {"name": "add"})
