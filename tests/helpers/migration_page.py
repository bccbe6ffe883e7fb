"""The programs of docs/migration.md, and the model server that they ask."""

from __future__ import annotations

import re

from tests.helpers.wire_server import Seen, Step, Turn, WireServer, demo
from tests.packaging.tree import ROOT

__all__ = ["AFTER", "BEFORE", "TEXT", "environment", "model_server"]

TEXT = (ROOT / "docs" / "migration.md").read_text("utf-8")
_PAIR = re.compile(r"^Before:\n\n```python\n# (\w+)\n(.*?)^```\n\nAfter:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PAIRS = _PAIR.findall(TEXT)
BEFORE: dict[str, str] = {library: before for library, before, _ in _PAIRS}
"""The program of each library, by the module that it imports."""
AFTER: dict[str, str] = {library: after for library, _, after in _PAIRS}


def model_server() -> WireServer:
    """A server that calls the first tool, and answers in JSON if the request has a schema for the answer."""

    def script(seen: Seen) -> Step:
        return Turn('{"name": "Paris", "people": 3}') if seen.body.get("response_format") else demo(seen)

    return WireServer(script)


def environment(server: WireServer) -> dict[str, str]:
    """What leads the programs to the server, and keeps them from any other."""
    return {
        "OPENAI_BASE_URL": server.base_url("openai"),
        "OPENAI_API_KEY": "sk-no-key-required",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
