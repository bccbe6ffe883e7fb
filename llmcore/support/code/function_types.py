"""The types of the caller's functions, by the number of their arguments.

`Callable[..., Any]` would do at run time. But if a lambda is given for it, pyright does not know the lambda's parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["OfArguments", "OfContext", "OfValue"]

OfContext = Callable[[], Any] | Callable[[Any], Any]
"""A function without arguments, or of the `RunContext`."""
OfValue = Callable[[Any], Any] | Callable[[Any, Any], Any]
"""A function of a value, or of a value and the `RunContext`."""
OfArguments = (
    Callable[[], Any]
    | Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)
"""A function of up to five arguments of a call, by name. Functions of more arguments are annotated anyway."""
