"""Failures that belong to a test: a failed assertion about a request, a fake model without a reply left.

Raised within a tool (a sub-agent, a run that a tool makes), they would become the tool's error, which a model reads, and the test
would pass. So they are marked where they come up, and a marked one ends every run around it.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["is_of_test", "of_test"]

E = TypeVar("E", bound=BaseException)
_MARK = "_of_a_test"


def of_test(error: E) -> E:
    """The error, marked as the test's."""
    setattr(error, _MARK, True)
    return error


def is_of_test(error: BaseException) -> bool:
    return getattr(error, _MARK, False) is True
