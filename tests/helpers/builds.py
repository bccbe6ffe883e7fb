"""Which build the tests run on (docs/compiled.md)."""

from __future__ import annotations

import os

import pytest

__all__ = ["COMPILED", "pure_only"]

COMPILED = os.environ.get("LLMCORE_BUILD") == "compiled"


def pure_only(reason: str) -> pytest.MarkDecorator:
    """For a test of what differs between the builds, as docs/compiled.md lists it."""
    return pytest.mark.skipif(COMPILED, reason=reason)
