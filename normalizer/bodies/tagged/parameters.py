"""Calls whose arguments are separate text values, as in `invoke`, `function_parameter` and `key_value`.

A `Grammar` has the regular expressions of a parameter's opener and of what ends it. This module walks the body, types the
values by the tool's schema, and streams string values as they arrive.

`raw_values` finds where a value ends. `entries` handles repeated parameters. The work is linear: each search continues where
the last one stopped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from llmcore.normalizer.bodies.argument_stream import ArgumentStream
from llmcore.normalizer.bodies.tagged.cdata import literal_joined
from llmcore.normalizer.bodies.tagged.entities import decoded
from llmcore.normalizer.bodies.tagged.entries import Entries, is_whole_call
from llmcore.normalizer.bodies.tagged.raw_values import RawValue, read_raw_value, trimmed
from llmcore.normalizer.bodies.tagged.tag_attributes import CURLY, VALUES, open_attribute
from llmcore.normalizer.calls.nested_values import inner_names, parameter_value
from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.core.damage.markup_remains import HOLDS_CLOSER
from llmcore.normalizer.core.damage.restarted_call import HOLDS_CALL, openers_before
from llmcore.normalizer.core.draft import Draft
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.notations.refusals import clipped
from llmcore.normalizer.scanning.sought import KEY, Sought, filled_pattern
from llmcore.normalizer.scanning.source import Steps, past, search
from llmcore.normalizer.scanning.words import BLANKS
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.types.envelope import Repair, Safety
from llmcore.types.tools import CompiledTool

__all__ = [
    "Grammar",
    "Peeled",
    "ReadParameters",
    "finish_parameters",
    "only_parameter",
    "only_text_parameter",
    "read_parameters",
    "trimmed",
]

_OVERLAP = 1024
_CLOSERS = lazy_regex(rf"(?:[{BLANKS}]*+</[^<>]{{1,64}}+>)*+[{BLANKS}]*+")
"""Surplus closers."""
_CLOSER_BEGUN = lazy_regex(r"</[^<>\s]{0,64}\Z")
_PARAMETER_BEGUN = lazy_regex(r"<[^<>\s]{0,24}?(?:param|arg_key)[^<]{0,512}\Z")
_DECLARED = {
    "true": ("string",),
    "string": ("string",),
    "false": ("null", "integer", "number", "boolean", "object", "array", "string"),
}


_VALUES_IN_TAG = lazy_regex(rf"""\s(?P<key>{"|".join(VALUES)})\s*=\s*(?:"(?P<dq>[^"]*+)"|'(?P<sq>[^']*+)')""")
_NO_BARE_TEXT = lazy_regex(r"""\n|<[/!A-Za-z]|\A["'{]?\w{1,64}["']?\s*(?::(?=\s)|=)|\A(?:I|We|Let me|None|N/A)\b""")
"""Text that is no argument: several lines, markup, keys, or the model's words about itself."""
_SPACE = lazy_regex(r"\s*+")
_UNSEALED = frozenset(("closer_missing", "literal_open", "text_dropped"))
"""Repairs of a body in which the ends of the values are uncertain."""


def _unquoted(key: str) -> str:
    return key.strip().strip(f"\"'{CURLY}").strip()


