"""Calls as labelled lines: `tool: NAME`, and below it `arguments:` with YAML lines, JSON, or a fence of JSON.

They may stand below `tool_call:`, or as items below `tool_calls:`. Models write them if the prompt asks for YAML; small models
write them unasked, often in a fence. Only a tool's name makes such lines a call, because `name:` begins many configurations. A
block of lines ends at a line that is indented no deeper than `arguments:`, so its values arrive at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from llmcore.normalizer.bare.labelled_blocks import FIRST_LABEL, labelled_block
from llmcore.normalizer.bare.verdicts import bare_place, line_is_over, only_shown, refusal
from llmcore.normalizer.bodies.json_bodies import add_calls, body_extent
from llmcore.normalizer.bodies.yaml_lines import with_arguments
from llmcore.normalizer.calls.call_objects import CallObject, arguments_of, default_arguments
from llmcore.normalizer.calls.yaml_values import read_lines
from llmcore.normalizer.core.names import is_known
from llmcore.normalizer.core.reading import Reading
from llmcore.normalizer.notations.relaxed.read import read_relaxed
from llmcore.normalizer.notations.yaml_nodes import YamlNode
from llmcore.normalizer.scanning.source import Steps, match_within, search, skip_space, wait_for
from llmcore.normalizer.scanning.words import ARGUMENT_KEYS, TURN_TOKENS
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_object
from llmcore.types.envelope import Repair

__all__ = ["LABELS", "is_label", "labelled"]

_NAMED = ("tool", "tool_name", "name", "function", "function_name", "action")
_WRAPPERS = ("tool_call", "tool_calls", "function_call", "function_calls")
LABELS = (*_NAMED, *_WRAPPERS)
"""What stands before the colon of the first line, in lower case or with one capital."""
_REACH = 48  # the most characters of a label, with its indentation and list sign
_LABEL = lazy_regex(r"(?P<before>[ \t]{0,16}(?P<item>- {1,3})?)(?P<label>[A-Za-z][a-z_]{1,20}|TOOL_NAME)")
_NAME = lazy_regex(r"""[ \t]{0,8}(["'`]?)(?P<name>[^\s"'`:]{1,128})\1[ \t]{0,8}\r?(?:\n|\Z)""")
_FIRST = lazy_regex(r"[ \t]{0,8}\r?\n(?P<before> {0,16}(?:- {1,3})?)(?P<label>[A-Za-z][a-z_]{1,20}):")
_KEY = lazy_regex(r"(?:[ \t]*\r?\n)?(?P<before> *)(?P<key>[A-Za-z]\w{1,31}):[ \t]*")
_LINE = 320  # characters of a line that must hold its name or key
_IDS = ("id", "call_id", "tool_call_id")
_ID = lazy_regex(r"""["']?(?P<id>[^\s"']{0,128})["']?[ \t\r]*(?:\n|\Z)""")
_FENCE = lazy_regex(r"```\w{0,16}[ \t]{0,8}\r?\n")
_FENCE_ENDS = lazy_regex(r"\n[ \t]{0,16}```")
_FENCE_LENGTH = 32
_LOWER = str.lower
_DATA_ABOVE = lazy_regex(
    r"[ \t]*(?:---|(?!(?:thoughts?|thinking|reason(?:ing)?|rationale|plan|comment):)[a-z_][\w-]{0,32}:[ \t]+[^\s])"
)
_DIALECT = "labelled_lines"
_ARGUMENTS = frozenset(ARGUMENT_KEYS)


@dataclass(slots=True)
class _Head:
    """The lines before the arguments. `column`: the indentation of their keys. `value`: where the arguments' value begins."""

    begin: int
    name: str
    column: int
    value: int = -1
    id: str = ""


@dataclass(slots=True)
class _Value:
    """The arguments, which end at `end`. `whole`: they show their own end. `is_sketch`: they are lines, without a bracket."""

    end: int
    call: CallObject
    whole: bool
    is_sketch: bool = False


def is_label(text: str, at: int) -> bool:
    """Whether a label stands before the colon at `at`, at the start of its line or behind a tag."""
    first = max(0, at - _REACH)
    begin = max(text.rfind("\n", first, at) + 1, text.rfind(">", first, at) + 1, first)
    label = _LABEL.fullmatch(text, begin + text.startswith("\ufeff", begin), at)
    return label is not None and _LOWER(label["label"]) in LABELS


def labelled(reading: Reading, at: int) -> Steps[int]:
    """Read the colon at `at`, behind a label. Returns where to go on."""
    begin = max(reading.line_start(at), reading.done)
    label = _LABEL.fullmatch(reading.line_before(at, _REACH))
    if reading.tools is None or label is None or begin + len(label[0]) != at or _is_within_lines(reading, begin, label):
        return at + 1
    if label["label"] == FIRST_LABEL:
        return (yield from labelled_block(reading, begin, at))
    if _LOWER(label["label"]) in _WRAPPERS:
        head = yield from _wrapped(reading, begin, at)
    else:
        head = yield from _head(reading, begin, at, len(label["before"]))
    if head is None:
        return at + 1
    value = yield from _value(reading, head)
    if value is None:
        reading.miss(head.begin, head.value, head.name, "unreadable")
        return head.value
    return (yield from _enter(reading, head, value))


def _is_within_lines(reading: Reading, begin: int, label: re.Match[str]) -> bool:
    """Whether the lines above belong to the same data: front matter, a configuration, a list. Thoughts do not."""
    if reading.blank_before(begin) and (not label["before"] or not reading.drafts or reading.drafts[-1].dialect == _DIALECT):
        return False
    if label["item"]:
        return True
    text = reading.src.text
    above = text[max(text.rfind("\n", 0, max(begin - 1, 0)) + 1, reading.done, begin - _LINE) : begin]
    return _DATA_ABOVE.match(above) is not None or (bool(label["before"]) and bool(above.strip()))


def _wrapped(reading: Reading, begin: int, at: int) -> Steps[_Head | None]:
    """The first call below `tool_call:`."""
    first = yield from match_within(reading.src, _FIRST, at + 1, _REACH * 2)
    if first is None or _LOWER(first["label"]) not in _NAMED:
        return None
    colon, column = first.end() - 1, len(first["before"])
    first = None  # a match keeps its text alive
    return (yield from _head(reading, begin, colon, column))


def _head(reading: Reading, begin: int, colon: int, column: int) -> Steps[_Head | None]:
    """The name behind the colon and the keys below it, up to the value of the arguments."""
    named = yield from _line(reading, _NAME, colon + 1)
    if named is None or not is_known(named["name"], reading.tools):
        return None
    head, at = _Head(begin, named["name"], column), named.end()
    named = None  # a match keeps its text alive
    while True:
        key = yield from _line(reading, _KEY, at)
        if key is not None and len(key["before"]) < head.column and not head.id and reading.blank_before(begin):
            head.column = len(key["before"])  # the first line lost the white space before the reply
        if key is None or len(key["before"]) != head.column:
            return None
        word, at = _LOWER(key["key"]).replace(" ", "_"), key.end()
        key = None  # a match keeps its text alive
        if word in _ARGUMENTS:
            head.value = at
            return head
        if word in _NAMED:
            yield from _named_twice(reading, head, at)
            return None
        identity = (yield from _line(reading, _ID, at)) if word in _IDS and not head.id else None
        if identity is None:
            return None
        head.id, at = identity["id"], identity.end()
        identity = None  # a match keeps its text alive


def _named_twice(reading: Reading, head: _Head, at: int) -> Steps[None]:
    """Record a near miss if another tool's name stands in the place of the arguments."""
    named = yield from _line(reading, _NAME, at)
    if named is not None and is_known(named["name"], reading.tools):
        reading.miss(head.begin, named.end(), head.name, "no_arguments")


def _line(reading: Reading, pattern: re.Pattern[str], at: int) -> Steps[re.Match[str] | None]:
    """The match of `pattern` at `at`, once a whole line has arrived."""
    src = reading.src
    while not src.final and len(src.text) - at < _LINE and "\n" not in src.text[at:].lstrip("\r\n"):
        yield None
    return pattern.match(src.text, at, at + _LINE)


def _value(reading: Reading, head: _Head) -> Steps[_Value | None]:
    """The arguments, in any notation."""
    src = reading.src
    ahead = yield from skip_space(src, head.value)
    yield from wait_for(src, ahead, len("```"))
    if src.text.startswith("{", ahead):
        return (yield from _braces(reading, head, ahead))
    if src.text.startswith("```", ahead):
        return (yield from _fence(reading, head, ahead))
    return (yield from _lines(reading, head))


def _braces(reading: Reading, head: _Head, at: int) -> Steps[_Value | None]:
    body = yield from body_extent(reading, at, ())
    if not body.cut and not (yield from line_is_over(reading, body.end)):
        return None
    return _json(reading, head, reading.src.text[body.start : body.end], body.end, cut=body.cut)


def _fence(reading: Reading, head: _Head, at: int) -> Steps[_Value | None]:
    opener = yield from match_within(reading.src, _FENCE, at, _FENCE_LENGTH)
    if opener is None:
        return None
    body, opener = opener.end(), None  # a match keeps its text alive
    closer = yield from search(reading.src, _FENCE_ENDS, body, _FENCE_LENGTH)
    stop, end = (closer.start(), closer.end()) if closer is not None else (len(reading.src.text), len(reading.src.text))
    return _json(reading, head, reading.src.text[body:stop], end, cut=closer is None)


def _json(reading: Reading, head: _Head, written: str, end: int, *, cut: bool) -> _Value | None:
    parsed = read_relaxed(written, limits=reading.limits, cut=cut)
    if not is_object(parsed.value):
        return None
    arguments, _, repairs = arguments_of(parsed.value)
    call = CallObject(head.name, arguments, True, raw=written, repairs=[*parsed.repairs, *repairs])
    return _Value(end, call, parsed.complete and not cut)


def _lines(reading: Reading, head: _Head) -> Steps[_Value | None]:
    """Read YAML lines below the key that are indented deeper. None if the text behind the key gives no arguments."""
    stop = yield from _end_of_block(reading, head.value, head.column)
    text = reading.src.text
    ended = stop < len(text)
    beside, *below = text[head.value : stop].split("\n")
    unfinished = not ended and _drop_begun_key(below)
    written = "\n".join(["", f"arguments: {beside}", *(line[head.column :] for line in below)])
    end = head.value + len(text[head.value : stop].rstrip())
    call = CallObject(head.name, None, True, raw=text[head.value : end].strip())
    if unfinished and not any(line.strip() for line in (beside, *below)):
        return _Value(end, call, False)
    read = read_lines(written, lambda key: key == "arguments", limits=reading.limits)
    if read is None or len(read.pairs) != 1 or _is_definition(read.pairs[0][1]):
        return None
    if with_arguments(reading, call, read.pairs[0][1]) is None:
        return None
    call.repairs[:0] = read.repairs
    tool, arguments = reading.tool(head.name), call.arguments or {}
    if tool is None or (arguments and tool.properties.keys().isdisjoint(arguments)):
        return None
    whole = not unfinished and (ended or not reading.ended_by_length)
    return _Value(end, call, whole and tool.required <= arguments.keys(), is_sketch=True)


def _drop_begun_key(lines: list[str]) -> bool:
    """Remove the last line if the text ended in it and it is a key without its colon. Returns whether it did."""
    if not lines or not (last := lines[-1].strip()) or ":" in last:
        return False
    first = next(line for line in lines if line.strip())
    if len(lines[-1]) - len(lines[-1].lstrip()) > len(first) - len(first.lstrip()) or last.startswith("- "):
        return False  # the line continues a value
    lines.pop()
    return True


def _is_definition(node: YamlNode) -> bool:
    """Whether a mapping describes parameters instead of giving them."""
    identity = [dict(value.pairs or ()) for _, value in node.pairs or ()]
    return bool(identity) and all("type" in fields or "description" in fields for fields in identity)


def _end_of_block(reading: Reading, at: int, column: int) -> Steps[int]:
    """Where the first line begins that is indented no deeper than `column`, behind the key's line."""
    src, line = reading.src, at
    while True:
        newline = src.text.find("\n", line)
        if newline < 0:
            if src.final:
                token = next((token for token in TURN_TOKENS if src.text.endswith(token, line)), "")
                return len(src.text) - len(token)
            yield None
            continue
        ahead = yield from skip_space(src, newline + 1)
        if ahead >= len(src.text):
            return ahead
        begin = src.text.rfind("\n", 0, ahead) + 1
        if ahead - begin <= column:
            return begin
        line = ahead


def _enter(reading: Reading, head: _Head, value: _Value) -> Steps[int]:
    """Enter the call if a bare form may stand there. Returns where to go on."""
    call, end = value.call, value.end
    call.id = head.id
    if not call.arguments and call.given:
        call.arguments = call.arguments if call.arguments is not None else default_arguments(head.name, reading.tools)
    if value.is_sketch and not reading.nested and _DIALECT not in reading.counted:
        call.repairs.append(Repair(kind="lines_alone", safety="guess"))
    place = yield from bare_place(reading, (head.begin, end), [call], over=True)
    reason = refusal(reading, place, [call]) or (yield from only_shown(reading, head.begin, end))
    if reason is not None:
        reading.miss(head.begin, end, head.name, reason)
        return end
    add_calls(reading, (head.begin, end), [call], _DIALECT, complete=value.whole)
    return reading.done
