"""The events that a stream has for each chunk. `events` has the other events, and exports these too.

This module is compiled, because calling interpreted constructors took a fifth of the time of a chunk on the compiled build. Each
class defines its constructor, because mypyc does not compile the one that `dataclass` generates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmcore.support.code.mypyc_compat import mypyc_attr, set_slots_state, slots_state

__all__ = ["ArgumentsDelta", "ReasoningDelta", "TextDelta"]


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
@dataclass(slots=True)
class TextDelta:
    """More content."""

    text: str

    def __init__(self, text: str) -> None:
        self.text = text


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
@dataclass(slots=True)
class ReasoningDelta:
    """More reasoning."""

    text: str

    def __init__(self, text: str) -> None:
        self.text = text


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
@dataclass(slots=True)
class ArgumentsDelta:
    """A piece of a call's arguments. The pieces of a valid body join to the JSON of its arguments. If the body needs repair,
    they are a preview, and `ToolCallFinished` has the arguments."""

    index: int
    json: str

    def __init__(self, index: int, json: str) -> None:
        self.index = index
        self.json = json


def _restore_attributes(kind: Any, words: str) -> None:
    """Set what a compiled class lacks: its docstring, the slots that pydantic reads, and a state for copies and pickles.

    The state includes the attributes of derived classes, and the pure build can read it.
    """
    if not kind.__doc__:
        kind.__doc__, kind.__slots__ = words, kind.__match_args__
        kind.__getstate__, kind.__setstate__ = slots_state, set_slots_state


_restore_attributes(TextDelta, "More content.")
_restore_attributes(ReasoningDelta, "More reasoning.")
_restore_attributes(
    ArgumentsDelta,
    "A piece of a call's arguments. The pieces of a valid body join to the JSON of its arguments. If the body needs repair,\n"
    "they are a preview, and `ToolCallFinished` has the arguments.",
)
