"""Elements of made-up prompts: one element has the tool's name, and the arguments follow.

`<tool_call><name>f</name><arguments>...</arguments></tool_call>`, in any of the usual words, and without the outer element
(`<tool>f</tool><tool_input>...</tool_input>`). Words that other markup has too count only with the name of a tool.
`bodies.tagged.elements` reads the arguments.
"""

from __future__ import annotations

from llmcore.normalizer.bodies.sections import as_text, call_marker
from llmcore.normalizer.bodies.tagged.elements import (
    COMMON_WORDS,
    HOLDERS,
    ElementCall,
    read_argument_element,
    read_element_arguments,
)
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.layouts import Layout, Parameters
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, as_json
from llmcore.normalizer.scanning.source import Steps, match_within, starts, wait_until_known
from llmcore.normalizer.scanning.words import NAMING
from llmcore.support.code.lazy_regex import lazy_regex

__all__ = ["DIALECTS"]

_OUTER = (
    "function",
    "tool_call",
    "invoke",
    "tool_use",
    "function_call",
    "use_tool",
    "call_tool",
    "api_call",
    *sorted(COMMON_WORDS),
)
_NAMES = (*NAMING, "action")
_BESIDE = ("id", "call_id", "type", "server_name")
"""Elements that may stand before the name."""

_HEAD = 640
_NAME = r"(?:<!\[CDATA\[\s{0,4}+([^\s<>\[\]]{1,256}+)\s{0,4}+\]\]>|([^\s<>]{1,256}+))"
"""A tool's name, perhaps in a CDATA section."""
_NAMED = lazy_regex(
    rf"\s*+(?:<({'|'.join(_BESIDE)})>([^<>]{{0,128}}+)</\s{{0,4}}+\1\s{{0,4}}+>\s*+){{0,2}}+<({'|'.join(_NAMES)})>\s*+{_NAME}\s*+</\s{{0,4}}+\3\s{{0,4}}+>"
)
_PAIR = lazy_regex(
    rf"\s*+(?P<name>[^\s<>]{{1,256}}+)\s*+</\s{{0,4}}+(?P<named>{'|'.join(_NAMES)})\s{{0,4}}+>\s*+<(?P<holder>{HOLDERS})>"
)
_PAIR_BEGUN = lazy_regex(
    rf"\s*+[^\s<>]{{0,256}}+\s*+(?:</\s{{0,4}}+(?:\w{{0,16}}+\s{{0,4}}+\Z|(?:{'|'.join(_NAMES)})\s{{0,4}}+>\s*+(?:<\w{{0,24}})?)|<)?\Z"
)


_PARAMETERS = starts("<parameter ", "<param ")
_KEY_ALONE = starts("<parameter>")


def _name_inside(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<tool_call><name>f</name>...</tool_call>`."""
    src, tag = reading.src, reading.src.text[at + 1 : body - 1]
    head = yield from match_within(src, _NAMED, body, _HEAD)
    if head is None:
        return False
    if head[3] == "function":
        behind = head.end()
        head = None  # a match keeps its text alive
        if (yield from wait_until_known(src, _KEY_ALONE, behind)):
            return False  # `<function>f</function>` is the call's own opener
        head = _NAMED.match(src.text, body, body + _HEAD)
        if head is None:
            return False
    if tag == "function" and reading.tools is not None and not is_known(head[4] or head[5], reading.tools):
        behind = head.end()
        head = None
        if (yield from wait_until_known(src, _PARAMETERS, behind)):
            return False  # the same elements in a build file, or in a list of functions
        head = _NAMED.match(src.text, body, body + _HEAD)
        if head is None:
            return False
    legacy = tag == "invoke" and head[3] == "tool_name"
    call = ElementCall(at, head[4] or head[5], "anthropic_legacy" if legacy else "function_name_arguments", tag)
    call.is_distinct = tag not in COMMON_WORDS and tag != "function"
    call.id = head[2] if head[1] in ("id", "call_id") else ""
    end = head.end()
    head = None  # a match keeps its text alive
    return (yield from read_element_arguments(reading, call, end))


def _name_alone(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<tool>f</tool><tool_input>...</tool_input>`."""
    src = reading.src
    head = _PAIR.match(src.text, body, body + _HEAD)
    if head is None or head["named"] != src.text[at + 1 : body - 1] or not is_known(head["name"], reading.tools):
        return False
    call, holder, end = ElementCall(at, head["name"], "tool_and_input", ""), head["holder"], head.end()
    head = None  # a match keeps its text alive
    return bool((yield from read_argument_element(reading, call, holder, end)))


def _pair_follows(text: str, at: int, final: bool) -> bool | None:
    if _PAIR.match(text, at, at + _HEAD) is not None:
        return True
    return None if not final and len(text) - at < _HEAD and _PAIR_BEGUN.match(text, at) is not None else False


def _write_named(calls: Calls) -> str:
    return "\n".join(f"<function><name>{name}</name><arguments>{as_json(given)}</arguments></function>" for name, given in calls)


def _write_legacy(calls: Calls) -> str:
    blocks = (
        f"<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n"
        + "".join(f"<{k}>{as_text(v)}</{k}>\n" for k, v in given.items())
        + "</parameters>\n</invoke>\n"
        for name, given in calls
    )
    return f"<function_calls>\n{''.join(blocks)}</function_calls>"


def _write_pair(calls: Calls) -> str:
    return "\n".join(f"<tool>{name}</tool>\n<tool_input>{as_json(given)}</tool_input>" for name, given in calls)


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "function_name_arguments",
        "VibeThinker-3B and prompt-made formats",
        _write_named,
        (
            call_marker(
                "function_name_arguments",
                _name_inside,
                *(f"<{tag}>" for tag in _OUTER),
                follows=starts(*(f"<{tag}>" for tag in (*_NAMES, *_BESIDE))),
            ),
        ),
        typed_by_schema=True,
        whole=(Layout("<function><name>$name</name><arguments>$args</arguments></function>"),),
    ),
    Dialect(
        "anthropic_legacy",
        "Claude 2 and early 3 prompts",
        _write_legacy,
        typed_by_schema=True,
        read_by=("function_name_arguments", "anthropic_function_calls"),
        whole=(
            Layout(
                "<invoke>\n<tool_name>$name</tool_name>\n<parameters>\n$args\n</parameters>\n</invoke>",
                "<function_calls>\n",
                "\n</function_calls>",
                "\n",
                Parameters("<$key>$value</$key>", "\n"),
            ),
        ),
    ),
    Dialect(
        "tool_and_input",
        "prompts after LangChain's XML agent",
        _write_pair,
        (
            call_marker(
                "tool_and_input",
                _name_alone,
                *(f"<{tag}>" for tag in _NAMES[1:]),
                follows=_pair_follows,
            ),
        ),
        typed_by_schema=True,
        whole=(Layout("<tool>$name</tool>\n<tool_input>$args</tool_input>"),),
    ),
)
