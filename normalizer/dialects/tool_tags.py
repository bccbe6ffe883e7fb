"""Tags named after the tool (Cline), their variants, and Cline's tag for MCP servers.

Only the tools' names tell them from other markup. They are bare forms, and nothing is emitted before their closer. A line that
is a tool's name, with its tags behind, is the same form without the brackets around the name. The work is linear: a search
resumes where it stopped, and tags that never close share one budget (`BacktrackBudget.left_open`).
"""

from __future__ import annotations

import re
from typing import Any

from llmcore.normalizer.bare.verdicts import TagCall, enter_tag, line_is_over, may_stand, tag_may_stand
from llmcore.normalizer.bodies.sections import as_text
from llmcore.normalizer.bodies.tagged.cdata import CDATA, CDATA_END, joined_literals
from llmcore.normalizer.bodies.tagged.children import (
    Child,
    call_follows,
    child_at,
    child_begun,
    enter_children,
    read_children,
    takes_children,
)
from llmcore.normalizer.bodies.tagged.elements import ElementCall, read_attributes
from llmcore.normalizer.bodies.tagged.entries import Entries, is_whole_call
from llmcore.normalizer.bodies.tagged.parameters import only_parameter, only_text_parameter
from llmcore.normalizer.bodies.tagged.tag_attributes import is_cut_tag, open_attribute, opening_tag
from llmcore.normalizer.calls.call_objects import CallObject, arguments_of, call_object, default_arguments
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.names import is_known, name_line
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, as_json
from llmcore.normalizer.notations.json import read_json, read_json_value
from llmcore.normalizer.scanning.sought import Either, Element
from llmcore.normalizer.scanning.source import Steps, search, skip_space, wait_for_one
from llmcore.normalizer.scanning.words import HTML_NAMES
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_object
from llmcore.types.envelope import Repair
from llmcore.types.tools import CompiledTool

__all__ = ["DIALECTS"]

_REACH = 512
_SAID_ON_A_LINE = 128  # characters between a tag and its closer in a sentence


# ---------------------------------------------------------------------- Cline

_TAG_BEGUN = lazy_regex(r"<(?!!\[CDATA\[)[^<>]{0,256}+\Z")
_FIRST_CHILD = lazy_regex(r"\s*+(?:<[ \t]{0,4}+[^\s<>/]{0,256}+(?:\s[^<>]{0,256}+)?>?)?")
_UNCLOSED_END = lazy_regex(r"(?<=>)\s{0,64}/>")
_ANY_CHILD = lazy_regex(r"<([^\s<>/]{1,256})>")
_LITERAL = lazy_regex(r"<!\[CDATA\[.*?\]\]>", re.DOTALL)
_LITERAL_END = lazy_regex(re.escape(CDATA_END))
_OPENER_BEFORE = lazy_regex(r"<([^\s<>/]{1,256})>\s{0,64}\Z")
_CHILD_WITH_ATTRIBUTES = lazy_regex(r"<([^\s<>/=]{1,256})\s")
_HEAD = 600
_ATTRIBUTE_KEY = lazy_regex(r"\s{1,16}+([A-Za-z_][\w.:-]{0,63}+)\s{0,4}+=")
_PROPERTY = lazy_regex(r"\n[ \t]*+[^\s<>:]{1,256}+:?[ \t]*+\r?\n\s*+<[^\s<>/]{1,256}+>")
"""A line that may be a name, and a tag behind it."""


