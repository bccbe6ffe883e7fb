"""The answer beside the calls of an object, as text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_list, is_object, objects_in
from llmcore.types.envelope import Repair

__all__ = [
    "answer_beside",
    "answer_for_call",
    "answer_of_call",
    "content_text",
    "is_about_the_message",
    "lists_nothing",
    "unread_beside",
]

_ANSWERS = (
    *("content", "text", "response", "answer", "message", "reply"),
    *("final_answer", "finalAnswer", "final_response", "finalResponse"),
)
"""Keys of the answer. The first one with a value counts."""
_CALLS_NOTHING = frozenset((
    "", "none", "null", "noaction", "notool", "nofunction", "respond", "reply", "answer", "finalanswer", "finalresponse",
    "directanswer", "directlyanswer", "directresponse", "respondtouser", "finish",
))  # fmt: skip
"""Words in the place of a tool's name by which a model says that it answers, in lower case without separators."""
_PARTS_WORDS = str.maketrans("", "", " _-.")
_NOT_NAMES = frozenset(("name", "command", "method", "$type", "func", "function"))
"""Keys that data has, too. If the value of one is null, it does not mean that no tool is called."""
_THOUGHTS = ("reasoning", "reasoning_content", "thought", "thoughts", "thinking")
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
        *("function_call", *_THOUGHTS),
    )
)


def content_text(content: Any) -> tuple[str, list[Repair]]:
    """An envelope's `content` as text: the text of its text parts, or the JSON of any other value. Also the repairs."""
    if content is None or isinstance(content, str):
        return content or "", []
    parts: list[Any] = content if is_list(content) else [content]
    texts = [part["text"] for part in objects_in(parts) if isinstance(part.get("text"), str) and part.keys() <= {"type", "text"}]
    text = "".join(texts) if texts and len(texts) == len(parts) else as_json(content)
    return text, [Repair(kind="content_written", path="content", before=content, after=text, safety="coerced")]


def is_about_the_message(value: dict[str, Any], key: str, also: Collection[str] = ()) -> bool:
    """Whether all keys are answers, `key`, facts about the message, or in `also`."""
    return not unread_beside(value, (key, *also))


def unread_beside(value: dict[str, Any], read: Collection[str]) -> list[Repair]:
    """The repairs of all other keys than answers, facts about the message, and `read`."""
    return [
        Repair(kind="text_dropped", path=key, before=held, after=None)
        for key, held in value.items()
        if key not in read and key not in _ANSWERS and key not in _ABOUT_THE_MESSAGE and held is not None
    ]


def lists_nothing(value: dict[str, Any], key: str) -> bool:
    """Whether it is a message with null or "" in the place of its list of calls."""
    return key in value and (value[key] is None or value[key] == "") and is_about_the_message(value, key)


def answer_beside(value: dict[str, Any], key: str, *, alone: bool) -> tuple[str, list[Repair]] | None:
    """The answer beside the list of calls under `key`, and its repairs.

    `alone`: the list is empty, so the answer is all of the message. None if the answer would lose a part of it: then the
    object is the user's data.
    """
    answers = [value[name] for name in _ANSWERS if value.get(name) is not None]
    if alone and (len(answers) > 1 or not is_about_the_message(value, key)):
        return None
    if alone and not answers and "role" not in value and any(isinstance(value.get(key), str) for key in _THOUGHTS):
        return None
    answer = answers[0] if answers else None
    if not alone and "content" not in value and not isinstance(answer, str):
        return "", []
    if is_object(answer) and "content" in answer and answer.keys() <= {"content", "role"}:
        answer = answer["content"]
    texts = list(dict.fromkeys(one for one in answers if isinstance(one, str) and one.strip()))
    if not alone and len(texts) > 1 and answer is answers[0]:
        whole = "\n\n".join(texts)
        return whole, [Repair(kind="content_written", path="content", before=texts, after=whole, safety="coerced")]
    return content_text(answer)


def answer_of_call(value: dict[str, Any], others: Collection[str]) -> str | None:
    """The text beside the call in an object that is one call, or None. `others`: the tool's parameters, which are no text."""
    texts = [value[key] for key in _ANSWERS if isinstance(value.get(key), str) and key not in others and value[key].strip()]
    return "\n\n".join(dict.fromkeys(texts)) or None


def answer_for_call(value: dict[str, Any], name_keys: Collection[str], argument_keys: Collection[str]) -> str | None:
    """The answer that an object gives in the place of a call, as in `{"action": "respond", "text": "Hi"}`.

    None if the object names a tool or holds more than the answer.
    """
    named = [key for key in value if key in name_keys or key in ("function_call", "tool_call")]
    if len(named) != 1 or not _calls_nothing(named[0], value[named[0]]):
        return None
    rest = {key: held for key, held in value.items() if key != named[0] and key not in _ABOUT_THE_MESSAGE and held is not None}
    if len(rest) != 1:
        return None
    ((key, text),) = rest.items()
    if key in argument_keys and is_object(text) and len(text) == 1:
        ((key, text),) = text.items()
        key = key if key in _ANSWERS else ""
    return text if isinstance(text, str) and (key in _ANSWERS or (key in argument_keys and value[named[0]])) else None


def _calls_nothing(key: str, name: Any) -> bool:
    if name is None:
        return key not in _NOT_NAMES
    return isinstance(name, str) and name.lower().translate(_PARTS_WORDS) in _CALLS_NOTHING
