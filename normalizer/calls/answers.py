"""What an object that lists calls says beside them: the answer, as text, whatever it was written as."""

from __future__ import annotations

from typing import Any

from llmcore.types.envelope import Repair
from llmcore.types.narrowing import is_list, is_object, objects_in
from llmcore.types.numbers import exact_json

__all__ = ["answer_beside", "lists_nothing", "said_in"]

_ANSWERS = ("content", "text", "response", "answer", "message")
"""Keys that the answer stands under, the first one that says something."""
_ABOUT_THE_MESSAGE = frozenset(
    (
        *(
            "role",
            "id",
            "type",
            "index",
            "name",
            "model",
            "object",
            "created",
            "refusal",
            "annotations",
            "audio",
            "finish_reason",
        ),
        *("function_call", "reasoning", "reasoning_content", "thought", "thoughts", "thinking"),
    )
)


def said_in(content: Any) -> tuple[str, list[Repair]]:
    """An envelope's `content` as text: that of its text parts, or a value as JSON."""
    if content is None or isinstance(content, str):
        return content or "", []
    parts: list[Any] = content if is_list(content) else [content]
    texts = [part["text"] for part in objects_in(parts) if isinstance(part.get("text"), str) and part.keys() <= {"type", "text"}]
    said = "".join(texts) if texts and len(texts) == len(parts) else exact_json(content)
    return said, [Repair(kind="content_written", path="content", before=content, after=said, safety="coerced")]


def _is_about_the_message(value: dict[str, Any], key: str) -> bool:
    """Does nothing stand beside the answer and `key` but what a message says of itself?"""
    return all(other == key or other in _ANSWERS or other in _ABOUT_THE_MESSAGE or value[other] is None for other in value)


def lists_nothing(value: dict[str, Any], key: str) -> bool:
    """Is it a message that says of its calls that there are none, by null or an empty text in place of the list?"""
    return key in value and (value[key] is None or value[key] == "") and _is_about_the_message(value, key)


def answer_beside(value: dict[str, Any], key: str, *, alone: bool) -> tuple[str, list[Repair]] | None:
    """The answer beside the list of calls under `key`. `alone`: the list is empty, so that the answer is all there is; None where
    that would lose something: then the object is data of somebody's own."""
    answers = [value[name] for name in _ANSWERS if value.get(name) is not None]
    if alone and (len(answers) > 1 or not _is_about_the_message(value, key)):
        return None
    answer = answers[0] if answers else None
    if not alone and "content" not in value and not isinstance(answer, str):
        return "", []
    if is_object(answer) and "content" in answer and answer.keys() <= {"content", "role"}:
        answer = answer["content"]
    return said_in(answer)
