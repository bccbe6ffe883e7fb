"""YAML as nodes of text: mappings, lists and scalars. A scalar is only its text.

PyYAML parses, and this module folds its events into nodes. Nothing is resolved: `1.10`, `no` and `2026-11-23` stay text,
because the schema decides their types. What YAML would resolve is refused: an anchor, an alias, a tag, a second document. Keys
that are no text and nesting beyond the limit are refused, too. The work is linear, and no text makes it raise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmcore.types.limits import DEFAULT_LIMITS, Limits

__all__ = ["YamlNode", "read_yaml"]

_BREAKS = "\x85\u2028\u2029"
"""Line breaks in YAML 1.1 that are characters elsewhere. They are replaced while PyYAML parses."""
_ASIDE = "\U0010fff0\U0010fff1\U0010fff2"
_TO_ASIDE, _FROM_ASIDE = str.maketrans(_BREAKS, _ASIDE), str.maketrans(_ASIDE, _BREAKS)


@dataclass(slots=True)
class YamlNode:
    """One value, which stands in `whole` at `start:stop`. Its first line begins in `column`.

    `text` and `style` belong to a scalar; `style` is `"`, `'`, `|`, `>`, or "" for plain. `items` belong to a list, `pairs` to
    a mapping. `flow`: it is written in brackets.
    """

    text: str = ""
    style: str = ""
    items: list[YamlNode] | None = None
    pairs: list[tuple[str, YamlNode]] | None = None
    flow: bool = False
    whole: str = ""
    start: int = 0
    stop: int = 0
    column: int = 0

    @property
    def is_scalar(self) -> bool:
        return self.items is None and self.pairs is None

    @property
    def source(self) -> str:
        """Its source text. Its lines are moved left by the column of the first one."""
        first, *rest = self.whole[self.start : self.stop].rstrip().split("\n")
        return "\n".join([first, *(line[self.column :] if line[: self.column].isspace() else line for line in rest)])

    @property
    def comment(self) -> str:
        """The comment on the line on which it ends."""
        line, _, _ = self.whole[self.stop :].partition("\n")
        return line.strip() if line.lstrip().startswith("#") else ""


class _Refused(Exception):
    """The text is YAML that this module does not read."""


def read_yaml(text: str, *, limits: Limits = DEFAULT_LIMITS) -> YamlNode | None:
    """The value of a whole text. None if it is no YAML, or YAML that is refused."""
    if len(text) > limits.arguments or any(mark in text for mark in _ASIDE):
        return None
    import yaml  # 10 ms: only replies with YAML import it

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same rules, in C if available
    try:
        return _Reader(text, loader(text.translate(_TO_ASIDE)), limits.depth).document()
    except (yaml.YAMLError, UnicodeEncodeError, _Refused):
        return None


class _Reader:
    """Makes nodes of a parser's events."""

    __slots__ = ("_depth", "_parser", "_text")

    def __init__(self, text: str, parser: Any, depth: int) -> None:
        self._text, self._parser, self._depth = text, parser, depth

    def document(self) -> YamlNode | None:
        """The only document; None if there is none."""
        self._next()
        if _kind(self._next()) != "DocumentStart":
            return None
        node = self._node(self._next(), 0)
        self._next()
        if _kind(self._next()) != "StreamEnd":
            raise _Refused
        return node

    def _next(self) -> Any:
        return self._parser.get_event()

    def _node(self, event: Any, depth: int) -> YamlNode:
        """The value that begins with this event."""
        kind = _kind(event)
        if kind == "Alias" or event.anchor is not None or event.tag is not None or depth > self._depth:
            raise _Refused
        if kind == "Scalar":
            return self._placed(YamlNode(event.value.translate(_FROM_ASIDE), event.style or ""), event, event)
        node = YamlNode(flow=bool(event.flow_style))
        if kind == "SequenceStart":
            node.items = []
            while _kind(inner := self._next()) != "SequenceEnd":
                node.items.append(self._node(inner, depth + 1))
        else:
            node.pairs = []
            while _kind(inner := self._next()) != "MappingEnd":
                key = self._node(inner, depth + 1)
                if not key.is_scalar or key.style in ("|", ">"):
                    raise _Refused
                node.pairs.append((key.text, self._node(self._next(), depth + 1)))
        return self._placed(node, event, inner)

    def _placed(self, node: YamlNode, first: Any, last: Any) -> YamlNode:
        node.whole, node.column = self._text, first.start_mark.column
        node.start, node.stop = first.start_mark.index, last.end_mark.index
        return node


def _kind(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")
