"""Marking errors that must fail a test: a failed assertion about a request, a `FakeModel` without replies, an unrecorded request.

Raised within a tool (a sub-agent, a nested run), such an error would become the tool's error for the model, and the test would
pass. So the code that raises it marks it, and a marked error ends every enclosing run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

__all__ = ["mark_test_failure", "test_failure_in"]

E = TypeVar("E", bound=BaseException)
_MARK = "_of_a_test"


def mark_test_failure(error: E) -> E:
    """The error, after marking it."""
    setattr(error, _MARK, True)
    return error


def test_failure_in(error: BaseException | None) -> BaseException | None:
    """The marked error among this one, the members of its groups (`asyncio.TaskGroup`) and its causes; None if there is none."""
    pending: list[BaseException | None] = [error]
    seen = set[int]()
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        if getattr(each, _MARK, False) is True:
            return each
        members: Sequence[BaseException] = getattr(each, "exceptions", ()) if issubclass(type(each), BaseExceptionGroup) else ()
        pending += [each.__cause__, *reversed(members)]
    return None
