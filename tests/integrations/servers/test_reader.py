"""The reader of the plugins for servers, and what it needs installed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from llmcore.integrations.servers.reader import ParserReply, as_objects
from llmcore.types import ToolDefinition
from tests.wire.support import CALL, TOOLS

ROOT = Path(__file__).parents[3]
OFFERED = [{"type": "function", "function": tool.model_dump(include={"name", "parameters"})} for tool in TOOLS]
CALLED = [("get_weather", '{"city": "Paris", "days": 3}')]


def test_tools_that_are_models_become_objects() -> None:
    tool = ToolDefinition(name="ping", parameters={"type": "object"})
    assert as_objects([tool, OFFERED[0]])[0]["name"] == "ping"
    assert as_objects(None) == []


@pytest.mark.parametrize("inline", [False, True])
def test_reasoning_has_a_place_of_its_own_or_stays_inline(inline: bool) -> None:
    reader = ParserReply(OFFERED, inline_reasoning=inline)
    parts = [reader.feed(sign) for sign in f"<think>Hm.</think>I look. {CALL}"] + [reader.finish()]
    content, reasoning = ("".join(texts) for texts in zip(*parts, strict=True))
    assert (content.strip(), reasoning) == (("<think>Hm.</think>I look.", "") if inline else ("I look.", "Hm."))
    assert reader.calls() == CALLED


def test_inline_reasoning_that_nothing_follows_is_closed() -> None:
    reader = ParserReply(OFFERED, inline_reasoning=True)
    assert reader.feed("<think>Hm.")[0] + reader.finish()[0] == "<think>Hm.</think>"


def test_without_tools_or_calls_all_text_is_content() -> None:
    for reader in (ParserReply([]), ParserReply([{"type": "web_search"}]), ParserReply(OFFERED, "none")):
        assert (reader.feed(CALL), reader.finish(), reader.calls()) == ((CALL, ""), ("", ""), [])


def test_bare_arguments_of_a_forced_tool_are_its_call() -> None:
    reader = ParserReply(OFFERED, {"type": "function", "function": {"name": "get_weather"}})
    reader.feed('{"city": "Paris", "days": 3}')
    reader.finish()
    assert reader.calls() == CALLED


def test_the_plugins_need_no_more_than_the_page_says() -> None:
    """A server installs llmcore with `--no-deps`, because LiteLLM's pins clash with its own."""
    page = (ROOT / "docs" / "servers.md").read_text("utf-8")
    (line,) = re.findall(r"^pip install ((?!--)[a-z -]+)$", page, re.MULTILINE)
    program = f"""
import sys
from llmcore.integrations.servers.reader import ParserReply
reader = ParserReply({OFFERED!r})
reader.feed({CALL!r})
reader.finish()
assert reader.calls() == {CALLED!r}
print(*{{name.partition(".")[0] for name in sys.modules}})
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    owners = packages_distributions()
    loaded = {normalised(owner) for name in done.stdout.split() for owner in owners.get(name, ())}
    assert loaded - {"llmcore_engine", "setuptools"} <= needed_by(line.split())


def needed_by(names: Iterable[str]) -> set[str]:
    """The distributions that are installed with these ones."""
    found, pending = set[str](), [*names]
    while pending:
        if (name := normalised(pending.pop())) not in found:
            found.add(name)
            plain = [one for one in requires(name) or () if "extra ==" not in one]
            pending += [re.split(r"[^A-Za-z0-9_.-]", one)[0] for one in plain]
    return found


def normalised(name: str) -> str:
    return name.replace("-", "_").lower()
