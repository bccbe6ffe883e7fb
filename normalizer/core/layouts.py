"""How the rows of the registry lay out calls: data, by which `text.whole` reads a call in which nothing is missing or extra.

A layout is a picture of one call and of what stands around and between several. `$name` is the name of the tool and `$args` its
arguments. `$id` is the call's id, `$index` a number in it.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

__all__ = ["JSON", "PYTHON", "Body", "Braces", "Layout", "Parameters", "arrays"]


class Braces(NamedTuple):
    """The arguments stand in braces, their strings between two delimiters."""

    delimiter: str


class Parameters(NamedTuple):
    """The arguments are entries, typed by the tool's schema: `entry` shows one, with `$key` and `$value`, `gap` stands between
    two. `keeps`: line breaks around a value belong to it, not to the format. `literal`: the value is a CDATA section."""

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
    """`call`: one call. `opener`, `closer`: what stands before the first call and behind the last. `between`: what stands between
    two; None: each call has an opener and a closer of its own."""

    call: str
    opener: str = ""
    closer: str = ""
    between: str | None = None
    body: Body = JSON
    id: str = ""
    span: Literal["call", "first", "all"] = "call"
    """What the span of a call is: the call; for the first one the opener too; or all, for all calls."""
    dialect: str = ""
    """The row under which the readers enter the call, where that is another one."""
    later: str = ""
    """The same, of the calls behind the first."""
    ends_reasoning: bool = False
    """Is reasoning over behind it, so that another closer closes nothing?"""


def arrays(opener: str, item: str, closer: str) -> tuple[Layout, ...]:
    """One JSON array of call objects."""
    return (Layout(item, f"{opener}[", f"]{closer}", ", ", span="all"),)