class Peeled(NamedTuple):
    """An element around a value that the model added, or the rest of one.

    `tag` is no property of the tool. `pattern` matches the whole value; its group 1 is the value inside.
    """

    tag: str
    pattern: re.Pattern[str]
    safety: Safety


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a dialect writes parameters.

    - `item`: what may come next in a body. Its groups: `parameter` (with `key`, perhaps `declared`, `given` (its quoted value),
      `surplus` (surplus closers) or `empty` (it has no value)), or `end` (the call's closer), or none of these (something else
      ends the call).
    - `value`: what may end a value. Its groups: `own` (the value's closer, perhaps with a hole for the key), `parameter`, `end`,
      `again` (the next call: this one is incomplete), or none of these.
    - `cdata`: text between `<![CDATA[` and `]]>` is literal.
    - `keeps_line_breaks`: all line breaks of a value belong to it.
    - `nameless`: words that stand in the place of a missing key.
    - `elements`: the parameters are elements in the tool's own tag. Their text is escaped as in XML, or not at all.
    - `known_keys`: a key that the tool does not have is a guess.
    - `undeclared`: the type of a value if neither the schema nor the body declares one.
    - `key`: the function that normalizes a written key.
    - `peeled`: elements that a model may put around a value, with the safety of removing them.
    - `unclosed`: the safety of a value whose closer is missing and that the next tag ends.
    """

    item: Sought
    value: Sought
    cdata: bool = True
    keeps_line_breaks: bool = False
    known_keys: bool = False
    elements: bool = False
    nameless: frozenset[str] = frozenset(("",))
    undeclared: str | None = None
    key: Callable[[str], str] = _unquoted
    peeled: tuple[Peeled, ...] = ()
    unclosed: Safety = "lossless"

    def ends(self, key: str) -> Sought:
        """What may end the value of `key`."""
        return filled_pattern(self.value, KEY, key)

    def filled(self, texts: Mapping[str, Iterable[str]]) -> Grammar:
        """The grammar with these texts in its holes."""
        item, value = self.item, self.value
        for hole, given in texts.items():
            item, value = filled_pattern(item, hole, *given), filled_pattern(value, hole, *given)
        return replace(self, item=item, value=value)


@dataclass(slots=True)
class ReadParameters:
    """The result of reading a body.

    `end`: where the call ends. `closed`: its own closer ended it. `whole`: its last value was closed.
    """

    entries: Entries
    end: int
    closed: bool = False
    whole: bool = True
    cut: bool = False
    first: int = -1
    """Where the first parameter stood, -1 if there was none."""
    stop: int = -1
    """Where the closer of the call begins, -1 if there was none."""
    literal_open: bool = False
    """Whether a `<![CDATA[`, or the name of a parameter, never ends."""
    closed_to: int = -1
    """Where the last value ends, if each value up to it has its own closer. -1 if the first one has none."""
    holds_closer: bool = False
    """Whether the closer of a call or of a wrapper stands in a value."""

    @property
    def sealed(self) -> bool:
        """Whether the call and each of its values end at their own closers."""
        return self.closed and self.whole and all(repair.kind not in _UNSEALED for repair in self.repairs)

    @property
    def arguments(self) -> dict[str, Any]:
        return self.entries.arguments

    @property
    def repairs(self) -> list[Repair]:
        return self.entries.repairs


def read_parameters(
    reading: Reading, draft: Draft, body: int, grammar: Grammar, given: Mapping[str, Any] = MappingProxyType({})
) -> Steps[ReadParameters]:
    """Read parameters from `body` on until the call ends. `given` are arguments that stood before."""
    src = reading.src
    tool = reading.tool(draft.name)
    stream = ArgumentStream(reading, draft) if reading.listening else None
    found = ReadParameters(Entries(reading, tool, given), body)
    if stream is not None:
        for key, value in given.items():
            stream.whole(key, value)
    position = body
    while True:
        item = grammar.item.search(src.text, position) or (yield from search(src, grammar.item, position, _OVERLAP))
        stop = len(src.text) if item is None else item.start()
        if stop > position and not src.text[position:stop].isspace():
            opened = yield from open_attribute(src, past(_CLOSERS, src.text, position))
            if opened is not None:
                _open_value(reading, *opened, found, stream, tool, grammar)
                break
            if _left_behind(src.text, position, stop, item, found):
                break
        if item is None:
            found.end, found.cut = stop, True
            break
        if item.lastgroup != "parameter":
            found.closed = item.lastgroup == "end"
            found.stop, found.end = item.start(), item.end() if found.closed else item.start()
            break
        found.first = item.start() if found.first < 0 else found.first
        start, key, declared = item.end(), grammar.key(item["key"] or ""), _declared(item, grammar)
        found.repairs.extend(_opener_repairs(item, key))
        given_here = item["given"] if "given" in (groups := item.re.groupindex) else None
        if given_here or ("empty" in groups and item["empty"]):
            text = decoded(given_here[1:-1]) if given_here else _value_in_tag(item["parameter"], found)
            _enter(reading, found, stream, key, text, tool, declared, grammar)
            position = start
            continue
        item = None  # a match keeps its text alive
        position = yield from _value(reading, start, key, declared, tool, grammar, found, stream)
        if found.cut:
            found.end = position
            break
        if found.whole and all(repair.kind not in _UNSEALED for repair in found.repairs):
            found.closed_to = position
    if stream is not None:
        stream.close()
    return found


def _opener_repairs(item: re.Match[str], key: str) -> Iterator[Repair]:
    """The repairs of a parameter's opener."""
    groups = item.re.groupindex
    if "surplus" in groups and item["surplus"]:
        yield _surplus(item["surplus"])
    if (item["key"] or "").startswith(tuple(CURLY)):
        yield Repair(kind="smart_quotes", path=key, before=item["key"], after=key)
    if ("unopened" in groups and item["unopened"] is not None) or not item["parameter"].endswith(">"):
        yield Repair(kind="missing_delimiter", path=key, before=item["parameter"])


def _open_value(
    reading: Reading,
    key: str,
    start: int,
    found: ReadParameters,
    stream: ArgumentStream | None,
    tool: CompiledTool | None,
    grammar: Grammar,
) -> None:
    """Enter the value of an attribute whose quote never closes: all text from `start` on. No call is read in it."""
    if key:
        _enter(reading, found, stream, grammar.key(key), reading.src.text[start:], tool, (), grammar)
        found.repairs.append(Repair(kind="cut_string", path=key, safety="truncated"))
    else:
        found.literal_open = True
    found.end, found.cut, found.whole = len(reading.src.text), True, False


def _value_in_tag(tag: str, found: ReadParameters) -> str:
    """The value in the tag of an empty element, under any attribute for values. Further values are recorded as dropped."""
    given = {one["key"]: one["dq"] if one["dq"] is not None else one["sq"] or "" for one in _VALUES_IN_TAG.finditer(tag)}
    values = list(given.values())
    for text in values[1:]:
        found.entries.drop(text)
    return decoded(values[0]) if values else ""


def _surplus(closers: str) -> Repair:
    return Repair(kind="extra_closer", before=clipped(closers.strip()), after="")


def _left_behind(text: str, start: int, stop: int, item: re.Match[str] | None, found: ReadParameters) -> bool:
    """Classify `start:stop`, where no value stands and `item` comes next. Returns whether the call ends before it.

    Surplus closers are recorded. If a closed value stands before it, and the text's end or another call behind it, the call
    ends before it. Otherwise it is text without a key.
    """
    end = min(past(_CLOSERS, text, start), stop)
    rest, closers = text[end:stop].strip(), text[start:end].strip()
    if "<" in closers and item is not None:
        found.repairs.append(_surplus(closers))
    if not rest:
        return False
    if item is None and rest.startswith("<"):  # the tag was cut off
        found.whole = found.whole and _CLOSER_BEGUN.match(rest) is not None
        return False
    last = item is None or (item.lastgroup in (None, "again") and not item[0].startswith("</"))
    if last and item is not None and _PARAMETER_BEGUN.match(rest) is not None:  # the next call cut the parameter off
        found.whole, found.cut = False, True
    if last and found.whole and found.first >= 0:
        found.end, found.cut = start + len(text[start:end].rstrip()), item is None
        return True
    if item is None:
        found.whole = False
    else:
        found.entries.drop(rest)
    return False


def only_text_parameter(tool: CompiledTool | None) -> str | None:
    """The one parameter that text without a key can belong to: the only required string, else the only string."""
    if tool is None:
        return None
    strings = _strings(tool)
    wanted = [key for key in strings if key in tool.required] or strings
    return wanted[0] if len(wanted) == 1 else None


def _strings(tool: CompiledTool) -> list[str]:
    return [key for key in tool.properties if tool.types(key) == ("string",)]


def only_parameter(key: str, written: str, value: str, by_convention: CompiledTool | None = None) -> Repair:
    """The repair of text without a key that became `only_text_parameter`. It is a guess: no key was written.

    `by_convention`: the tool, if the form gives a bare text as its argument (`Action Input: Paris`). If so, one line without
    markup and keys is "coerced", provided that the tool has no other string parameter.
    """
    means_it = by_convention is not None and _strings(by_convention) == [key] and _NO_BARE_TEXT.search(value) is None
    return Repair(kind="only_parameter", path=key, before=written, after=value, safety="coerced" if means_it else "guess")


def _declared(item: re.Match[str], grammar: Grammar) -> tuple[str, ...]:
    """The types that the dialect declares for a value without a schema."""
    declared = (item["declared"] if "declared" in item.re.groupindex else None) or grammar.undeclared
    return () if declared is None else _DECLARED.get(declared, (declared, "string"))


def _value(
    reading: Reading,
    start: int,
    key: str,
    declared: tuple[str, ...],
    tool: CompiledTool | None,
    grammar: Grammar,
    found: ReadParameters,
    stream: ArgumentStream | None,
) -> Steps[int]:
    """Read the value at `start`. Returns where it ends, including its closer."""
    types = (tool.types(key) if tool is not None else ()) or declared
    stream = None if _is_nameless(key, tool, grammar) else stream
    string_stream = stream if not types or types == ("string",) else None
    if string_stream is not None:
        string_stream.open_string(key)
    literals = grammar.cdata and not found.literal_open
    value = yield from read_raw_value(
        reading.src,
        start,
        grammar.ends(key),
        string_stream,
        cdata=literals,
        keeps=grammar.keeps_line_breaks,
        peels=bool(grammar.peeled),
        may_try=reading.may_try_restart,
        budget=reading.backtrack_budget,
        is_strange=partial(_is_strange, tool, grammar),
    )
    found.holds_closer = found.holds_closer or value.holds_closer
    if value.written:
        found.repairs.extend(literal_joined(value.written, value.text, key))
    if value.closed and reading.src.text[value.end - 1] != ">":
        found.repairs.append(Repair(kind="missing_delimiter", path=key, after=">"))
    if value.holds_own_closer:
        found.repairs.append(Repair(kind=HOLDS_CLOSER, path=key, safety="lossless" if found.whole else "guess"))
    if value.holds_call:
        found.repairs.append(Repair(kind=HOLDS_CALL, path=key, safety="guess"))
    found.literal_open = found.literal_open or value.literal_open
    if value.group == "again" and not value.is_literal:
        _end_before_openers(reading.src.text, start, value)
    text = _without_element(value.text, key, tool, grammar, found)
    _enter(reading, found, stream if string_stream is None else None, key, text, tool, declared, grammar)
    found.cut = value.group is None or (value.group == "again" and not value.is_literal)
    found.whole = value.closed or value.is_literal or value.group == "end"
    if value.literal_open and value.group is not None:
        found.repairs.append(Repair(kind="literal_open", path=key, safety="guess"))
    if value.group == "again" and not value.is_literal:
        found.repairs.append(Repair(kind="closer_missing", path=key, safety="truncated"))
    elif value.group is not None and (value.in_doubt or not value.closed):
        certain = text.strip() and not value.in_doubt and (value.closed_wrongly or not _ends_at_token(reading.src.text, value))
        safety: Safety = grammar.unclosed if certain and not value.closed_wrongly else "lossless" if certain else "guess"
        found.repairs.append(Repair(kind="closer_missing", path=key, safety=safety))
    if grammar.known_keys and tool is not None and key not in tool.properties:
        found.repairs.append(Repair(kind="key_guessed", path=key, after=key, safety="guess"))
    return value.end


def _is_strange(tool: CompiledTool | None, grammar: Grammar, text: str, at: int) -> bool:
    """Whether a parameter begins at `at` that the tool does not have."""
    if tool is None or not tool.properties or grammar.known_keys:
        return False
    item = grammar.item.match(text, at)
    if item is None or item.lastgroup != "parameter":
        return False
    key = grammar.key(item["key"] or "")
    return not _is_nameless(key, tool, grammar) and key not in tool.properties


def _ends_at_token(text: str, value: RawValue) -> bool:
    """Whether a token of a frame (`<|call|>`) ends the value, and no next parameter. The token does not name what it closes."""
    return value.group != "parameter" and text.startswith("<|", past(_SPACE, text, value.end))


def _end_before_openers(text: str, start: int, value: RawValue) -> None:
    """Remove from the value the openers right before the next call's opener."""
    stop = openers_before(text, start, value.end)
    if stop < value.end and value.text.endswith(text[stop : value.end].rstrip()):
        value.text = value.text[: len(value.text) - len(text[stop : value.end].rstrip())].rstrip("\n")
        value.end = stop


def _without_element(text: str, key: str, tool: CompiledTool | None, grammar: Grammar, found: ReadParameters) -> str:
    """The value without the element that a model put around it."""
    for tag, pattern, safety in grammar.peeled:
        inside = pattern.fullmatch(text)
        if inside is not None and (tool is None or tag not in inner_names(tool.properties.get(key), tool)):
            found.repairs.append(Repair(kind="value_peeled", path=key, before=text, after=inside[1], safety=safety))
            return inside[1]
    return text


def _is_nameless(key: str, tool: CompiledTool | None, grammar: Grammar) -> bool:
    """Whether `key` is no key but empty or a word for a parameter."""
    return key in grammar.nameless and (tool is None or key not in tool.properties)


def _typed(reading: Reading, text: str, types: tuple[str, ...], tool: CompiledTool | None, key: str) -> tuple[Any, list[Repair]]:
    """The text in one of the types, and the repairs. `tool` is the tool if its schema gave the types; it types elements, too."""
    if not types or types[0] == "string":
        return text, []
    bare = text.lstrip()
    if tool is not None and (bare.startswith("<") or (not bare and "string" not in types)):
        return parameter_value(text, tool, key, limits=reading.limits)
    return typed_by(text, types, path=key, limits=reading.limits)


def _enter(
    reading: Reading,
    found: ReadParameters,
    stream: ArgumentStream | None,
    key: str,
    text: str,
    tool: CompiledTool | None,
    declared: tuple[str, ...],
    grammar: Grammar,
) -> None:
    """Type the text by the schema, or else by the declared types, and enter it. Text without a key is dropped."""
    if _is_nameless(key, tool, grammar):
        found.entries.drop(text)
        return
    by_schema = tool.types(key) if tool is not None else ()
    value, repairs = _typed(reading, text, by_schema or declared, tool if by_schema else None, key)
    if found.entries.enter(key, value, repairs, text) and stream is not None:
        stream.whole(key, value)


def _peeled(reading: Reading, name: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[Repair]]:
    """The object in a lone parameter called `arguments`, as the arguments.

    It stays if the tool has such a parameter, or if none of the inner keys is a property of the tool.
    """
    if list(arguments) != ["arguments"]:
        return arguments, []
    tool = reading.tool(name)
    if tool is not None and "arguments" in tool.properties:
        return arguments, []
    inner: Any = arguments["arguments"]
    if isinstance(inner, str):
        parsed = read_json(inner, limits=reading.limits)
        inner = parsed.values[0] if len(parsed.values) == 1 else None
    if not isinstance(inner, dict):
        return arguments, []
    peeled = cast("dict[str, Any]", inner)
    if tool is not None and tool.properties and not set(peeled) & set(tool.properties):
        return arguments, []
    return peeled, [Repair(kind="arguments_peeled", before=arguments, after=peeled)]


def finish_parameters(reading: Reading, draft: Draft, body: int, found: ReadParameters) -> bool:
    """Enter the call. If the text ended, it is complete if its last value is closed and no required argument is missing."""
    arguments, peeled = _peeled(reading, draft.name, found.arguments)
    tool = reading.tool(draft.name)
    complete = not found.cut or (found.first >= 0 and is_whole_call(reading, tool, arguments, last_closed=found.whole))
    repairs = [*found.repairs, *peeled]
    sealed = found.sealed or (found.literal_open and found.cut)  # an unclosed CDATA section holds no markup
    if complete and not found.closed:
        repairs.append(Repair(kind="closer_missing", safety="guess" if found.holds_closer else "lossless"))
    raw = reading.src.text[body : found.end if found.stop < 0 else found.stop].strip()
    read = found.entries.read() if arguments is found.arguments else arguments
    closed_to = found.closed_to if found.cut else -1
    reading.end(draft, found.end, read, raw, complete=complete, repairs=repairs, sealed=sealed, closed_to=closed_to)
    return True
