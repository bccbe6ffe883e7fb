"""Arguments as YAML lines, in a tag named after the tool, in the tag itself, or in `<tool_call>`.

Prompts ask for it, and models write it unasked. A tool's tag is a bare form: it is read only if a key of its lines is one of
the tool's. `<tool_call>` counts with the name of a tool. Values arrive at once, because later lines decide indentation,
folding and the end of a block.
"""

from __future__ import annotations

from typing import Any

from llmcore.normalizer.bare.verdicts import TagCall, enter_tag, line_is_over, tag_may_stand
from llmcore.normalizer.bodies.json_bodies import add_calls, swallow
from llmcore.normalizer.bodies.sections import call_marker
from llmcore.normalizer.bodies.tagged.entities import are_escaped, decoded
from llmcore.normalizer.bodies.tagged.entries import is_whole_call
from llmcore.normalizer.bodies.yaml_lines import (
    LinesEnd,
    begins_lines_below,
    end_of_lines,
    is_closer,
    with_arguments,
    without_foreign_closers,
    yaml_begins_lines,
)
from llmcore.normalizer.calls.call_objects import CallObject, declares, default_arguments
from llmcore.normalizer.calls.yaml_values import YamlLines, has_key, read_lines, typed_pairs
from llmcore.normalizer.core.dialect import Dialect
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.core.rows import Calls, Marker, as_json
from llmcore.normalizer.notations.yaml_nodes import YamlNode
from llmcore.normalizer.scanning.sought import Element
from llmcore.normalizer.scanning.source import Steps
from llmcore.normalizer.scanning.words import ARGUMENT_KEYS, HTML_NAMES, ID_KEYS, NAMING
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Repair
from llmcore.types.tools import CompiledTool

__all__ = ["DIALECTS", "mapping"]

_WRAPPERS = ("tool_call", "function_call")
_ITEM = lazy_regex(r"\s*-(?:\s|\Z)")
_BEHIND_TAG = lazy_regex(r"[ \t]*\r?\n")
_SELF_CLOSED = lazy_regex(r"/>(?=[ \t\r]*+\Z)")
_TAG_END = lazy_regex(r"/>|>(?=[ \t\r]*+(?:\Z|</))")
_ANY_CLOSER = lazy_regex(r"</[ \t]{0,4}[\w:.|-]{1,64}[ \t]{0,4}>")
_KEYS = frozenset((*NAMING, *ID_KEYS, *ARGUMENT_KEYS))
_NAMED = lazy_regex(
    rf"""\A\s*(?:(?:{"|".join(NAMING)}):[ \t]*["']?(?P<name>[^\s"']{{1,256}})["']?|(?P<key>[^\s:"']{{1,256}}):)[ \t\r]*\n"""
)


# --- in a tool's tag --------------------------------------------------------------------------------------------------


