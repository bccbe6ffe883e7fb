"""Frameworks on wrapped clients, without a line of ours in them: how each is asked, and what it makes of the reply.

The tools note that they were run; what an agent says in the end is its text. A framework without a loop gives its calls itself.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import llmcore.integrations.httpx
from tests.helpers.wire_server import WireServer
from tests.integrations.clients.sdks import SDKS, chat_tools
from tests.integrations.clients.support import Answer, Sample, items, resolved, the_module

__all__ = ["FRAMEWORKS", "Framework"]

Json = dict[str, Any]
Ask = Callable[[WireServer, Sample, bool, Answer, Json], Awaitable[None]]
QUESTION = "How is the weather?"
_SDKS = {sdk.name: sdk for sdk in SDKS}


@asynccontextmanager
async def _sdk(name: str, server: WireServer) -> AsyncGenerator[Any, None]:
    async with _SDKS[name].client(server) as client:
        yield client


async def _pydantic_ai(server: WireServer, sample: Sample, streamed: bool, answer: Answer, row: Json) -> None:
    pydantic_ai = the_module("pydantic_ai")
    async with _sdk(row["sdk"], server) as client:
        provider = getattr(the_module(f"pydantic_ai.providers.{row['provider']}"), row["provider_class"])
        model_class = getattr(the_module(f"pydantic_ai.models.{row['provider']}"), row["model_class"])
        model = model_class("m", provider=provider(**{row["option"]: client}))

        def tool(definition: Json) -> Any:
            def run(**arguments: Any) -> str:
                return answer.run(definition["name"], arguments)

            return pydantic_ai.Tool.from_schema(run, definition["name"], "A tool.", definition["parameters"])

        async def watch(_: Any, events: Any) -> None:
            async for _event in events:
                pass

        agent = pydantic_ai.Agent(model, tools=[tool(each) for each in sample.tools])
        result = await agent.run(QUESTION, event_stream_handler=watch if streamed else None)
        usage = result.usage if hasattr(result.usage, "input_tokens") else result.usage()  # of older releases
        answer.text, answer.usage = result.output, (usage.input_tokens, usage.output_tokens)


async def _openai_agents(server: WireServer, sample: Sample, streamed: bool, answer: Answer, row: Json) -> None:
    agents = the_module("agents")
    async with _sdk(row["sdk"], server) as client:

        def tool(definition: Json) -> Any:
            async def run(_: Any, arguments: str) -> str:
                return answer.run(definition["name"], arguments)

            schema = definition["parameters"]
            return agents.FunctionTool(definition["name"], "A tool.", schema, run, strict_json_schema=False)

        model = getattr(agents, row["model_class"])("m", client)
        settings = agents.ModelSettings(include_usage=True)
        agent = agents.Agent("weather", model=model, model_settings=settings, tools=[tool(each) for each in sample.tools])
        config = agents.RunConfig(tracing_disabled=True)
        if streamed:
            result = agents.Runner.run_streamed(agent, QUESTION, run_config=config)
            async for _event in result.stream_events():
                pass
        else:
            result = await agents.Runner.run(agent, QUESTION, run_config=config)
        usage = result.context_wrapper.usage
        answer.text, answer.usage = result.final_output, (usage.input_tokens, usage.output_tokens)


async def _langchain(server: WireServer, sample: Sample, streamed: bool, answer: Answer, row: Json) -> None:
    openai, wrap = the_module("openai"), llmcore.integrations.httpx.wrap
    # Of its own: LangChain shares its default clients between models, and this wraps no other model.
    with wrap(openai.DefaultHttpxClient()) as client:
        async with wrap(openai.DefaultAsyncHttpxClient()) as async_client:
            model = the_module("langchain_openai").ChatOpenAI(
                model="m",
                base_url=f"{server.root}/v1",
                api_key="k",
                max_retries=0,
                stream_usage=True,
                http_client=client,
                http_async_client=async_client,
                **row["options"],
            )
            reply = await _reply_of_langchain(model.bind_tools(chat_tools(sample)), streamed, row["is_async"])
    for call in reply.tool_calls:
        answer.add(call["id"], call["name"], call["args"])
    usage: Json = reply.usage_metadata or {}  # a cut reply has none
    about: Json = reply.response_metadata
    answer.text, answer.usage = str(reply.text), (usage.get("input_tokens", 0), usage.get("output_tokens", 0))
    answer.end = str(about.get("finish_reason") or about.get("status", ""))
    answer.id = str(about.get("id") or "")  # LangChain makes one for a stream of chat


async def _reply_of_langchain(model: Any, streamed: bool, is_async: bool) -> Any:
    if not streamed:
        return await resolved((model.ainvoke if is_async else model.invoke)(QUESTION))
    chunks = [chunk async for chunk in items((model.astream if is_async else model.stream)(QUESTION))]
    return functools.reduce(operator.add, chunks)


async def _smolagents(server: WireServer, sample: Sample, streamed: bool, answer: Answer, _: Json) -> None:
    smolagents = the_module("smolagents")
    model = smolagents.OpenAIModel("m", api_base=f"{server.root}/v1", api_key="k")
    llmcore.integrations.httpx.wrap(model.client)

    class Offered(smolagents.Tool):  # type: ignore[misc, name-defined]  # untyped where it is not installed
        skip_forward_signature_validation = True
        description = "A tool."
        output_type = "string"

        def __init__(self, definition: Json) -> None:
            self.name = definition["name"]
            required = definition["parameters"].get("required", ())
            properties: dict[str, Json] = definition["parameters"]["properties"]
            self.inputs = {
                name: {"description": "A value.", **({} if name in required else {"nullable": True}), **schema}
                for name, schema in properties.items()
            }
            smolagents.Tool.__init__(self)

        def forward(self, **arguments: Any) -> str:
            return answer.run(self.name, arguments)

    messages = [smolagents.ChatMessage("user", [{"type": "text", "text": QUESTION}])]
    tools = [Offered(definition) for definition in sample.tools]
    if streamed:
        deltas = [*model.generate_stream(messages, tools_to_call_from=tools)]
        reply = smolagents.models.agglomerate_stream_deltas(deltas)
    else:
        reply = model.generate(messages, tools_to_call_from=tools)
    for call in reply.tool_calls or ():
        answer.add(call.id, call.function.name, call.function.arguments)
    answer.text, answer.usage = reply.content or "", (reply.token_usage.input_tokens, reply.token_usage.output_tokens)


@dataclass(frozen=True)
class Framework:
    """A framework on one client. `row`: what `function` has to know. `runs_tools`: its loop runs them, and asks again."""

    name: str
    function: Ask
    row: Json = field(default_factory=dict[str, Any])
    runs_tools: bool = True
    ends: tuple[str, str] = ("", "")
    ids: str = r"call_\w{24}"
    reply_ids: tuple[str, str] = ("", "")

    async def ask(self, server: WireServer, sample: Sample, streamed: bool, answer: Answer) -> None:
        """Ask, and fill the answer."""
        await self.function(server, sample, streamed, answer, self.row)


def _of_pydantic_ai(sdk: str, provider: str, option: str, names: tuple[str, str], ids: str = r"call_\w{24}") -> Framework:
    model_class, provider_class = names
    row = {"sdk": sdk, "provider": provider, "option": option, "model_class": model_class, "provider_class": provider_class}
    return Framework(f"pydantic-ai, {model_class}", _pydantic_ai, row, ids=ids)


def _of_langchain(name: str, is_async: bool, **of_api: Any) -> Framework:
    options = {"use_responses_api": True} if of_api.get("ends") else {}
    fields: Json = {"ends": ("tool_calls", "stop"), "reply_ids": ("chatcmpl-wire", ""), **of_api}
    return Framework(name, _langchain, {"options": options, "is_async": is_async}, runs_tools=False, **fields)


_RESPONSES: Json = {"ends": ("completed", "completed"), "reply_ids": ("resp_wire", "resp_wire")}
FRAMEWORKS = (
    _of_pydantic_ai("openai chat, async", "openai", "openai_client", ("OpenAIChatModel", "OpenAIProvider")),
    _of_pydantic_ai("openai responses, async", "openai", "openai_client", ("OpenAIResponsesModel", "OpenAIProvider")),
    _of_pydantic_ai(
        "anthropic, async", "anthropic", "anthropic_client", ("AnthropicModel", "AnthropicProvider"), r"toolu_\w{24}"
    ),
    _of_pydantic_ai("groq, async", "groq", "groq_client", ("GroqModel", "GroqProvider")),
    _of_pydantic_ai("mistralai, async", "mistral", "mistral_client", ("MistralModel", "MistralProvider"), r"\w{9}"),  # its own
    Framework("openai-agents, chat", _openai_agents, {"sdk": "openai chat, async", "model_class": "OpenAIChatCompletionsModel"}),
    Framework(
        "openai-agents, responses", _openai_agents, {"sdk": "openai responses, async", "model_class": "OpenAIResponsesModel"}
    ),
    _of_langchain("langchain-openai", False),
    _of_langchain("langchain-openai, async", True),
    _of_langchain("langchain-openai, responses", False, **_RESPONSES),
    _of_langchain("langchain-openai, responses, async", True, **_RESPONSES),
    Framework("smolagents", _smolagents, runs_tools=False),
)
