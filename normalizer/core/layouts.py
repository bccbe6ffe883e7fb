"""Layouts: templates by which `text.whole` reads a call in which nothing is missing or extra.

A layout is the text of one call, and the text around and between several. `$name` is the tool's name and `$args` its
arguments. `$id` is the call's id, `$index` a number in it.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

__all__ = ["JSON", "PYTHON", "Body", "Braces", "Layout", "Parameters", "arrays"]


class Braces(NamedTuple):
    """The arguments stand in braces; strings stand between two `delimiter`s."""

    delimiter: str


class Parameters(NamedTuple):
    """The arguments are entries, typed by the tool's schema.

    `entry` shows one entry, with `$key` and `$value`. `gap` stands between two entries. `keeps`: line breaks around a value
    belong to the value. `literal`: the value is a CDATA section.
    """

    entry: str
    gap: str = ""
    keeps: bool = False
    literal: bool = False


JSON: Final = "json"
"""The arguments are one JSON object. White space around the brackets and commas of the markup may vary."""
PYTHON: Final = "python"
"""The arguments are keyword arguments of Python, without the parentheses."""
Body = Literal["json", "python"] | Braces | Parameters


class Layout(NamedTuple):
    """How one dialect lays out its calls.

    `call` is one call. `opener` stands before the first call, `closer` behind the last, and `between` between two. If
    `between` is None, each call has its own opener and closer.
    """

    call: str
    opener: str = ""
    closer: str = ""
    between: str | None = None
    body: Body = JSON
    id: str = ""
    span: Literal["call", "first", "all"] = "call"
    """What a call's span covers. "call": the call. "first": the first call's span includes the opener. "all": all calls."""
    dialect: str = ""
    """The dialect of the call, if it is not the row's own."""
    later: str = ""
    """The dialect of the calls behind the first, if it is not the row's own."""
    ends_reasoning: bool = False
    """Whether reasoning ends with the call, so that a closer of reasoning behind it closes nothing."""


def arrays(opener: str, item: str, closer: str) -> tuple[Layout, ...]:
    """The layout of a JSON array of call objects."""
    return (Layout(item, f"{opener}[", f"]{closer}", ", ", span="all"),)