def _in_tool_tag(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<NAME>`, lines, `</NAME>`; or `<NAME`, lines, `/>`."""
    src, inside = reading.src, reading.src.text[body - 1] != ">"
    name = src.text[at + 1 : body].removesuffix(">")
    tool = reading.tool(name)
    if tool is None or not tag_may_stand(reading, at) or (inside and _BEHIND_TAG.match(src.text, body) is None):
        return False
    closer = _SELF_CLOSED if inside else Element(name)
    found = yield from end_of_lines(reading, body, closer, _TAG_END if inside else closer, lambda tag: _opens(reading, tag))
    if found.cut:
        reading.backtrack_budget.never_closed()
    if found.closed:
        found.end, _, _ = yield from swallow(reading, found.end, (f"</{name}>",), extra="")
    text, unfinished = _body(src.text[body : found.stop], name, found)
    properties = tool.properties
    free = not properties and name.lower() not in HTML_NAMES
    read = read_lines(text, lambda key: free or key in properties, limits=reading.limits) or _arguments_under_key(
        text, tool, reading
    )
    if read is None or (name.lower() in HTML_NAMES and not _on_lines(reading, at, body, found)):
        return _is_none(reading, at, found, name, text, tool)
    _decode_entities(read)
    arguments, repairs = typed_pairs(read.pairs, tool, limits=reading.limits)
    if "\n" not in src.text[body : found.stop]:  # it may be text with a colon
        repairs.append(Repair(kind="one_line", safety="guess"))
    whole = read.whole and not unfinished and not inside and not found.quoted
    complete = found.closed or is_whole_call(reading, tool, arguments, last_closed=whole, cut=found.cut)
    if not found.closed:
        repairs.append(_closer_missing(found, complete))
    repairs = [*read.repairs, *repairs]
    most = reading.limits.repairs
    call = CallObject(name, None if len(repairs) > most else arguments, True, raw=text)
    over = not found.closed or (yield from line_is_over(reading, found.end))
    entered = TagCall(call, "yaml_in_tag", complete, repairs[:most])
    return (yield from enter_tag(reading, (at, found.end), entered, over=over))


def _closer_missing(found: LinesEnd, complete: bool) -> Repair:
    """The repair of a missing closer. If the next call stands in its place, the last value may be cut."""
    return Repair(kind="closer_missing", safety="truncated" if not complete else "lossless" if found.cut else "guess")


def _opens(reading: Reading, tag: str) -> bool:
    """Whether a tag at the start of a line begins another call."""
    return tag in _WRAPPERS or tag in (reading.names or ())


def _body(text: str, name: str, found: LinesEnd) -> tuple[str, bool]:
    """(lines of YAML, whether the text's end cut one off), without a possible beginning of the closer."""
    unfinished = False
    if found.cut:
        kept, line_break, last = text.rpartition("\n")
        bare = last.strip()
        if is_closer(last):
            pass  # a foreign one
        elif bare and (bare.startswith("<") or ":" not in bare) and len(last) - len(last.lstrip()) <= _margin(text):
            text, unfinished = kept + line_break, not f"</{name}>".startswith(bare)
    return without_foreign_closers(text), unfinished


def _margin(text: str) -> int:
    first = next((line for line in text.split("\n")[1:] if line.strip()), "")
    return len(first) - len(first.lstrip())


def _on_lines(reading: Reading, at: int, body: int, found: LinesEnd) -> bool:
    """Whether both tags stand on their own lines."""
    text = reading.src.text
    before = text[reading.line_start(at) : at]
    closer_line = text[text.rfind("\n", body, found.stop) + 1 : found.stop] if found.closed else ""
    return not before.strip() and not closer_line.strip() and _BEHIND_TAG.match(text, body) is not None


def _arguments_under_key(text: str, tool: CompiledTool, reading: Reading) -> YamlLines | None:
    """The lines under a key that holds all arguments and is none of the tool's."""
    read = read_lines(text, lambda key: key in ARGUMENT_KEYS, limits=reading.limits)
    if read is None or len(read.pairs) != 1 or read.pairs[0][1].pairs is None:
        return None
    inner = read.pairs[0][1].pairs
    if not any(key in tool.properties for key, _ in inner):
        return None
    return YamlLines(inner, read.whole, [*read.repairs, Repair(kind="arguments_peeled")])


def _decode_entities(read: YamlLines) -> None:
    """Decode text outside blocks once, if all of it is escaped as in XML."""
    nodes, scalars = [node for _, node in read.pairs], list[YamlNode]()
    while nodes:
        node = nodes.pop()
        nodes += node.items or [value for _, value in node.pairs or ()]
        if node.is_scalar and node.style not in ("|", ">"):
            scalars.append(node)
    joined = "".join([node.text for node in scalars])
    if "<" in joined or not are_escaped(joined):
        return
    for node in scalars:
        before, node.text = node.text, decoded(node.text)
        if node.text != before:
            read.repairs.append(Repair(kind="entities_decoded", before=before, after=node.text, safety="coerced"))


def _is_none(reading: Reading, at: int, found: LinesEnd, name: str, text: str, tool: CompiledTool) -> bool:
    """Decline lines that are no mapping of the tool's.

    A list, keys with unreadable values, and unknown keys are content and a near miss. Otherwise other forms may read the tag.
    """
    strange = read_lines(text, lambda key: key.isidentifier() and key not in tool.properties, limits=reading.limits)
    unknown = strange is not None and not strange.repairs and all(key.isidentifier() for key, _ in strange.pairs)
    if found.closed and (_ITEM.match(text) or has_key(text, lambda key: key in tool.properties) or unknown):
        reading.miss(at, found.end, name, "unknown_parameter" if unknown else "unreadable")
        reading.text(found.end)
        return True
    reading.failed(found.end - at)
    return False


# --- in <tool_call> ---------------------------------------------------------------------------------------------------


def _in_tool_call(reading: Reading, at: int, body: int) -> Steps[bool]:
    """Read `<tool_call>` with `name:` and `arguments:`, or a tool's name over its arguments. Any closer may end it."""
    src = reading.src
    tag = src.text[at + 1 : body - 1]
    closer = Element(tag)
    found = yield from end_of_lines(reading, body, closer, _ANY_CLOSER, lambda tag: tag in _WRAPPERS)
    if found.cut:
        reading.backtrack_budget.never_closed()
    if found.closed:
        found.end, _, _ = yield from swallow(reading, found.end, (f"</{tag}>",), extra="")
    text, unfinished = _body(src.text[body : found.stop], tag, found)
    read = read_lines(text, lambda key: key in _KEYS or is_known(key, reading.tools), limits=reading.limits)
    if read is not None:
        _decode_entities(read)
    parts = _pairs_by_call(reading, read.pairs) if read is not None else []
    calls = [call for part in parts if (call := _call_in(reading, part)) is not None]
    if not calls and found.cut and (begun := _named_in(reading, text)) is not None:
        read, calls = YamlLines([], False), [begun]
    if read is None or not calls or len(calls) < len(parts):
        reading.failed(found.end - at)
        return False
    call = calls[-1]
    tool = reading.tool(call.name)
    complete = found.closed
    if not complete and tool is not None and call.arguments is not None:
        complete = is_whole_call(reading, tool, call.arguments, last_closed=read.whole and not unfinished, cut=found.cut)
    if not found.closed:
        call.repairs.append(_closer_missing(found, complete))
    for call in calls:
        call.raw, call.given = text, True
        if len(read.repairs) + len(call.repairs) > reading.limits.repairs:
            call.arguments, call.repairs = None, call.repairs[: reading.limits.repairs]
    add_calls(reading, (at, found.end), calls, "yaml_in_tool_call", complete=complete, repairs=read.repairs)
    return True


def _pairs_by_call(reading: Reading, pairs: list[tuple[str, YamlNode]]) -> list[list[tuple[str, YamlNode]]]:
    """The pairs of each call. A call begins where a key repeats that names a tool."""
    parts: list[list[tuple[str, YamlNode]]] = [[]]
    for key, node in pairs:
        again = key in NAMING and is_known(node.text.strip(), reading.tools) and any(key == given for given, _ in parts[-1])
        if again:
            parts.append([])
        parts[-1].append((key, node))
    return parts


def _call_in(reading: Reading, pairs: list[tuple[str, YamlNode]]) -> CallObject | None:
    """The call of a known tool in a mapping. None if there is none."""
    nodes = dict(pairs)
    if len(nodes) == 1:
        ((name, node),) = nodes.items()
        if is_known(name, reading.tools):
            return with_arguments(reading, CallObject(name, None, True), node) if node.pairs is not None else None
    named = next((key for key in NAMING if key in nodes and is_known(nodes[key].text.strip(), reading.tools)), None)
    if named is None:
        return None
    call = CallObject(nodes[named].text.strip(), None, False)
    tool = reading.tool(call.name)
    if declares({key: _plain(node) for key, node in pairs}, () if tool is None else tool.properties):
        return None
    call.id = next((nodes[key].text for key in ID_KEYS if key in nodes), "")
    held = next((key for key in ARGUMENT_KEYS if key in nodes and key != named), None)
    if held is not None:
        read = with_arguments(reading, call, nodes[held])
        if read is not None:
            read.repairs += _dropped(pairs, (named, held), tool)
        return read
    beside = [(key, node) for key, node in pairs if key != named and key not in ID_KEYS]
    if not beside:
        call.arguments = default_arguments(call.name, reading.tools)
    elif tool is not None and all(key in tool.properties for key, _ in beside):
        call.arguments, call.repairs = typed_pairs(beside, tool, limits=reading.limits)
        call.repairs.append(Repair(kind="flat_arguments", after=call.arguments, safety="coerced"))
    return call if call.arguments is not None else None


def _plain(node: YamlNode) -> Any:
    """The value of a node, with each scalar as its text."""
    if node.pairs is not None:
        return {key: _plain(value) for key, value in node.pairs}
    return node.text if node.items is None else [_plain(item) for item in node.items]


def _dropped(pairs: list[tuple[str, YamlNode]], taken: tuple[str, ...], tool: CompiledTool | None) -> list[Repair]:
    """The repairs of arguments beside the key that holds them."""
    more = [
        (key, node) for key, node in pairs if key not in taken and (key in ARGUMENT_KEYS or (tool and key in tool.properties))
    ]
    return [Repair(kind="arguments_dropped", path=key, before=node.text, after=None, safety="guess") for key, node in more]


def _named_in(reading: Reading, text: str) -> CallObject | None:
    """The call whose arguments were cut off, by its name. None if it is no tool's."""
    found = _NAMED.search(text)
    name = found["name"] or found["key"] if found is not None else ""
    return CallObject(name, None, False) if is_known(name, reading.tools) else None


# --- writers and rows -------------------------------------------------------------------------------------------------

_PLAIN = lazy_regex(r"[A-Za-z][A-Za-z0-9_./-]*(?: [A-Za-z0-9_./-]+)*")
_BLOCK = lazy_regex(r"[^\s\x00-\x1f\x7f-\x9f][^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]*")
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))


def _written(value: Any, indentation: str) -> str:
    """A value behind its key."""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
            return value
        body = value.removesuffix("\n")
        if "\n" in body and _BLOCK.fullmatch(body) and all(line.strip() for line in body.split("\n")):
            return f"{'|' if value != body else '|-'}\n" + "\n".join(f"{indentation}  {line}" for line in body.split("\n"))
        return as_json(value)
    written = as_json(value)
    if (is_object(value) or is_list(value)) and value and '{"' not in written and not all(isinstance(v, str) for v in value):
        return as_json(written)  # otherwise its scalars would be text
    return written


def mapping(given: dict[str, Any], indentation: str = "") -> str:
    """The YAML lines of a mapping."""
    return "".join(f"{indentation}{key}: {_written(value, indentation)}\n" for key, value in given.items())


def _write_in_tag(calls: Calls) -> str:
    return "\n".join(f"<{name}>\n{mapping(given)}</{name}>" for name, given in calls)


def _write_in_tool_call(calls: Calls) -> str:
    blocks = (f"name: {name}\narguments:" + (f"\n{mapping(given, '  ')}" if given else " {}\n") for name, given in calls)
    return "\n".join(f"<tool_call>\n{block}</tool_call>" for block in blocks)


DIALECTS: tuple[Dialect, ...] = (
    Dialect(
        "yaml_in_tag",
        "prompts that ask for YAML, any model; Claude Sonnet 4.5, Mistral Small",
        _write_in_tag,
        (Marker(_in_tool_tag, tool_tag=True, follows=yaml_begins_lines, order=-1, calls=True, dialect="yaml_in_tag"),),
        trust="bare",
        typed_by_schema=True,
        read_by=("cline",),
    ),
    Dialect(
        "yaml_in_tool_call",
        "Granite 4.0, prompts that ask for YAML",
        _write_in_tool_call,
        (
            call_marker(
                "yaml_in_tool_call", _in_tool_call, *(f"<{tag}>" for tag in _WRAPPERS), follows=begins_lines_below, order=3
            ),
        ),
        typed_by_schema=True,
    ),
)
