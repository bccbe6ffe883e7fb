"""Checks of histories and saved results that enter a run, and the history in OpenAI's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from llmcore.run.results.history import open_calls
from llmcore.support.code.suggestions import mistake_in, unknown
from llmcore.support.values.format_versions import FormatVersions
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types import CallerError, Message, TextBlock, ToolResultBlock

__all__ = [
    "SAVED_RESULTS",
    "check_ends_with_request",
    "check_not_empty",
    "check_results_answer_calls",
    "checked_saved",
    "is_blank",
    "not_saved_error",
    "openai_messages",
]


SAVED_RESULTS = FormatVersions("saved results")
"""The versions that `RunResult.version` counts."""


def checked_saved(data: dict[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """The saved result in the current version. Raises `CallerError` if it is none, or of a newer version. An unknown key raises,
    too, because it would be lost."""
    if data.get("version") is not None:
        try:
            data = _with_runs(SAVED_RESULTS.upgraded(data))
        except ValueError as error:
            raise CallerError(
                f"this result cannot be read: {error}; read it with the llmcore that wrote it, or give its `messages` as "
                "message_history"
            ) from None
    for name in data:
        if name not in fields:
            raise CallerError(unknown("a RunResult", "field", str(name)[:80], fields))
    for name in ("version", "messages"):
        if name not in data:
            raise CallerError(f"this is no saved RunResult: it has no `{name}`{_keys_of(data)}; save one by model_dump_json()")
    return data


def _with_runs(data: dict[str, Any]) -> dict[str, Any]:
    """The data whose nested results are in the current version, too."""
    runs = data.get("runs")
    if data.get("version") == 1 or not is_list(runs):  # version 1 is the oldest: nothing was upgraded
        return data
    return {**data, "runs": [_with_runs(SAVED_RESULTS.upgraded(run)) if is_object(run) else run for run in runs]}


def _keys_of(data: Mapping[Any, Any]) -> str:
    return f" (its keys are {', '.join(str(name)[:40] for name in [*data][:5])})" if data else ", it is empty"


def not_saved_error(error: ValidationError, fields: Collection[str]) -> CallerError:
    return CallerError(f"this is no saved RunResult: {mistake_in(error, 'RunResult', fields)}")


def is_blank(message: Message) -> bool:
    """Whether the message has no content except whitespace."""
    return all(isinstance(block, TextBlock) and (not block.text or block.text.isspace()) for block in message.content)


def check_not_empty(messages: Sequence[Message]) -> None:
    """Raises `CallerError` if the last message is empty. Some providers refuse such requests, others answer them with
    anything."""
    if messages and is_blank(messages[-1]):
        what = f"the {messages[-1].role} message that ends it" if len(messages) > 1 else "it"
        raise CallerError(f"the request is empty: {what} has no content but blanks; give text, an image, or leave it out")


def check_ends_with_request(messages: Sequence[Message]) -> None:
    """Raises `CallerError` if the model has the last word. Most models have nothing to add, and some providers refuse it."""
    if messages[-1].role == "assistant":
        raise CallerError(
            "nothing is asked: the messages end with the model's answer, and no call of it waits; say what comes next as the "
            "request, as in run('And then?', message_history=result)"
        )


def check_results_answer_calls(messages: Sequence[Message], start: int = 0) -> None:
    """Raises `CallerError` for a result, from the message `start` on, without a call before it. No provider takes such a
    result."""
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


def openai_messages(messages: Sequence[Message], text_of: Callable[[str], str | None]) -> list[dict[str, Any]]:
    """The messages in the form of OpenAI's chat API, without reasoning, which that API does not take.

    If a call of the last turn has no result, `text_of(call_id)` becomes its result, unless that is None.
    """
    from llmcore.adapters.base import Endpoint, ModelCall
    from llmcore.adapters.providers import provider_of
    from llmcore.adapters.request.conversation.messages import render_messages
    from llmcore.adapters.request.names import NameMap
    from llmcore.types import Request

    endpoint = Endpoint(provider="openai", model="gpt-4o", alias="openai")
    call = ModelCall(endpoint=endpoint, request=Request(messages=_with_missing_results(messages, text_of)))
    rendered = render_messages(call, provider_of(endpoint), NameMap((), None))
    return [message for message in rendered if message != _BLANK_REPLY]


_BLANK_REPLY = {"role": "assistant", "content": ""}
"""The form of a model's message with nothing but reasoning."""


def _with_missing_results(messages: Sequence[Message], text_of: Callable[[str], str | None]) -> list[Message]:
    """The messages with a result for each open call of the last turn for which `text_of` has a text."""
    words = [(use, text) for use in open_calls(messages) if (text := text_of(use.id)) is not None]
    made = [
        ToolResultBlock(tool_use_id=use.id, name=use.name, content=[TextBlock(text=text)], is_error=True) for use, text in words
    ]
    return [*messages, Message(role="tool", content=made)] if made else list(messages)
