"""Problems of a call or a value, in words that help a model.

A `Problem` is data, which the report, the error for the caller and the correction prompt all use. Values are shortened and
schemas are never quoted whole, since both may be huge.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence, Sized
from typing import Any, Literal, cast

from pydantic import ConfigDict, Field

from llmcore.support.values.copies import Value
from llmcore.support.values.json_data import JsonText

__all__ = [
    "LEAVE_OUT",
    "MAX_PROBLEMS",
    "MAX_SHOWN",
    "NO_FIT",
    "Problem",
    "ProblemKind",
    "cut",
    "join_path",
    "shown_value",
    "summary",
    "type_name",
]

LEAVE_OUT = "it is optional: leave the key out"
"""The advice for a null in an optional key."""
NO_FIT = "no alternative fits"
"""The message of a union's error if no alternative accepts the value."""
ProblemKind = Literal[
    "unknown_tool",
    "unreadable_arguments",
    "incomplete",
    "untrusted",
    "doubtful",
    "missing",
    "unexpected",
    "type",
    "value",
    "schema",
    "no_call",
    "near_miss",
    "no_value",
]
"""`unknown_tool`: no offered tool has the name. `unreadable_arguments`: no object could be read. `incomplete`: the input
ended inside the call or value. `untrusted`: it needs a repair that the strictness or the tool does not allow. `doubtful`:
the text around the call leaves open whether it is meant. `missing`, `unexpected`: a key. `type`: a value of the wrong
type. `value`: a value of the right type that is not allowed. `schema`: the schema could not be applied. `no_call`: a
required call is missing. `near_miss`: text looks like a call but breaks a rule. `no_value`: the text holds no value."""

MAX_PROBLEMS = 10
MAX_SHOWN = 80
"""The most characters of a value in a problem."""


class Problem(Value):
    """One problem. `str(problem)` is the line that a model receives: `` `path`: expected ..., got ... ``.

    `path` is the position, such as `filters[0].city`; `""` is the whole value. `call` is the index of the call in the report,
    None for a problem without a call, and `tool` is its name. `choices` are names or values that the model may choose from,
    best first.
    """

    model_config = ConfigDict(frozen=True)

    kind: ProblemKind
    path: JsonText = ""
    expected: JsonText = ""
    got: JsonText = ""
    message: JsonText
    call: int | None = None
    tool: JsonText | None = None
    choices: list[JsonText] = Field(default_factory=list[JsonText])

    def __str__(self) -> str:
        where = f"`{self.path}`: " if self.path else ""
        if self.expected and self.got:
            return f"{where}expected {self.expected}, got {self.got}"
        return where + self.message


_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-$@")


def join_path(parts: Iterable[str | int]) -> str:
    """`["filters", 0, "city"]` -> `filters[0].city`. Keys that are not plain words are quoted: `["a b"]`."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif 0 < len(part) <= MAX_SHOWN and _PLAIN.issuperset(part):
            path += f".{part}" if path else part
        else:
            path += f"[{json.dumps(cut(part, MAX_SHOWN), ensure_ascii=False)}]"
    return path


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[:length]}... ({len(text)} characters)"


def type_name(value: Any) -> str:
    """The JSON type of a value: `integer`, `object`, ..."""
    if value is None:
        return "null"
    for kind, name in (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    ):
        if isinstance(value, kind):
            return name
    return type(value).__name__


def shown_value(value: Any, length: int = MAX_SHOWN) -> str:
    """A value as a problem shows it: its JSON type and, if it is short, the value itself."""
    kind = type_name(value)
    if value is None:
        return "null"
    if isinstance(value, (list, dict)):
        size = len(cast("Sized", value))
        return f"{kind} of {size}" if size else f"empty {kind}"
    if isinstance(value, int) and abs(value).bit_length() > 4 * length:
        return f"{kind} of about {abs(value).bit_length() * 3 // 10} digits"
    literal = (
        json.dumps(value, ensure_ascii=False)
        if isinstance(value, str)
        else str(value).lower()
        if kind == "boolean"
        else str(value)
    )
    return f"{kind} {cut(literal, length)}"


def summary(problems: Sequence[Problem], most: int = 3) -> str:
    """The first problems on one line, for an error's message or an attempt's `detail`."""
    text = "; ".join(str(problem) for problem in problems[:most])
    more = len(problems) - most
    return f"{text}; and {more} more" if more > 0 else text
