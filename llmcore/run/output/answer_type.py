"""Typed output: its schema, the output tool, and the one way in which an answer becomes a value.

If a type's schema is no object, the model is asked for `{"result": ...}`, because tools and strict formats need an object.
Every mode does so: the output tool, the response format and the prompt. The answer may come as text, in a response format, or
as a call of `final_result` (which never runs), wrapped or not. In each case it is a text that `OutputSpec.read` reads. So
parsing, repair and re-ask are one path for all types, modes and wires.

Some types take the text itself (`str`, `int | str`, `Any`), and then take all of it. The text counts as a wrapper only if the
wrapper is the whole message, perhaps in a fence and behind words that name the answer. A wrapper within other prose is
content.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache
from pydantic import ConfigDict
from typing_extensions import TypedDict

from llmcore.adapters.request.output import FINAL_RESULT, WRAPPER, is_object_schema, output_tool, wrapped_schema
from llmcore.compiling import compile_tools
from llmcore.support.code.fork_safe_lock import ForkSafeLock
from llmcore.support.values.annotations import type_key, usable
from llmcore.support.values.copies import updated
from llmcore.support.values.json_data import as_json
from llmcore.support.values.narrowing import is_object
from llmcore.types import CallerError, Envelope, JsonSchema, OutputParseError, ToolCall, ToolDefinition

if TYPE_CHECKING:
    from llmcore.validator import ParseDetail  # loads jsonschema, which only typed output needs

__all__ = ["OutputSpec", "split_final_call"]

_HEAD = 200  # of a text, within which it shows how it begins
_WORD = 10  # letters of the longest word that names an answer
_KEY = f'{{"{WRAPPER}":'
_BETWEEN_CALLS = ", "
"""Separates the values of several calls of the output tool."""
_EMPTY_LIST = re.compile(r"(?:\A|</[\w:]+>)\s*(?P<list>(?:```\w*\s*)?\[\s*(?:null|None)?\s*\]\s*(?:```)?)\s*\Z")
"""An empty list, alone or behind the end of the reasoning."""
_cache: LRUCache[Hashable, OutputSpec] = LRUCache(256)
_lock = ForkSafeLock()
"""Guards the cache."""


class OutputSpec:
    """What one output type needs: its JSON Schema, its tool, and how its values are read. Made once for each type.

    Raises `CallerError` if pydantic has no schema for the type.
    """

    __slots__ = ("asked_wrapped", "output_type", "schema", "tool", "wrapped_type")

    def __init__(self, output_type: Any) -> None:
        from llmcore.validator import json_schema

        self.output_type = output_type = usable(output_type)
        try:
            self.schema: JsonSchema = json_schema(output_type)
        except CallerError:
            raise
        except Exception as error:  # pydantic raises several kinds for types it does not know
            raise CallerError(f"output_type {output_type!r} has no JSON Schema: {error}") from error
        self.tool: ToolDefinition = output_tool(self.schema)
        self.asked_wrapped = not is_object_schema(self.schema)
        self.wrapped_type: Any = wrapped_schema(self.schema) if is_object(output_type) else _wrapping(output_type)

    @classmethod
    def of(cls, output_type: Any) -> OutputSpec | None:
        """The spec of a type; None for None. Specs of types are cached; a schema given as a dict is read each time."""
        if output_type is None:
            return None
        if is_object(output_type):
            return cls(output_type)
        key = type_key(output_type)
        with _lock:
            found = _cache.get(key)
        if found is None:
            made = cls(output_type)
            with _lock:
                found = _cache.setdefault(key, made)
        return found

    def read(self, text: str, strictness: Any = "safe") -> ParseDetail:
        """The value in an answer, wrapped or not. Raises `OutputParseError`.

        The form that was asked for is tried first, then the other one.
        """
        asked, other = (self._unwrapped, self._plain) if self.asked_wrapped else (self._plain, self._unwrapped)
        try:
            return asked(text, strictness)
        except OutputParseError as error:
            if not self.asked_wrapped and f'"{WRAPPER}"' not in text:
                raise
            if self.asked_wrapped and _is_broken_wrapper(text):
                raise  # the raw text would be half an answer
            failed = error
        try:
            return other(text, strictness)
        except OutputParseError as error:
            as_asked = not self.asked_wrapped or f'"{WRAPPER}"' in text
            failure = failed if as_asked else error
            raise failure from failure.__cause__

    def read_partial(self, text: str) -> Any:
        """The certain part of the value of an incomplete answer; None while nothing is certain."""
        from llmcore.validator import parse, parse_detailed

        may_be_wrapped = _may_be_wrapped(text)
        if self.asked_wrapped and (may_be_wrapped or f'"{WRAPPER}"' in text):
            text = text.rstrip("`~")  # a partial closing fence
            found = parse_detailed(text, self.wrapped_type, partial=True)
            takes_all = not (may_be_wrapped and _is_whole(found, text)) and self._whole_text(text) is not None
            if not takes_all and is_object(found.value) and WRAPPER in found.value:
                return found.value[WRAPPER]
            if may_be_wrapped and not takes_all:
                return None
        return parse(text, self.output_type, partial=True)

    @property
    def runs_code(self) -> bool:
        """Whether reading a value runs the caller's code. See `CompiledOutput.runs_code`."""
        from llmcore.validator.output.output_types import compile_output

        return compile_output(self.output_type).runs_code

    def text_of(self, call: ToolCall) -> str:
        """The answer in a call of the output tool, as JSON text. Unreadable arguments are returned raw."""
        return call.raw_arguments if call.arguments is None else as_json(call.arguments)

    def fitting(self, value: Any) -> tuple[Any] | None:
        """A 1-tuple of the Python value as one of the type (see `CompiledOutput.strictly`); None if it does not fit."""
        from llmcore.validator.output.output_types import compile_output

        return compile_output(self.output_type).strictly(value)

    def _plain(self, text: str, strictness: Any) -> ParseDetail:
        from llmcore.validator import parse_detailed

        detail = parse_detailed(text, self.output_type, strictness=strictness)
        if self.asked_wrapped and _is_wrapper(detail.value) and not _is_whole(detail, text):
            return self._whole_text(text) or detail
        return detail

    def _unwrapped(self, text: str, strictness: Any) -> ParseDetail:
        from llmcore.validator import Problem, parse_detailed
        from llmcore.validator.schema.problems import shown_value

        detail = parse_detailed(text, self.wrapped_type, strictness=strictness)
        made_fit = any(repair.path == WRAPPER for repair in detail.repairs)  # the JSON was the answer itself
        if self.asked_wrapped and (made_fit or not _is_whole(detail, text)) and self._whole_text(text) is not None:
            got = Problem(
                kind="incomplete", path=WRAPPER, expected="a whole text", got=shown_value(text), message="it is no text"
            )
            raise OutputParseError("it wraps no text", [got], text)
        return replace(detail, value=detail.value[WRAPPER])

    def _whole_text(self, text: str) -> ParseDetail | None:
        """The text itself, if the type takes it."""
        from llmcore.validator.output.parsing import whole_text

        return whole_text(text, self.output_type)


