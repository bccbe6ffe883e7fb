"""The answers of a test double, as a body and as a stream.

A scripted answer is a str (the model's text), a `Message` of the assistant, an `Envelope`, a provider's body (dict),
a list of stream chunks (str, dict, or an exception that ends the stream there), an exception (raised), a `Reply`, or
a callable that takes the request and returns any of these (sync or async).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from llmcore.adapters.litellm.errors.table import classify
from llmcore.adapters.wire.error_events import error_in
from llmcore.adapters.wire.terminators import why_no_reply
from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.code.test_failures import mark_test_failure
from llmcore.support.values.copies import made
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in
from llmcore.testing.failures import failed_generation_body
from llmcore.testing.usages import identity_in, usage_of_body
from llmcore.tools.execution import abandonment
from llmcore.types import (
    ConfigError,
    Envelope,
    InternalError,
    LLMCoreError,
    Message,
    ProviderBlock,
    RedactedThinkingBlock,
    RemoteServerError,
    Reply,
    Request,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    Usage,
)
from llmcore.types.input.argument_errors import check_takes_one
from llmcore.types.refusals import RefusalFacts
from llmcore.types.usage import NO_USAGE

__all__ = [
    "Answer",
    "checked_reply",
    "chunks_of",
    "heeding",
    "raise_if_error",
    "raise_if_no_reply",
    "reply_of",
    "resolved",
    "tool_call_body",
]

T = TypeVar("T")
_SHOWN = 200
"""Characters that an error shows of a body."""

Answer = (
    str
    | Message
    | Envelope
    | Mapping[str, Any]
    | Sequence[Any]
    | BaseException
    | type[BaseException]
    | Reply
    | Callable[[Request], Any]
)


def checked_reply(answer: object) -> Any:
    """The answer, with a `Message` or an `Envelope` turned into an equal body. For anything else that is not an answer,
    raises a `ConfigError` that lists the allowed types."""
    if isinstance(answer, str | dict):  # first, since checking for a pydantic model takes ten times as long
        return cast("Any", answer)
    if isinstance(answer, Message):
        return _message_body(answer)
    if isinstance(answer, Envelope):
        return _envelope_body(answer)
    if isinstance(answer, Reply) or _is_error(answer):
        return answer
    if isinstance(answer, Mapping):
        return cast("Mapping[str, Any]", answer)
    if isinstance(answer, Sequence) and not isinstance(answer, bytes | bytearray):
        chunks = cast("Sequence[object]", answer)
        for index, chunk in enumerate(chunks):
            if not (isinstance(chunk, str | Mapping) or _is_error(chunk)):
                raise ConfigError(f"chunk {index} of a stream is a str, a dict or an exception, not {_kind(chunk)}")
        return chunks
    if callable(answer) and not isinstance(answer, type):
        check_takes_one("a reply function", answer)
        return answer
    raise _no_answer(answer)


def _is_error(answer: object) -> bool:
    return isinstance(answer, BaseException) or (isinstance(answer, type) and issubclass(answer, BaseException))


def _kind(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def _message_body(message: Message) -> dict[str, Any]:
    """Anthropic's body, which keeps texts, thinking and calls in their order."""
    if message.role != "assistant":
        raise ConfigError(f"a model answers with a message with the role 'assistant', not {message.role!r}")
    calls = bool(message.tool_uses)
    return {
        "type": "message",
        "role": "assistant",
        "content": [_anthropic_part(block) for block in message.content],
        "stop_reason": "tool_use" if calls else "end_turn",
    }


def _anthropic_part(block: object) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ToolUseBlock():
            given = block.input if block.input is not None else block.raw_input
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": given}
        case ThinkingBlock():
            signature = {} if block.signature is None else {"signature": block.signature}
            return {"type": "thinking", "thinking": block.thinking, **signature}
        case RedactedThinkingBlock():
            return {"type": "redacted_thinking", "data": block.data}
        case ProviderBlock(provider="anthropic"):
            return dict(block.data)
        case _:
            raise ConfigError(
                f"a model's message holds text, tool_use and thinking blocks, not {_kind(block)}; give a body instead"
            )


