"""Finding the control exception (`TerminateLoop`, `RetryTool`) in an `ExceptionGroup`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from llmcore.types.errors import RetryTool, TerminateLoop

__all__ = ["unwrap_group"]

_CANCELLATIONS = ("CancelledError", "Cancelled")
"""The class names of asyncio and trio. This package imports no event loop."""


def unwrap_group(error: BaseException, *others: type[BaseException]) -> BaseException:
    """The control exception in an `ExceptionGroup`, such as `asyncio.TaskGroup` raises; else the error itself.

    If the group contains exactly one `TerminateLoop`, `RetryTool` or one of `others`, and otherwise only cancellations, returns
    that exception.
    """
    if not _is_group(error):
        return error
    members = [member for member in _members_of(error) if type(member).__name__ not in _CANCELLATIONS]
    return members[0] if len(members) == 1 and isinstance(members[0], (TerminateLoop, RetryTool, *others)) else error


def _is_group(error: BaseException) -> TypeGuard[BaseExceptionGroup[BaseException]]:
    return isinstance(error, BaseExceptionGroup)


def _members_of(group: BaseException) -> Iterator[BaseException]:
    pending = [group]
    while pending:
        member = pending.pop()
        if _is_group(member):
            pending += member.exceptions
        else:
            yield member
