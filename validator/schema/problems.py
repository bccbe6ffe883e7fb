"""What is wrong with a call or a value, in words a model can act on.

A `Problem` is data: the same one feeds the report, the error a caller sees and the prompt that asks the model again.
Values are cut to a stated length and schemas are never quoted whole, since either may be huge.
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
"""What is told of a null in place of a key that is not required."""
NO_FIT = "no alternative fits"
"""What an error of a union says where no alternative takes the value, and not several of a `oneOf`."""
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
"""`unknown_tool`: no offered tool has the name. `unreadable_arguments`: no object could be read. `incomplete`: the
input ended inside the call or value. `untrusted`: only a repair that the strictness or the tool does not admit makes
it readable. `doubtful`: the text around the call leaves open whether it is meant or only shown. `missing`,
`unexpected`: a key. `type`, `value`: a value of the wrong type, or of the right type but not allowed. `schema`: the
schema could not be applied. `no_call`: a call was required and none came. `near_miss`: text had the form of a call
but failed a rule. `no_value`: the text holds nothing that could be the value."""

MAX_PROBLEMS = 10
MAX_SHOWN = 80
"""Characters of a value that a problem shows."""


class Problem(Value):
    """One thing that is wrong. `str(problem)` is the line a model is shown: `` `path`: expected ..., got ... ``.

    `path` is where, like `filters[0].city`; `""` is the whole. `call` is the index of the call in the report, None
    when the problem belongs to no call; `tool` its name. `choices` are names or values the model may pick from, best
    first.
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
    """`["filters", 0, "city"]` -> `filters[0].city`; keys that are no plain word are quoted: `["a b"]`."""
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
    """A value as a problem quotes it: its JSON type and, where short enough to help, the value itself."""
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
    """The first few problems on one line, for an error's message or an attempt's `detail`."""
    text = "; ".join(str(problem) for problem in problems[:most])
    more = len(problems) - most
    return f"{text}; and {more} more" if more > 0 else text