def _envelope_body(envelope: Envelope) -> dict[str, Any]:
    """An OpenAI chat body with the envelope's text, reasoning and calls. The calls become native calls."""
    calls = [
        (call.id, call.name, call.raw_arguments if call.arguments is None else as_json(call.arguments))
        for call in envelope.tool_calls
    ]
    message: dict[str, Any] = {"role": "assistant", "content": envelope.content or None}
    if envelope.reasoning:
        message["reasoning_content"] = envelope.reasoning
    if calls:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}} for id_, name, arguments in calls
        ]
    finish = envelope.finish_word or envelope.finish_reason or ("tool_calls" if calls else "stop")
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def tool_call_body(calls: Sequence[tuple[str, Any]], text: str | None, first_id: int) -> dict[str, Any]:
    """An OpenAI chat body with these calls. Arguments that are a str are sent unchanged, so they may be broken JSON."""
    made = [
        {
            "id": f"call_fake_{first_id + number}",
            "type": "function",
            "function": {"name": name, "arguments": _json_of(name, given)},
        }
        for number, (name, given) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, "tool_calls": made}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }


def _json_of(name: str, arguments: Any) -> str:
    try:
        return arguments if isinstance(arguments, str) else as_json(arguments)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"the arguments of the call of {name!r} cannot be written as JSON: {error}") from None


_AS_THEY_ARE = frozenset({str, dict})


async def heeding(awaitable: Awaitable[T]) -> T:
    """Await what a test's own function returned. If it keeps running after it is cancelled, stop waiting for it."""
    return await abandonment.await_foreign(awaitable, None, "a reply function")


async def resolved(answer: Any, own: Callable[[], Request]) -> Any:
    """Calls the answer while it is callable (sync or async), and returns the checked result. `own` makes each function's
    copy of the request."""
    asked: object = None
    while callable(answer) and not isinstance(answer, type):
        asked = answer
        answer = answer(own())
        if answer.__class__ not in _AS_THEY_ARE and inspect.isawaitable(answer):
            answer = await heeding(answer)
    if answer is None and asked is not None:
        name = getattr(asked, "__name__", type(asked).__name__)
        raise ConfigError(f"the function {name}, given as a reply, returned None: it must return the reply")
    return checked_reply(answer)


def raise_if_error(answer: Any) -> None:
    """Raise an exception, or the error in a provider's body. Exceptions of LiteLLM or a client become an `LLMCoreError`.
    A failed assertion stays unchanged, since it is the test's."""
    if isinstance(answer, str):
        return
    if isinstance(answer, type) and issubclass(answer, BaseException):
        answer = answer("an error scripted for a test")
    if isinstance(answer, AssertionError):
        raise mark_test_failure(answer)
    if isinstance(answer, Mapping):
        told = error_in(dict(cast("Mapping[str, Any]", answer)))
        answer = told if told is None or failed_generation_body(answer) is None else None
    if isinstance(answer, LLMCoreError) or (isinstance(answer, BaseException) and not isinstance(answer, Exception)):
        raise answer
    if isinstance(answer, Exception):
        meant = classify(answer)
        raise (_scripted(answer) if isinstance(meant, InternalError) else meant) from answer


def _scripted(error: Exception) -> LLMCoreError:
    """The error for a test's own exception, which stands for a failure of the model. It shows no bug of llmcore. The
    script would fail again, so the error is lasting."""
    words = f"the fake model was scripted to fail with {type(error).__name__}: {error}"
    return RemoteServerError(words, facts=RefusalFacts(kind="lasting"))


def raise_if_no_reply(answer: Any) -> None:
    """Raise an answer that is an exception. For a provider's body, raise what a run would raise for it: the error in it,
    or that it is not a whole reply."""
    if answer.__class__ is str or (answer.__class__ is dict and _is_plain_chat(answer)):
        return
    raise_if_error(answer)
    if not isinstance(answer, Mapping):
        return
    body = dict(cast("Mapping[str, Any]", answer))
    if (why := why_no_reply(body)) and not (_is_message(body) or failed_generation_body(body)):
        raise RemoteServerError(f"{why}: {clipped_words(repr(body), _SHOWN)}")


