"""Python calls told while they come: what is told joins to the arguments, and next to nothing of them is held."""

from __future__ import annotations

import json

import pytest

from llmcore.normalizer.api import Normalizer
from llmcore.types.events import ArgumentsDelta, ToolCallStarted
from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import cuts, read_every_way, tool

TOOLS = ToolSet([tool("note", text="string", tags="array", meta="object", count="integer", urgent="boolean")])


def written(body: str) -> str:
    return f"<|tool_call_start|>[note({body})]<|tool_call_end|>"


@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ("text='a plain one'", {"text": "a plain one"}),
        ('text="it\'s", count=3', {"text": "it's", "count": 3}),
        (r"text='a\'b\"c\\d\n\t\x41\u00e9\101'", {"text": "a'b\"c\\d\n\tA\u00e9A"}),
        ("text='''two\nlines, 'quoted' '''", {"text": "two\nlines, 'quoted' "}),
        ("text='one ' \"two\" 'three'", {"text": "one twothree"}),
        ("tags=['a', 'b',], meta={}, count=-1.50", {"tags": ["a", "b"], "meta": {}, "count": -1.5}),
        ("meta={'a': [1, {'b': None}], \"c\": True,}", {"meta": {"a": [1, {"b": None}], "c": True}}),
        ("tags=[], urgent=False", {"tags": [], "urgent": False}),
        ("tags=[\n  'a',  # first\n  'b'\n]", {"tags": ["a", "b"]}),
        ("text='', count=0", {"text": "", "count": 0}),
        ("tags=(1, 2), text='x'", {"tags": [1, 2], "text": "x"}),
        ("count=2 * 3, text='x'", {"count": 6, "text": "x"}),
        (r"text=r'\d', count=1_000", {"text": r"\d", "count": 1000}),
        ("text='\U0001f600 \\ud83d\\ude00'", {"text": "\U0001f600 \U0001f600"}),
        ("", {}),
        ("text='\\_\ud83d\ude00'", {"text": "\\_\U0001f600"}),  # halves of a pair: behind an escape they are joined
    ],
)
def test_deltas_join_to_the_arguments(body: str, arguments: dict[str, object]) -> None:
    text = written(body)
    envelope = read_every_way(text, TOOLS)
    assert [call.arguments for call in envelope.tool_calls] == [arguments]
    for chunks in cuts(text, 6):
        normalizer = Normalizer(TOOLS)
        events = [event for chunk in chunks for event in normalizer.feed(chunk)] + normalizer.finish()
        assert json.loads("".join(event.json for event in events if isinstance(event, ArgumentsDelta))) == arguments


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("text='It stops ", '{"text": "It stops '),
        ("text='It stops' ", '{"text": "It stops'),  # another literal may follow
        ("text='It stops', ", '{"text": "It stops"'),
        ("tags=['a', 'b", '{"tags": ["a", "b'),
        ("count=12", '{"count": '),  # more digits may follow
        ("count=12,", '{"count": 12'),
        ("meta={'a'", '{"meta": '),  # a set, perhaps
        ("meta={'a': ", '{"meta": {"a": '),
        ("count=1 + ", '{"count": '),
        ("text='a\\u00e", '{"text": "a'),
        ("tags=[f(", '{"tags": '),
    ],
)
def test_certain_text_is_emitted_at_once(body: str, told: str) -> None:
    normalizer = Normalizer(TOOLS)
    events = [event for character in f"<|tool_call_start|>[note({body}" for event in normalizer.feed(character)]
    assert [event.name for event in events if isinstance(event, ToolCallStarted)] == ["note"]
    assert "".join(event.json for event in events if isinstance(event, ArgumentsDelta)) == told
