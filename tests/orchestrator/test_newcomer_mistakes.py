"""Mistakes of newcomers: each raises a `CallerError` at once that names the thing and the fix, and nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import pytest
from pydantic import BaseModel, ValidationError

import llmcore
from llmcore import CallerError, FakeModel, Hooks, Orchestrator, ToolRegistry, testing

FACE = cast("Any", llmcore)  # callers without a type checker
TESTING = cast("Any", testing)


class City(BaseModel):
    name: str


def add(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


def made(**options: Any) -> Any:
    return Orchestrator(FakeModel(default="x"), **options)


def run(**options: Any) -> Any:
    return made().run_sync("q", **options)


class Unusable:
    """A type that pydantic does not know."""


def takes_one(given: object) -> str:
    return str(given)


def taking(parameters: dict[str, Any]) -> Any:
    return made(tools=[FACE.ToolDefinition(name="f", parameters=parameters)])


MISTAKES: list[tuple[Callable[[], Any], str, str]] = [
    # a call by position, options in the wrong place, boxes and registries
    (lambda: made().run_sync("q", int), "positional", "write Orchestrator.run_sync(request)"),
    (lambda: run(hooks=Hooks()), "'hooks'", "Orchestrator(..., hooks=...)"),
    (lambda: run(web_search=print), "'web_search'", "Orchestrator(..., web_search=...)"),
    (lambda: FACE.Interjections().add(3), "an interjection is text", "not int"),
    (lambda: FACE.Interjections().add(["a"]), "an interjection is text", "not list"),
    (lambda: run(interjections=lambda: 3), "an interjection is text", "not int"),
    (lambda: FACE.ModelRegistry("x.yaml"), "ModelRegistry takes ModelConfigs", "ModelRegistry.load"),
    (lambda: FACE.ModelRegistry({"models": {}}), "ModelRegistry takes ModelConfigs", "ModelRegistry.load"),
    (lambda: FACE.ModelRegistry(["gpt"]), "ModelRegistry takes ModelConfigs", "not str"),
    # a stream
    (lambda: list(made().stream("q")), "read by `async for`", "stream_sync"),
    (lambda: made().stream("q").__enter__(), "entered by `async with`", "stream_sync"),
    (lambda: made().execute_sync("q", [City, str]), "not a value of the type list", "City | str"),
    # a result
    (lambda: list(run()), "is no list", "result.value"),
    (lambda: FACE.RunResult.model_validate_json("{}"), "no saved RunResult", "no `version`"),
    (lambda: FACE.RunResult.model_validate({"messages": []}), "no saved RunResult", "its keys are messages"),
    (lambda: FACE.RunResult.model_validate_json("junk"), "no saved RunResult", "it is no JSON"),
    (lambda: FACE.RunResult.model_validate_json(b"[]"), "no saved RunResult", "must be an object"),
    (lambda: FACE.RunResult.model_validate_json('{"version": 1, "messages": 3}'), "no saved RunResult", "messages must be"),
    (lambda: FACE.RunResult.model_validate_json('{"version": 1, "messages": [{"role": "x"}]}'), "messages.0.role", "'user'"),
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
    (lambda: made(force_tools=True), "'force_tools'", "tool_choice='required'"),
    (lambda: made(max_context_size=9), "'max_context_size'", "max_context_tokens"),
    (lambda: made(log=print), "'log'", "logging.getLogger('llmcore')"),
    (lambda: made(api_key="k"), "'api_key'", "registry entry"),
    (lambda: made(system=5), "`system`", "text or a list of TextBlocks"),
    (lambda: Orchestrator("openai/gpt-4o", adapter=cast("Any", "litellm")), "`adapter`", "LiteLLM needs none"),
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
    (lambda: made().run_sync(), "the request is None", "give text, messages, a Request or a result"),
    (lambda: made().execute_sync("q"), "needs `output_type`", "(request, output_type)"),
    (lambda: made().execute_sync("q", None), "output type", "type(None)"),
    (lambda: made().execute_sync("q", lambda: 1), "is the function", "give the type"),
    (lambda: made().execute_sync("q", City(name="x")), "City", "give the class itself"),
    (lambda: run(temprature=1), "'temprature'", "did you mean 'temperature'?"),
    (lambda: run(deps_type=int), "'deps_type'", "give `deps`"),
    (lambda: run(seed=1), "'seed'", "extra_body={...}"),
    (lambda: FACE.ModelRegistry(5), "ModelRegistry takes ModelConfigs", "ModelRegistry.load(...)"),
    (lambda: FACE.ToolConfig(tool_timeout=3), "'tool_timeout'", "did you mean 'timeout'?"),
    (lambda: run(max_retries=2), "'max_retries'", "Budget(attempts="),
    (lambda: run(stream=True), "'stream'", "call `stream(...)`"),
    (lambda: run(response_format=City), "'response_format'", "`output_type`"),
    (lambda: run(timeout=3), "'timeout'", "`deadline`"),
    (lambda: run(history=[]), "'history'", "`message_history`"),
    (lambda: run(force_tools=True), "'force_tools'", "tool_choice='required'"),
    (lambda: run(temperature="hot"), "Request.temperature", "a finite number of at least 0"),
    (lambda: run(temperature=-3), "Request.temperature", "at least 0"),
    (lambda: run(top_p=7), "Request.top_p", "less than or equal to 1"),
    (lambda: run(thinking="yes"), "Request.thinking", "True, False or the number of tokens"),
    (lambda: run(max_tokens=0), "Request.max_tokens", "at least 1"),
    (lambda: run(stop=3), "Request.stop", "must be a list"),
    (lambda: run(tool_choice="requird"), "'requird'", "did you mean 'required'?"),
    (lambda: run(tool_choice="add", tools=[add]), "'add'", "{\"name\": 'add'}"),
    (lambda: run(tool_choice={"name": "ad"}, tools=[add]), "'ad'", "'add'"),
    (lambda: run(tool_choice={"type": "function"}), "tool_choice", "{'name': tool}"),
    (lambda: run(message_history="x"), "`message_history`", "a list of messages"),
    (lambda: run(message_history=run().model_dump_json()), "`message_history`", "RunResult.model_validate_json"),
    # values
    (lambda: FACE.Budget(token=5), "'token'", "did you mean 'tokens'?"),
    (lambda: FACE.Budget(tokens=0), "Budget.tokens", "at least 1"),
    (lambda: FACE.Budget(5), "Budget", "Budget(attempts=...)"),
    (lambda: FACE.Request(), "Request", "needs `messages`"),
    (lambda: FACE.Request("hi"), "Request", "Request(messages=...)"),
    (lambda: FACE.Request(messages="x", temprature=1), "'temprature'", "did you mean 'temperature'?"),
    (lambda: FACE.Message(role="usr", content="x"), "Message.role", "did you mean 'user'?"),
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
    (lambda: FACE.FakeModel().usage(tokens=3), "'tokens'", "did you mean 'input_tokens'?"),
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
    (lambda: taking({"city": {"type": "string"}}), "city", "'properties': {...}"),
    (lambda: taking({"type": "object", "propertys": {"a": {}}}), "propertys", "did you mean 'properties'?"),
    (lambda: taking({"type": "object", "properties": {"a": {"description": 5}}}), "properties.a.description", "must be a string"),
    (lambda: FACE.tool(params=Unusable)(takes_one), "'takes_one'", "`params`"),
    # values and boxes of the public face
    (lambda: FACE.Limits(txt=3), "'txt'", "did you mean 'text'?"),
    (lambda: FACE.Limits(text="4MB"), "Limits.text", "a whole number from 0 to 2000000000, not '4MB'"),
    (lambda: FACE.Limits(depth=-1), "Limits.depth", "from 0 to 256"),
    (lambda: FACE.Limits(calls=True), "Limits.calls", "a whole number"),
    (lambda: FACE.normalize("x", limits={"text": 3}), "`limits`", "Limits(text="),
    (lambda: FACE.Normalizer(limits={"text": 3}), "`limits`", "Limits(text="),
    (lambda: FACE.ToolSet([add], strict=True), "'strict'", "tools"),
    (lambda: list(made().iterate("q")), "read by `async for`", "stream_sync"),
    (lambda: made().iterate("q").__enter__(), "entered by `async with`", "stream_sync"),
    (lambda: made().iterate("q").__await__(), "not awaited", "run(...)"),
    (lambda: made().stream("q").__await__(), "not awaited", "run(...)"),
    (lambda: FACE.CapabilityStore(x=1), "'x'", "backend"),
    (lambda: FACE.CapabilityStore("facts.json"), "CapabilityStore", "write CapabilityStore(table=...)"),
    (lambda: FACE.CapabilityStore(ttl="1d"), "`ttl`", "a finite number of seconds"),
    (lambda: FACE.CapabilityStore(trial=-1), "`trial`", "a finite number of seconds"),
    (lambda: FACE.CapabilityStore(maxsize=0), "`maxsize`", "at least 1"),
    (lambda: FACE.Interjections("x"), "Interjections", "write Interjections()"),
    (lambda: FACE.Veto(), "needs `reason`", "write Veto(reason"),
    (lambda: TESTING.ReplayAdapter(), "needs `transcript`", "write ReplayAdapter(transcript"),
    (lambda: TESTING.block_model_requests(3), "block_model_requests", "write block_model_requests()"),
    (lambda: FACE.tool(add).renamed(), "needs `name`", "renamed(name"),
    (lambda: FACE.tool(add).replacing(3), "Tool.replacing", "write Tool.replacing()"),
    (lambda: FACE.Tool(), "needs `function`", "write Tool(function"),
    (lambda: FACE.tool(add, add), "tool", "write tool(function)"),
    (lambda: FACE.json_schema(), "needs `output_type`", "json_schema(output_type"),
    (lambda: FACE.ModelRegistry.from_dict(3), "from_dict", "takes a dict"),
    # names of other libraries, and of the functions
    (lambda: run(allowed_tools=["add"]), "'allowed_tools'", "ToolConfig(allowed="),
    (lambda: made(allowed_tools=["add"]), "'allowed_tools'", "ToolConfig(allowed="),
    (lambda: FACE.ToolConfig(allowed_tools={"add"}), "'allowed_tools'", "`allowed`"),
    (lambda: FACE.Budget(timeout=3), "'timeout'", "`deadline`"),
    (lambda: FACE.FakeModel().usage(prompt_tokens=3), "'prompt_tokens'", "`input_tokens`"),
    (lambda: FACE.normalize("x", tols=[]), "'tols'", "did you mean 'tools'?"),
    (lambda: FACE.Normalizer(tool=[]), "'tool'", "did you mean 'tools'?"),
    (lambda: FACE.parse("5", int, partal=True), "'partal'", "did you mean 'partial'?"),
    (lambda: FACE.validate("text", []), "'text'", "validate(normalize(reply, tools), tools)"),
    # numbers and switches as texts, as a shell or an environment has them
    *(
        (partial(run, **{name: value}), f"Request.{name}", f"{words}, not a text")
        for name, value, words in (
            ("max_tokens", "5", "a whole number of at least 1"),
            ("temperature", "0.5", "a finite number of at least 0"),
            ("top_p", "1", "a finite number of at least 0"),
            ("deadline", "3", "a finite number above 0"),
            ("parallel_tool_calls", "no", "True or False"),
            ("allow_web_search", "yes", "True or False"),
            ("thinking", "high", "the number of tokens that the model may think, 1 or more"),
        )
    ),
    (lambda: run(thinking=-1), "Request.thinking", "the number of tokens that the model may think, 1 or more"),
    (lambda: run(thinking=0), "Request.thinking", "the number of tokens that the model may think, 1 or more"),
    (lambda: FACE.Budget(tokens="5"), "Budget.tokens", "not a text"),
    (lambda: FACE.RetryConfig(max_retries="3"), "RetryConfig.max_retries", "not a text"),
    (lambda: FACE.ToolConfig(enabled="no"), "ToolConfig.enabled", "True or False, not a text"),
    (lambda: FACE.ToolConfig(max_result_chars=3), "ToolConfig.max_result_chars", "at least 200"),
    (lambda: FACE.ToolConfig(allowed="add"), "ToolConfig.allowed", "a set of tools' names, as in {'add'}"),
    # values can only be set when they are created
    (lambda: setattr(FACE.Budget(), "tokens", 5), "Budget.tokens can only be set", "model_copy(update={'tokens': ...})"),
    (lambda: setattr(FACE.Budget(), "token", 5), "Budget has no field 'token'", "did you mean 'tokens'?"),
    (lambda: setattr(FACE.Message(role="user", content="x"), "role", "x"), "Message.role can only be set", "model_copy"),
    (lambda: delattr(FACE.Budget(), "tokens"), "Budget.tokens can only be set", "model_copy"),
    # blocks
    (lambda: FACE.Message(role="user", content=[{"type": "txt"}]), "Message.content.0.type is 'txt'", "did you mean 'text'?"),
    (lambda: FACE.Message(role="user", content=[{"text": "x"}]), "Message.content.0", "needs `type`"),
    (lambda: FACE.Message(role="user", content=[{"type": "text"}]), "Message needs", "`content.0.text`"),
    (lambda: FACE.Message(role="user", content=[3]), "Message.content.0", "a dict or an object, not int"),
    (lambda: FACE.ImageBlock(data="data:image/png;base64,aGk=", media_type="image/png"), "base64 alone", "as `url`"),
    # tools and readers
    (
        lambda: made(tools=[{"functionDeclarations": [{"name": "q"}]}]),
        "functionDeclarations",
        "tools=[*entry['functionDeclarations']]",
    ),
    (lambda: setattr(made(), "max_turns", 5), "`max_turns` is not a setting", "it is `max_tool_turns`"),
    (lambda: FACE.tool(classmethod(cast("Any", add))), "a classmethod", "write @classmethod above @tool"),
    (lambda: FACE.tool(property(add)), "a property", "a tool is a method"),
    (
        lambda: made(tools=[FACE.tool(add, name="final_result")]).run_sync("q", output_type=int),
        "'final_result'",
        "rename it with",
    ),
    (lambda: FACE.normalize("x", [add], dialects="hermes"), "`dialects`", "as in dialects=['hermes']"),
    (lambda: FACE.normalize("x", [add], dialects=["hermess"]), "'hermess'", "did you mean 'hermes'?"),
    (lambda: FACE.Normalizer([add], dialects="hermes"), "`dialects`", "as in dialects=['hermes']"),
    (lambda: FACE.Normalizer([add], dialects=["zzzzz"]), "'zzzzz'", "llmcore.normalizer.DIALECTS"),
    (lambda: FACE.normalize("{}", [add], forced_tool="ad"), "`forced_tool` is 'ad'", "did you mean 'add'?"),
    (lambda: FACE.Normalizer([add], forced_tool="ad"), "`forced_tool` is 'ad'", "did you mean 'add'?"),
    (lambda: FACE.normalize("x", reasoning_open="no"), "`reasoning_open`", "True or False"),
    (lambda: FACE.parse("3", int, partial="yes"), "`partial`", "True or False"),
    (lambda: made(adapter=FakeModel()), "`adapter`", "give one of them"),
    # one where several are due, and several where one is
    (lambda: run(tools=FACE.tool(add)), "a list of tools, not Tool", "[add]"),
    (lambda: run(tools={"add": add}), "a list of tools, not dict", "[*tools.values()]"),
    (lambda: made(tools=FACE.ToolDefinition(name="ask")), "a list of tools, not ToolDefinition", "[ask]"),
    (lambda: ToolRegistry(FACE.tool(add)), "a list of tools, not Tool", "[add]"),
    (lambda: FACE.ToolSet({"name": "add", "parameters": {}}), "a list of tools, not dict", "[tool]"),
    (lambda: made().run_sync({"role": "user", "content": "x"}), "of type dict", "put the message in a list"),
    (lambda: made().run_sync(FACE.RunResult().model_dump()), "of type dict", "RunResult.model_validate(data)"),
    (lambda: made().run_sync([("user", "x")]), "message 0 of the request is of type tuple", "{'role': 'user', 'content': '...'}"),
    (lambda: made().run_sync([{"role": "human", "content": "x"}]), "has the role 'human'", "here it is 'user'"),
    (lambda: made().run_sync([{"role": "model", "content": "x"}]), "has the role 'model'", "here it is 'assistant'"),
    (lambda: run(system=[{"role": "user", "content": "x"}]), "`system`", "text or a list of TextBlocks"),
    # fields by position
    (lambda: FACE.TextBlock("x"), "TextBlock takes its fields by name", "TextBlock(text=...)"),
    (lambda: FACE.ImageBlock("a.png"), "ImageBlock takes its fields by name", "ImageBlock(url=...)"),
    (lambda: FACE.Message("user", "x"), "Message takes its fields by name", "Message(role=..., content=...)"),
    # empty texts and values of another kind
    (lambda: run(stop=""), "Request.stop", "must not be empty"),
    (lambda: run(stop=["END", ""]), "Request.stop", "must not be empty"),
    (lambda: FACE.ToolDefinition(name=""), "ToolDefinition.name", "must not be empty"),
    (lambda: FACE.Veto(" "), "Veto.reason", "why the tool does not run"),
    (lambda: FACE.Answer("x", "yes"), "`is_error`", "True or False"),
    (lambda: FACE.RunResult.model_validate(5), "this is no saved RunResult", "a dict"),
    (lambda: FACE.FakeModel().tool_call(add), "FakeModel.tool_call: `name`", "a tool's name, a text"),
    (lambda: run(answers={"c": FACE.Approve()}), "no call 'c' waits", "run(result, answers=...)"),
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


def test_a_function_that_returns_no_reply_is_named() -> None:
    def answer(request: object) -> None:
        """Forgets its `return`."""

    with pytest.raises(CallerError, match="the function answer, given as a reply, returned None: it must return the reply"):
        Orchestrator(FakeModel(cast("Any", answer))).run_sync("q")


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


def test_what_the_value_has_is_not_the_results() -> None:
    result = Orchestrator(FakeModel('{"name": "Oslo"}')).run_sync("q", output_type=City)
    with pytest.raises(AttributeError, match=r"'RunResult' object has no attribute 'name'; the typed value is `result\.value`"):
        _ = cast("Any", result).name
    with pytest.raises(AttributeError, match=r"'nothing'$"):
        _ = cast("Any", Orchestrator(FakeModel("x")).run_sync("q")).nothing


@pytest.mark.parametrize(("name", "there"), [("text", "content"), ("data", "value"), ("all_messages", "messages")])
def test_what_other_libraries_call_otherwise_is_named(name: str, there: str) -> None:
    with pytest.raises(AttributeError, match=rf"it is `result\.{there}`"):
        getattr(run(), name)


def fails(*_: Any) -> Any:
    raise KeyError("boo")


class FailingHooks(Hooks):
    def before_request(self, request: Any) -> Any:
        raise KeyError("boo")


@pytest.mark.parametrize(
    ("what", "call"),
    [
        ("an output validator", lambda: run(output_validators=[fails])),
        ("the token_counter", lambda: made(token_counter=fails, max_context_tokens=9).run_sync("q")),
        ("the function given as tools", lambda: Orchestrator(FakeModel("x"), lambda: fails()).run_sync("q")),
        ("interjections", lambda: run(interjections=lambda: fails())),
        ("the hook before_request", lambda: made(hooks=FailingHooks()).run_sync("q")),
    ],
)
def test_an_exception_of_the_callers_code_says_whose_it_is(what: str, call: Callable[[], Any]) -> None:
    """It stays what was raised; a note in the traceback names the function."""
    with pytest.raises(KeyError, match="boo") as caught:
        call()
    (note,) = caught.value.__notes__
    assert note.startswith(f"raised by {what}")
    assert any(name in note for name in ("fails", "<lambda>", "before_request"))


SEEN: list[tuple[Any, Any]] = []


def _first(ctx: Any, value: Any) -> None:
    SEEN.append((ctx, value))


def _last(value: Any, context: Any) -> None:
    SEEN.append((context, value))


def _long(run_context: Any, value: Any) -> None:
    SEEN.append((run_context, value))


@pytest.mark.parametrize("judge", [_first, _last, _long])
def test_a_context_is_reported_by_its_name_where_its_annotation_says_nothing(judge: Any) -> None:
    Orchestrator(FakeModel("5"), deps="d").execute_sync("q", int, output_validators=[judge])
    context, value = SEEN.pop()
    assert (context.deps, value) == ("d", 5)


def test_a_null_for_an_optional_key_is_reported_to_be_left_out() -> None:
    parameters = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}
    given = FACE.Tool.from_definition({"name": "f", "parameters": parameters}, lambda a="", b="": a + b)
    fake = FakeModel().tool_call("f", {"a": None, "b": "x"}).tool_call("f", {"b": None}).tool_call("f", {"b": "x"}).text("done")
    result = Orchestrator(fake, [given]).run_sync("q")
    first, second = (str(attempt.report.problems[0]) for attempt in result.attempts[:2])
    assert "null (it is optional: leave the key out)" in first
    assert "optional" not in second