_CHAT = frozenset({"id", "object", "created", "model", "choices", "usage"})
_CHOICE = frozenset({"index", "message", "finish_reason"})
_ENDS = ("stop", "length", "tool_calls")
_CHAT_OBJECT = "chat.completion"


def _is_plain_chat(body: dict[str, Any]) -> bool:
    """Is the body a finished chat completion with one choice, as nearly all are? Such a body contains no error."""
    choices = body.get("choices")
    if not is_list(choices) or len(choices) != 1 or body.get("object", _CHAT_OBJECT) != _CHAT_OBJECT or not body.keys() <= _CHAT:
        return False
    choice: object = choices[0]
    return (
        is_object(choice)
        and choice.keys() <= _CHOICE
        and choice.get("finish_reason") in _ENDS
        and choice.get("message").__class__ is dict
    )


def _is_message(body: dict[str, Any]) -> bool:
    """Is it an assistant's message without a body around it? Tests give such messages; servers do not."""
    has_content = isinstance(body.get("content"), str) or bool(objects_in(body.get("tool_calls")))
    return (has_content or "role" in body) and body.get("role", "assistant") in ("assistant", "model")


def reply_of(answer: object, usage: Usage | None) -> Reply:
    """A plain answer as a whole `Reply`. A list of chunks becomes a tuple: the events of a stream, in order.

    `usage`: for an answer that does not give its own.
    """
    if answer.__class__ is str:
        return made(Reply, raw=answer, usage=usage or NO_USAGE)
    raw: object = answer
    if answer.__class__ is dict:  # first, as in `checked_reply`
        raw = dict(cast("dict[str, Any]", answer))
    elif isinstance(answer, Reply):
        return answer if usage is None or answer.usage != Usage() else answer.model_copy(update={"usage": usage})
    elif isinstance(answer, Mapping):
        raw = dict(cast("Mapping[str, Any]", answer))
    elif not isinstance(answer, str):
        if not isinstance(answer, Sequence):
            raise _no_answer(answer)
        chunks = tuple(cast("Sequence[object]", answer))
        for chunk in chunks:
            raise_if_error(chunk)
        texts = [chunk for chunk in chunks if isinstance(chunk, str)]
        raw = "".join(texts) if len(texts) == len(chunks) else chunks
    if isinstance(raw, str):
        return made(Reply, raw=raw, usage=usage or NO_USAGE)
    id_, model = identity_in(raw)
    return made(Reply, raw=raw, usage=usage_of_body(raw) or usage or NO_USAGE, id=id_, model=model)


def _no_answer(answer: object) -> ConfigError:
    return ConfigError(
        "a reply is a str, a Message of the assistant, an Envelope, a Reply, a provider's body (dict), a list of stream chunks, "
        f"an exception, or a callable that returns one of these, not {_kind(answer)}"
    )


def chunks_of(answer: object, size: int | None) -> Iterator[Any]:
    """A plain answer as a stream. Text comes in pieces of `size` characters (None: whole). An OpenAI chat or Anthropic
    body comes as its events, with text and arguments cut the same way. Any other body comes in one piece."""
    raw: object = answer.raw if isinstance(answer, Reply) else answer
    if isinstance(raw, str):
        yield from _cut(raw, size)
    elif isinstance(raw, Mapping):
        body = cast("Mapping[str, Any]", raw)
        in_body = {"choices": [{"message": body, "finish_reason": None}]}
        if _is_openai_chat(in_body):  # a message without its body
            yield from _openai_chunks(in_body, size)
        elif _is_openai_chat(body):
            yield from _openai_chunks(body, size)
        elif _is_anthropic(body):
            yield from _anthropic_events(body, size)
        else:
            yield dict(body)
    elif isinstance(raw, Sequence):
        yield from cast("Sequence[object]", raw)
    else:
        raise _no_answer(raw)


