"""The arguments of a call that is an XML element with a known name, as in `invoke` and the elements of prompts.

They are a JSON object, `parameter name="..."` elements, elements named after the arguments, or one element (`arguments`,
`parameters`, `input`, ...) that holds any of these. The first tag decides. Values stream. The work is linear, as in
`parameters`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from llmcore.normalizer.bodies.json_bodies import Levels, closing, named_call
from llmcore.normalizer.bodies.tagged.attributed import attributed, begins_attributed
from llmcore.normalizer.bodies.tagged.cdata import CDATA, CDATA_END
from llmcore.normalizer.bodies.tagged.entities import without_entities
from llmcore.normalizer.bodies.tagged.entries import Entries
from llmcore.normalizer.bodies.tagged.parameters import (
    Grammar,
    finish_parameters,
    only_parameter,
    only_text_parameter,
    read_parameters,
    trimmed,
)
from llmcore.normalizer.bodies.tagged.tag_attributes import VALUES, Attributes, open_attribute
from llmcore.normalizer.calls.call_objects import default_arguments
from llmcore.normalizer.calls.typed_values import typed_value
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.scanning.sought import HOLDER, KEY, OPENER, SPACE, TAG, Element, tags
from llmcore.normalizer.scanning.source import Source, Steps, search, skip_space, wait_until_known
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_object
from llmcore.types.envelope import Repair

__all__ = [
    "COMMON_WORDS",
    "HOLDERS",
    "WRAPPERS",
    "ElementCall",
    "may_lack_arguments",
    "read_argument_element",
    "read_attributes",
    "read_element_arguments",
]

HOLDERS = "arguments|parameters|args|params|inputs?|kwargs|(?:tool|action|function)_(?:input|args|arguments|parameters)"
"""Elements that hold all arguments, unless the tool has a parameter of that name."""

COMMON_WORDS = frozenset(("tool", "call", "action"))
"""Elements that other markup has too. They are calls only with the name of a tool."""

WRAPPERS = "(?:function_calls|tool_calls|toolcalls|toolcall|tool_call|tool|calls)"
"""Elements around calls."""

_WRAPPER = lazy_regex(WRAPPERS)
_TAG_END = 1024
_OPEN_TAG = lazy_regex(r"""(?:<(?:[^<>"]++|"[^"\n>]*+"?)*+)?\Z""")
"""A tag that has not ended. In a quote within one line, it may hold `<`. Each beginning of a match matches as well."""
_ANGLE = lazy_regex("[<>]")
_WRAPPER_OPENS = lazy_regex(rf"<[^<>/\s]{{0,24}}?{WRAPPERS}>\s{{0,16}}(?:<[^<>=]{{0,96}})?\Z")
"""A wrapper whose content, which may be the next call, has not arrived yet."""
_HOLDER = lazy_regex(rf"<({HOLDERS})>")
_OTHER_WORD = lazy_regex(r"<[^<>\s]{0,24}?(param|argument|arg)[\sĠ]{0,16}name[\s=]")
_SCHEMA = '{"type":"object"'
"""The beginning of a schema's text without blanks, as in an echoed tool definition."""
_SCHEMA_LENGTH = 64
_DESCRIBES = lazy_regex(r"\s(?:type|required|optional|default|desc(?:ription)?)\s*=")
_PARAMETER_IN_TEXT = lazy_regex(r"</?[^<>\s]{0,24}?(?:param|arg(?:ument)?\b|invoke|function|tool)", re.IGNORECASE)
_LONGEST_CLOSER = 128
_VALUE = lazy_regex(rf"\s(?:{'|'.join(VALUES)})\s*=")
_BARS = ("｜", r"\|", "|", "‖")
_SPACE = lazy_regex("[a-z]+:")
_DSML = "[｜|‖]{1,2}DSML[｜|‖]{1,2} ?"
"""A namespace in which DeepSeek closes elements that it opened without one."""
_CHILD = r"(?P<parameter><(?P<key>[A-Za-z_][\w.-]{0,127})\s{0,16}(?P<empty>/?)>)"
_FIRST_CHILD = lazy_regex(_CHILD)
_OPENER = lazy_regex(r"<([^\s<>=/]{1,64}+)[\s=>]")
_LITERAL_END = lazy_regex(re.escape(CDATA_END))
_NEVER = "<(?!)"
_CALL_BEHIND = r"(?:(?<=>)|[^<>]{0,272}>)(?=\s{0,16}</?[A-Za-z_])"
"""The rest of an opener and the tag behind it, where a call opens within a value."""
_ENDS = 4
"""The largest number of `>` that decide where a value ends.

They belong to an element around calls, a call's opener, its first content, and one more.
"""
_SPACED, _SPACED_OR_OVER = r"[\sĠ]", r"[\sĠ>]"
"""What follows the word of a parameter without a name. One without attributes may be a child."""
_USUAL = frozenset(("", "invoke", "function", "tool_call", "tool_use", "use_tool", "call_tool", "api_call", *COMMON_WORDS))
"""Elements whose names have their own expressions."""
_NAMELESS = frozenset(("parameter", "param", "argument", "arg"))
"""Elements that are an argument without its name."""


@dataclass(slots=True)
class ElementCall:
    """A call whose arguments come next. `at`: where it begins. `tag`: its element, "" if nothing closes it."""

    at: int
    name: str
    dialect: str
    tag: str
    space: str = ""
    """The namespace of its tags."""
    id: str = ""
    children_of: str = ""
    """The dialect of the call if its arguments are elements named after them."""
    is_distinct: bool = True
    """Whether the tag alone shows a call. If so, an element of any name is an argument; if not, only a property is."""
    described: bool = False
    """Whether its opening tag describes the tool. If so, without arguments it is a definition."""
    given: dict[str, Any] = field(default_factory=dict[str, Any])
    """Arguments from the attributes of its opening tag."""
    repairs: list[Repair] = field(default_factory=list[Repair])

    def closers(self, holder: str = "") -> tuple[str, ...]:
        """What may close it, with the closer of the element `holder` of its arguments."""
        own = tuple(f"</{self.space}{tag}>" for tag in dict.fromkeys((self.tag, "invoke", "function", "tool_call")) if tag)
        return (f"</{holder}>", *own) if holder else own

    def levels(self, holder: str = "") -> Levels:
        """The closers that each of these elements needs, if it has a tag."""
        return (*(((f"</{holder}>",),) if holder else ()), *((self.closers(),) if self.tag else ()))


_ABOUT_THE_CALL = frozenset(("id", "call_id", "tool_call_id", "type", "index", "version", "xmlns"))
_IDS = ("id", "call_id", "tool_call_id")


def read_attributes(reading: Reading, call: ElementCall, attributes: Attributes, *, alone: bool) -> None:
    """Set the id and the arguments from attributes; other attributes are recorded as dropped.

    If the tool is unknown and the tag is all of the call (`alone`), all attributes are arguments.
    """
    tool = reading.tool(call.name)
    properties = tool.properties if tool is not None else None
    entries = Entries(reading, tool, call.given)
    if alone and attributes.rest:
        entries.drop(attributes.rest)
    for key, text in attributes.items():
        if properties is not None and key in properties:
            for written in (*attributes.others.get(key, ()), text):
                value, found = typed_value(written, tool, key, limits=reading.limits)
                entries.enter(key, value, found, written)
            call.given[key] = entries.arguments[key]
        elif (found_arguments := _arguments_in_attribute(reading, key, text)) is not None:
            call.given |= found_arguments
        elif key in _ABOUT_THE_CALL:
            call.id = call.id or (text if key in _IDS else "")
        elif alone and (properties is None or not properties.keys().isdisjoint(attributes)):
            call.given[key] = text
        else:
            call.repairs.append(Repair(kind="text_dropped", path=key, before=text, after=None))
    call.repairs += entries.repairs


def _arguments_in_attribute(reading: Reading, key: str, text: str) -> dict[str, Any] | None:
    """The object in `arguments='{"city": "Paris"}'`, perhaps with escaped quotes. None if there is none."""
    if re.fullmatch(HOLDERS, key) is None:
        return None
    for written in (text, without_entities(text)):
        parsed = read_json(written, limits=reading.limits)
        if len(parsed.values) == 1 and is_object(value := parsed.values[0]) and not parsed.repairs:
            return value
    return None


def _parameters(space: str, tag: str, word: str = "parameter", outer: str = "") -> Grammar:
    """The grammar of `<parameter name="city">Paris</parameter>` until `</tag>`, each tag with the namespace `space`.

    `outer` is the element around `tag`.
    """
    texts = {SPACE: space if _SPACE.fullmatch(space) else "", TAG: "" if tag in _USUAL else tag}
    texts[HOLDER] = "" if outer in _USUAL else outer
    names = [hole if texts[hole] else name for hole, name in ((SPACE, space), (TAG, tag), (HOLDER, outer))]
    grammar = _parameters_in(*names, word, decodes=space == "atem:")
    return grammar.filled({hole: (text,) for hole, text in texts.items()}) if any(texts.values()) else grammar


@lru_cache(maxsize=256)
def _parameters_in(space: str, tag: str, outer: str, word: str, *, decodes: bool) -> Grammar:
    """The grammar of such parameters. `space`, `tag` and `outer` are holes, unless they are among a few names.

    `decodes`: if no schema gives a type, values that look like JSON are decoded.
    """
    ns, word = map(re.escape, (space.rstrip(" "), word))
    ns += " ?" if ns.endswith(_BARS) else ""
    names = "param(?:eter)?" if tag == "function" and word.startswith("param") else word
    key = r"""[\sĠ]{0,16}(?:name\s{0,16})?=\s{0,16}(?P<key>"[^"\n>]{0,128}"|'[^'\n>]{0,128}'|[^\s"'<>/]{1,128}+)"""
    declared = r"""(?:\s{1,16}string\s{0,16}=\s{0,16}["']?(?P<declared>\w{1,16})["']?)?"""
    value = r"""(?:\s{1,16}value\s{0,16}=\s{0,16}(?P<given>"[^"<>]{0,512}"|'[^'<>]{0,512}'))?"""
    opener = rf"(?P<parameter><{ns}{names}{key}{declared}{value}[^<>]{{0,128}}?(?P<empty>/?)>)"
    foreign = _DSML if tag == "function" and not space else "(?!)"
    closer = rf"(?P<end></(?:{ns}{tag}|{foreign}invoke)>)"
    unnamed = rf"(?:{key}|(?={_SPACED if not space else _SPACED_OR_OVER})(?![^<>]{{0,128}}name\s{{0,16}}=))"
    again = rf"<(?:{ns}{WRAPPERS}>\s{{0,16}}<)?{ns}{tag}(?:\s{{1,64}}name|name)\s{{0,16}}="
    others = (
        rf"</{ns}{WRAPPERS}>",
        "</(?:[a-z]{1,16}:)?(?:tool_call|function_calls)>",
        "</dots_function_call>",
        "<｜tool_call_end｜>",
        *([rf"</{ns}{outer}>"] if outer else ()),
    )
    plain_opener = re.sub(r"\?P<(?:key|declared|given|empty)>", "?:", opener)
    again_opener = rf"<(?:{ns}{WRAPPERS}>\s{{0,16}}<)?{ns}{tag}(?:\s{{1,64}}name|name)\s{{0,16}}="
    again_opener += rf"[^<>]{{1,272}}>(?=\s{{0,16}}<(?:{ns}{names}[\sĠn]|/{ns}{tag}>))"
    # In a value, an opener counts only with the tag behind it, because models write about their own format.
    return Grammar(
        item=tags(opener.replace(key, unnamed), closer, again, *others),
        value=tags(
            f"(?P<own></(?:{ns}|{foreign}){names}>)", plain_opener, closer, f"(?P<again>{again_opener})", *others, ends=_ENDS
        ),
        undeclared="false" if decodes else None,
        unclosed="guess",
    )


@lru_cache(maxsize=64)
def _children(*ends: str, wrapper: str = _NEVER, elements: bool = False) -> Grammar:
    """The grammar of `<city>Paris</city>` elements. Each ends at its own closer, or where the body ends.

    It has a hole for the opener of the next call. `wrapper` is the opener of an element around calls. `elements`: they stand
    in the tool's own tag.
    """
    child = _CHILD if wrapper == _NEVER or SPACE in wrapper else _CHILD.replace("<(?P<key>", f"<(?!{wrapper[1:]})(?P<key>")
    return Grammar(
        item=tags(f"<{OPENER}", child, ends[0], wrapper, *ends[1:]),
        value=tags(f"(?P<own></{KEY}>)", ends[0], f"(?P<again><{OPENER}{_CALL_BEHIND})", *ends[1:], ends=_ENDS),
        elements=elements,
        nameless=_NAMELESS,
        unclosed="guess",
    )


def _whole_tag(src: Source, start: int) -> Steps[None]:
    """Wait until the tag that opens at `start` is complete."""
    sought = start + 1
    while not src.final and len(src.text) - start < _TAG_END and src.text[start : start + 1] in ("", "<"):
        angle = _ANGLE.search(src.text, sought)
        if angle is not None and _OPEN_TAG.match(src.text, start, angle.end()) is None:
            return
        sought, angle = max(sought, len(src.text) if angle is None else angle.end()), None
        if sought == len(src.text):
            yield None


def read_element_arguments(reading: Reading, call: ElementCall, body: int) -> Steps[bool]:
    """Read the arguments from `body` on and the call's closer, and enter the call. False if there are none."""
    src = reading.src
    start = yield from skip_space(src, body)
    yield from _whole_tag(src, start)
    while not src.final and _WRAPPER_OPENS.match(src.text, start) is not None:
        yield None
    holder = _HOLDER.match(src.text, start)
    if holder is not None and not _is_parameter(reading, call, holder[1]):
        tag, inner = holder[1], holder.end()
        holder = None  # a match keeps the text it was found in
        found_arguments = yield from read_argument_element(reading, call, tag, inner)
        if found_arguments is not None:
            return found_arguments
    return (yield from _read(reading, call, body, start, ""))


def read_argument_element(reading: Reading, call: ElementCall, holder: str, body: int) -> Steps[bool | None]:
    """Read the arguments in the element `holder`, which opened before `body`. None if it holds no arguments."""
    src = reading.src
    start = yield from skip_space(src, body)
    yield from _whole_tag(src, start)
    if src.text.startswith(CDATA, start):
        return (yield from _read_literal(reading, call, start, holder))
    if src.text.startswith(("{", "<"), start):
        return (yield from _read(reading, call, body, start, holder))
    if start == len(src.text):
        return _cut_head(reading, call, start)
    key = only_text_parameter(reading.tool(call.name))
    if key is None:
        return None
    draft = reading.begin(call.at, call.name, call.dialect, call.id)
    closer = yield from search(src, Element(holder), body, 64)
    stop, end = (closer.start(), closer.end()) if closer is not None else (len(src.text), len(src.text))
    text = trimmed(src.text[body:stop], closed=True)
    repairs = [*call.repairs, only_parameter(key, src.text[body:stop], text)]
    if is_closed := closer is not None:
        closer = None  # a match keeps the text it was found in
        end, missing = yield from closing(reading, end, call.closers(), levels=call.levels(), extra="")
        repairs += missing
    reading.end(draft, end, {**call.given, key: text}, src.text[body:stop], complete=is_closed, repairs=repairs)
    return True


def _read_literal(reading: Reading, call: ElementCall, start: int, holder: str) -> Steps[bool]:
    """Read arguments in `<![CDATA[{...}]]>`. If it holds no object, the call has no readable arguments."""
    draft = reading.begin(call.at, call.name, call.dialect, call.id)
    closed = yield from search(reading.src, _LITERAL_END, start, len(CDATA_END))
    stop, end = closed.span() if closed is not None else (len(reading.src.text), len(reading.src.text))
    closed = None  # a match keeps the text it was found in
    is_closed = stop < end
    written = reading.src.text[start + len(CDATA) : stop]
    parsed = read_json(written, limits=reading.limits, cut=not is_closed)
    value = parsed.values[0] if len(parsed.values) == 1 else None
    arguments = {**call.given, **value} if is_object(value) else None
    repairs = [*call.repairs, *parsed.repairs]
    if is_closed:
        end, missing = yield from closing(reading, end, call.closers(holder), levels=call.levels(holder), extra="")
        repairs += missing
    reading.end(draft, end, arguments, written, complete=is_closed and parsed.complete, repairs=repairs, sealed=not is_closed)
    return True


def _is_parameter(reading: Reading, call: ElementCall, tag: str) -> bool:
    tool = reading.tool(call.name)
    return tool is not None and tag in tool.properties


def _read(reading: Reading, call: ElementCall, body: int, start: int, holder: str) -> Steps[bool]:
    """Read a JSON object, parameters, or children. `holder` is the element that holds them."""
    src = reading.src
    if src.text.startswith("{", start):
        if (yield from wait_until_known(src, _is_schema, start)) and not _is_parameter(reading, call, "type"):
            return _declined(reading, call, start, "definition")
        closers = call.closers(holder)
        dropped = [Repair(kind="text_dropped", path=key, before=value, after=None) for key, value in call.given.items()]
        repairs = (*call.repairs, *dropped)
        at, levels = call.at, call.levels(holder)
        named = named_call(reading, at, call.name, start, call.dialect, closers, id=call.id, repairs=repairs, levels=levels)
        return (yield from named)
    if begins_attributed(src.text, start, reading.tool(call.name)) and (
        yield from _read_attributed(reading, call, start, holder)
    ):
        return True
    grammar, dialect = _grammar_at(reading, call, start, holder), call.dialect
    item = grammar.item.match(src.text, start)
    if item is not None and item.lastgroup is None:
        return _declined(reading, call, start, "no_arguments")
    if item is not None and item.lastgroup == "end" and not call.is_distinct and not may_lack_arguments(reading, call):
        return _declined(reading, call, start, "no_arguments")
    if item is not None and item.lastgroup == "end" and call.described and not call.given:
        return _declined(reading, call, start, "definition")
    if item is not None and item.lastgroup == "parameter" and _describes(call, item):
        return _declined(reading, call, start, "definition")
    is_known_call = reading.tools is None or is_known(call.name, reading.tools)
    if item is None and not (is_known_call and (yield from open_attribute(src, start)) is not None):
        child = _FIRST_CHILD.match(src.text, start)
        if child is None:
            if not src.text.startswith("<", start) and (yield from _read_text(reading, call, body, holder)):
                return True
            if len(src.text) - start < _TAG_END and _OPEN_TAG.match(src.text, start) is not None:
                return _cut_head(reading, call, start)
            return _declined(reading, call, start, "no_arguments")
        if not call.is_distinct and not _is_parameter(reading, call, child["key"]):
            return _declined(reading, call, start, "unknown_parameter")
        child = None
        grammar, dialect = _children_grammar(reading, call, holder), call.children_of or call.dialect
    item = None
    draft = reading.begin(call.at, call.name, dialect, call.id)
    found = yield from read_parameters(reading, draft, start, grammar, call.given)
    if holder and not found.cut:
        found.end, missing = yield from closing(reading, found.end, call.closers(holder), levels=call.levels(), extra="")
        found.closed = found.closed and not missing
    if grammar.elements:
        found.entries.decode()
    found.repairs[:0] = call.repairs
    return finish_parameters(reading, draft, body, found)


def _read_attributed(reading: Reading, call: ElementCall, start: int, holder: str) -> Steps[bool]:
    """Read arguments in attributes. False if the elements mean anything else."""
    tool = reading.tool(call.name)
    if tool is None:
        return False
    defines = call.tag in COMMON_WORDS or call.tag == "function"
    found = yield from attributed(reading.src, start, tool, may_define=defines)
    behind = -1 if found is None else (yield from skip_space(reading.src, found[1]))
    if found is None or reading.src.text[behind : behind + 1] not in ("", "<"):
        return False
    entries = Entries(reading, tool, call.given)
    for key, text in found[0]:
        value, repairs = typed_value(text, tool, key, limits=reading.limits)
        entries.enter(key, value, repairs, text)
    draft = reading.begin(call.at, call.name, call.dialect, call.id)
    levels = call.levels(holder)
    end, missing = yield from closing(reading, found[1], call.closers(holder), levels=levels, extra="")
    complete = not missing or tool.required <= entries.arguments.keys()
    from_attributes = Repair(kind="attribute_values", before=reading.src.text[start : found[1]], after=None, safety="coerced")
    repairs = [*call.repairs, from_attributes, *entries.repairs, *missing]
    reading.end(draft, end, entries.arguments, reading.src.text[start : found[1]], complete=complete, repairs=repairs)
    return True


def _read_text(reading: Reading, call: ElementCall, body: int, holder: str) -> Steps[bool]:
    """Read text up to the call's closer as `only_text_parameter`. False if it may be anything else.

    In an element that other markup has too, the text may describe the tool.
    """
    key = only_text_parameter(reading.tool(call.name))
    if key is None or key in call.given or holder or not call.is_distinct or call.tag == "function":
        return False
    closer = yield from search(reading.src, Element(call.space + call.tag), body, _LONGEST_CLOSER)
    if closer is None:
        return False
    stop, closer = closer.start(), None  # a match keeps the text it was found in
    written = reading.src.text[body:stop]
    text = written.strip()
    if not text or _PARAMETER_IN_TEXT.search(written) is not None:
        return False
    draft = reading.begin(call.at, call.name, call.dialect, call.id)
    end, missing = yield from closing(reading, stop, call.closers(), levels=call.levels(), extra="")
    repairs = [*call.repairs, only_parameter(key, written, text), *missing]
    reading.end(draft, end, {**call.given, key: text}, written, repairs=repairs)
    return True


def may_lack_arguments(reading: Reading, call: ElementCall) -> bool:
    """Whether an empty element with a common name may be a call."""
    return bool(call.given) or default_arguments(call.name, reading.tools) is not None


def _is_schema(text: str, at: int, final: bool) -> bool | None:
    begun = "".join(text[at : at + _SCHEMA_LENGTH].split())
    if begun.startswith(_SCHEMA):
        return True
    return None if not final and len(text) - at < _SCHEMA_LENGTH and _SCHEMA.startswith(begun) else False


def _describes(call: ElementCall, item: re.Match[str]) -> bool:
    """Whether a parameter's tag describes a value instead of giving one. For common words, any such tag does."""
    common = call.tag in COMMON_WORDS or call.tag == "function"
    valueless = bool(item["empty"]) and not item["given"] and _VALUE.search(item["parameter"]) is None
    describes = _DESCRIBES.search(item["parameter"]) is not None
    return (valueless and (common or describes)) or (common and describes)


def _grammar_at(reading: Reading, call: ElementCall, start: int, holder: str) -> Grammar:
    word = _OTHER_WORD.match(reading.src.text, start)
    named = word[1] if word is not None else "parameter"
    return _parameters("" if holder else call.space, holder or call.tag, named, call.tag if holder else "")


def _openers(reading: Reading, call: ElementCall) -> list[str]:
    """The opener of the call without its `<`, up to an attribute; or, if it holds a tool's name, with each tool's name.

    Empty if an argument has that name.
    """
    opened = _OPENER.match(reading.src.text, call.at)
    if opened is None or _is_parameter(reading, call, opened[1]):
        return []
    before, named, after = opened[0][1:].partition(call.name)
    return [f"{before}{name}{after}" for name in reading.names or ()] if named else [before]


def _children_grammar(reading: Reading, call: ElementCall, holder: str) -> Grammar:
    ns, tool = SPACE if _SPACE.fullmatch(call.space) else re.escape(call.space), reading.tool(call.name)
    wrapper = _NEVER if tool is not None and any(map(_WRAPPER.fullmatch, tool.properties)) else f"<{ns}{WRAPPERS}>"
    own = [rf"</{ns}(?:invoke|function|tool_call)>", *([f"</{ns}{TAG}>"] if call.tag else [])]
    if holder:
        own = [f"(?P<call>{one})" for one in own[-1:]] + own[:-1]
        grammar = _children(f"(?P<end></{re.escape(holder)}>)", *own, "</function_calls>", wrapper=wrapper)
    else:
        ends = [f"(?P<end>{one})" for one in own]
        grammar = _children(*ends, f"</{ns}{WRAPPERS}>", wrapper=wrapper, elements=call.tag == call.name)
    return grammar.filled({SPACE: (call.space,), TAG: (call.tag,), OPENER: _openers(reading, call)})


def _declined(reading: Reading, call: ElementCall, end: int, reason: str) -> bool:
    """Decline: there are no arguments. A near miss is recorded for a known tool only; the search is charged in any case."""
    if is_known(call.name, reading.tools):
        reading.miss(call.at, end, call.name, reason)
        reading.set_addressee(call.name, end)
    else:
        reading.failed(end - call.at)
    return False


def _cut_head(reading: Reading, call: ElementCall, start: int) -> bool:
    """Enter a call whose text ends right after the opening tag, or inside the next tag."""
    if reading.tools is not None and not is_known(call.name, reading.tools):
        return False
    draft = reading.begin(call.at, call.name, call.dialect, call.id)
    raw = reading.src.text[start:]
    reading.end(draft, len(reading.src.text), call.given, raw, complete=False, repairs=call.repairs)
    return True
