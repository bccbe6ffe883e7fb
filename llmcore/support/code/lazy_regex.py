"""Expressions that are compiled when they are first used.

The normaliser has some five hundred, and a process that reads one reply uses a handful: to compile all of them took as long as to
import pydantic. Expressions that every reply uses, or every chunk of a stream, are compiled by `re.compile` itself: through here
a look costs 15 ns more.
"""

from __future__ import annotations

import re
from typing import Any, cast

__all__ = ["lazy_regex"]

_METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")


class _LazyPattern:
    """Has the attributes of an expression as its own, once one of them is asked for."""

    __slots__ = (*_METHODS, "flags", "groupindex", "groups", "pattern")

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags = pattern, flags

    def __getattr__(self, name: str) -> Any:  # asked only for what has not been set
        if name not in _LazyPattern.__slots__:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        for one in (*_METHODS, "groupindex", "groups"):
            setattr(self, one, getattr(compiled, one))
        return getattr(self, name)

    @property  # type: ignore[misc]  # it is only read
    def __class__(self) -> type[re.Pattern[str]]:  # type: ignore[override]  # so that `isinstance` finds an expression
        return re.Pattern


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The expression, compiled when it is first used. A mistake in it shows only then: a test compiles all."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
