"""How a history comes back into a run, from a result or from outside, and how it goes out in OpenAI's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from llmcore.run.results.history import open_calls
from llmcore.support.code.suggestions import mistake_in, unknown
from llmcore.types import CallerError, Message, TextBlock, ToolResultBlock

__all__ = [
    "check_asks",
    "check_not_empty",
    "check_results_answer_calls",
    "check_saved",
    "not_saved",
    "openai_messages",
    "says_nothing",
]


def check_saved(data: Mapping[Any, Any], fields: Iterable[str], version: int) -> None:
    """Raises `CallerError` where `data` is no saved result of this version: a key that means nothing would be lost unseen."""
    given = data.get("version", version)
    if given != version:
        raise CallerError(
            f"this result was saved with version {given!r} of the format and this llmcore reads version {version}; "
            "read it with the llmcore that wrote it, or give its `messages` as message_history"
        )
    for name in data:
        if name not in fields:
            raise CallerError(unknown("a RunResult", "field", str(name)[:80], fields))
    for name in ("version", "messages"):
        if name not in data:
            raise CallerError(f"this is no saved RunResult: it has no `{name}`{_keys_of(data)}; save one by model_dump_json()")


def _keys_of(data: Mapping[Any, Any]) -> str:
    return f" (its keys are {', '.join(str(name)[:40] for name in [*data][:5])})" if data else ", it is empty"


def not_saved(error: ValidationError, fields: Collection[str]) -> CallerError:
    """What is wrong with data that is no saved result."""
    return CallerError(f"this is no saved RunResult: {mistake_in(error, 'RunResult', fields)}")


def says_nothing(message: Message) -> bool:
    """Has it no content but blanks?"""
    return all(isinstance(block, TextBlock) and (not block.text or block.text.isspace()) for block in message.content)


def check_not_empty(messages: Sequence[Message]) -> None:
    """Raises `CallerError` where what is asked last is empty, which some providers refuse and others answer with anything."""
    if messages and says_nothing(messages[-1]):
        what = f"the {messages[-1].role} message that ends it" if len(messages) > 1 else "it"
        raise CallerError(f"the request is empty: {what} has no content but blanks; give text, an image, or leave it out")


def check_asks(messages: Sequence[Message]) -> None:
    """Raises `CallerError` where the model has had the last word: most models have nothing to add, and some providers refuse
    it."""
    if messages[-1].role == "assistant":
        raise CallerError(
            "nothing is asked: what is given ends with the model's answer, and no call of it waits; say what comes next as the "
            "request, as in run('And then?', message_history=result)"
        )


def check_results_answer_calls(messages: Sequence[Message], start: int = 0) -> None:
    """Raises `CallerError` for a result, from the message `start` on, that answers no call before it: no provider takes it, and
    what it says would have to be told in other words."""
    waiting = Counter[str]()
    for index, message in enumerate(messages):
        for result in message.tool_results:
            if waiting[result.tool_use_id] <= 0 and index >= start:
                open_ids = [call_id for call_id, count in waiting.items() if count > 0]
                wait = f"; calls that are without one: {', '.join(map(repr, open_ids))}" if open_ids else ""
                raise CallerError(
                    f"message {index} of the request holds a result for {result.tool_use_id[:80]!r}, and no call before it that "
                    f"is without one has this id; keep the assistant's message with the call, or leave the result out{wait}"
                )
            waiting[result.tool_use_id] -= 1
        waiting.update(use.id for use in message.tool_uses)


def openai_messages(messages: Sequence[Message], told: Callable[[str], str | None]) -> list[dict[str, Any]]:
    """The messages as OpenAI's chat API takes them. Reasoning, which it does not take, is left out; a call of the last turn that
    has no result gets one with what is `told` of its id, if that is anything."""
    from llmcore.adapters.base import Endpoint, ModelCall
    from llmcore.adapters.providers import provider_of
    from llmcore.adapters.request.conversation.messages import render_messages
    from llmcore.adapters.request.names import NameMap
    from llmcore.types import Request

    endpoint = Endpoint(provider="openai", model="gpt-4o", alias="openai")
    call = ModelCall(endpoint=endpoint, request=Request(messages=_closed(messages, told)))
    rendered = render_messages(call, provider_of(endpoint), NameMap((), None))
    return [message for message in rendered if message != _SAID_NOTHING]


_SAID_NOTHING = {"role": "assistant", "content": ""}
"""What becomes of a message of the model that has nothing but reasoning."""


def _closed(messages: Sequence[Message], told: Callable[[str], str | None]) -> list[Message]:
    """The messages with a result for each call of the last turn that lacks one and of which something is told."""
    words = [(use, said) for use in open_calls(messages) if (said := told(use.id)) is not None]
    made = [
        ToolResultBlock(tool_use_id=use.id, name=use.name, content=[TextBlock(text=said)], is_error=True) for use, said in words
    ]
    return [*messages, Message(role="tool", content=made)] if made else list(messages)