def _is_wrapper(value: Any) -> bool:
    return is_object(value) and value.keys() == {WRAPPER}


def _is_whole(detail: ParseDetail, text: str) -> bool:
    """Whether the value is the whole message, except for words that name the answer."""
    from llmcore.validator.output.candidates import is_whole_answer, stands_alone

    found = next((repair for repair in detail.repairs if repair.kind == "found_in_text"), None)
    return found is None or is_whole_answer(text, *found.before) or stands_alone(text, *found.before, headed=True)


def _wrapping(output_type: Any) -> Any:
    """The type of an object that holds one value of `output_type` and nothing else."""
    make: Any = TypedDict  # checkers take only literal keys and types
    made = make("Result", {WRAPPER: output_type})
    made.__pydantic_config__ = ConfigDict(extra="forbid")
    return made


def _is_broken_wrapper(text: str) -> bool:
    """Whether the text is a wrapper alone, but cut, damaged or repeated. As a text it would keep its braces."""
    from llmcore.validator.output.candidates import find_values, is_whole_answer, stands_alone

    head = _head(text)
    if not head.startswith(_KEY):
        return len(head) > len('{"') and _KEY.startswith(head)
    found = find_values(text, cut=False)
    if len(found.values) > 1 and all(_is_wrapper(one.value) for one in found.values):
        between = [text[one.end : other.start] for one, other in pairwise(found.values)]
        return all(gap.strip() == _BETWEEN_CALLS.strip() for gap in between)
    first = next(iter(found.values or found.begun), None)
    if first is None or not (is_whole_answer(text, first.start, first.end) or stands_alone(text, first.start, first.end)):
        return False
    return not first.complete or any(repair.safety in ("guess", "truncated") for repair in first.repairs)


