"""Telling JSON's containers apart, in a way that both mypy and pyright understand.

`isinstance(value, dict)` leaves pyright with unknown keys and values, and the cast that would tell it is redundant to mypy.
"""

from __future__ import annotations

from typing import Any, TypeGuard

__all__ = ["is_list", "is_object"]


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Is it a JSON object?"""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Is it a JSON array?"""
    return isinstance(value, list)
