"""JSON calls told while they come."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import Normalizer
from llmcore.types.events import ArgumentsDelta, ToolCallStarted
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

TOOLS = ToolSet([tool("file", title="string", type="string"), tool("ping")])


def told(text: str) -> tuple[list[str], str]:
    """(names, argument text) that a listener heard, fed character by character."""
    normalizer = Normalizer(TOOLS)
    events = [event for character in text for event in normalizer.feed(character)]
    names = [event.name for event in events if isinstance(event, ToolCallStarted)]
    return names, "".join(event.json for event in events if isinstance(event, ArgumentsDelta))


@pytest.mark.parametrize(
    ("body", "names", "arguments"),
    [
        ('{"name": "file", "arguments": {"title": "A pu', ["file"], '{"title": "A pu'),
        ('{"name": "file", "parameters": {"title": "A pu', ["file"], '{"title": "A pu'),  # the tool has such a parameter
        ('{"name": "file", "parameters": {"type": "obj', [], ""),  # perhaps the tool's own definition
        ('{"name": "ping", "parameters": {"title": "A pu', [], ""),
        ('{"name": "ping", "parameters": {"other": [1, {"a"', ["ping"], '{"other": [1, {"a"'),
    ],
)
def test_a_call_is_told_as_soon_as_it_is_certain(body: str, names: list[str], arguments: str) -> None:
    assert told(f"<tool_call>{body}") == (names, arguments)


def test_an_echoed_definition_is_no_call() -> None:
    text = (
        '<tool_call>{"name": "file", "parameters": {"type": "object", "properties": {"title": {"type": "string"}}}}</tool_call>'
    )
    assert not read_every_way(text, TOOLS).tool_calls


def test_a_long_body_is_looked_at_now_and_then_while_it_is_told() -> None:
    """A body whose arguments run for long is followed in pieces, and ends where it should."""
    rows = ", ".join(f'{{"n": {n}, "s": "x}}]"}}' for n in range(2_000))
    text = f'<tool_call>[{{"name": "ping", "arguments": {{"rows": [{rows}]}}}}]</tool_call> Done.'
    envelope = read_every_way(text, TOOLS, chunkings=3)
    assert envelope.content == "Done."
    assert len((envelope.tool_calls[0].arguments or {})["rows"]) == 2_000
