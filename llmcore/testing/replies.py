"""What a test double answers, as a body and as a stream.

A scripted answer is a str (what the model wrote), a provider's body (dict), a list of stream chunks (str, dict, or an
exception that breaks the stream there), an exception (raised), a `Reply`, or a callable of the request that gives any
of these.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from llmcore.adapters.failures import classify
from llmcore.types import ConfigError, LLMCoreError, Reply, Request, Usage

__all__ = ["Answer", "chunks_of", "raise_if_error", "reply_of", "resolved", "tool_call_body"]

Answer = str | Mapping[str, Any] | Sequence[Any] | BaseException | type[BaseException] | Reply | Callable[[Request], Any]


def tool_call_body(calls: Sequence[tuple[str, Any]], text: str | None, first_id: int) -> dict[str, Any]:
    """An OpenAI chat body with these calls; arguments that are a str go out as they are, so that they may be broken."""
    made = [
        {
            "id": f"call_fake_{first_id + number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, "tool_calls": made}
    return {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }


async def resolved(answer: Any, request: Request) -> Any:
    """The answer with callables asked (sync or async), until something plain is left."""
    while callable(answer) and not isinstance(answer, type):
        answer = answer(request)
        if inspect.isawaitable(answer):
            answer = await answer
    return answer


def raise_if_error(answer: Any) -> None:
    """Raise what is an exception; a foreign one (of LiteLLM, of a client) as the `LLMCoreError` it means."""
    if isinstance(answer, type) and issubclass(answer, BaseException):
        answer = answer("an error scripted for a test")
    if isinstance(answer, LLMCoreError) or (isinstance(answer, BaseException) and not isinstance(answer, Exception)):
        raise answer
    if isinstance(answer, Exception):
        raise classify(answer) from answer


def reply_of(answer: object, usage: Usage | None) -> Reply:
    """A plain answer as a whole `Reply`. A list of chunks stays a tuple of chunks: the events of a stream, in order."""
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, str):
        return Reply(raw=answer, usage=usage or Usage())
    if isinstance(answer, Mapping):
        body = dict(cast("Mapping[str, Any]", answer))
        return Reply(raw=body, usage=usage or _usage_in(body))
    if isinstance(answer, Sequence):
        chunks = tuple(cast("Sequence[object]", answer))
        for chunk in chunks:
            raise_if_error(chunk)
        texts = [chunk for chunk in chunks if isinstance(chunk, str)]
        return Reply(raw="".join(texts) if len(texts) == len(chunks) else chunks, usage=usage or Usage())
    raise _no_answer(answer)


def _no_answer(answer: object) -> ConfigError:
    kind = type(answer).__name__
    return ConfigError(f"a fake answer is a str, a dict, a list of chunks, an exception or a callable, not {kind}")


def _usage_in(body: Mapping[str, Any]) -> Usage:
    found: object = body.get("usage")
    nothing: Mapping[str, Any] = {}
    counts = cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else nothing
    return Usage(
        input_tokens=counts.get("prompt_tokens") or counts.get("input_tokens") or 0,
        output_tokens=counts.get("completion_tokens") or counts.get("output_tokens") or 0,
    )


def chunks_of(answer: object, size: int | None) -> Iterator[Any]:
    """A plain answer as a stream: text in pieces of `size` characters (None: whole), an OpenAI chat body as its
    chunks with text and arguments cut likewise, any other body in one piece."""
    raw: object = answer.raw if isinstance(answer, Reply) else answer
    if isinstance(raw, str):
        yield from _cut(raw, size)
    elif isinstance(raw, Mapping):
        body = cast("Mapping[str, Any]", raw)
        yield from _openai_chunks(body, size) if _is_openai_chat(body) else [dict(body)]
    elif isinstance(raw, Sequence):
        yield from cast("Sequence[object]", raw)
    else:
        raise _no_answer(raw)


def _cut(text: str, size: int | None) -> Iterator[str]:
    step = size or len(text) or 1
    for start in range(0, len(text), step):
        yield text[start : start + step]


def _is_openai_chat(body: Mapping[str, Any]) -> bool:
    choices: object = body.get("choices")
    first: object = next(iter(cast("list[object]", choices)), None) if isinstance(choices, list) else None
    message: object = cast("dict[str, Any]", first).get("message") if isinstance(first, dict) else None
    known = {"role", "content", "tool_calls", "reasoning_content", "refusal"}
    return isinstance(message, dict) and cast("dict[str, Any]", message).keys() <= known


def _openai_chunks(body: Mapping[str, Any], size: int | None) -> Iterator[dict[str, Any]]:
    choice = body["choices"][0]
    message: Mapping[str, Any] = choice["message"]
    head = {key: value for key, value in body.items() if key not in ("choices", "usage", "object")}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return {**head, "object": "chat.completion.chunk", "choices": choices}

    yield chunk({"role": "assistant", "content": ""})
    for key in ("reasoning_content", "content", "refusal"):
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
