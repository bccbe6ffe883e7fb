"""An element within a document of XML that is named as a tool is: it may be data, and is asked about."""

from __future__ import annotations

import pytest

from llmcore.normalizer.api import normalize
from llmcore.types.tools import ToolSet
from tests.helpers.growth import assert_linear
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet([tool("server", ["host"], host="string", port="integer"), tool("ping")])
_ONE = "<server>\n<host>a</host>\n<port>80</port>\n</server>"
_LINE = '<server host="a" port="80"/>'


@pytest.mark.parametrize("element", [_ONE, _LINE, "<server>\nhost: a\nport: 80\n</server>"])
@pytest.mark.parametrize(
    "document",
    [
        '<?xml version="1.0"?>\n<project>\n<model>4</model>\n{}\n</project>',
        '<?xml version="1.0" encoding="UTF-8"?>\n{}',
        'The file:\n\n<?xml version="1.0"?>\n<root>\n{}\n</root>',
        "<settings>\n  <log>on</log>\n  {}\n</settings>",
        "<settings>\n  {}\n  <log>on</log>\n</settings>",
        "<settings>\n  {}\n  <log/>\n</settings>",
        "<servers>\n{}\n{}\n</servers>",
        "<settings>\n{}\n<log>on</log>\n{}\n</settings>",
        "<a>\n<b>\n{}\n</b>\n<c>x</c>\n</a>",
        "<a>\n<c>x</c>\n<b>\n{}\n</b>\n</a>",
    ],
)
def test_in_a_document_it_is_a_guess(document: str, element: str) -> None:
    calls = read_every_way(document.replace("{}", element), _TOOLS).tool_calls
    assert len(calls) == document.count("{}")
    assert all([(repair.kind, repair.safety) for repair in call.repairs] == [("in_a_document", "guess")] for call in calls)


@pytest.mark.parametrize("element", [_ONE, _LINE])
@pytest.mark.parametrize(
    "reply",
    [
        "{}",
        "{}\n{}",
        "<root>\n{}\n</root>",
        "<tool_calls>\n{}\n{}\n</tool_calls>",
        "<actions>\n{}\n<ping/>\n</actions>",
        "<step>\n<thought>\nIt is down.\n</thought>\n{}\n</step>",
        "<step>\n{}\n<reasoning>It was down.</reasoning>\n</step>",
        "<note>It is down.</note>\n{}",
        "Use <b>\nbold</b> text.\n{}\n\n{}",
        "<think>\n<a>\n<b>x</b>\n</think>\n{}\n{}",
    ],
)
def test_elsewhere_it_is_a_call(reply: str, element: str) -> None:
    calls = read_every_way(reply.replace("{}", element), _TOOLS).tool_calls
    assert not any(repair.safety == "guess" for call in calls for repair in call.repairs)
    assert sum(call.name == "server" for call in calls) == reply.count("{}")


@pytest.mark.sweep
@pytest.mark.parametrize("flood", ["<a>\n", "<a>\n" + _LINE + "\n", _LINE + "\n</a>\n", "<a>\n" + _LINE + "</a>\n"])
def test_floods_are_linear(flood: str) -> None:
    assert_linear(lambda size: normalize(flood * (size // len(flood)), _TOOLS), 20_000)
