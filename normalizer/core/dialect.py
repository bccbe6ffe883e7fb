"""A row of the registry.

It stands apart because it is not compiled: users read rows, and an interpreted class keeps its docstring and its signature.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llmcore.normalizer.core.layouts import Layout
from llmcore.normalizer.core.rows import Marker, Trust, Writer

__all__ = ["Dialect"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of writing calls.

    `models`: who writes it. `write`: how it is written, for prompted modes and round trips (all of them are tried:
    tests/normalizer/test_round_trips.py). `also`: how the same calls are written where the prompt ends otherwise.
    """

    name: str
    models: str
    write: Writer
    markers: tuple[Marker, ...] = ()
    trust: Trust = "delimited"
    typed_by_schema: bool = False
    """Values are untyped text: they take their types from the tool's schema."""
    single: bool = False
    """One call a reply."""
    also: tuple[Writer, ...] = ()
    whole: tuple[Layout, ...] = ()
    """How it lays out calls in which nothing is missing or extra, which are read in one step (`text.whole`)."""
    read_by: tuple[str, ...] = ()
    """The rows whose markers read it as well, or instead of any of its own."""
    frames: bool = False
    """Does its framing say of each stretch of a reply what it is? Then nothing else in such a reply is a call."""
    begins_before: Callable[[str, int], bool] | None = None
    """May words right before its opener, which stands at this place of the text, belong to the call?"""

    def __deepcopy__(self, memo: object) -> Dialect:
        """Itself, for nothing of a row changes; a function that is compiled cannot be copied."""
        return self
