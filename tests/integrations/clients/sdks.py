"""The clients of providers: how each is made, asked and read. One function reads the sync and the async client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from llmcore.integrations.httpx import wrap
from tests.helpers.wire_server import WireServer
from tests.integrations.clients.support import Answer, Sample, items, resolved, the_module

__all__ = ["SDKS", "Api", "Sdk", "chat_tools"]

Json = dict[str, Any]
QUESTION = [{"role": "user", "content": "How is the weather?"}]


def chat_tools(sample: Sample) -> list[Json]:
    """The tools in the form of chat completions."""
    return [{"type": "function", "function": tool} for tool in sample.tools]


def _of_chat(sample: Sample) -> Json:
    return {"model": "m", "messages": QUESTION, "tools": chat_tools(sample)}


def _of_responses(sample: Sample) -> Json:
    return {"model": "m", "input": "Hi", "tools": [{"type": "function", "strict": False, **tool} for tool in sample.tools]}


def _of_messages(sample: Sample) -> Json:
    tools = [{"name": tool["name"], "input_schema": tool["parameters"]} for tool in sample.tools]
    return {"model": "m", "max_tokens": 99, "messages": QUESTION, "tools": tools}


def _add_message(answer: Answer, reply: Any) -> None:
    (choice,) = reply.choices
    answer.id, answer.end, answer.text = reply.id, choice.finish_reason, choice.message.content or ""
    answer.usage = (reply.usage.prompt_tokens, reply.usage.completion_tokens)
    for call in choice.message.tool_calls or ():
        answer.add(call.id, call.function.name, call.function.arguments)


async def _add_chunks(answer: Answer, chunks: Any) -> None:
    """As the SDKs put calls together: by index, arguments joined."""
    calls: dict[int, list[Any]] = {}
    async for chunk in chunks:
        answer.id = chunk.id
        if chunk.usage:
            answer.usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        for choice in chunk.choices:
            answer.text += choice.delta.content or ""
            answer.end = choice.finish_reason or answer.end
            for call in choice.delta.tool_calls or ():
                if call.index not in calls:
                    calls[call.index] = [call.id, call.function.name, ""]
                calls[call.index][2] += call.function.arguments or ""
    for call in calls.values():
        answer.add(*call)


async def _chat_stream(client: Any, options: Json, answer: Answer) -> None:
    """openai and groq."""
    await _add_chunks(answer, items(await resolved(client.chat.completions.create(**options, stream=True))))


async def _mistral_stream(client: Any, options: Json, answer: Answer) -> None:
    await _add_chunks(answer, _data(client.chat.stream(**options)))


async def _mistral_stream_async(client: Any, options: Json, answer: Answer) -> None:
    await _add_chunks(answer, _data(await client.chat.stream_async(**options)))


async def _data(events: Any) -> AsyncIterator[Any]:
    async for event in items(events):
        yield event.data


def _add_response(answer: Answer, reply: Any) -> None:
    answer.text = reply.output_text
    for item in reply.output:
        if item.type == "function_call":
            answer.add(item.call_id, item.name, item.arguments)
    answer.id, answer.end, answer.usage = reply.id, reply.status, (reply.usage.input_tokens, reply.usage.output_tokens)


async def _responses_stream(client: Any, options: Json, answer: Answer) -> None:
    """The deltas of the stream. The whole response at its end says the same."""
    deltas: dict[str, str] = {}
    async for event in items(await resolved(client.responses.create(**options, stream=True))):
        if event.type == "response.output_text.delta":
            answer.text += event.delta
        elif event.type == "response.function_call_arguments.delta":
            deltas[event.item_id] = deltas.get(event.item_id, "") + event.delta
        elif event.type == "response.output_item.done" and event.item.type == "function_call":
            answer.add(event.item.call_id, event.item.name, deltas.pop(event.item.id))
        elif event.type == "response.completed":
            whole = Answer()
            _add_response(whole, event.response)
            assert (whole.text, whole.calls, whole.ids) == (answer.text, answer.calls, answer.ids)
            answer.id, answer.end, answer.usage = whole.id, whole.end, whole.usage
    assert not deltas, "each call has an end"


def _add_blocks(answer: Answer, message: Any) -> None:
    answer.id, answer.end = message.id, message.stop_reason or ""
    answer.usage = (message.usage.input_tokens, message.usage.output_tokens)
    for block in message.content:
        if block.type == "tool_use":
            answer.add(block.id, block.name, block.input)
        else:
            answer.text += block.text


async def _messages_stream(client: Any, options: Json, answer: Answer) -> None:
    """The helper of anthropic, which puts the message together."""
    manager = client.messages.stream(**options)
    async with AsyncExitStack() as stack:
        is_async = hasattr(manager, "__aenter__")
        stream = await stack.enter_async_context(manager) if is_async else stack.enter_context(manager)
        streamed = "".join([text async for text in items(stream.text_stream)])
        _add_blocks(answer, await resolved(stream.get_final_message()))
        assert answer.text == streamed


@dataclass(frozen=True)
class Api:
    """An API as SDKs have it. `create`: the method that asks, from the client on. `options`: what it takes, of a sample's tools.

    `add`: notes a whole reply. `stream`: asks for a stream and notes it. `ends`: the finish reason with calls and without. `ids`:
    the form of new calls' ids. `reply_ids`: of a whole and of a streamed reply, as the server gave them.
    """

    create: str
    options: Callable[[Sample], Json]
    add: Callable[[Answer, Any], None]
    stream: Callable[[Any, Json, Answer], Awaitable[None]]
    ends: tuple[str, str] = ("tool_calls", "stop")
    ids: str = r"call_\w{24}"
    reply_ids: tuple[str, str] = ("chatcmpl-wire", "chatcmpl-wire")


@dataclass(frozen=True)
class Sdk:
    """A client of a provider. `made_of`: the class's name in the module. `path`: of the server, in the option `base`."""

    name: str
    module: str
    made_of: str
    api: Api
    base: str = "base_url"
    path: str = ""

    runs_tools = False

    @property
    def ids(self) -> str:
        return self.api.ids

    @property
    def ends(self) -> tuple[str, str]:
        return self.api.ends

    @property
    def reply_ids(self) -> tuple[str, str]:
        return self.api.reply_ids

    def client(self, server: WireServer, **options: Any) -> Any:
        """A wrapped client of this server."""
        return wrap(self.bare_client(server.root, **options))

    def bare_client(self, root: str, **options: Any) -> Any:
        """A client as its users make it."""
        make = getattr(the_module(self.module), self.made_of)
        return make(**{self.base: root + self.path}, api_key="k", **options)

    def create(self, client: Any, sample: Sample, **options: Any) -> Any:
        """The client's whole reply, or what an async client promises."""
        return attrgetter(self.api.create)(client)(**self.api.options(sample), **options)

    async def ask(self, server: WireServer, sample: Sample, streamed: bool, answer: Answer) -> None:
        """Ask, and fill the answer."""
        client = self.client(server)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(client) if hasattr(client, "__aenter__") else stack.enter_context(client)
            if streamed:
                await self.api.stream(client, self.api.options(sample), answer)
            else:
                self.api.add(answer, await resolved(self.create(client, sample)))


