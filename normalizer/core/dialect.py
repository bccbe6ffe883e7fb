"""`Dialect`: one row of the registry.

This module is not compiled. Users read rows, and only an interpreted class keeps its docstring and its signature.
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

    `models` says which models write it. `write` writes calls in it, for prompted modes and round trips (tested in
    tests/normalizer/test_round_trips.py). `also` has other spellings of the same calls, for other ends of the prompt.
    """

    name: str
    models: str
    write: Writer
    markers: tuple[Marker, ...] = ()
    trust: Trust = "delimited"
    typed_by_schema: bool = False
    """Whether values are untyped text, which the tool's schema types."""
    single: bool = False
    """Whether a reply holds one call at most."""
    also: tuple[Writer, ...] = ()
    whole: tuple[Layout, ...] = ()
    """Layouts of its undamaged calls, which are read in one step (`text.whole`)."""
    read_by: tuple[str, ...] = ()
    """Names of other rows whose markers read it, in addition to its own markers or instead of them."""
    frames: bool = False
    """Whether its framing labels every stretch of a reply. If so, nothing else in such a reply is a call."""
    begins_before: Callable[[str, int], bool] | None = None
    """Whether words right before its opener, at this position of the text, may belong to the call."""

    def __deepcopy__(self, memo: object) -> Dialect:
        """Return the row itself: rows are immutable, and a compiled function cannot be copied."""
        return self
