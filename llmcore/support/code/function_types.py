"""The types of functions that a caller gives, by how many arguments they may take.

`Callable[..., Any]` would do at run time, but of a lambda it tells a checker nothing: to pyright its parameters are unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["OfArguments", "OfContext", "OfValue"]

OfContext = Callable[[], Any] | Callable[[Any], Any]
"""Of nothing, or of the `RunContext`."""
OfValue = Callable[[Any], Any] | Callable[[Any, Any], Any]
"""Of a value, and perhaps of the `RunContext`."""
OfArguments = (
    Callable[[], Any]
    | Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)
"""Of a call's arguments by name; functions of more of them have annotations of their own."""
