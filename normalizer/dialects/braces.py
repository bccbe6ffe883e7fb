"""Brace languages: FunctionGemma and Gemma 4. (`normalizer.bare` reads the form without a marker.)

`bodies.brace_bodies` reads their bodies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llmcore.normalizer.bare.verdicts import rest_is_blank
from llmcore.normalizer.bodies.brace_bodies import BraceForm, braced_call
from llmcore.normalizer.bodies.json_bodies import swallow
from llmcore.normalizer.bodies.json_objects import objects_reader
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Braces as BraceText
from llmcore.normalizer.core.layouts import Layout
from llmcore.normalizer.core.names import peel
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, Reader, as_json
from llmcore.normalizer.scanning.source import Steps, match_within
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object

__all__ = ["DIALECTS"]

_HEAD = lazy_regex(r"\s*+(?:call\s*+:|:)?\s*+([^\s{}()<>,\"']{1,256})\s*+")
_PREFIX_ALONE = lazy_regex(r"\s*(?:call\s*)?:\s*\Z")
_HEAD_LENGTH = 300


def _brace_reader(form: BraceForm) -> Reader:
    objects = cast("Callable[[Reading, int, int], Steps[bool]]", objects_reader(form.dialect, form.closers))

    def read(reading: Reading, at: int, body: int) -> Steps[bool]:
        src, reach = reading.src, body + _HEAD_LENGTH
        head = _HEAD.match(src.text, body, reach)
        while not src.final and len(src.text) < reach:
            if head is not None and head.end() < len(src.text) and _PREFIX_ALONE.match(src.text, body) is None:
                break
            if src.text[body:].lstrip()[:1] in ("{", "(", "<"):
                break
            yield None
            head = _HEAD.match(src.text, body, reach)
        if head is None or head[1] in ("call:", ":"):
            if head is not None and src.text.startswith("{", head.end()):  # a whole call object in the place of the name
                return (yield from objects(reading, at, head.end()))
            return _nameless(reading, at, body)
        follows = src.text[head.end() : min(head.end() + 1, reach)]
        if follows and follows in "{(":
            return (yield from braced_call(reading, at, head.end(), head[1], form))
        if follows == "<":
            end, closed, _ = yield from swallow(reading, head.end(), form.closers, extra="")
            if closed:
                reading.end(reading.begin(at, head[1], form.dialect), end, None, "")  # without braces, the arguments are unknown
                return True
        elif not follows:
            return _nameless(reading, at, body)
        return False

    return read


_COLON_HEAD = lazy_regex(r"[^\s{}()<>,\"']{1,256}+(?=\{)")


def _function_colon(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<function:default_api:f{...}`, as gateways pass on Gemini's calls. The name must be a tool's."""
    head = yield from match_within(reading.src, _COLON_HEAD, body, _HEAD_LENGTH)
    name = None if head is None else peel(head[0], reading.tools)
    if head is None or name is None:
        return False
    start = head.end()
    head = None  # a match keeps its text alive
    return (yield from braced_call(reading, at, start, name, _OF_GATEWAYS))


_NAME_BEGUN = lazy_regex(r"\s*+(?:c|ca|cal|call)?:?[\w.-]{0,256}+\s*+\Z")


def _nameless(reading: Reading, at: int, body: int) -> bool:
    """Read a marker without a name: content or, if the text ended inside the name, the markup of a cut call."""
    src = reading.src
    if not src.final or len(src.text) - body >= _HEAD_LENGTH or _NAME_BEGUN.match(src.text, body) is None:
        reading.miss(at, body, None, "no_name")
        return False
    reading.cut_off(at)
    return True


def _response_token(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<|tool_response>` at the end of a reply with calls: it is the stop token."""
    if not reading.drafts or not reading.blank_before(at):
        return False
    if not (yield from rest_is_blank(reading, body)):
        return False
    reading.text(at)
    reading.markup(len(reading.src.text))
    return True


# ---------------------------------------------------------------------- writers and rows


def _brace_text(value: Any, delimiter: str) -> str:
    if isinstance(value, str):
        return f"{delimiter}{value}{delimiter}"
    if is_object(value):
        return "{" + ",".join(f"{_brace_key(k, delimiter)}:{_brace_text(v, delimiter)}" for k, v in value.items()) + "}"
    if is_list(value):
        return "[" + ",".join(_brace_text(item, delimiter) for item in value) + "]"
    return as_json(value)


def _brace_key(key: str, delimiter: str) -> str:
    return key if key.replace("_", "a").replace("-", "a").isalnum() else f"{delimiter}{key}{delimiter}"


def _write_functiongemma(calls: Calls) -> str:
    return "".join(
        f"<start_function_call>call:{name}{_brace_text(given, '<escape>')}<end_function_call>" for name, given in calls
    )


def _write_gemma4(calls: Calls) -> str:
    return "".join(f"<|tool_call>call:{name}{_brace_text(given, _GEMMA_QUOTE)}<tool_call|>" for name, given in calls)


_GEMMA_QUOTE = '<|"|>'
_GEMMA_CLOSERS = ("<tool_call|>", "</tool_call>")
_GEMMA = BraceForm("gemma4", _GEMMA_QUOTE, _GEMMA_CLOSERS)
_OF_GATEWAYS = BraceForm("gemma4", _GEMMA_QUOTE, (*_GEMMA_CLOSERS, "</function>"))

DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "functiongemma",
        "FunctionGemma 270M",
        _write_functiongemma,
        whole=(Layout("<start_function_call>call:$name$args<end_function_call>", body=BraceText("<escape>")),),
        markers=(
            Marker(
                _brace_reader(BraceForm("functiongemma", "<escape>", ("<end_function_call>",))),
                ("<start_function_call>",),
                calls=True,
                dialect="functiongemma",
            ),
        ),
    ),
    Dialect(
        "gemma4",
        "Gemma 4",
        _write_gemma4,
        whole=(Layout("<|tool_call>call:$name$args<tool_call|>", body=BraceText(_GEMMA_QUOTE)),),
        markers=(
            Marker(_brace_reader(_GEMMA), ("<|tool_call>",), calls=True, dialect="gemma4"),
            Marker(_function_colon, ("<function:",), calls=True, dialect="gemma4"),
            Marker(_response_token, ("<|tool_response>",), order=-1),
        ),
    ),
)
