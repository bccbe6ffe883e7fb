"""Stops a test from sending a real request by accident."""

from __future__ import annotations

from llmcore.adapters.guard import RequestBlock
from llmcore.types.input.argument_errors import with_readable_errors

__all__ = ["block_model_requests"]


@with_readable_errors
def block_model_requests() -> RequestBlock:
    """From now on every real request raises a `ConfigError`, in every thread. The block ends with a `with` block or
    `release()`. As a plain statement in a `conftest.py`, it lasts for the whole process. FakeModel and ReplayAdapter
    still answer."""
    return RequestBlock()
