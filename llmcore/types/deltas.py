"""The events of which a stream has one for each chunk; `events` has the others, and exports these with them.

They stand apart because they are compiled: a fifth of what a chunk cost on the compiled build was to call a constructor that is
not. Each writes its own out, since mypyc leaves the one that `dataclass` makes to Python.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llmcore.support.code.mypyc_compat import mypyc_attr, state_of, take_state

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
    """A piece of a call's arguments. The pieces of a sound body join to JSON equal to its arguments; where a body needed
    repair they are a preview, and `ToolCallFinished` is the truth."""

    index: int
    json: str

    def __init__(self, index: int, json: str) -> None:
        self.index = index
        self.json = json


def _say(kind: Any, words: str) -> None:
    """What a compiled class leaves out: its docstring, the slots by which pydantic knows how to make one, and a state for copies
    and pickles that holds the attributes of classes derived from it, and that the pure build reads."""
    if not kind.__doc__:
        kind.__doc__, kind.__slots__ = words, kind.__match_args__
        kind.__getstate__, kind.__setstate__ = state_of, take_state


_say(TextDelta, "More content.")
_say(ReasoningDelta, "More reasoning.")
_say(
    ArgumentsDelta,
    "A piece of a call's arguments. The pieces of a sound body join to JSON equal to its arguments; where a body needed\n"
    "repair they are a preview, and `ToolCallFinished` is the truth.",
)
