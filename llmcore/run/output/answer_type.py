"""Typed output: its schema, the output tool, and the one way in which an answer becomes a value.

A type whose schema is no object is asked for as `{"result": ...}`, for tools and strict formats want an object. Every mode
asks so: by the output tool, the response format or the prompt. Whether the model does so or not, whether its answer comes
as text, in a response format or as a call of `final_result` (which is never run): the answer is a text, and
`OutputSpec.read` reads it, so that parsing, repair and re-ask are one path for all types, modes and wires.

A type that takes the text itself (`str`, `int | str`, `Any`) takes all of it: only a wrapper that is the whole message,
perhaps in a fence and behind words that do nothing but name the answer, is one; one in other prose is what that speaks of.
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
    from llmcore.validator import ParseDetail  # loads jsonschema, as all of it does: only where typed output is asked for

__all__ = ["OutputSpec", "take_final_call"]

_HEAD = 200  # of a text, within which it shows how it begins
_WORD = 10  # letters, of the longest words that name an answer
_KEY = f'{{"{WRAPPER}":'
_BETWEEN_CALLS = ", "
"""Between the values of several calls of the output tool: a list of answers where one was asked for."""
_EMPTY_LIST = re.compile(r"(?:\A|</[\w:]+>)\s*(?P<list>(?:```\w*\s*)?\[\s*(?:null|None)?\s*\]\s*(?:```)?)\s*\Z")
"""Alone or behind the closer of reasoning."""
_kept: LRUCache[Hashable, OutputSpec] = LRUCache(256)
_lock = ForkSafeLock()
"""For what is kept."""


class OutputSpec:
    """What one output type needs: its JSON Schema, the tool that takes it, and how it is read. Made once for a type.

    Raises `CallerError` for a type pydantic knows no schema of.
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
        """The spec of a type, None for None. Kept for types; a schema given as a dict is read anew."""
        if output_type is None:
            return None
        if is_object(output_type):
            return cls(output_type)
        key = type_key(output_type)
        with _lock:
            found = _kept.get(key)
        if found is None:
            made = cls(output_type)
            with _lock:
                found = _kept.setdefault(key, made)
        return found

    def read(self, text: str, strictness: Any = "safe") -> ParseDetail:
        """The value in an answer, wrapped or not. Raises `OutputParseError`.

        As it was asked for is tried first; the other form only when the answer does not fit that.
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
            told = failed if as_asked else error
            raise told from told.__cause__

    def read_partial(self, text: str) -> Any:
        """What is certain of the value while the answer is still coming; None while nothing is."""
        from llmcore.validator import parse, parse_detailed

        begins = _may_be_wrapped(text)
        if self.asked_wrapped and (begins or f'"{WRAPPER}"' in text):
            text = text.rstrip("`~")  # a fence that is half closed
            found = parse_detailed(text, self.wrapped_type, partial=True)
            takes_all = not (begins and _is_whole(found, text)) and self._whole_text(text) is not None
            if not takes_all and is_object(found.value) and WRAPPER in found.value:
                return found.value[WRAPPER]
            if begins and not takes_all:
                return None
        return parse(text, self.output_type, partial=True)

    @property
    def runs_code(self) -> bool:
        """Does reading a value run code of the caller's? See `CompiledOutput.runs_code`."""
        from llmcore.validator.output.output_types import compile_output

        return compile_output(self.output_type).runs_code

    def text_of(self, call: ToolCall) -> str:
        """The answer that a call of the output tool holds, as JSON text; what could not be read, raw."""
        return call.raw_arguments if call.arguments is None else as_json(call.arguments)

    def fitting(self, value: Any) -> tuple[Any] | None:
        """A Python value as one of the type, as `CompiledOutput.strictly` says; None where it is none."""
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
        made_fit = any(repair.path == WRAPPER for repair in detail.repairs)  # JSON that is the answer itself
        if self.asked_wrapped and (made_fit or not _is_whole(detail, text)) and self._whole_text(text) is not None:
            got = Problem(
                kind="incomplete", path=WRAPPER, expected="a whole text", got=shown_value(text), message="it is no text"
            )
            raise OutputParseError("it wraps no text", [got], text)
        return replace(detail, value=detail.value[WRAPPER])

    def _whole_text(self, text: str) -> ParseDetail | None:
        """The text itself, where the type takes it."""
        from llmcore.validator.output.parsing import whole_text

        return whole_text(text, self.output_type)


