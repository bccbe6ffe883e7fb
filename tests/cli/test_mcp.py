"""`llmcore mcp`: the mistakes that it reports. What it serves is tested in tests/integrations/mcp."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Invoke

MISTAKES: dict[str, tuple[list[str], str]] = {
    "no port": (["--http", "127.0.0.1"], "--http takes HOST:PORT, as in 127.0.0.1:8000, not '127.0.0.1'"),
    "a port out of range": (["--http", "127.0.0.1:70000"], "--http takes HOST:PORT"),
    "an address for everybody without a token": (
        ["--http", "0.0.0.0:8000"],
        "0.0.0.0 can be reached by others: give --token-variable",
    ),
    "a token that is not there": (
        ["--http", "0.0.0.0:8000", "--token-variable", "NOT_HERE"],
        "the environment has no variable 'NOT_HERE'",
    ),
    "a token without HTTP": (["--token-variable", "PATH"], "--token-variable is for HTTP: give --http too"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_line(name: str, invoke: Invoke) -> None:
    options, message = MISTAKES[name]
    result = invoke("mcp", "json:loads", *options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
