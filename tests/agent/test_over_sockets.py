"""The agent of docs/agents.md against a loopback server that speaks a provider's wire."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from llmcore import Approve, ModelRegistry
from tests.helpers.wire_server import Seen, Step, Turn, WireServer
from tests.packaging.tree import ROOT

SHOWN = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "agents.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)[0]
MODELS = {"groq": "llama-3.3-70b-versatile", "anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"}


def test_it_is_short() -> None:
    assert len(SHOWN.splitlines()) < 45
    assert len([line for line in SHOWN.splitlines() if line.strip()]) < 40


def desk_or_librarian(seen: Seen) -> Step:
    """What a model would do: by the tools that it is offered, and how far the conversation has come."""
    told = str(seen.body)
    if "Persuasion?" in told:
        return "Yours." if "Persuasion is lent" in told else Turn(calls=[("lend", {"title": "Persuasion"})])
    if "look_up" in told:
        return "Shelf 3." if "Emma: shelf 3" in told else Turn(calls=[("look_up", {"title": "Emma"})])
    if "Emma is back" not in told:
        return Turn(calls=[("give_back", {"title": "Emma"})])
    return "Thank you!" if "Shelf 3." in told else Turn(calls=[("librarian", {"message": "Where does Emma stand?"})])


@pytest.mark.parametrize("provider", MODELS)
def test_it_runs_with_a_models_name_in_the_fakes_place(provider: str, tmp_path: Path) -> None:
    program = tmp_path / "desk.py"
    program.write_text(SHOWN)
    shown: dict[str, Any] = runpy.run_path(str(program))
    with WireServer(desk_or_librarian) as server:
        entry = {
            "provider": provider,
            "model": MODELS[provider],
            "base_url": server.base_url(provider),
            "api_key": "sk-test-0123456789",
        }
        registry = ModelRegistry.from_dict({"models": {"m": entry}})
        desk = shown["Desk"](registry, shown["Librarian"](registry))
        result = desk.run_sync("Here is Emma.")
        waiting = desk.run_sync("May I have Persuasion?")
        lent_before = list(desk.lent)
        answer = desk.chat_sync(answers={call.id: Approve() for call in waiting.pending})
    assert (result.content, lent_before) == ("Thank you!", [])
    assert (answer, desk.lent) == ("Yours.", ["Persuasion"])
    assert [record.name for record in result.tool_results] == ["give_back", "librarian"]
    assert len(result.runs[0].attempts) == 2
    assert len(server.requests) == 7
