"""llmcore's models for pydantic-ai and LangChain: the framework runs the tools, and a run of an orchestrator answers each request."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import pytest
from anyio import to_thread
from pydantic import BaseModel

from llmcore import Budget, Orchestrator
from llmcore.support.values.json_data import as_json
from llmcore.types import ConfigError, LLMCoreError, Overloaded
from tests.helpers.wire_server import Failure, Seen, Step, Turn, WireServer
from tests.integrations.clients.sdks import chat_tools
from tests.integrations.clients.support import DIALECTS, DONE, sample, the_module

pytestmark = pytest.mark.anyio
Json = dict[str, Any]
QUESTION = "How is the weather?"
DOWN = Failure(503, {"error": {"message": "overloaded"}})
CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}</tool_call>'
dialects = pytest.mark.parametrize("dialect", DIALECTS)
streamed = pytest.mark.parametrize("is_streamed", [False, True], ids=["whole", "streamed"])


class Place(BaseModel):
    city: str


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def answering(*steps: Step) -> WireServer:
    """A model that gives these replies in turn, and `DONE` as soon as the history has a result, in any mode."""
    given = iter(steps)

    def script(seen: Seen) -> Step:
        words = as_json(seen.body["messages"])
        return Turn(DONE) if '"role": "tool"' in words or "<tool_response>" in words else next(given)

    return WireServer(script)


def orchestrator(server: WireServer, *names: str, **options: Any) -> Orchestrator:
    """Of models at this server. The first one falls back on the others."""
    about: Json = {"provider": "openai_compatible", "base_url": f"{server.root}/v1", "api_key": "k", "max_retries": 0}
    models = {name: {**about, "model": name} for name in names or ("m",)}
    first, *others = models
    models[first]["escalates_to"] = others
    return Orchestrator({"llm": {"models": models}}, **options)


def agent(asked: Orchestrator, note: Callable[[str, Json], str], tools: list[Json], **options: Any) -> Any:
    """An agent of pydantic-ai."""
    pydantic_ai = the_module("pydantic_ai")
    from llmcore.integrations.pydantic_ai import LLMCoreModel

    def tool(definition: Json) -> Any:
        def run(**arguments: Any) -> str:
            return note(definition["name"], arguments)

        return pydantic_ai.Tool.from_schema(run, definition["name"], "A tool.", definition["parameters"])

    return pydantic_ai.Agent(LLMCoreModel(asked, "m"), tools=[*map(tool, tools)], **options)


def not_run(name: str, arguments: Json) -> str:
    raise AssertionError(f"{name} is no tool of this test")


def chat_model(asked: Orchestrator, **options: Any) -> Any:
    """A chat model of LangChain."""
    the_module("langchain_core")
    from llmcore.integrations.langchain import ChatLLMCore

    return ChatLLMCore(orchestrator=asked, model="m", **options)


def weather_tools() -> list[Json]:
    return sample("written", "hermes", "sentence_before").tools


# pydantic-ai


@dialects
@streamed
async def test_an_agent_of_pydantic_ai_runs_the_calls(dialect: str, is_streamed: bool) -> None:
    given = sample("written", dialect, "sentence_before")
    calls: list[tuple[str, Json]] = []

    def note(name: str, arguments: Json) -> str:
        calls.append((name, arguments))
        return "22 degrees"

    seen: list[Any] = []

    async def watch(_: Any, events: Any) -> None:
        async for event in events:
            seen.append(event.event_kind)

    with answering(Turn(given.text, reasoning="Hm.")) as server:
        async with orchestrator(server) as asked:
            found = await agent(asked, note, given.tools).run(QUESTION, event_stream_handler=watch if is_streamed else None)
    assert (calls, found.output) == (given.calls, DONE)
    reply = found.all_messages()[1]
    assert [(part.part_kind, getattr(part, "content", None)) for part in reply.parts] == [
        *(("thinking", "Hm."), ("text", given.content), ("tool-call", None))
    ]
    assert (reply.finish_reason, reply.model_name, reply.usage.input_tokens, reply.usage.output_tokens) == (
        "tool_call",
        "m",
        21,
        9,
    )
    assert ("part_start" in seen) is is_streamed
    assert "22 degrees" in as_json(server.requests[-1].body)


async def test_native_and_tool_output_of_pydantic_ai() -> None:
    pydantic_ai = the_module("pydantic_ai")
    for output_type, text in (
        (pydantic_ai.NativeOutput(Place), '{"city": "Oslo"}'),
        (Place, '<tool_call>{"name": "final_result", "arguments": {"city": "Oslo"}}</tool_call>'),
    ):
        with answering(Turn(text)) as server:
            async with orchestrator(server) as asked:
                found = await agent(asked, not_run, [], output_type=output_type, instructions="Be brief.").run(QUESTION)
        assert found.output == Place(city="Oslo")
        assert "Be brief." in as_json(server.requests[0].body["messages"])


async def test_images_and_settings_of_pydantic_ai_reach_the_model() -> None:
    pydantic_ai = the_module("pydantic_ai")
    image = pydantic_ai.BinaryContent(b"\x89PNG", media_type="image/png")
    with answering(Turn("A dot.")) as server:
        async with orchestrator(server) as asked:
            asking = agent(asked, not_run, [])
            settings = {"temperature": 0.5, "max_tokens": 7, "stop_sequences": ["X"]}
            assert (await asking.run(["What is it?", image], model_settings=settings)).output == "A dot."
            with pytest.raises(ConfigError, match="no setting seed"):
                await asking.run("Hi", model_settings={"seed": 1})
    body = server.requests[0].body
    assert (body["temperature"], body["max_tokens"], body["stop"]) == (0.5, 7, ["X"])
    assert body["messages"][0]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")


# LangChain


@dialects
@streamed
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
async def test_langchain_gets_the_calls(dialect: str, is_streamed: bool, is_async: bool) -> None:
    given = sample("written", dialect, "sentence_before")
    with answering(Turn(given.text, reasoning="Hm.")) as server:
        async with orchestrator(server) as asked:
            model = chat_model(asked).bind_tools(chat_tools(given))
            reply = await asked_langchain(model, [("user", QUESTION)], is_streamed, is_async)
            calls = [(call["name"], call["args"]) for call in reply.tool_calls]
            assert (calls, reply.text, reply.additional_kwargs) == (given.calls, given.content, {"reasoning_content": "Hm."})
            assert (reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]) == (21, 9)
            assert reply.response_metadata["finish_reason"] == "tool_calls"
            results = [{"role": "tool", "content": "22 degrees", "tool_call_id": call["id"]} for call in reply.tool_calls]
            done = await asked_langchain(model, [("user", QUESTION), reply, *results], is_streamed, is_async)
    assert (done.text, done.tool_calls) == (DONE, [])
    assert "22 degrees" in as_json(server.requests[-1].body)


async def asked_langchain(model: Any, messages: list[Any], is_streamed: bool, is_async: bool) -> Any:
    if not is_async:
        return await to_thread.run_sync(_asked_sync, model, messages, is_streamed)
    if not is_streamed:
        return await model.ainvoke(messages)
    return _joined([chunk async for chunk in model.astream(messages)])


def _asked_sync(model: Any, messages: list[Any], is_streamed: bool) -> Any:
    return _joined([*model.stream(messages)]) if is_streamed else model.invoke(messages)


def _joined(chunks: list[Any]) -> Any:
    assert len(chunks) > 1
    return functools.reduce(operator.add, chunks)


@pytest.mark.parametrize("schema", [Place, Place.model_json_schema()], ids=["class", "dict"])
async def test_structured_output_of_langchain_is_corrected(schema: Any) -> None:
    with answering(Turn("I do not know."), Turn('{"city": "Oslo"}')) as server:
        async with orchestrator(server) as asked:
            found = await chat_model(asked).with_structured_output(schema).ainvoke(QUESTION)
    assert found == (Place(city="Oslo") if schema is Place else {"city": "Oslo"})
    assert len(server.requests) == 2


async def test_headers_of_langchains_runs_are_sent_and_not_shown() -> None:
    with answering(Turn("Hi.")) as server:
        async with orchestrator(server) as asked:
            model = chat_model(asked, options={"extra_headers": {"X-Token": "s3cret-value"}, "temperature": 0.5})
            assert (await model.ainvoke(QUESTION)).text == "Hi."
    assert server.requests[0].headers["x-token"] == "s3cret-value"
    assert server.requests[0].body["temperature"] == 0.5
    assert "s3cret" not in repr(model)


async def test_structured_output_of_langchain_with_the_message() -> None:
    with answering(Turn('{"city": "Oslo"}')) as server:
        async with orchestrator(server) as asked:
            found = await chat_model(asked).with_structured_output(Place, include_raw=True).ainvoke(QUESTION)
    assert (found["parsed"], found["parsing_error"], found["raw"].usage_metadata["total_tokens"]) == (
        Place(city="Oslo"),
        None,
        30,
    )


@pytest.mark.parametrize(
    ("choice", "sent"), [("any", "required"), (True, "required"), ("get_weather", "get_weather"), ("none", None)]
)
async def test_a_tool_choice_of_langchain_reaches_the_model(choice: Any, sent: Any) -> None:
    with answering(Turn(CALL)) as server:
        async with orchestrator(server) as asked:
            await (
                chat_model(asked)
                .bind_tools(chat_tools(sample("written", "hermes", "sentence_before")), tool_choice=choice)
                .ainvoke(QUESTION, temperature=0.5, stop=["X"])
            )
    body = server.requests[0].body
    given = body.get("tool_choice")
    assert (given["function"]["name"] if isinstance(given, dict) else given) == sent or (sent is None and given in (None, "none"))
    assert (body["temperature"], body["stop"]) == (0.5, ["X"])


# Both


@pytest.mark.parametrize("kind", ["pydantic_ai", "langchain"])
async def test_the_orchestrators_fallback_and_budget_count(kind: str) -> None:
    async def ask(asked: Orchestrator) -> str:
        if kind == "langchain":
            reply = await chat_model(asked).ainvoke(QUESTION)
            return str(reply.text)
        return str((await agent(asked, not_run, []).run(QUESTION)).output)

    with answering(DOWN, Turn("Fine.")) as server:
        async with orchestrator(server, "m", "other") as asked:
            assert await ask(asked) == "Fine."
    assert [seen.body["model"] for seen in server.requests] == ["m", "other"]
    with answering(DOWN) as server:
        async with orchestrator(server) as asked:
            with pytest.raises(Overloaded):
                await ask(asked)
    with answering(DOWN, Turn("Fine.")) as server:
        async with orchestrator(server, "m", "other", budget=Budget(requests=1)) as asked:
            with pytest.raises(LLMCoreError):
                await ask(asked)
    assert len(server.requests) == 1


async def test_a_mistake_of_the_caller_is_an_error_at_once() -> None:
    the_module("langchain_core")
    the_module("pydantic_ai")
    from llmcore.integrations.langchain import ChatLLMCore
    from llmcore.integrations.pydantic_ai import LLMCoreModel

    wrong: Any = "m"
    for make in (lambda: ChatLLMCore(orchestrator=wrong), lambda: LLMCoreModel(wrong)):
        with pytest.raises(ConfigError, match=r"must be an llmcore\.Orchestrator, not str"):
            make()
    with answering() as server:
        async with orchestrator(server) as asked:
            model = chat_model(asked)
            with pytest.raises(ConfigError, match="no option seed"):
                await model.ainvoke(QUESTION, seed=1)
            with pytest.raises(ConfigError, match="names no tool: 'fly'"):
                model.bind_tools(weather_tools(), tool_choice="fly")
            with pytest.raises(ConfigError, match="no option method"):
                model.with_structured_output(Place, method="json_mode")
    assert server.requests == []
