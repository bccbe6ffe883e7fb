"""Rewrites replies of OpenAI's chat completions: whole bodies and streams, with any number of choices.

Everything that need not change stays: ids, usage, log probabilities, native calls, and fields of servers. Reasoning in the text
goes to `reasoning_content`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from llmcore.support.values.narrowing import is_list, is_object, object_in, objects_in
from llmcore.types import Envelope, ReasoningDelta, TextDelta, ToolCall
from llmcore.types.finish_reasons import is_no_end, reason_of
from llmcore.wire.openai_chat.encoding import encoded_chat_call
from llmcore.wire.rewriting import (
    ReplyReport,
    RewriteSettings,
    Rewritten,
    arguments_text,
    hand_out,
    is_error_event,
    is_same_text,
    joined_texts,
    judged,
    text_with_withheld,
)

__all__ = ["ChatStreamRewriter", "rewrite_chat"]

Json = dict[str, Any]
_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_NATIVE_FIELDS = frozenset({*_REASONING_FIELDS, "reasoning_details", "thinking_blocks", "tool_calls", "function_call"})
_CALLS = ("tool_calls", "function_call")


def rewrite_chat(body: Json, settings: RewriteSettings, *, keeps_incomplete: bool = False) -> Rewritten:
    """Rewrite a whole body. A body of another wire, and an error, stay as they are. Never raises on a reply.

    `keeps_incomplete`: a native call that is cut stays too. A client would run it, so this is for logs alone.
    """
    choices = body.get("choices")
    if not is_list(choices):
        return Rewritten(body, [])
    reports: list[ReplyReport] = []
    written: list[Any] = []
    for choice in choices:
        if is_object(choice) and is_object(choice.get("message")):
            choice, report = _rewritten_choice(choice, settings, keeps_incomplete)
            reports.append(report)
        written.append(choice)
    changed = any(one is not other for one, other in zip(written, choices, strict=True))
    return Rewritten({**body, "choices": written} if changed else body, reports)


def _rewritten_choice(choice: Json, settings: RewriteSettings, keeps_incomplete: bool) -> tuple[Json, ReplyReport]:
    message: Json = choice["message"]
    envelope, result = judged(settings, {"choices": [{**choice, "index": 0}]})
    given = objects_in(message.get("tool_calls"))
    handed = hand_out(envelope, result, settings, lambda native: _are_sound(given, native), keeps_incomplete=keeps_incomplete)
    report = ReplyReport(handed.calls, result.withheld)
    content = text_with_withheld(envelope, result)
    has_calls = bool(handed.calls)
    reads_text = bool(message.get("content"))  # if it has none, calls may stand in its reasoning, which stays as it is
    fields = _text_fields(message, envelope, content, has_calls) if reads_text and content != envelope.source else {}
    if handed.changes_calls:
        native = given if handed.keeps_native else [encoded_chat_call(call) for call in handed.native]
        entries = [*native, *(encoded_chat_call(call, settings.free_text) for call in handed.in_text)]
        message = {key: value for key, value in message.items() if key not in _CALLS}
        fields |= {"tool_calls": entries} if entries else {}
    word = _finish_word(choice.get("finish_reason"), has_calls)
    if not fields and message is choice["message"] and word == choice.get("finish_reason"):
        return choice, report
    return {**choice, "message": {**message, **fields}, "finish_reason": word}, report


def _text_fields(message: Json, envelope: Envelope, content: str, has_calls: bool) -> Json:
    """The fields of the text and of the reasoning in it."""
    fields: Json = {"content": content if content or not has_calls else None}
    if envelope.reasoning:
        field = next((field for field in _REASONING_FIELDS if message.get(field)), _REASONING_FIELDS[0])
        fields[field] = envelope.reasoning
    return fields


def _are_sound(given: list[Json], calls: list[ToolCall]) -> bool:
    """Whether the native calls are as a client would read them, so that they can stay."""
    if len(given) != len(calls) or len({str(each.get("id")) for each in given}) < len(given):
        return False
    return all(_is_sound(each, call) for each, call in zip(given, calls, strict=True))


def _is_sound(given: Json, call: ToolCall) -> bool:
    if given.get("id") != call.id or not call.id:
        return False
    if is_object(custom := given.get("custom")):
        return custom.get("name") == call.name
    function = object_in(given.get("function"))
    text = function.get("arguments")
    as_sent = isinstance(text, str) and bool(text.strip()) and text == call.raw_arguments
    return function.get("name") == call.name and as_sent and arguments_text(call) == text


def _finish_word(word: object, has_calls: bool) -> Any:
    """The finish reason. `stop` with calls is `tool_calls`; `tool_calls` without any is `stop`."""
    reason = reason_of(word) if isinstance(word, str) else None
    if reason == "stop" and has_calls:
        return "tool_calls"
    return "stop" if reason == "tool_calls" and not has_calls else word


class ChatStreamRewriter:
    """Rewrites the chunks of a stream. Text is live. Calls come whole, after the last chunk with text and before the finish.

    `feed` returns the chunks to send for one chunk, which is the given object if it need not change. `finish` returns the last
    ones: call it at `data: [DONE]` with `done=True`, and at the end of a stream that has none. A choice that has neither a finish
    reason nor `[DONE]` was cut: its text is sent, and none of its calls.
    """

    def __init__(self, settings: RewriteSettings) -> None:
        self._settings = settings
        self._choices: dict[int, _Choice] = {}
        self._last: list[Json] = []
        """The chunks that end a choice, and those after them."""
        self._finished = False

    @property
    def reports(self) -> list[ReplyReport]:
        """A report of each choice, after `finish`."""
        return [choice.report for _, choice in sorted(self._choices.items())]

    def feed(self, event: Json) -> list[Json]:
        """The chunks to send for this one."""
        chunk = event
        if is_error_event(chunk):
            return [*self.finish(), chunk]
        choices = chunk.get("choices")
        if not is_list(choices) or self._finished:
            return [chunk]
        if not choices:
            if not self._last:
                return [chunk]
            self._last.append(chunk)
            return []
        if len(choices) == 1:
            return self._one(chunk, choices[0])
        usage = {"usage": chunk["usage"]} if "usage" in chunk else {}
        shell = _shell(chunk)
        found = [self._one({**shell, "choices": [choice]}, choice) for choice in choices[:-1]]
        found.append(self._one({**shell, **usage, "choices": choices[-1:]}, choices[-1]))
        return [each for part in found for each in part]

    def _one(self, chunk: Json, choice: object) -> list[Json]:
        if not is_object(choice) or not is_object(choice.get("delta")):
            return [chunk]
        index = choice.get("index")
        index = index if isinstance(index, int) else 0
        reader = self._choices.get(index)
        if reader is None:
            reader = self._choices[index] = _Choice(index, self._settings)
        return reader.feed(chunk, choice, choice["delta"], self._last)

    def finish(self, *, done: bool = False) -> list[Json]:
        """The last chunks. A second call returns none."""
        if self._finished:
            return []
        self._finished = True
        chunks = [chunk for _, choice in sorted(self._choices.items()) for chunk in choice.finish(done)]
        return [*chunks, *map(self._with_finish_word, self._last)]

    def _with_finish_word(self, chunk: Json) -> Json:
        """A chunk that was withheld, with the finish reason that fits its calls."""
        choices = [
            {**choice, "finish_reason": _finish_word(choice["finish_reason"], bool(reader.report.calls))}
            if choice.get("finish_reason") and (reader := self._choices.get(choice.get("index") or 0)) is not None
            else choice
            for choice in objects_in(chunk["choices"])
        ]
        return {**chunk, "choices": choices}


class _Choice:
    """One choice of a stream."""

    def __init__(self, index: int, settings: RewriteSettings) -> None:
        self._index, self._settings = index, settings
        self._stream = settings.stream()
        self._shell: Json = {}
        """The fields that all chunks of the reply have."""
        self._native: list[Json] = []
        """The chunks with native calls, as they came."""
        self._word: str | None = None
        self._has_text = False
        self.report = ReplyReport()

    def feed(self, chunk: Json, choice: Json, delta: Json, last: list[Json]) -> list[Json]:
        """The chunks to send for this one. A chunk that ends the choice goes to `last`."""
        if not self._shell:
            self._shell = _shell(chunk)
        text, word = delta.get("content"), choice.get("finish_reason")
        self._has_text = self._has_text or bool(text)
        if type(text) is str and word is None and _is_only_text(delta):
            events = self._stream.feed(text) if text else []
            if is_same_text(events, text):
                return [chunk]
        elif word is None and self._word is None and len(delta) == 1 and (found := self._deferred(chunk, delta)) is not None:
            return found
        else:
            events = self._native_parts(delta, choice, word)
        if _CALLS[0] in delta or _CALLS[1] in delta:
            self._note_native(chunk, choice, delta)
        without = (*_CALLS, "content") if isinstance(text, str) else _CALLS
        rest = {key: value for key, value in delta.items() if key not in without}
        if self._word is not None:
            last.append({**chunk, "choices": [{**choice, "delta": rest}]})
            return self._written(events)
        return self._rest(chunk, choice, rest, events, text)

    def _rest(self, chunk: Json, choice: Json, rest: Json, events: list[Any], text: object) -> list[Json]:
        """A chunk with the decided text in place of its own. It is left out if nothing but undecided text was in it."""
        written = [_delta(is_text, text) for is_text, text in joined_texts(events)]
        says_more = bool(chunk.get("usage") or choice.get("logprobs")) or any(value is not None for value in rest.values())
        if not written and not says_more and text != "":
            return []
        if written and not rest.keys().isdisjoint(written[0]):  # reasoning in the text, beside reasoning of the server
            written.insert(0, {})
        first = {**rest, **(written[0] if written else {"content": ""} if isinstance(text, str) else {})}
        if first == choice["delta"] and len(written) <= 1:
            return [chunk]
        return [{**chunk, "choices": [{**choice, "delta": first}]}, *(self._chunk(delta) for delta in written[1:])]

    def _deferred(self, chunk: Json, delta: Json) -> list[Json] | None:
        """The chunks to send for one that continues reasoning or a native call. None if it is another."""
        field, value = next(iter(delta.items()))
        if field in _REASONING_FIELDS and isinstance(value, str):
            self._stream.defer(field, value, lambda text: _native_chunk({field: text}))
            return [chunk]
        part = value[0] if field == _CALLS[0] and is_list(value) and len(value) == 1 and is_object(value[0]) else {}
        function = part.get("function")
        if part.keys() != {"index", "function"} or not is_object(function) or function.keys() != {"arguments"}:
            return None
        arguments = function["arguments"]
        if not isinstance(arguments, str):
            return None
        self._native.append(chunk)
        index = part["index"]
        self._stream.defer(
            (field, index), arguments, lambda text: _native_chunk({field: [{"index": index, "function": {"arguments": text}}]})
        )
        return []

    def _native_parts(self, delta: Json, choice: Json, word: object) -> list[Any]:
        """Read a delta with more than text. Its own reasoning and refusal stay in it, so only the events of its text count."""
        text = delta.get("content")
        calls = {key: delta[key] for key in _CALLS if delta.get(key)}
        thoughts = {key: value for key, value in delta.items() if key in _NATIVE_FIELDS and key not in _CALLS and value}
        if thoughts:
            self._stream.feed(_native_chunk(thoughts))
        events = self._stream.feed(text) if isinstance(text, str) and text else []
        if isinstance(word, str) and not is_no_end(word):
            self._word = word
        if calls or self._word is not None:
            events = [*events, *self._stream.feed(_native_chunk(calls, word))]
        return events

    def _note_native(self, chunk: Json, choice: Json, delta: Json) -> None:
        calls = {key: delta[key] for key in _CALLS if delta.get(key)}
        if calls:
            alone = {**choice, "delta": calls, "finish_reason": None}
            self._native.append({**_shell(chunk), "choices": [alone]})

    def _written(self, events: Iterable[TextDelta | ReasoningDelta]) -> list[Json]:
        return [self._chunk(_delta(is_text, text)) for is_text, text in joined_texts(events)]

    def _chunk(self, delta: Json, finish_reason: str | None = None) -> Json:
        return {**self._shell, "choices": [{"index": self._index, "delta": delta, "finish_reason": finish_reason}]}

    def finish(self, done: bool) -> list[Json]:
        """The rest of the text, then the calls."""
        cut = self._word is None and not done
        events = self._stream.finish("stop" if done and self._word is None else None, cut=cut)
        chunks = self._written(events if self._has_text else ())  # without text, they are of its reasoning, which was sent
        result = self._stream.offered
        given = _assembled(self._native)
        envelope = self._stream.envelope
        handed = hand_out(envelope, result, self._settings, lambda native: _are_sound(given, native), cut=cut)
        self.report = ReplyReport(handed.calls, result.withheld, self._stream.reclassified_reasoning, cut)
        native = [encoded_chat_call(call) for call in handed.native]
        entries = [encoded_chat_call(call, self._settings.free_text) for call in handed.in_text]
        chunks += self._native if handed.keeps_native else [self._call_chunk(n, entry) for n, entry in enumerate(native)]
        chunks += [self._call_chunk(n, entry) for n, entry in enumerate(entries, len(native))]
        if handed.calls and self._word is None:
            chunks.append(self._chunk({}, "tool_calls"))
        return chunks

    def _call_chunk(self, n: int, entry: Json) -> Json:
        return self._chunk({"tool_calls": [{"index": n, **entry}]})


def _native_chunk(delta: Json, word: object = None) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": word}]}


def _is_only_text(delta: Json) -> bool:
    return len(delta) == 1 or not any(value and key not in ("content", "role") for key, value in delta.items())


def _shell(chunk: Json) -> Json:
    return {key: value for key, value in chunk.items() if key not in ("choices", "usage")}


def _delta(is_text: bool, text: str) -> Json:
    return {"content": text} if is_text else {_REASONING_FIELDS[0]: text}


def _assembled(chunks: list[Json]) -> list[Json]:
    """The native calls as a client puts them together: by index, the first id, the joined arguments."""
    calls: dict[Any, Json] = {}
    for chunk in chunks:
        for part in objects_in(chunk["choices"][0]["delta"].get("tool_calls")):
            call = calls.setdefault(part.get("index"), {"id": None})
            if part.get("id") and call["id"] not in (None, part["id"]):
                return []
            call["id"] = call["id"] or part.get("id")
            for key in ("function", "custom"):
                for field, value in object_in(part.get(key)).items():
                    inner = call.setdefault(key, {})
                    if isinstance(value, str):
                        inner[field] = inner.get(field, "") + value
    return [calls[index] for index in calls] if [*calls] == [*range(len(calls))] else []
