"""Fixtures of the tests of MCP. Each of these modules is skipped if the package `mcp` is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.integrations.mcp.support import PROGRAMS, Program

MISSING = "mcp is not installed: pip install 'llmcore-engine[mcp]'"


@pytest.fixture(autouse=True)
def needs_mcp() -> None:
    if find_spec("mcp") is None:
        pytest.skip(MISSING)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["stdio", "http", pytest.param("legacy http", marks=pytest.mark.sweep)])
def program(request: Any, tmp_path: Path, needs_mcp: None) -> Iterator[Program]:
    """The program over stdio, over HTTP, and over HTTP by the protocol with sessions."""
    made = PROGRAMS[request.param](tmp_path)
    yield made
    made.close()
