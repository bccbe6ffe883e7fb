"""A catalogue of tools: what any reader of Markdown, OpenAPI or JSON makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html.parser import HTMLParser
from typing import Annotated, Any, Literal

import pytest
from markdown_it import MarkdownIt
from openapi_spec_validator import validate
from pydantic import BaseModel, Field

from llmcore import Agent, FakeModel, ToolRegistry, tool
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.tools.catalogue import catalogue, openapi
from llmcore.types import ConfigError, ToolDefinitionError


class Node(BaseModel):
    name: str
    children: list[Node] = []


@tool(read_only=True, tags=["files", "a|b"], version="2.1", examples=[{"query": "`ls` | wc"}])
def search(
    query: Annotated[str, Field(description="What | to <b>find</b>.", min_length=1)],
    most: Annotated[int, Field(ge=1, le=9)] = 5,
    kind: Literal["file", "folder"] | None = None,
    among: list[Node] | None = None,
) -> list[Node]:
    """Search *everything*.

    - by name
    - by `content`
    """
    return []


@tool
def nothing() -> None:
    """Does nothing."""


def books_of(desk: Any) -> list[str]:
    return list(desk.books)


HOSTILE = [
    "plain",
    "a|b",
    "`tick`",
    "``two`` ```three```",
    "*bold* _low_ __x__",
    "<script>alert(1)</script>",
    "[link](http://x) ![image](y)",
    "# head",
    "back\\slash",
    "\\|",
    "&amp; &lt;",
    "a/b{c}?d=e#f %20",
    "~~gone~~",
    "-",
    "===",
    "1. one",
    "ünïcödé 日本",
    "new\nline",
]


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        if tag in ("td", "h2"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells:
            self.cells[-1] += data


def rendered(tools: Iterable[object]) -> _Cells:
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(catalogue(tools))
    cells = _Cells()
    cells.feed(html)
    return cells


@pytest.mark.parametrize("words", HOSTILE)
def test_whatever_a_name_or_a_description_is_it_is_read_as_that_text(words: str) -> None:
    schema = {"type": "object", "properties": {words: {"type": "string", "description": words, "enum": [words]}}}
    cells = rendered([{"name": words, "description": words, "parameters": schema}])
    one_line = " ".join(words.split())
    first_line = words.partition("\n")[0]
    assert cells.tags <= {"h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "ul", "ol", "li"}
    name, said, heading, parameter, values, required, described = (" ".join(cell.split()) for cell in cells.cells)
    assert (name, said, parameter) == (one_line, first_line, one_line)
    assert heading.startswith(one_line)
    assert json.loads(values) == words
    assert (required, described.rstrip(".")) == ("", one_line.rstrip("."))


def test_the_markdown_of_a_tool() -> None:
    text = catalogue([search, nothing], title="Tools of *ours*")
    assert text.startswith(
        "# Tools of \\*ours\\*\n\n| tool | what it does |\n| --- | --- |\n| `search` | Search \\*everything\\*. |\n"
    )
    assert "Changes nothing. Version 2.1. Tags: `files`, `a|b`." in text
    assert "- by name\n- by \\`content\\`" in text
    assert "| `query` | string | yes | What \\| to \\<b\\>find\\</b\\>. At least `1` characters. |" in text
    assert "| `most` | integer |  | At least `1`. At most `9`. Default: `5`. |" in text
    assert '| `kind` | `"file"` or `"folder"` or null |  | Default: `null`. |' in text
    assert "| `among` | list of Node or null |" in text
    assert '"$defs"' in text
    assert text.endswith("## `nothing`\n\nDoes nothing.\n\nIt takes no parameters.\n")


def test_openapi_is_valid_and_its_references_lead_somewhere() -> None:
    odd = {
        "name": "a `b` | c/{x}",
        "parameters": {"type": "object", "properties": {"$ref": {"type": "string"}, "me": {"$ref": "#"}}},
    }
    twin: dict[str, Any] = {"name": "a__b____c__x_", "parameters": {"type": "object", "properties": {}}}
    document = openapi([search, nothing, odd, twin], title="Ours", version="3")
    validate(document)
    assert json.loads(catalogue([search, nothing, odd, twin], "openapi", title="Ours", version="3")) == document
    assert document["info"] == {"title": "Ours", "version": "3"}
    post = document["paths"]["/tools/search"]["post"]
    assert (post["operationId"], post["summary"], post["tags"], post["x-read-only"]) == (
        "search",
        "Search *everything*.",
        ["files", "a|b"],
        True,
    )
    assert post["requestBody"]["content"]["application/json"]["examples"]["example_1"]["value"] == {"query": "`ls` | wc"}
    for reference in _references(document):
        found: Any = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step.replace("~1", "/").replace("~0", "~")]
    assert "/tools/a%20%60b%60%20%7C%20c%2F%7Bx%7D" in document["paths"]
    assert len(document["components"]["schemas"]) == 6
    properties = document["components"]["schemas"]["a__b____c__x__arguments"]["properties"]
    assert properties == {"$ref": {"type": "string"}, "me": {"$ref": "#/components/schemas/a__b____c__x__arguments"}}


def _references(data: Any) -> Iterable[str]:
    if is_object(data):
        for key, value in data.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            yield from _references(value)
    elif is_list(data):
        for value in data:
            yield from _references(value)


def test_json_is_read_as_tools_again() -> None:
    again = json.loads(catalogue([search, nothing], "json"))
    assert catalogue(again, "json") == catalogue([search, nothing], "json")
    assert catalogue(again) == catalogue([search, nothing])


def test_an_agent_a_registry_and_schemas_that_ask() -> None:
    class Desk(Agent):
        books = ("Emma",)

        @tool(params={"title": {"type": "string", "enum": books_of}}, required=["title"])
        def lend(self, title: str) -> str:
            """Lend a book."""
            return title

    assert '`"Emma"`' in catalogue(Desk(FakeModel(), tools=[nothing]))
    assert "`nothing`" in catalogue(Desk(FakeModel(), tools=[nothing]))
    assert catalogue(ToolRegistry([nothing])) == catalogue([nothing])
    assert catalogue([]) == "# Tools\n"
    with pytest.raises(ToolDefinitionError):
        catalogue(3)
    wrong: Any = "html"
    with pytest.raises(ConfigError, match="a catalogue has no form 'html'; there are markdown, openapi, json"):
        catalogue([nothing], wrong)


def test_what_a_tool_returns_is_told_where_nothing_changes_it() -> None:
    @tool(postprocess=str)
    def changed() -> int:
        """Changed."""
        return 1

    @tool
    def unknown() -> object:
        """Of no type."""
        return 1

    responses = [one["post"]["responses"]["200"] for one in openapi([search, changed, unknown])["paths"].values()]
    assert ["content" in response for response in responses] == [True, False, True]
