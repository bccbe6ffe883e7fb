"""Other parsers for `scripts/score_corpus.py`: functions of a text and tools that return pairs of a name and arguments.

.venv/bin/pip install --no-deps --target benchmarks/.peers agent-tool-parser==0.1.3
PYTHONPATH=.:benchmarks/.peers .venv/bin/python scripts/score_corpus.py benchmarks.corpus_peers:agent_tool_parser
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["agent_tool_parser"]

Calls = list[tuple[str, Any]]
Tools = list[dict[str, Any]] | None


def agent_tool_parser(text: str, tools: Tools) -> Calls:
    """It takes no tools, so calls of tools that were not offered are dropped here, in its favour. Raises `RuntimeError` if its
    Rust code panics, which is no `Exception`."""
    parse: Any = import_module("agent_tool_parser").try_parse_tool_calls
    try:
        calls = parse(text)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise RuntimeError(str(error)) from error
    names = None if tools is None else {tool["name"] for tool in tools}
    return [(call.name, call.args) for call in calls if names is None or call.name in names]
