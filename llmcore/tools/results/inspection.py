"""Inspecting a tool's result before it is serialized: whether it is finite, acyclic and small enough.

A result may be endless (an iterator), contain itself, or be larger than the memory. pydantic walks it in C, where no time limit
and no other thread interrupts it. So each value is inspected first, within `ToolResultLimits`. The inspection runs no code of the
value, except properties behind the fields of a dataclass.
"""

from __future__ import annotations

import dataclasses
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from types import BuiltinFunctionType, ModuleType, SimpleNamespace
from typing import Any

from pydantic import BaseModel

from llmcore.support.values.media_kinds import MEDIA_KINDS
from llmcore.support.values.narrowing import is_object
from llmcore.types import MediaBlock, ResultBlock, TextBlock
from llmcore.types.limits import TOOL_RESULT_LIMITS, ToolResultLimits

__all__ = ["CONTENTS", "Inspection", "UnwritableResult", "inspect_value", "is_plain_data", "is_scalar"]

_NUMBERS = frozenset({bool, float, type(None)})
_CHEAP_LIMITS = ToolResultLimits(values=2_000, chars=200_000)
"""A value within these limits is serialized in about a millisecond."""
_BITS_PER_DIGIT = 3.33
_INT64_LIMIT = 1 << 63

_ENDLESS = {
    Iterator: "an iterator ({}), which may never end and can be read only once; let the tool return a list",
    AsyncIterator: "an async iterator ({}), which may never end; let the tool return a list",
    Awaitable: "an awaitable ({}) that nobody awaits; let the tool await it",
}

_MEMORY_ADDRESS = re.compile(r"[<>][^<>]* at 0x[0-9a-fA-F]{1,16}\b[^<>]{0,80}>")
"""The default `repr` of an object, which may contain its state: `[unlocked]`."""
_MEDIA_REPR = re.compile(f"type='(?:{'|'.join(MEDIA_KINDS)})'|(?:Image|File|Audio)Block\\(")
"""The `repr` of a block of media within that of another object."""
_DICT = dict[Any, Any]
_TEXT = frozenset({str})
CONTENTS: dict[type[Any], Callable[[Any], Iterable[Any]]] = {
    dict: lambda value: chain(_DICT.keys(value), _DICT.values(value)),
    list: list[Any].__iter__,
    tuple: tuple[Any, ...].__iter__,
    set: set[Any].__iter__,
    frozenset: frozenset[Any].__iter__,
    deque: deque[Any].__iter__,
}
"""The items as pydantic reads them, whatever iteration a subclass defines."""
_OTHER_CONTAINERS: dict[type[Any], Callable[[Any], Any]] = {
    Mapping: dict[Any, Any],
    Collection: list[Any],
    SimpleNamespace: vars,
}