def _tool_tag(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<NAME>` of a tool. Its attributes and children must be properties of the tool."""
    name = reading.src.text[at + 1 : body].removesuffix(">")
    tool = reading.tool(name)
    if tool is None or reading.text_kind == "reasoning" or reading.backtrack_budget.too_many_left_open:
        return False
    placed = reading.has_lead or may_stand(reading, reading.line_before(at, _REACH), at)
    call, alone, unclosed = ElementCall(at, name, "cline", name), False, False
    if reading.src.text[body - 1] != ">":
        if placed and (yield from _child_is_next(reading, body, tool)):
            unclosed = True
        else:
            head = yield from opening_tag(reading.src, body)
            if head is None:
                return placed and (yield from _cut_in_tag(reading, at, body, name, tool))
            body, attributes, alone = head
            if not (attributes or alone) or (attributes and not any(takes_children(tool, key) for key in attributes)):
                reading.miss(at, body, name, "unknown_parameter")
                return False
            read_attributes(reading, call, attributes, alone=alone)
    if not placed and not alone and not (yield from _says_call(reading, body, name, tool)):
        return False
    if placed and not alone and (yield from _child_is_open(reading, body, tool)):
        reading.end(reading.begin(at, name, "cline"), len(reading.src.text), None, reading.src.text[body:], complete=False)
        return True
    element = (body, body) if alone else (yield from _element(reading, body, name, unclosed=unclosed))
    read = _cut_body(reading, call, tool, body) if element is None and placed else None
    if element is None and read is None:
        return False
    element = element or (len(reading.src.text), len(reading.src.text))
    read = read or _body(reading, call, tool, body, *element)
    if read is None or not placed:
        reading.miss(at, element[1], name, "unknown_parameter" if read is None else "mid_line")
        return False
    end, arguments, complete, repairs = read
    if sealed := _literal_is_open(reading, name, body, element[0]) and element[0] == len(reading.src.text):
        end, complete = element[0], False  # an unclosed CDATA section holds no markup
    stop = min(element[0], end)
    meant = CallObject(name, arguments, True, raw=reading.src.text[body:stop])
    sealed = sealed or _calls_in_literals(reading, body, stop)
    over = yield from line_is_over(reading, end)
    return (yield from enter_tag(reading, (at, end), TagCall(meant, "cline", complete, repairs, sealed), over=over))


def _cut_in_tag(reading: Reading, at: int, body: int, name: str, tool: CompiledTool) -> Steps[bool]:
    """Enter a call if the text ends in the tag of a tool, in its attributes or behind them, or if one of them is open."""
    first = _ATTRIBUTE_KEY.match(reading.src.text, body)
    if first is None or not takes_children(tool, first[1]):
        return False
    first = None  # a match keeps its text alive
    if not is_cut_tag(reading.src, body) and (yield from open_attribute(reading.src, at)) is None:
        return False
    text = reading.src.text
    reading.end(reading.begin(at, name, "cline"), len(text), None, text[body:], complete=False)
    return True


def _child_is_open(reading: Reading, body: int, tool: CompiledTool) -> Steps[bool]:
    """Whether the first child is a property of the tool with its value in an attribute that never closes."""
    start = yield from skip_space(reading.src, body)
    yield from wait_for_one(reading.src, start + 1, _REACH, ">", "<")
    child = _CHILD_WITH_ATTRIBUTES.match(reading.src.text, start)
    return child is not None and child[1] in tool.properties and (yield from open_attribute(reading.src, start)) is not None


def _child_is_next(reading: Reading, body: int, tool: CompiledTool) -> Steps[bool]:
    """Whether a child stands right behind a name whose own bracket never closed (`<NAME`, children, `/>`)."""
    src = reading.src
    start = yield from skip_space(src, body)
    while not src.final and src.text.startswith("<", start) and ">" not in src.text[start : start + _REACH]:
        if len(src.text) - start >= _REACH:
            return False
        yield None
    key = child_at(src.text, start) if src.text.startswith("<", start) else ""
    return key in tool.properties


def _says_call(reading: Reading, body: int, name: str, tool: CompiledTool) -> Steps[bool]:
    """Whether the tag's closer or a parameter of the tool stands right behind it. A mention in a sentence has neither."""
    src = reading.src
    start = yield from skip_space(src, body)
    while not src.final and src.text.startswith("<", start) and ">" not in src.text[start : start + _REACH]:
        if len(src.text) - start >= _REACH:
            return False
        yield None
    key = child_at(src.text, start)
    if Element(name).match(src.text, start) is not None or (key != "" and takes_children(tool, key)):
        return True
    while (end := src.text.find("\n", body, body + _SAID_ON_A_LINE)) < 0:
        if src.final or len(src.text) - body >= _SAID_ON_A_LINE:
            break
        yield None
    return Element(name).search(src.text, body, end if end >= 0 else body + _SAID_ON_A_LINE) is not None


def _element(reading: Reading, body: int, tag: str, *, unclosed: bool = False) -> Steps[tuple[int, int] | None]:
    """(end of the inner text, end of the closer). Both are the text's end if it is cut. None if nothing suggests a call."""
    pattern = Either(_UNCLOSED_END, Element(tag)) if unclosed else Element(tag)
    closer = yield from search(reading.src, pattern, body, len(tag) + 80)
    while closer is not None and _literal_is_open(reading, tag, body, closer.start()):
        stop, closer = closer.start(), None  # a match keeps its text alive
        over = yield from search(reading.src, _LITERAL_END, stop, len(CDATA_END))
        closer = over and (yield from search(reading.src, pattern, over.end(), len(tag) + 80))
    if closer is not None:
        span, closer = closer.span(), None  # a match keeps its text alive
        return span if unclosed else (yield from _behind_child(reading, body, tag, (yield from _outer(reading, body, tag, span))))
    reading.backtrack_budget.never_closed()
    length = len(reading.src.text)
    return (length, length) if child_at(reading.src.text, body) else None


def _literal_is_open(reading: Reading, tag: str, body: int, stop: int) -> bool:
    """Whether a child in `body:stop` begins with a CDATA section that does not end there."""
    text, tool = reading.src.text, reading.tool(tag)
    at = text.find(CDATA, max(body, text.rfind(CDATA_END, body, stop)), stop)
    opened = _OPENER_BEFORE.search(text, max(body, at - _REACH), at) if at >= 0 else None
    return opened is not None and tool is not None and takes_children(tool, opened[1])


def _calls_in_literals(reading: Reading, body: int, stop: int) -> bool:
    """Whether a tag has CDATA sections, all closed, and no tag of a tool outside of them."""
    text = reading.src.text[body:stop]
    if text.rfind(CDATA_END) <= text.rfind(CDATA):
        return False
    outside = _LITERAL.sub("", text)
    return not any(f"<{name}" in outside for name in reading.names or ())


def _outer(reading: Reading, body: int, tag: str, first: tuple[int, int]) -> Steps[tuple[int, int]]:
    """The tag's own closer, if the `first` closer closes another tag of that name within a value.

    It is the one behind as many closers as openers. Behind a complete child, such a tag is the next call.
    """
    text, opener, closer = reading.src.text, f"<{tag}>", Element(tag)
    inner = text.find(opener, body, first[0])
    if inner < 0 or text[body:inner].rstrip().endswith(">") or not reading.may_try_restart():
        return first
    position, depth, span = inner, 0, first
    while depth >= 0:
        found = yield from search(reading.src, closer, position, len(tag) + 80)
        if found is None:
            return first
        depth += reading.src.text.count(opener, position, found.start()) - 1
        position, span = found.end(), found.span()
        found = None  # a match keeps its text alive
    return span


def _behind_child(reading: Reading, body: int, tag: str, first: tuple[int, int]) -> Steps[tuple[int, int]]:
    """The tag's own closer, if the `first` closer stands in a child that closes behind it.

    It is the one behind that child's closer, with no such tag between.
    """
    tool, span = reading.tool(tag), first
    children = read_children(reading.src.text, body, first[0], tool, reading.tools) if tool is not None else []
    if not children or children[-1].closed or reading.backtrack_budget.too_many_left_open:
        return first
    for name in (children[-1].key, tag):
        sought = Either(Element(name), Element(tag, opens=True))
        found = yield from search(reading.src, sought, span[1], len(tag) + 80)
        if found is None or not found[0].startswith("</"):
            reading.backtrack_budget.never_closed()
            return first
        span, found = found.span(), None  # a match keeps its text alive
    return span


_Read = tuple[int, dict[str, Any] | None, bool, list[Repair]]


def _body(reading: Reading, call: ElementCall, tool: CompiledTool, body: int, stop: int, end: int) -> _Read | None:
    """(end, arguments, whether it is complete, repairs) of a tag with the text `body:stop`. None if it has no property.

    If the tag never closes (`stop` is the end), the text behind its last child does not belong to it.
    """
    text, cut = reading.src.text, stop == end and stop > body
    begun = _TAG_BEGUN.search(text, max(body, stop - _REACH), stop) if cut else None
    inside = stop if begun is None else begun.start()
    children = read_children(text, body, inside, tool, reading.tools)
    if not children:
        read = None if cut else _childless(reading, call, tool, text[body:stop], end)
        first = -1 if cut or read is not None else _first_child(text, body, inside, call, tool)
        if first < 0:
            return read
        children = read_children(text, first, inside, tool, reading.tools)
        call.repairs.append(Repair(kind="text_dropped", before=text[body:first].strip(), after=None, safety="guess"))
    entries = Entries(reading, tool, call.given)
    entries.repairs += call.repairs
    enter_children(reading, tool, children, entries)
    rest = text[children[-1].end : inside].strip()
    if rest and not cut and _begins_again(reading, call, tool, children[-1].end, inside):
        closer = Repair(kind="closer_missing")
        complete = is_whole_call(reading, tool, entries.arguments, last_closed=children[-1].closed)
        return children[-1].end, entries.read(), complete, [*entries.repairs, closer]
    if not any(takes_children(tool, child.key) for child in children) or (rest and not cut and call.name.lower() in HTML_NAMES):
        return None
    if rest and not cut:
        entries.drop(rest)
    if not cut:
        return end, entries.read(), True, entries.repairs
    whole = children[-1].closed and (begun is None or bool(rest) or f"</{call.name}>".startswith(begun[0]))
    complete = is_whole_call(reading, tool, entries.arguments, last_closed=whole)
    if complete:
        entries.repairs.append(Repair(kind="closer_missing"))
    return (children[-1].end if rest and whole else end), entries.read(), complete, entries.repairs


def _first_child(text: str, start: int, stop: int, call: ElementCall, tool: CompiledTool) -> int:
    """Where the first property of the tool opens behind text in its tag, -1 if none does."""
    if call.name.lower() in HTML_NAMES or text[start:stop].lstrip().startswith(("<", "{")):
        return -1
    opened = next((found for found in _ANY_CHILD.finditer(text, start, stop) if found[1] in tool.properties), None)
    return -1 if opened is None or f"</{opened[1]}>" not in text[opened.end() : stop] else opened.start()


def _begins_again(reading: Reading, call: ElementCall, tool: CompiledTool, at: int, stop: int) -> bool:
    """Whether the next call begins at `at`, and the closer at `stop` belongs to a later tag of the same name."""
    text = reading.src.text
    return call_follows(text, at, tool, reading.tools) and text.find(f"<{call.name}>", at, stop) >= 0


def _cut_body(reading: Reading, call: ElementCall, tool: CompiledTool, body: int) -> _Read | None:
    """A tag that never closes and has no child. None if nothing shows that the text was cut, or that it is a call.

    It holds nothing, a child that has begun, an object or, if a limit cut the text, anything.
    """
    text = reading.src.text
    if call.name.lower() in HTML_NAMES:
        return None
    rest, repairs = text[body:].strip(), call.repairs
    if not rest or _TAG_BEGUN.fullmatch(rest):
        return len(text), call.given, False, repairs
    if rest.startswith("{"):
        start = body + len(text[body:]) - len(text[body:].lstrip())
        parsed = read_json_value(text, start, limits=reading.limits, cut=True)
        value = parsed.values[0] if parsed.values else None
        arguments = _object(reading, value, call.name, tool) if is_object(value) else None
        if arguments is None:
            return (len(text), call.given, False, repairs) if not parsed.complete and reading.ended_by_length else None
        whole = is_whole_call(reading, tool, arguments, last_closed=parsed.complete)
        closer = [Repair(kind="closer_missing")] if whole else []
        return parsed.end, {**call.given, **arguments}, whole, [*repairs, *parsed.repairs, *closer]
    if reading.ended_by_length and not rest.startswith("<"):
        return len(text), call.given, False, [*repairs, Repair(kind="text_dropped", before=rest, after=None, safety="guess")]
    return None


def _childless(reading: Reading, call: ElementCall, tool: CompiledTool, text: str, end: int) -> _Read | None:
    """A tag without children: empty, one JSON object, or the text of the one parameter it can belong to."""
    rest, repairs = text.strip(), call.repairs
    if not rest:
        return end, call.given, True, repairs
    if rest.startswith("<"):
        return None
    if rest.startswith("{"):
        parsed = read_json(rest, limits=reading.limits)
        value = parsed.values[0] if len(parsed.values) == 1 else None
        if is_object(value) and (arguments := _object(reading, value, call.name, tool)) is not None:
            return end, {**call.given, **arguments}, parsed.complete, [*repairs, *parsed.repairs, *_behind(rest, parsed.end)]
    key = only_text_parameter(tool)
    if key is None or call.given or call.name.lower() in HTML_NAMES:
        return None
    guess = only_parameter(key, text, rest)
    return end, {key: rest}, True, [*repairs, guess]


def _behind(text: str, end: int) -> list[Repair]:
    """The repair of text behind the object that ends at `end`, without surplus brackets."""
    rest = text[end:].strip(" \t\r\n}]")
    return [Repair(kind="text_dropped", before=rest, after=None, safety="guess")] if rest else []


def _object(reading: Reading, value: dict[str, Any], name: str, tool: CompiledTool) -> dict[str, Any] | None:
    """The arguments of an object in a tool's tag: the object itself, or those of a call of that tool."""
    if not value.keys().isdisjoint(tool.properties):
        return value
    call = call_object(value, reading.tools)
    if call is not None and call.name == name:
        return call.arguments if call.given else None
    return value if not tool.properties and tool.is_open else None


# ---------------------------------------------------------------------- a name in its line, then its tags


def _name_line(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read a line that is a tool's name, with a tag of its property behind it."""
    src = reading.src
    begin = name_line(src.text, reading.done, at, reading.names or frozenset())
    if begin < 0 or reading.text_kind == "reasoning" or reading.backtrack_budget.too_many_left_open:
        return False
    name = src.text[begin:at].strip().removesuffix(":").rstrip()
    tool = reading.tool(name)
    while not src.final and child_begun(src.text, at):
        yield None
    if tool is None or child_at(src.text, at) not in tool.properties:
        return False
    closer = yield from search(src, Element(name), at, len(name) + 16)
    is_open, span = closer is None, closer.span() if closer is not None else (len(src.text), len(src.text))
    closer = None  # a match keeps its text alive
    if not is_open:
        span = yield from _behind_child(reading, at, name, (yield from _outer(reading, at, name, span)))
    stop, limit = span
    begun = _TAG_BEGUN.search(src.text, max(at, stop - _REACH), stop) if is_open else None
    children = read_children(src.text, at, stop if begun is None else begun.start(), tool, reading.tools)
    closed = bool(children) and not is_open and not src.text[children[-1].end : stop].strip()
    if is_open:
        reading.backtrack_budget.never_closed(0 if children and children[-1].closed else 1)
    if not children:
        reading.failed(stop - at)
        return False
    return (yield from _enter_line(reading, begin, (at, limit), name, tool, children, closed=closed, begun=begun is not None))


def _enter_line(
    reading: Reading,
    begin: int,
    span: tuple[int, int],
    name: str,
    tool: CompiledTool,
    children: list[Child],
    *,
    closed: bool,
    begun: bool,
) -> Steps[bool]:
    """Enter a call whose name stands on the line before its tags."""
    at, limit = span
    entries = Entries(reading, tool)
    enter_children(reading, tool, children, entries)
    end = limit if closed else children[-1].end
    cut = not closed and not reading.src.text[end:limit].strip()
    if begun and not closed and _TAG_BEGUN.fullmatch(reading.src.text[end:].strip()):
        cut, end = True, limit
    complete = closed or (is_whole_call(reading, tool, entries.arguments, last_closed=not begun) if cut else children[-1].closed)
    complete = complete and (closed or children[-1].closed)
    if complete and not closed:
        entries.repairs.append(Repair(kind="closer_missing"))
    call = CallObject(name, entries.read(), True, raw=reading.src.text[at:end])
    over = yield from line_is_over(reading, end)
    texts = [child.text for child in children]
    sealed = closed and not entries.lost and all(child.closed for child in children) and not any(map(_PROPERTY.search, texts))
    read = TagCall(call, "name_line_tags", complete, entries.repairs, sealed)
    return (yield from enter_tag(reading, (begin, end), read, over=over))


# ---------------------------------------------------------------------- Cline with MCP

_MCP_TAG = "use_mcp_tool"


def _field(text: str, tag: str) -> str:
    """The text between the first `<tag>` and the `</tag>` after it. "" if one is missing."""
    _, _, rest = text.partition(f"<{tag}>")
    closer = Element(tag).search(rest)
    return rest[: closer.start()].strip() if closer is not None else ""


def _past_field(text: str, tag: str) -> int:
    """Just past the first element of this tag; 0 if there is none."""
    begin = text.find(f"<{tag}>")
    closer = Element(tag).search(text, begin) if begin >= 0 else None
    return closer.end() if closer is not None else 0


def _beside_fields(text: str) -> str:
    """The text beside the first element of each field."""
    for tag in ("server_name", "tool_name", "arguments"):
        if (stop := _past_field(text, tag)) > 0:
            text = text[: text.find(f"<{tag}>")] + text[stop:]
    return text.strip()


def _cline_mcp(reading: Reading, at: int, body: int) -> Steps[bool]:
    if reading.known(_MCP_TAG) or reading.tools is None or not tag_may_stand(reading, at):
        return False
    element = yield from _element(reading, body, _MCP_TAG)
    if element is None:
        return False
    stop, end = element
    fields = reading.src.text[body:stop][: reading.limits.arguments]
    name = joined_literals(_field(fields, "tool_name")).strip()
    if not is_known(name, reading.tools):
        reading.miss(at, end, name or None, "unknown_name")
        return False
    written, over_at = joined_literals(_field(fields, "arguments")), _past_field(fields, "arguments")
    is_closed = stop < end
    if not is_closed and over_at > 0:  # the text behind is content
        stop = end = body + over_at
    left = _beside_fields(reading.src.text[body:stop]) if is_closed or over_at > 0 else ""
    parsed = read_json(written, limits=reading.limits)
    arguments, given, repairs = arguments_of(parsed.values[0] if len(parsed.values) == 1 else None)
    if not written and is_closed:
        arguments = default_arguments(name, reading.tools)
    repairs = [*repairs, *(_behind(written, parsed.end) if arguments is not None and written else ())]
    if left:
        repairs.append(Repair(kind="text_dropped", before=left, after=None, safety="guess"))
    if not is_closed and over_at > 0:
        repairs.append(Repair(kind="closer_missing"))
    call = CallObject(name, arguments, given or not written, raw=reading.src.text[body:stop])
    complete = is_closed or (arguments is not None and parsed.complete and not reading.ended_by_length)
    over = yield from line_is_over(reading, end)
    read = TagCall(call, "cline_mcp", complete, [*parsed.repairs, *repairs])
    return (yield from enter_tag(reading, (at, end), read, over=over))


# ---------------------------------------------------------------------- writers and rows


def _write_cline(calls: Calls) -> str:
    return "\n".join(
        f"<{name}>\n" + "".join(f"<{key}>{as_text(value)}</{key}>\n" for key, value in given.items()) + f"</{name}>"
        for name, given in calls
    )


def _write_cline_mcp(calls: Calls) -> str:
    return "\n".join(
        f"<{_MCP_TAG}>\n<server_name>tools</server_name>\n<tool_name>{name}</tool_name>\n"
        f"<arguments>\n{as_json(given)}\n</arguments>\n</{_MCP_TAG}>"
        for name, given in calls
    )


def _write_name_line(calls: Calls) -> str:
    """Write the calls. A call without arguments has no tags, so it keeps its brackets."""
    written = (
        (f"{name}\n" + "".join(f"  <{k}>{as_text(v)}</{k}>\n" for k, v in given.items()) + f"</{name}>", name, given)
        for name, given in calls
    )
    return "\n".join(text if given else f"<{name}></{name}>" for text, name, given in written)


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "cline",
        "Cline and Roo Code prompts, any model",
        _write_cline,
        (Marker(_tool_tag, tool_tag=True, calls=True, dialect="cline"),),
        trust="bare",
        typed_by_schema=True,
    ),
    Dialect(
        "cline_mcp",
        "the Cline family with MCP servers",
        _write_cline_mcp,
        (Marker(_cline_mcp, (f"<{_MCP_TAG}>",), calls=True, dialect="cline_mcp"),),
        trust="bare",
    ),
    Dialect(
        "name_line_tags",
        "Devstral Medium and Small",
        _write_name_line,
        (Marker(_name_line, name_line=True, calls=True, dialect="name_line_tags"),),
        trust="bare",
        typed_by_schema=True,
    ),
)
