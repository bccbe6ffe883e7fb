"""The value of YAML for a tool: its nodes typed by the schema, and text that is no YAML, cut at the tool's keys.

A scalar is text unless the schema gives another type, as in a tag. If the schema allows several types, quotes or a block make
it text. Brackets with a JSON object are JSON: if the schema has no types for its values, the JSON has. Nesting is limited by
`Limits.depth`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any

from llmcore.normalizer.calls.typed_values import typed_by
from llmcore.normalizer.notations.extent import Extent
from llmcore.normalizer.notations.json import read_json
from llmcore.normalizer.notations.yaml_nodes import YamlNode, read_yaml
from llmcore.support.code.lazy_regex import lazy_regex
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.envelope import Repair, Safety
from llmcore.types.limits import DEFAULT_LIMITS, Limits
from llmcore.types.tools import CompiledTool

__all__ = ["YamlLines", "has_key", "read_lines", "typed_pairs"]

_KEY = lazy_regex(r"""["']?([^\s:"'<>][^\n:"'<>]{0,127}+)["']?+[ \t]*+:""")
_BLOCK = lazy_regex(r"[|>][-+0-9]{0,2}[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
_QUOTED_LISTED = lazy_regex(r"""(["'])((?:(?!\1)[^\\\n])*)\1,""")
"""A value with its comma, as in a JSON object."""
_HOLDS_OBJECT = lazy_regex(r'\{\s*"')
_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {"yes": True, "on": True, "true": True, "no": False, "off": False, "false": False}
_WHOLE_STYLES = ('"', "'")


@dataclass(slots=True)
class YamlLines:
    """A body of lines. `pairs`: its keys and values, in order. `whole`: the text shows the end of its last value."""

    pairs: list[tuple[str, YamlNode]]
    whole: bool
    repairs: list[Repair] = field(default_factory=list[Repair])


# --- from text to nodes -----------------------------------------------------------------------------------------------


def read_lines(text: str, is_key: Callable[[str], bool], *, limits: Limits = DEFAULT_LIMITS) -> YamlLines | None:
    """The mapping of a text. None if it has no key, or cannot be read.

    If it is no YAML, each value is the text between two lines that begin with a key.
    """
    text = _dedented(text)
    node = read_yaml(text, limits=limits)
    if node is not None:
        pairs = node.pairs
        if pairs is None or node.flow or not any(is_key(key) for key, _ in pairs):
            pairs = None
        if pairs is not None:
            return YamlLines(pairs, _is_whole(pairs[-1][1], text))
        if not node.is_scalar:
            return None
    read = _of_keys_alone(text, is_key, limits)
    return read or _cut_at_keys(text, is_key, limits)


def _of_keys_alone(text: str, is_key: Callable[[str], bool], limits: Limits) -> YamlLines | None:
    """Lines that all begin with another key and are indented inconsistently."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    keys = [found[1].rstrip() for line in lines if (found := _KEY.match(line)) is not None]
    indented = any(line[:1].isspace() and line.strip() for line in text.split("\n"))
    if not indented or not len(keys) == len(lines) == len(set(keys)) or not all(map(is_key, keys)):
        return None
    read = _cut_at_keys("\n".join(lines) + "\n" * text.endswith("\n"), is_key, limits)
    if read is not None:
        read.repairs.append(Repair(kind="indentation", safety="coerced"))
    return read


def _dedented(text: str) -> str:
    """The text without the indentation that all its lines have. If the first line stands behind a tag, it is ignored."""
    head, *rest = text.split("\n")
    lines = rest if head.strip() else text.split("\n")
    widths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    width = min(widths, default=0)
    if not width or len({line[:width] for line in lines if line.strip()}) > 1:
        return text.lstrip(" \t") if head.strip() else text
    return "\n".join([*([head.lstrip()] if head.strip() else []), *(line[width:] for line in lines)])


def has_key(text: str, is_key: Callable[[str], bool]) -> bool:
    """Whether a line at the margin begins with a key."""
    found = (_KEY.match(line) for line in _dedented(text).split("\n"))
    return any(key is not None and is_key(key[1].rstrip()) for key in found)


def _is_whole(node: YamlNode, text: str) -> bool:
    """Whether the text shows where its last value ends. A plain value ends with its line, a block with the text behind it."""
    while not node.is_scalar and not node.flow:
        inner = node.items if node.items is not None else [value for _, value in node.pairs or ()]
        if not inner:
            return True
        node = inner[-1]
    return node.flow or node.style in _WHOLE_STYLES or (not node.style and bool(node.text) and text.endswith("\n"))


def _cut_at_keys(text: str, is_key: Callable[[str], bool], limits: Limits) -> YamlLines | None:
    """The values between lines at the margin that begin with a new key."""
    starts: list[tuple[int, int, str]] = []
    given: set[str] = set()
    position = 0
    for line in text.splitlines(keepends=True):
        found = _KEY.match(line)
        key = found[1].rstrip() if found is not None else ""
        if found is not None and key not in given and is_key(key):
            given.add(key)
            starts.append((position, position + found.end(), key))
        elif not starts and line.strip() and not line.startswith(("#", "---")):
            return None
        position += len(line)
    read = YamlLines([], False)
    for n, (start, value, key) in enumerate(starts):
        end = starts[n + 1][0] if n + 1 < len(starts) else len(text)
        part = read_yaml(text[start:end], limits=limits)
        if part is not None and part.pairs is not None and len(part.pairs) == 1:
            node = part.pairs[0][1]
        elif (raw := _raw(text[value:end], key, read.repairs)) is not None:
            node = raw
        else:
            return None
        read.pairs.append((key, node))
        read.whole = _is_whole(node, text[:end]) and (bool(node.style) or "\n" not in node.text)
    return read if read.pairs else None


def _raw(written: str, key: str, repairs: list[Repair]) -> YamlNode | None:
    """A value that is no YAML, as text. None for brackets that never close."""
    text = written.lstrip(" \t")
    bare = text.strip()
    if bare.startswith(("[", "{")) and Extent(0).scan(bare, True) < 0:
        return None
    if bare.startswith('"'):  # a string with JSON's escapes
        parsed = read_json(bare)
        if len(parsed.values) == 1 and isinstance(parsed.values[0], str) and not parsed.repairs and not bare[parsed.end :]:
            return YamlNode(parsed.values[0], '"', whole=bare, stop=len(bare))
    block = _BLOCK.match(text)
    if block is not None or text.startswith(("\n", "\r\n")):
        text = dedent(text[block.end() if block is not None else text.index("\n") + 1 :])
    several = "\n" in text.rstrip()
    if not several:
        text = bare
        if (quoted := _QUOTED_LISTED.fullmatch(bare)) is not None:
            text = quoted[2]
    elif block is not None and "-" in block[0]:
        text = text.rstrip("\n")
    repairs.append(
        Repair(
            kind="text_for_yaml",
            path=key,
            before=written,
            after=text,
            safety="guess" if several or block or text[:1] in ('"', "'") else "coerced",
        )
    )
    return YamlNode(text, whole=text, stop=len(text))


# --- from nodes to values ---------------------------------------------------------------------------------------------


def typed_pairs(
    pairs: list[tuple[str, YamlNode]], tool: CompiledTool | None, *, limits: Limits = DEFAULT_LIMITS
) -> tuple[dict[str, Any], list[Repair]]:
    """The arguments of a mapping for `tool`, and the repairs."""
    reader = _Typed(tool, limits)
    properties = tool.properties if tool is not None else {}
    return reader.mapping(pairs, lambda key: properties.get(key) or _more(tool), "", ABSENT), reader.repairs


def _more(tool: CompiledTool | None) -> Any:
    """The schema of properties that the tool's schema does not name."""
    return None if tool is None else _part(tool, tool.definition.parameters, "additionalProperties")


def _part(tool: CompiledTool, schema: Any, key: str) -> Any:
    """`schema[key]` of the schema, or of its first branch that has the key."""
    return next((branch[key] for branch in tool.branches(schema) if key in branch), None)


class _Absent:
    """Stands for a missing JSON value of a node."""


ABSENT: Any = _Absent()


class _Typed:
    """Makes values of nodes, and records the repairs."""

    __slots__ = ("_limits", "_tool", "repairs")

    def __init__(self, tool: CompiledTool | None, limits: Limits) -> None:
        self._tool, self._limits = tool, limits
        self.repairs: list[Repair] = []

    def value(self, node: YamlNode, schema: Any, path: str, json: Any) -> Any:
        """The value of a node under a schema (None if unknown). `json` is its value as JSON."""
        tool = self._tool
        types = tool.types_of(schema) if tool is not None and is_object(schema) else ()
        if node.is_scalar:
            return self._scalar(node, types, path, json)
        kind = "array" if node.items is not None else "object"
        if types and kind not in types and "string" in types:
            text = node.source
            self.repairs.append(Repair(kind="source_as_text", path=path, after=text, safety="coerced"))
            return text
        if node.flow and json is ABSENT:
            json = self._json(node)
        if node.items is not None:
            part = self._parts(schema, "items")
            first = self._parts(schema, "prefixItems") or (part if is_list(part) else None)
            return [
                self.value(item, first[n] if is_list(first) and n < len(first) else part, f"{path}[{n}]", _inner(json, n))
                for n, item in enumerate(node.items)
            ]
        properties, more = self._parts(schema, "properties"), self._parts(schema, "additionalProperties")
        known: dict[str, Any] = properties if is_object(properties) else {}
        return self.mapping(node.pairs or [], lambda key: known.get(key, more), path, json)

    def mapping(self, pairs: list[tuple[str, YamlNode]], schema_of: Callable[[str], Any], path: str, json: Any) -> dict[str, Any]:
        """The object of some pairs. If a key repeats, an array takes all values; otherwise the last one wins."""
        found: dict[str, Any] = {}
        given: dict[str, list[YamlNode]] = {}
        for key, node in pairs:
            given.setdefault(key, []).append(node)
        for key, nodes in given.items():
            below, schema = f"{path}.{key}" if path else key, schema_of(key)
            if len(nodes) > 1 and self._is_array(schema) and all(node.items is None for node in nodes):
                found[key] = self.value(YamlNode(items=nodes), schema, below, ABSENT)
                self.repairs.append(Repair(kind="parameter_repeated", path=below))
                continue
            for node in nodes:
                value = self.value(node, schema, below, _inner(json, key) if len(nodes) == 1 else ABSENT)
                if key in found:
                    same = type(found[key]) is type(value) and found[key] == value
                    safety: Safety = "lossless" if same else "guess"
                    self.repairs.append(
                        Repair(kind="parameter_repeated", path=below, before=found[key], after=value, safety=safety)
                    )
                found[key] = value
        return found

    def _is_array(self, schema: Any) -> bool:
        return self._tool is not None and is_object(schema) and "array" in self._tool.types_of(schema)

    def _parts(self, schema: Any, key: str) -> Any:
        return _part(self._tool, schema, key) if self._tool is not None and is_object(schema) else None

    def _json(self, node: YamlNode) -> Any:
        """The value of brackets as JSON, if they hold an object."""
        source = node.source
        if _HOLDS_OBJECT.search(source) is None:
            return ABSENT
        parsed = read_json(source, limits=self._limits)
        return ABSENT if parsed.repairs or len(parsed.values) != 1 or source[parsed.end :].strip() else parsed.values[0]

    def _scalar(self, node: YamlNode, types: tuple[str, ...], path: str, json: Any) -> Any:
        text = node.text
        if not types:
            return text if json is ABSENT else json
        if node.style:
            if "string" in types:
                return text
        elif text in _NULL:
            if "null" in types and not node.comment:
                return None
            if not text:
                return self._empty(node, types, path)
        elif "boolean" in types and "string" not in types and text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
        value, repairs = typed_by(text, types, path=path, limits=self._limits)
        self.repairs += repairs
        return value

    def _empty(self, node: YamlNode, types: tuple[str, ...], path: str) -> Any:
        """The value of a key without one: the schema's null, list or object, else "". To YAML, `room: #3` has a comment only."""
        if node.comment and "string" in types:
            self.repairs.append(Repair(kind="comment_as_text", path=path, after=node.comment, safety="guess"))
            return node.comment
        return None if "null" in types else [] if "array" in types else {} if "object" in types else ""


def _inner(json: Any, key: str | int) -> Any:
    """The JSON value under a key or index."""
    if isinstance(key, int):
        return json[key] if is_list(json) and key < len(json) else ABSENT
    return json.get(key, ABSENT) if is_object(json) else ABSENT
