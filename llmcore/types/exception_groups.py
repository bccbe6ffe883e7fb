"""What code tells a run by raising it (`TerminateLoop`, `RetryTool`), where a group of tasks has wrapped it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from llmcore.types.errors import RetryTool, TerminateLoop

__all__ = ["unwrap_group"]

_CANCELLATIONS = ("CancelledError", "Cancelled")
"""Of asyncio and of trio: this room knows no event loop."""


def unwrap_group(error: BaseException, *others: type[BaseException]) -> BaseException:
    """Of an `ExceptionGroup` (`asyncio.TaskGroup` raises one for one error, too) that holds exactly one `TerminateLoop` or
    `RetryTool`, or one of the `others`, and beside it nothing but cancellations: that one. Else the error itself."""
    if not _is_group(error):
        return error
    members = [one for one in _members_of(error) if type(one).__name__ not in _CANCELLATIONS]
    return members[0] if len(members) == 1 and isinstance(members[0], (TerminateLoop, RetryTool, *others)) else error


def _is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)


def _members_of(group: BaseException) -> Iterator[BaseException]:
    waiting = [group]
    while waiting:
        one = waiting.pop()
        if _is_group(one):
            waiting += one.exceptions
        else:
            yield one
