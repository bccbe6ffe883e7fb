"""Tools that are named as elements of HTML are: HTML is no call, and in a text it is asked about."""

from __future__ import annotations

import pytest

from llmcore.types.tools import ToolSet
from tests.normalizer.helpers import read_every_way, tool

_TOOLS = ToolSet(
    [
        tool("img", src="string"),
        tool("meta", content="string"),
        tool("link", href="string"),
        tool("form", action="string"),
        tool("option", value="string"),
        tool("table", id="string"),
        tool("summary", title="string"),
        tool("button", label="string"),
        tool("search", query="string"),
        tool("select", query="string"),
    ]
)


@pytest.mark.parametrize(
    "page",
    [
        '<p>Look</p>\n<img src="a.png"/>\n<p>Bye</p>',
        '<head>\n<meta content="viewport"/>\n<link href="style.css"/>\n</head>',
        '<body>\n<form action="x"/>',
        '<select>\n<option value="1"/>',
        '<!DOCTYPE html>\n<img src="a.png"/>',
        "<html><body>\n<table>\nid: x\n</table>",
        "Here is a summary.\n<summary>\nAll is well.\n</summary>",
        "<button>OK</button>",
        "<details>\n<summary>More</summary>\nText\n</details>",
    ],
)
def test_a_page_calls_nothing(page: str) -> None:
    found = read_every_way(page, _TOOLS, chunkings=2)
    assert (found.tool_calls, found.content) == ([], page)
    assert found.near_misses


def test_an_element_between_words_is_asked_about() -> None:
    (call,) = read_every_way('The picture:\n\n<img src="a.png"/>\n\nIt shows the logo.', _TOOLS, chunkings=2).tool_calls
    assert [(one.kind, one.safety) for one in call.repairs] == [("like_html", "guess")]


@pytest.mark.parametrize(
    "text",
    [
        '<search query="cats"/>',
        'I search.\n<search query="cats"/>\nOne moment.',
        "<search>\n<query>cats</query>\n</search>",
        "<search>\nquery: cats\n</search>",
        "<ul>\n<li>a</li>\n</ul>\n<search>\n<query>cats</query>\n</search>",
        '<img src="a.png"/>',
    ],
)
def test_a_tool_of_such_a_name_is_called_all_the_same(text: str) -> None:
    (call,) = read_every_way(text, _TOOLS, chunkings=2).tool_calls
    assert call.repairs == []
