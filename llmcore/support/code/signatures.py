"""Signatures of functions that a caller gives. Some builtins have none that can be read, so they count as fitting."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["misfit", "signature_of"]


def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature; None if it cannot be read."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def misfit(function: Callable[..., Any], *arguments: object) -> TypeError | None:
    """Why the function cannot be called with these positional arguments; None if it can, or if its signature cannot be read."""
    signature = signature_of(function)
    try:
        if signature is not None:
            signature.bind(*arguments)
    except TypeError as error:
        return error
    return None
