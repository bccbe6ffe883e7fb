"""Looking through a value before anything writes it: does it end, and is it small enough?

What a tool returns may never end (an iterator), hold itself, or hold more than fits into the memory; and pydantic walks
it in C, where no time limit and no other thread gets a turn. So each value is looked through first, within
`ToolResultLimits`. Of a value's own code nothing runs here but what its dataclass fields are made of.
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

from llmcore.support.values.narrowing import is_object
from llmcore.types import ImageBlock, TextBlock
from llmcore.types.limits import TOOL_RESULT_LIMITS, ToolResultLimits

__all__ = ["CONTENTS", "Inspection", "UnwritableResult", "inspect_value", "is_plain_data", "is_scalar"]

_NUMBERS = frozenset({bool, float, type(None)})
_QUICK = ToolResultLimits(values=2_000, chars=200_000)
"""So much is written in about a millisecond."""
_BITS_PER_DIGIT = 3.33
_WORD = 1 << 63

_ENDLESS = {
    Iterator: "an iterator ({}), which may never end and can be read only once; let the tool return a list",
    AsyncIterator: "an async iterator ({}), which may never end; let the tool return a list",
    Awaitable: "an awaitable ({}) that nobody awaits; let the tool await it",
}

_ADDRESS = re.compile(r"[<>][^<>]* at 0x[0-9a-fA-F]{1,16}\b[^<>]{0,80}>")
"""In the words that Python has for an object whose class has none, with what stands there of its state: `[unlocked]`."""
_IMAGE = re.compile("type='image',? url=")
"""In the words of what holds an image, as pydantic words one."""
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
"""How pydantic walks them, whatever a subclass says of its own iteration."""
_OTHER_CONTAINERS: dict[type[Any], Callable[[Any], Any]] = {
    Mapping: dict[Any, Any],
    Collection: list[Any],
    SimpleNamespace: vars,
}


def _of_a_model(model: BaseModel) -> Iterable[Any]:
    return [*vars(model).values(), *(model.__pydantic_extra__ or {}).values()]


class UnwritableResult(ValueError):
    """What a tool returned cannot be written as text. `why` completes the sentence "it ..."."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the result cannot be written as text: it {why}")


class _Foreign(Exception):
    """Something that is no plain data, where only that was asked."""


def _contents(value: Any) -> Any:
    """What a container holds that is none to pydantic."""
    for kind, contents in _OTHER_CONTAINERS.items():
        if isinstance(value, kind):
            return contents(value)
    fix = "let the tool return the image beside its text, or a dict of the fields"
    raise UnwritableResult(f"holds an object of the class {type(value).__name__!r} with an image in it; {fix}")


def is_scalar(value: Any) -> bool:
    """Is it None, a truth value or a number of no great length, in which there is nothing to look through?"""
    kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]  # of anything
    return kind in _NUMBERS or (kind is int and -_WORD < value < _WORD)


def is_plain_data(value: Any) -> bool:
    """Is it a small amount of dicts, lists, tuples, text and numbers, which is written at once and runs no code?"""
    if is_scalar(value) or (type(value) is str and len(value) <= _QUICK.chars):
        return True
    try:
        Inspection(_QUICK, plain_only=True).at(value, 0)
    except (_Foreign, UnwritableResult):
        return False
    return True


def inspect_value(value: object, limits: ToolResultLimits = TOOL_RESULT_LIMITS) -> Inspection:
    """Raises `UnwritableResult` for what may not end, holds itself or is too large."""
    look = Inspection(limits)
    look.at(value, 0)
    return look


class Inspection:
    """One look through one value. `is_plain_data`: it is plain data through and through. `other_keys`: the dicts in it that have
    keys which are no text, and may become equal when they are written as such. `blocks`: the texts and images in it that are
    parts of a message."""

    def __init__(self, limits: ToolResultLimits, *, plain_only: bool = False) -> None:
        self._limits = limits
        self._plain_only = plain_only
        self._values = 0
        self._chars = 0
        self._around: set[int] = set()
        self.is_plain = True
        self.other_keys: list[dict[Any, Any]] = []
        self.blocks: list[TextBlock | ImageBlock] = []

    def at(self, value: Any, depth: int) -> None:
        kind: type[Any] = type(value)  # pyright: ignore[reportUnknownVariableType]  # of anything
        self._values += 1
        if self._values > self._limits.values:
            raise UnwritableResult(f"holds more than {self._limits.values} values; let the tool return fewer")
        if kind in _NUMBERS:
            return
        if kind is str or kind is bytes:
            self._take(len(value))
        elif kind is int:
            self._number(value)
        elif kind in CONTENTS:
            self._inside(value, CONTENTS[kind](value), depth)
        elif self._plain_only:
            raise _Foreign
        else:
            self.is_plain = False
            self._foreign(value, kind, depth)

    def _foreign(self, value: Any, kind: type[Any], depth: int) -> None:
        """As far as pydantic would look into it."""
        for base, contents in CONTENTS.items():
            if issubclass(kind, base):
                return self._inside(value, contents(value), depth)
        for endless, words in _ENDLESS.items():
            if issubclass(kind, endless):
                raise UnwritableResult(f"{'is' if self._values == 1 else 'holds'} {words.format(kind.__name__)}")
        if issubclass(kind, int):
            self._number(value)
        elif issubclass(kind, str | bytes | bytearray):
            self._take(len(value))
        elif issubclass(kind, BaseModel):
            if isinstance(value, TextBlock | ImageBlock):
                self.blocks.append(value)
            self._inside(value, _of_a_model(value), depth)
        elif dataclasses.is_dataclass(kind):
            self._inside(value, (getattr(value, field.name, None) for field in dataclasses.fields(kind)), depth)
        return None

    def text_of(self, value: object) -> Any:
        """The `str()` of what is no data to pydantic; counts like the rest. Of a container with an image the contents, for the
        image is no text. Raises `UnwritableResult` for another object with an image, and for what has nothing to say but where
        it stands in the memory or on the disk."""
        text = str(value)
        if _IMAGE.search(text) or any(isinstance(each, ImageBlock) for each in getattr(value, "__dict__", {}).values()):
            contents = _contents(value)
            self.at(contents, 0)
            return contents
        if isinstance(value, BuiltinFunctionType | ModuleType) or _ADDRESS.search(text):
            fix = "let the tool return data, or give the class a `__str__`"
            raise UnwritableResult(f"holds an object of the class {type(value).__name__!r}, which has no JSON form; {fix}")
        self._take(len(text))
        return text

    def _inside(self, value: object, items: Iterable[Any], depth: int) -> None:
        if id(value) in self._around:
            raise UnwritableResult("holds itself (a circular reference); let the tool return plain data")
        if depth >= self._limits.depth:
            raise UnwritableResult(f"is nested deeper than {self._limits.depth} levels; let the tool return flatter data")
        if is_object(value) and not _TEXT.issuperset(map(type, _DICT.keys(value))):
            self.other_keys.append(value)
        self._around.add(id(value))
        for item in items:
            self.at(item, depth + 1)
        self._around.discard(id(value))

    def _number(self, value: int) -> None:
        digits = int(int.bit_length(value) / _BITS_PER_DIGIT)
        if digits > self._limits.digits:
            raise UnwritableResult(f"holds a number of more than {self._limits.digits} digits; let the tool return text")
        self._take(digits)

    def _take(self, chars: int) -> None:
        self._chars += chars
        if self._chars > self._limits.chars:
            raise UnwritableResult(f"holds more than {self._limits.chars} characters; let the tool return less")