def _is_wrapper(value: Any) -> bool:
    return is_object(value) and value.keys() == {WRAPPER}


def _is_whole(detail: ParseDetail, text: str) -> bool:
    """Is the value all that the message says, words that name the answer apart?"""
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
    """Is it the object that was asked for and nothing else, but cut, damaged or given
    more than once? As a text it would keep its braces."""
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
    """Does a text begin like `{"result":`, perhaps in a fence or behind words that name the answer, the last of them begun?"""
    head = _head(text)
    return head.startswith(_KEY) or _KEY.startswith(head) or (len(head) < _WORD and head.isalpha())


def _head(text: str) -> str:
    """How a text begins, without words that name the answer, a fence and white space."""
    from llmcore.validator.output.candidates import named_until

    return re.sub(r"\s", "", text[named_until(text) :].lstrip("`~")[:_HEAD])


def take_final_call(envelope: Envelope, output: OutputSpec | None) -> tuple[Envelope, ToolCall | None]:
    """The envelope without the calls of the output tool, and the last of them.

    Without other calls its arguments become the content, to be parsed like any answer; those of several that differ become it
    together, for then it is open which is meant. In a cut reply that says more than the call, the call may be a first idea:
    nothing of it is used. An empty list becomes the content too: the normaliser knows no output type, and to it that is an
    empty list of calls.
    """
    if output is None:
        return envelope, None
    envelope = _with_final_calls(envelope, output)
    if not any(call.name == FINAL_RESULT for call in envelope.tool_calls):
        return _with_empty_list(envelope), None
    finals = [call for call in envelope.tool_calls if call.name == FINAL_RESULT]
    said = {output.text_of(call): None for call in finals}
    others = [call for call in envelope.tool_calls if call.name != FINAL_RESULT]
    changes: dict[str, Any] = {"tool_calls": others, "needs_more_work": True if others else None}
    if not others:
        says_more = envelope.finish_reason == "length" and bool(envelope.content.strip())
        changes["content"] = _BETWEEN_CALLS.join(said)
        changes["truncated"] = says_more or not all(call.complete for call in finals)
    changed = updated(envelope, changes)
    is_open = bool(others) and len(said) > 1  # several values beside calls: what the calls give is waited for
    return changed.attach(envelope.source, envelope.segments, envelope.blocks), None if is_open else finals[-1]


def _with_final_calls(envelope: Envelope, output: OutputSpec) -> Envelope:
    """The envelope with the calls of the output tool that its text makes though the tool was not offered: the model knows it
    from other turns. Read for what it is, such a call would be an object with a `name`."""
    if FINAL_RESULT not in envelope.content or envelope.tool_calls:
        return envelope
    from llmcore.normalizer import normalize

    read = normalize(envelope.content, compile_tools([output.tool]))
    if not any(call.name == FINAL_RESULT for call in read.tool_calls):
        return envelope
    changes = {"tool_calls": read.tool_calls, "content": read.content}
    return updated(envelope, changes).attach(envelope.source, envelope.segments, envelope.blocks)


def _with_empty_list(envelope: Envelope) -> Envelope:
    """The envelope with an empty list as its content, if that is all that the reply says."""
    if envelope.content.strip() or envelope.tool_calls:
        return envelope
    said = "".join([envelope.source[one.start : one.end] for one in envelope.segments if one.kind != "reasoning"])
    found = _EMPTY_LIST.search(said)
    if found is None:
        return envelope
    return updated(envelope, {"content": found["list"]}).attach(envelope.source, envelope.segments, envelope.blocks)
