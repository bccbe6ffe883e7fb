"""No real request from a test by accident."""

from __future__ import annotations

from llmcore.adapters.guard import RequestBlock
from llmcore.types.input.argument_errors import with_readable_errors

__all__ = ["block_model_requests"]


@with_readable_errors
def block_model_requests() -> RequestBlock:
    """From now on any real request is a `ConfigError`, in every thread: until the end of a `with` block, until
    `release()`, or, as a plain statement in a `conftest.py`, for the whole process. FakeModel and ReplayAdapter are
    not concerned."""
    return RequestBlock()