_TEXTS = ("reasoning_content", "content", "refusal")


def _cut(text: str, size: int | None) -> Iterator[str]:
    step = size or len(text) or 1
    for start in range(0, len(text), step):
        yield text[start : start + step]


def _is_openai_chat(body: Mapping[str, Any]) -> bool:
    """Is it a chat body with one choice and the expected types? Any other body is not cut into chunks."""
    choices = objects_in(body.get("choices"))
    message = object_in(choices[0].get("message")) if len(choices) == 1 else {}
    calls: Any = message.get("tool_calls") or []
    return (
        bool(message)
        and message.keys() <= {"role", "tool_calls", *_TEXTS}
        and all(isinstance(message.get(key) or "", str) for key in _TEXTS)
        and is_list(calls)
        and all(isinstance(object_in(object_in(call).get("function")).get("arguments"), str) for call in calls)
    )


def _openai_chunks(body: Mapping[str, Any], size: int | None) -> Iterator[dict[str, Any]]:
    choice = body["choices"][0]
    message: Mapping[str, Any] = choice["message"]
    head = {key: value for key, value in body.items() if key not in ("choices", "usage", "object")}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return {**head, "object": "chat.completion.chunk", "choices": choices}

    yield chunk({"role": "assistant", "content": ""})
    for key in _TEXTS:
        for piece in _cut(message.get(key) or "", size):
            yield chunk({key: piece})
    for index, call in enumerate(message.get("tool_calls") or []):
        function: dict[str, Any] = call.get("function") or {}
        opening = {**function, "arguments": ""}
        yield chunk({"tool_calls": [{**call, "index": index, "function": opening}]})
        for piece in _cut(function.get("arguments") or "", size):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, choice.get("finish_reason"))
    if "usage" in body:
        yield {**head, "object": "chat.completion.chunk", "choices": [], "usage": body["usage"]}


_DELTAS = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}


def _is_anthropic(body: Mapping[str, Any]) -> bool:
    """Is it a message with only known kinds of parts? Any other message is not cut into events."""
    parts = body.get("content")
    return body.get("type") == "message" and is_list(parts) and all(map(_is_anthropic_part, map(object_in, parts)))


def _is_anthropic_part(part: dict[str, Any]) -> bool:
    match part.get("type"):
        case "text" | "thinking" as kind:
            return isinstance(part.get(kind), str)
        case "tool_use":
            return isinstance(part.get("input"), dict | str)
        case kind:
            return kind == "redacted_thinking"


def _anthropic_events(body: Mapping[str, Any], size: int | None) -> Iterator[dict[str, Any]]:
    ending = ("stop_reason", "stop_sequence")
    head = {key: value for key, value in body.items() if key not in ("content", "usage", *ending)}
    usage = {"usage": body["usage"]} if "usage" in body else {}
    yield {"type": "message_start", "message": {**head, "content": [], **usage}}
    for index, part in enumerate(body["content"]):
        yield {"type": "content_block_start", "index": index, "content_block": _opening(part)}
        for delta in _anthropic_deltas(part, size):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {key: body.get(key) for key in ending}, **usage}
    yield {"type": "message_stop"}


def _opening(part: Mapping[str, Any]) -> dict[str, Any]:
    emptied: dict[str, Any] = {"text": "", "thinking": "", "input": {}}
    return {key: emptied.get(key, value) for key, value in part.items() if key != "signature"}


def _anthropic_deltas(part: Mapping[str, Any], size: int | None) -> Iterator[dict[str, Any]]:
    if part["type"] in _DELTAS:
        kind, key = _DELTAS[part["type"]]
        yield from ({"type": kind, key: piece} for piece in _cut(part.get(key) or "", size))
    if part["type"] == "tool_use":
        given: Any = part.get("input")
        text = given if isinstance(given, str) else as_json(given or {})
        yield from ({"type": "input_json_delta", "partial_json": piece} for piece in _cut(text, size))
    if "signature" in part:
        yield {"type": "signature_delta", "signature": part["signature"]}