def _may_be_wrapped(text: str) -> bool:
    """Whether a text begins like `{"result":`, perhaps in a fence or behind words that name the answer. The last of them may be
    incomplete."""
    head = _head(text)
    return head.startswith(_KEY) or _KEY.startswith(head) or (len(head) < _WORD and head.isalpha())


def _head(text: str) -> str:
    """The beginning of a text, without words that name the answer, fences and white space."""
    from llmcore.validator.output.candidates import named_until

    return re.sub(r"\s", "", text[named_until(text) :].lstrip("`~")[:_HEAD])


def split_final_call(envelope: Envelope, output: OutputSpec | None) -> tuple[Envelope, ToolCall | None]:
    """The envelope without the calls of the output tool, and the last of those calls.

    If there are no other calls, the arguments become the content, which is parsed like any answer. If several calls differ,
    all their arguments become the content, because none is preferred. If a cut reply holds more than the call, the call may be
    a first idea, and is not used. An empty list becomes the content, too: the normaliser takes it for an empty list of calls.
    """
    if output is None:
        return envelope, None
    envelope = _with_final_calls(envelope, output)
    if not any(call.name == FINAL_RESULT for call in envelope.tool_calls):
        return _with_empty_list(envelope), None
    finals = [call for call in envelope.tool_calls if call.name == FINAL_RESULT]
    texts = {output.text_of(call): None for call in finals}
    others = [call for call in envelope.tool_calls if call.name != FINAL_RESULT]
    changes: dict[str, Any] = {"tool_calls": others, "needs_more_work": True if others else None}
    if not others:
        says_more = envelope.finish_reason == "length" and bool(envelope.content.strip())
        changes["content"] = _BETWEEN_CALLS.join(texts)
        changes["truncated"] = says_more or not all(call.complete for call in finals)
    changed = updated(envelope, changes)
    is_open = bool(others) and len(texts) > 1  # several values beside calls: wait for the calls' results
    return changed.attach(envelope.source, envelope.segments, envelope.blocks), None if is_open else finals[-1]


def _with_final_calls(envelope: Envelope, output: OutputSpec) -> Envelope:
    """The envelope with the calls of the output tool in its text, although the tool was not offered. The model knows it from
    other turns."""
    if FINAL_RESULT not in envelope.content or envelope.tool_calls:
        return envelope
    from llmcore.normalizer import normalize

    read = normalize(envelope.content, compile_tools([output.tool]))
    if not any(call.name == FINAL_RESULT for call in read.tool_calls):
        return envelope
    changes = {"tool_calls": read.tool_calls, "content": read.content}
    return updated(envelope, changes).attach(envelope.source, envelope.segments, envelope.blocks)


def _with_empty_list(envelope: Envelope) -> Envelope:
    """The envelope with an empty list as its content, if the reply is nothing else."""
    if envelope.content.strip() or envelope.tool_calls:
        return envelope
    text = "".join([envelope.source[one.start : one.end] for one in envelope.segments if one.kind != "reasoning"])
    found = _EMPTY_LIST.search(text)
    if found is None:
        return envelope
    return updated(envelope, {"content": found["list"]}).attach(envelope.source, envelope.segments, envelope.blocks)