class UnwritableResult(ValueError):
    """A tool's result cannot be serialized. `why` completes the sentence "it ..."."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the result cannot be written as text: it {why}")


class _NotPlain(Exception):
    """A value is no plain data, and `plain_only` was asked for."""


def _container_contents(value: Any) -> Any:
    """The contents of a container that pydantic does not know. Raises `UnwritableResult` for any other object."""
    for kind, contents in _OTHER_CONTAINERS.items():
        if isinstance(value, kind):
            return contents(value)
    fix = "let the tool return the image, file or audio beside its text, or a dict of the fields"
    raise UnwritableResult(f"holds an object of the class {type(value).__name__!r} with such a block in it; {fix}")


def is_scalar(value: Any) -> bool:
    """Whether it is None, a bool, a float or an int of 64 bits, which need no inspection."""
    kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]  # of anything
    return kind in _NUMBERS or (kind is int and -_INT64_LIMIT < value < _INT64_LIMIT)


def is_plain_data(value: Any) -> bool:
    """Whether it consists of few dicts, lists, tuples, texts and numbers.

    Then serializing it is quick and runs no code of the value.
    """
    if is_scalar(value) or (type(value) is str and len(value) <= _CHEAP_LIMITS.chars):
        return True
    try:
        Inspection(_CHEAP_LIMITS, plain_only=True).visit(value, 0)
    except (_NotPlain, UnwritableResult):
        return False
    return True


def inspect_value(value: object, limits: ToolResultLimits = TOOL_RESULT_LIMITS) -> Inspection:
    """The inspection of a value. Raises `UnwritableResult` if it may be endless, contains itself or is too large."""
    inspection = Inspection(limits)
    inspection.visit(value, 0)
    return inspection


class Inspection:
    """The inspection of one value.

    `is_plain`: it consists of plain data only.
    `other_keys`: its dicts with keys that are no text. In JSON two such keys may become equal.
    `blocks`: the message blocks in it: texts and media.
    """

    def __init__(self, limits: ToolResultLimits, *, plain_only: bool = False) -> None:
        self._limits = limits
        self._plain_only = plain_only
        self._values = 0
        self._chars = 0
        self._ancestors: set[int] = set()
        self.is_plain = True
        self.other_keys: list[dict[Any, Any]] = []
        self.blocks: list[ResultBlock] = []

    def visit(self, value: Any, depth: int) -> None:
        kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]  # of anything
        self._values += 1
        if self._values > self._limits.values:
            raise UnwritableResult(f"holds more than {self._limits.values} values; let the tool return fewer")
        if kind in _NUMBERS:
            return
        if kind is str or kind is bytes:
            self._count_chars(len(value))
        elif kind is int:
            self._count_digits(value)
        elif kind in CONTENTS:
            self._visit_items(value, CONTENTS[kind](value), depth)
        elif self._plain_only:
            raise _NotPlain
        else:
            self.is_plain = False
            self._visit_other(value, kind, depth)

    def _visit_other(self, value: Any, kind: type[Any], depth: int) -> None:
        """Visit as much of the value as pydantic would serialize."""
        for base, contents in CONTENTS.items():
            if issubclass(kind, base):
                return self._visit_items(value, contents(value), depth)
        for endless, words in _ENDLESS.items():
            if issubclass(kind, endless):
                raise UnwritableResult(f"{'is' if self._values == 1 else 'holds'} {words.format(kind.__name__)}")
        if issubclass(kind, int):
            self._count_digits(value)
        elif issubclass(kind, str | bytes | bytearray):
            self._count_chars(len(value))
        elif issubclass(kind, BaseModel):
            if isinstance(value, TextBlock | MediaBlock):
                self.blocks.append(value)
            self._visit_items(value, [*vars(value).values(), *(value.__pydantic_extra__ or {}).values()], depth)
        elif dataclasses.is_dataclass(kind):
            self._visit_items(value, (getattr(value, field.name, None) for field in dataclasses.fields(kind)), depth)
        return None

    def fallback_text(self, value: object) -> Any:
        """The text of an object that pydantic cannot serialize: its `str()`, which counts towards the limits.

        Returns the contents of a container with media, for `str()` would lose them. Raises `UnwritableResult` for another
        object with media, and for one whose `str()` is only a memory address or a file path.
        """
        text = str(value)
        if _MEDIA_REPR.search(text) or any(isinstance(each, MediaBlock) for each in getattr(value, "__dict__", {}).values()):
            contents = _container_contents(value)
            self.visit(contents, 0)
            return contents
        if isinstance(value, BuiltinFunctionType | ModuleType) or _MEMORY_ADDRESS.search(text):
            fix = "let the tool return data, or give the class a `__str__`"
            raise UnwritableResult(f"holds an object of the class {type(value).__name__!r}, which has no JSON form; {fix}")
        self._count_chars(len(text))
        return text

    def _visit_items(self, value: object, items: Iterable[Any], depth: int) -> None:
        if id(value) in self._ancestors:
            raise UnwritableResult("holds itself (a circular reference); let the tool return plain data")
        if depth >= self._limits.depth:
            raise UnwritableResult(f"is nested deeper than {self._limits.depth} levels; let the tool return flatter data")
        if is_object(value) and not _TEXT.issuperset(map(type, _DICT.keys(value))):
            self.other_keys.append(value)
        self._ancestors.add(id(value))
        for item in items:
            self.visit(item, depth + 1)
        self._ancestors.discard(id(value))

    def _count_digits(self, value: int) -> None:
        digits = int(int.bit_length(value) / _BITS_PER_DIGIT)
        if digits > self._limits.digits:
            raise UnwritableResult(f"holds a number of more than {self._limits.digits} digits; let the tool return text")
        self._count_chars(digits)

    def _count_chars(self, chars: int) -> None:
        self._chars += chars
        if self._chars > self._limits.chars:
            raise UnwritableResult(f"holds more than {self._limits.chars} characters; let the tool return less")