_CHAT = Api("chat.completions.create", _of_chat, _add_message, _chat_stream)
_RESPONSES = Api(
    *("responses.create", _of_responses, _add_response, _responses_stream),
    ends=("completed", "completed"),
    reply_ids=("resp_wire", "resp_wire"),
)
_MESSAGES = Api(
    *("messages.create", _of_messages, _add_blocks, _messages_stream),
    ends=("tool_use", "end_turn"),
    ids=r"toolu_\w{24}",
    reply_ids=("msg_wire", "msg_wire"),
)
_MISTRAL = Api("chat.complete", _of_chat, _add_message, _mistral_stream)
_MISTRAL_ASYNC = Api("chat.complete_async", _of_chat, _add_message, _mistral_stream_async)
SDKS = (
    Sdk("openai chat", "openai", "OpenAI", _CHAT, path="/v1"),
    Sdk("openai chat, async", "openai", "AsyncOpenAI", _CHAT, path="/v1"),
    Sdk("openai responses", "openai", "OpenAI", _RESPONSES, path="/v1"),
    Sdk("openai responses, async", "openai", "AsyncOpenAI", _RESPONSES, path="/v1"),
    Sdk("anthropic", "anthropic", "Anthropic", _MESSAGES),
    Sdk("anthropic, async", "anthropic", "AsyncAnthropic", _MESSAGES),
    Sdk("groq", "groq", "Groq", _CHAT),
    Sdk("groq, async", "groq", "AsyncGroq", _CHAT),
    Sdk("mistralai", "mistralai.client", "Mistral", _MISTRAL, base="server_url"),
    Sdk("mistralai, async", "mistralai.client", "Mistral", _MISTRAL_ASYNC, base="server_url"),
)
