"""Read a plain chat completion in one step: one choice, with either words or calls. Most completions are like that.

It skips the pieces and the engine that multi-part and streamed replies need. The same code reads the calls and the words. If a
body has anything else, `NativeReply` reads all of it. Tests check that both agree
(`tests/normalizer/replies/test_plain_chat.py`).
"""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.native.calls import NativeCall
from llmcore.normalizer.native.finish import reason_of
from llmcore.normalizer.native.openai_chat import SOURCE_FIELDS
from llmcore.normalizer.replies.envelopes import envelope_of_words_and_calls
from llmcore.normalizer.replies.native_calls import Terms, calls_of_pieces
from llmcore.normalizer.text.quick import read_quickly
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Envelope
from llmcore.types.limits import Limits
from llmcore.types.tools import ToolSet

__all__ = ["read_plain_chat"]

_READ = frozenset({"role", "content", "tool_calls"})
_CALL = frozenset({"id", "type", "function", "index"})
_FUNCTION = frozenset({"name", "arguments"})
_ENDS = frozenset({"stop", "tool_calls"})


def read_plain_chat(
    body: dict[str, Any],
    tools: ToolSet | None,
    dialects: frozenset[str] | None,
    limits: Limits,
    *,
    calls_natively: bool = False,
) -> Envelope | None:
    """The envelope, or None if the body is not plain.

    `calls_natively`: the model calls natively, so the engine must judge calls in the text.
    """
    choices = body.get("choices")
    if not is_list(choices) or len(choices) != 1 or "error" in body or not SOURCE_FIELDS.isdisjoint(body):
        return None
    choice: object = choices[0]
    if not is_object(choice) or "delta" in choice or choice.get("text"):
        return None
    message, word = choice.get("message"), choice.get("finish_reason")
    if not is_object(message) or type(word) is not str or reason_of(word) not in _ENDS:
        return None
    for key, value in message.items():
        if key not in _READ and value:
            return None
    words, calls = message.get("content"), message.get("tool_calls")
    if calls:
        return _of_calls(calls, word, tools, limits) if words is None or words == "" else None
    if type(words) is not str:
        return None
    quick = read_quickly(words, tools, dialects, limits)
    if quick is None or (calls_natively and quick.calls):
        return None
    return envelope_of_words_and_calls(words, word, quick)


def _of_calls(entries: object, word: str, tools: ToolSet | None, limits: Limits) -> Envelope | None:
    native: list[NativeCall] = []
    if not is_list(entries):
        return None
    for position, entry in enumerate(entries):
        call = _call(position, entry)
        if call is None:
            return None
        native.append(call)
    readings = calls_of_pieces(native, Terms(tools, limits, ended_by_itself=True, ended_by_length=False), native[-1])
    calls = readings.calls
    if readings.dropped or not calls:
        return None
    fields = {
        "tool_calls": calls,
        "content": "",
        "reasoning": "",
        "needs_more_work": True,
        "finish_reason": "tool_calls",
        "finish_word": word,
        "truncated": not all(call.complete for call in calls),
        "near_misses": [],
        "repairs": [],
    }
    return Envelope.trusted(fields, "", (), None)


def _call(position: int, entry: object) -> NativeCall | None:
    """A complete function call. None if the entry has anything else."""
    if not is_object(entry) or not entry.keys() <= _CALL or entry.get("type") != "function":
        return None
    function, id = entry.get("function"), entry.get("id")
    if not is_object(function) or not function.keys() <= _FUNCTION or type(id) is not str:
        return None
    name, arguments = function.get("name"), function.get("arguments")
    if type(name) is not str or not name or type(arguments) is not str:
        return None
    return NativeCall(position, position, id, name, pieces=[arguments], whole=True)
