"""Reads untrusted YAML as plain data: text, numbers, booleans, null, lists, and mappings with text keys.

PyYAML only parses. This module builds the values from its events, so a small file can neither take long nor fill the
memory. Rules: a key is its text as written (`on`, `1`, `2026-01-31`), and occurs once in a mapping. A date is text,
and so is `1:30`. `010` is refused, since some readers read it as 8. Each use of an alias counts all values it repeats.
An alias inside the value that it names is refused, and so is a tag that is not plain data. Every refusal is a
`YamlProblem` with its line. Time and memory are linear in the length of the text and in `FileLimits.aliased`.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from llmcore.support.values.narrowing import is_list
from llmcore.types.limits import FileLimits

__all__ = ["YamlProblem", "load_yaml", "yaml_items"]

_PARSER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same rules, in C if available
_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", f"{_TAG}str", f"{_TAG}timestamp", f"{_TAG}value", f"{_TAG}merge"})
_NUMBER_TAGS = frozenset({f"{_TAG}int", f"{_TAG}float"})
_OCTAL = re.compile(r"[-+]?0[0-9_]+")
_LIST_TAGS = frozenset({None, "!", f"{_TAG}seq"})
_MAPPING_TAGS = frozenset({None, "!", f"{_TAG}map"})
_MERGE_KEY = "<<"


class YamlProblem(ValueError):
    """What is wrong with a text, and in which line, counted from 1 (None: unknown). `ends_the_text`: the rest of the text
    cannot be read either."""

    def __init__(self, line: int | None, message: str, *, ends_the_text: bool = False) -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.ends_the_text = ends_the_text


def load_yaml(text: str, limits: FileLimits) -> Any:
    """The data of a text with one document; None if it is empty. Raises `YamlProblem`."""
    builder = _Builder(text, limits, binary=False)
    if not builder.begin():
        return None
    value = builder.value(builder.next())
    builder.end()
    return value


def yaml_items(text: str, key: str, limits: FileLimits) -> Iterator[tuple[int, Any]]:
    """The items of the list under `key` in the text's mapping, one at a time, each with its line.

    An unreadable item is yielded as its `YamlProblem`, and the next one follows. `!!binary` gives bytes. Raises
    `YamlProblem` if the rest is unreadable or there is no such list.
    """
    builder = _Builder(text, limits, binary=True)
    given: set[str] = set()
    found = False
    if builder.begin() and isinstance(builder.next(), yaml.MappingStartEvent):
        while not isinstance(event := builder.next(), yaml.MappingEndEvent):
            name = builder.key(event)
            if name in given:
                raise _problem(event, f"{_shown(name)} is given twice")
            given.add(name)
            if name == key:
                if not isinstance(start := builder.next(), yaml.SequenceStartEvent):
                    break
                found = True
                yield from builder.items(start)
            else:
                builder.value(builder.next())
    if not found:
        raise YamlProblem(None, f"expected a mapping with a list `{key}`", ends_the_text=True)


class _Builder:
    """Builds values from a parser's events. `_count`: the number of built values, with all that aliases repeat."""

    def __init__(self, text: str, limits: FileLimits, *, binary: bool) -> None:
        self._text = text
        self._limits = limits
        self._binary = binary
        try:
            self._parser: Any = _PARSER(text)
        except yaml.YAMLError as error:
            raise self._syntax(error) from None
        except UnicodeEncodeError as error:
            raise YamlProblem(text.count("\n", 0, error.start) + 1, "half of a surrogate pair", ends_the_text=True) from None
        self._depth = 0
        self._count = 0
        self._aliased = 0
        self._anchors: dict[str, tuple[Any, int] | None] = {}  # None: not complete yet

    def begin(self) -> bool:
        """Go to the document's content; False if there is none."""
        self.next()
        return isinstance(self.next(), yaml.DocumentStartEvent)

    def end(self) -> None:
        """Raises `YamlProblem` if another document follows."""
        self.next()
        if isinstance(event := self.next(), yaml.DocumentStartEvent):
            raise _problem(event, "a second document begins; a file may have only one")

    def next(self) -> Any:
        """The next event. Raises `YamlProblem` for a mistake in the text and for too many levels."""
        try:
            event: Any = self._parser.get_event()
        except yaml.YAMLError as error:
            raise self._syntax(error) from None
        self._depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if self._depth > self._limits.depth:
            line = event.start_mark.line + 1
            raise YamlProblem(line, f"nested deeper than {self._limits.depth} levels", ends_the_text=True)
        return event

    def items(self, start: Any) -> Iterator[tuple[int, Any]]:
        """The items of the list that `start` opened. The limit of values applies to each item."""
        if start.anchor is not None:
            self._anchors[start.anchor] = None
        outside, number = self._depth, 0
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            line, number = event.start_mark.line + 1, number + 1
            if number > self._limits.exchanges:
                raise YamlProblem(line, f"more than {self._limits.exchanges} interactions", ends_the_text=True)
            self._count = 0
            try:
                yield line, self.value(event)
            except YamlProblem as problem:
                if problem.ends_the_text:
                    raise
                yield line, problem
                while self._depth > outside:
                    self.next()

    def key(self, event: Any) -> str:
        """The text of a mapping's key."""
        if not isinstance(event, yaml.ScalarEvent) or event.tag not in (None, "!", f"{_TAG}str"):
            raise _problem(event, "a key that is not plain text")
        self._counted(event)
        text: str = event.value
        if event.anchor is not None:
            self._anchors[event.anchor] = (text, 1)
        return text

    def value(self, event: Any) -> Any:
        """The value that begins with this event."""
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event)
        before = self._count
        self._counted(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        value: Any
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            _known(event, _LIST_TAGS)
            value = []
            while not isinstance(inner := self.next(), yaml.SequenceEndEvent):
                value.append(self.value(inner))
        else:
            value = self._mapping(event)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, self._count - before)
        return value

    def _mapping(self, event: Any) -> dict[str, Any]:
        _known(event, _MAPPING_TAGS)
        own: dict[str, Any] = {}
        merged: list[dict[str, Any]] = []
        while not isinstance(inner := self.next(), yaml.MappingEndEvent):
            key = self.key(inner)
            if key == _MERGE_KEY and inner.implicit[0]:
                merged += self._merged(self.next())
                continue
            if key in own:
                raise _problem(inner, f"{_shown(key)} is given twice")
            own[key] = self.value(self.next())
        if not merged:
            return own
        whole: dict[str, Any] = {}
        for mapping in reversed(merged):  # the first mapping has precedence
            whole.update(mapping)
        return whole | own

    def _merged(self, event: Any) -> list[dict[str, Any]]:
        value = self.value(event)
        mappings = value if is_list(value) else [value]
        if not all(isinstance(mapping, dict) for mapping in mappings):
            raise _problem(event, f"`{_MERGE_KEY}` needs a mapping or a list of mappings")
        return mappings

    def _repeated(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise _problem(event, f"the alias {_shown(event.anchor)} names nothing before it")
        found = self._anchors[event.anchor]
        if found is None:
            raise _problem(event, f"the alias {_shown(event.anchor)} is inside the value that it names")
        value, size = found
        self._aliased += size
        self._count += size
        if self._aliased > self._limits.aliased:
            raise _problem(event, f"aliases repeat more than {self._limits.aliased} values")
        self._counted(event)
        return value

    def _counted(self, event: Any) -> None:
        self._count += 1
        if self._count > self._limits.values:
            line = event.start_mark.line + 1
            raise YamlProblem(line, f"more than {self._limits.values} values", ends_the_text=True)

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        tag: str | None = event.tag
        if tag is None:
            tag = _implicit_tag(text) if event.implicit[0] else "!"
        if tag in _TEXT_TAGS:
            return text
        if tag == f"{_TAG}binary" and self._binary:
            return _decoded(event)
        if tag in _NUMBER_TAGS and ":" in text and event.tag is None:
            return text  # only YAML 1.1 reads it as a number, in base 60
        if tag in _NUMBER_TAGS and (":" in text or _OCTAL.fullmatch(text)):
            raise _problem(
                event, f"not all YAML readers read {_shown(text)} as the same number; write a plain number, or use quotes"
            )
        read = _READERS.get(str(tag))
        if read is None:
            raise _problem(event, f"a value with the tag {_shown(str(tag))}; only plain data is read")
        if len(text) > self._limits.number:
            raise _problem(event, f"a number of more than {self._limits.number} characters")
        try:
            value = read(yaml.ScalarNode(str(tag), text))
        except (ValueError, LookupError):
            raise _problem(event, f"{_shown(text)} is not a valid {str(tag).removeprefix(_TAG)}") from None
        if isinstance(value, float) and math.isinf(value) and "inf" not in text.lower():
            raise _problem(event, f"{_shown(text)} is too large for a number")
        return value

    def _syntax(self, error: yaml.YAMLError) -> YamlProblem:
        if isinstance(error, yaml.MarkedYAMLError):
            mark = error.problem_mark
            if mark is None:
                return YamlProblem(None, str(error.problem), ends_the_text=True)
            lines = self._text.rstrip().count("\n") + 1
            if mark.line >= lines:
                return YamlProblem(lines, f"{error.problem}, at the end of the text", ends_the_text=True)
            return YamlProblem(mark.line + 1, f"{error.problem}, column {mark.column + 1}", ends_the_text=True)
        position = getattr(error, "position", None)
        line = self._text.count("\n", 0, position) + 1 if isinstance(position, int) else None
        reason = getattr(error, "reason", None) or str(error)
        return YamlProblem(line, " ".join(str(reason).split()), ends_the_text=True)


_RESOLVER: Any = yaml.resolver.Resolver()
_PLAIN = yaml.constructor.SafeConstructor()
_READERS: dict[str, Callable[[yaml.ScalarNode], Any]] = {
    f"{_TAG}int": _PLAIN.construct_yaml_int,
    f"{_TAG}float": _PLAIN.construct_yaml_float,
    f"{_TAG}bool": _PLAIN.construct_yaml_bool,
    f"{_TAG}null": _PLAIN.construct_yaml_null,
}


def _implicit_tag(text: str) -> str:
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
    return tag


def _decoded(event: Any) -> bytes:
    try:
        return base64.b64decode(event.value, validate=False)
    except (binascii.Error, ValueError) as error:
        raise _problem(event, f"a damaged base64 value: {error}") from None


def _known(event: Any, tags: frozenset[str | None]) -> None:
    if event.tag not in tags:
        raise _problem(event, f"a value with the tag {_shown(event.tag)}; only plain data is read")


def _problem(event: Any, message: str) -> YamlProblem:
    return YamlProblem(event.start_mark.line + 1, message)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")
