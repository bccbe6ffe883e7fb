"""Failures that belong to a test: a failed assertion about a request, a fake model without a reply left, another request than
was recorded.

Raised within a tool (a sub-agent, a run that a tool makes), they would become the tool's error, which a model reads, and the test
would pass. So they are marked where they come up, and a marked one ends every run around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["mark_test_failure", "test_failure_in"]

E = TypeVar("E", bound=BaseException)
_MARK = "_of_a_test"


def mark_test_failure(error: E) -> E:
    """The error, marked as the test's."""
    setattr(error, _MARK, True)
    return error


def test_failure_in(error: BaseException | None) -> BaseException | None:
    """The marked error that this one is, holds (`asyncio.TaskGroup` raises groups) or was raised from; None if there is none."""
    if error is None:
        return None
    waiting: list[BaseException | None] = [error]
    seen = set[int]()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if getattr(one, _MARK, False) is True:
            return one
        members: Sequence[BaseException] = getattr(one, "exceptions", ()) if issubclass(type(one), BaseExceptionGroup) else ()
        waiting += [one.__cause__, *reversed(members)]
    return None
