"""Chat logs in OpenAI's form: the calls that models wrote as text become native calls.

A row of a log is an object, or a list of messages. The histories (`messages`) and the reply bodies (`choices`) may stand anywhere
in it, so rows of fine-tuning data, of batches and of gateways need no description. All else in a row stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from llmcore.support.values.copies import updated
from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in
from llmcore.wire.openai_chat.rewriting import rewrite_chat
from llmcore.wire.rewriting import ReplyReport, RewriteSettings
from llmcore.wire.tools import decode_tools

__all__ = ["RepairedReply", "RepairedRow", "repair_row"]

Json = dict[str, Any]
_DEPTH = 8
"""How deep in a row histories and bodies are sought."""
_CLOSED = frozenset({"messages", "choices", "tools", "functions"})
"""The fields in which no other history, body or list of tools is sought."""
_RESULT = re.compile(r"\s*<tool_response>(.*?)</tool_response>\s*", re.DOTALL)
"""A tool's result in a user's message, as the chat templates of Hermes and Qwen write it."""


@dataclass(frozen=True, slots=True)
class RepairedReply:
    """A reply of a row. `place`: where it stands, such as `messages[2]` or `response.body.choices[0]`.

    `changed`: whether it differs from the reply as it came.
    """

    place: str
    report: ReplyReport
    changed: bool


@dataclass(frozen=True, slots=True)
class RepairedRow:
    """A row, which is the given object if nothing changed, and a report of each reply in it."""

    row: Any
    replies: list[RepairedReply] = field(default_factory=list[RepairedReply])


def repair_row(row: Any, settings: RewriteSettings) -> RepairedRow:
    """Make the calls in the text of each reply of a row native.

    - A reply is a message of the role `assistant`, or a choice of a body.
    - The tools are those of the row: its first list `tools`, or `functions` in the old form. `settings.tools` are for rows
      without any.
    - The results behind a new call get its id. If they have ids already, the call takes theirs, unless an earlier call of the
      history has that id.
    - A native call stays. If its arguments can be repaired without loss, they are.
    - Results in a user's message (`<tool_response>`) become messages of the role `tool`.
    - A call that `offered` withholds stays text, and its report says why.

    Raises `CallerError` and `ToolDefinitionError` if the tools of the row cannot be read.
    """
    if (given := _tools(row)) is not None:
        decoded = decode_tools(given, free_text="function")
        settings = replace(settings, tools=decoded.tools, free_text=decoded.free_text)
    replies: list[RepairedReply] = []
    repaired = _history(row, "", settings, replies) if is_list(row) else _value(row, "", settings, replies, _DEPTH)
    return RepairedRow(repaired, replies)


def _tools(row: object) -> list[Any] | None:
    for each in _objects(row, _DEPTH):
        if is_list(found := each.get("tools")) and found:
            return found
        if is_list(found := each.get("functions")) and found:
            return [{"type": "function", "function": one} for one in found]
    return None


def _objects(value: object, depth: int) -> Iterator[Json]:
    if is_object(value) and depth >= 0:
        yield value
        for key, inner in value.items():
            if key not in _CLOSED:
                yield from _objects(inner, depth - 1)


def _value(value: Any, place: str, settings: RewriteSettings, replies: list[RepairedReply], depth: int) -> Any:
    """The value with its histories and bodies repaired. The given object if nothing changed."""
    if not is_object(value) or depth < 0:
        return value
    written: Json = {}
    for key, inner in value.items():
        if key == "messages" and is_list(inner):
            written[key] = _history(inner, f"{place}messages", settings, replies)
        elif key == "choices" and is_list(inner):
            written[key] = _choices(value, f"{place}choices", settings, replies)
        elif key in _CLOSED:
            written[key] = inner
        else:
            written[key] = _value(inner, f"{place}{key}.", settings, replies, depth - 1)
    return written if any(written[key] is not inner for key, inner in value.items()) else value


def _choices(body: Json, place: str, settings: RewriteSettings, replies: list[RepairedReply]) -> list[Any]:
    before: list[Any] = body["choices"]
    rewritten = rewrite_chat(body, settings)
    after: list[Any] = rewritten.body["choices"]
    reports = iter(rewritten.reports)
    for n, choice in enumerate(before):
        if is_object(choice) and is_object(choice.get("message")):
            replies.append(RepairedReply(f"{place}[{n}]", next(reports), after[n] is not choice))
    return after


def _history(messages: list[Any], place: str, settings: RewriteSettings, replies: list[RepairedReply]) -> list[Any]:
    """The messages with their replies repaired. The given list if nothing changed."""
    written: list[Any] = []
    used = set[str]()
    """The ids of the calls so far."""
    changed, at = False, 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if not is_object(message) or message.get("role") != "assistant":
            written.append(message)
            continue
        stands = f"{place}[{at - 1}]"
        rewritten = rewrite_chat({"choices": [_choice_of(message)]}, settings, keeps_incomplete=True)
        reply, report = rewritten.body["choices"][0]["message"], rewritten.reports[0]
        written.append(reply)
        changed = changed or reply is not message
        calls, given = objects_in(reply.get("tool_calls")), objects_in(message.get("tool_calls"))
        if reply is not message and len(given) == sum(call.span is None for call in report.calls):
            _restore_ids(calls, given)
        kept = {str(call.get("id")) for call in given}
        native = {str(call.get("id")) for call in calls} & kept
        used |= native
        if new := [call for call in calls if str(call.get("id")) not in kept]:
            results, at = _results(messages, at)
            _answer(new, [one for one in results if str(one.get("tool_call_id")) not in native], used)
            written += results
        if reply is not message:  # the report has the same calls in the same order
            same = zip(report.calls, calls, strict=True)
            report = replace(report, calls=[updated(call, {"id": entry["id"]}) for call, entry in same])
        replies.append(RepairedReply(stands, report, reply is not message))
    return written if changed else messages


def _choice_of(message: Json) -> Json:
    """The choice of a body that has this message. A history has whole replies, so the finish reason is that of a whole reply."""
    is_calling = objects_in(message.get("tool_calls")) or object_in(message.get("function_call"))
    return {"index": 0, "message": message, "finish_reason": "tool_calls" if is_calling else "stop"}


def _restore_ids(calls: list[Json], given: list[Json]) -> None:
    """Give each native call the id that it came with, since its result has that id. Native calls come before those in text."""
    seen = set[str]()
    for call, one in zip(calls, given, strict=False):
        came = one.get("id")
        if isinstance(came, str) and came and came not in seen:
            seen.add(came)
            call["id"] = came


def _results(messages: list[Any], at: int) -> tuple[list[Json], int]:
    """The results of tools from `at` on, and where they end."""
    found: list[Json] = []
    while at < len(messages) and is_object(message := messages[at]):
        if message.get("role") in ("tool", "function"):
            found.append({**message, "role": "tool"})
        elif message.get("role") == "user" and (texts := _results_in(message.get("content"))):
            found += [{"role": "tool", "content": text} for text in texts]
        else:
            break
        at += 1
    return found, at


def _results_in(content: object) -> list[str]:
    """The results that a user's message consists of. None of them if it holds anything else."""
    found: list[str] = []
    at = 0
    while isinstance(content, str) and at < len(content):
        if (result := _RESULT.match(content, at)) is None:
            return []
        found.append(result[1].strip())
        at = result.end()
    return found


def _answer(calls: list[Json], results: list[Json], used: set[str]) -> None:
    """Give each result the id of its call: the next one of its name, else the next one.

    If the result has an id that is not in `used`, its call takes that one. `used` gets the ids of all calls.
    """
    waiting = [*calls]
    for result in results[: len(calls)]:
        call = next((call for call in waiting if _name(call) == result.get("name")), waiting[0])
        waiting.remove(call)
        given = result.get("tool_call_id")
        if isinstance(given, str) and given and given not in used:
            call["id"] = given
        result["tool_call_id"] = call["id"]
        used.add(call["id"])
    used.update(call["id"] for call in waiting)


def _name(call: Json) -> object:
    return object_in(call.get("function") or call.get("custom")).get("name")
