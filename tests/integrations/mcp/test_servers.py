"""What `McpServers` makes of a server's list and results, with a server in the same process."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from llmcore import ConfigError, FakeModel, ImageBlock, Orchestrator, RunContext, ToolProgress
from llmcore.integrations.mcp import McpServers, mcp_server
from tests.integrations.mcp.support import run_calls

pytestmark = pytest.mark.anyio

OBJECT: dict[str, Any] = {"type": "object", "properties": {}}


class Listing:
    """A server whose list and results a test sets. `tools`: the pages of its list. `results`: by the name of the tool."""

    def __init__(self, *pages: list[dict[str, Any]], **results: dict[str, Any]) -> None:
        self.types: Any = import_module("mcp_types")
        self.pages = list(pages)
        self.results = results
        self.calls: list[tuple[str, Any]] = []

    @property
    def server(self) -> Any:
        lowlevel: Any = import_module("mcp.server.lowlevel")
        return lowlevel.Server("listing", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, context: Any, params: Any) -> Any:
        number = int(params.cursor) if params is not None and params.cursor else 0
        tools = [self.types.Tool.model_validate({"inputSchema": OBJECT, **each}) for each in self.pages[number]]
        after = str(number + 1) if number + 1 < len(self.pages) else None
        return self.types.ListToolsResult(tools=tools, next_cursor=after)

    async def _call(self, context: Any, params: Any) -> Any:
        self.calls.append((params.name, params.arguments))
        return self.types.CallToolResult.model_validate({"content": [], **self.results[params.name]})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


async def test_all_pages_are_read() -> None:
    listing = Listing([{"name": "a"}], [{"name": "b"}], [{"name": "c"}])
    async with McpServers({"s": listing.server}) as servers:
        assert [each.name for each in servers.tools()] == ["s_a", "s_b", "s_c"]


async def test_a_list_without_an_end_is_an_error() -> None:
    listing = Listing(*([{"name": f"t{page}"}] for page in range(101)))
    with pytest.raises(ConfigError, match=r"MCP server 's': its list of tools has more than 1000 tools or 100 pages"):
        async with McpServers({"s": listing.server}):
            pass


async def test_names_are_prefixed_and_fit_every_provider() -> None:
    long = "x" * 80
    listing = Listing(
        [{"name": "files.read/all"}, {"name": long}, {"name": f"{long}y"}], **{"files.read/all": {"content": [text("ok")]}}
    )
    async with McpServers({"s": listing.server}) as servers:
        names = [each.name for each in servers.tools()]
        result = await run_calls(servers, ("s_files_read_all", {}))
    assert names[0] == "s_files_read_all"
    assert [len(name) for name in names[1:]] == [64, 64]
    assert len(set(names)) == 3
    assert result.tool_results[0].value == "ok"
    assert listing.calls == [("files.read/all", {})]


async def test_two_tools_with_one_name_are_an_error() -> None:
    with pytest.raises(ConfigError, match="MCP server 's': its tool 'a/b' would be the second one with the name 's_a_b'"):
        async with McpServers({"s": Listing([{"name": "a.b"}, {"name": "a/b"}]).server}):
            pass
    with pytest.raises(ConfigError, match="the second one with the name 'a_b_c'"):
        async with McpServers({"a": Listing([{"name": "b_c"}]).server, "a_b": Listing([{"name": "c"}]).server}):
            pass


@pytest.mark.parametrize(("trusted", "read_only"), [((), False), (("s",), True)])
async def test_hints_count_only_for_a_trusted_server(trusted: tuple[str, ...], read_only: bool) -> None:
    hints = {"readOnlyHint": True, "idempotentHint": True}
    async with McpServers({"s": Listing([{"name": "look", "annotations": hints}]).server}, trusted=trusted) as servers:
        (look,) = servers.tools()
    assert look.definition.read_only is read_only
    assert look.options.idempotent is read_only


async def test_an_unusable_schema_leaves_its_tool_out_and_says_so() -> None:
    bad = {"type": "object", "properties": {"a": {"type": "strng"}}}
    async with McpServers({"s": Listing([{"name": "bad", "inputSchema": bad}, {"name": "good"}]).server}) as servers:
        assert [each.name for each in servers.tools()] == ["s_good"]
        assert list(servers.left_out) == ["s: bad"]
        assert "did you mean 'string'" in servers.left_out["s: bad"]


async def test_a_description_is_bounded_and_shows_all_that_it_has() -> None:
    hidden = "Reads.\u200b\U000e0041\x1b[8m" + "x" * 9000
    schema = {"type": "object", "properties": {"description": {"enum": ["a\u200b"], "description": "A\u200b."}}}
    async with McpServers({"s": Listing([{"name": "look", "description": hidden, "inputSchema": schema}]).server}) as servers:
        (look,) = servers.tools()
    assert look.definition.parameters["properties"] == {"description": {"enum": ["a\u200b"], "description": "A."}}
    assert look.definition.description.startswith("Reads.[8mxxx")
    assert look.definition.description.endswith("xxx...")
    assert len(look.definition.description) == 8192


IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
RESULTS: dict[str, tuple[dict[str, Any], Any]] = {
    "text": ({"content": [text("a"), text("b")]}, "a\nb"),
    "nothing": ({}, ""),
    "structured": ({"content": [text('{"a": 1}')], "structuredContent": {"a": 1}}, {"a": 1}),
    "structured alone": ({"structuredContent": {"a": 1}}, {"a": 1}),
    "wrapped": ({"content": [text("1"), text("2")], "structuredContent": {"result": [1, 2]}}, {"result": [1, 2]}),
    "a text beside": ({"content": [text("One a.")], "structuredContent": {"a": 1}}, ({"a": 1}, "One a.")),
    "an image": (
        {"content": [text("a map"), IMAGE]},
        ("a map", ImageBlock(data="aGk=", media_type="image/png")),
    ),
    "audio": (
        {"content": [{"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}]},
        "[audio of type audio/wav was left out: models get text and images]",
    ),
    "a file": (
        {"content": [{"type": "resource", "resource": {"uri": "file:///a.txt", "text": "words"}}]},
        "file:///a.txt\nwords",
    ),
    "a picture file": (
        {"content": [{"type": "resource", "resource": {"uri": "file:///a.png", "blob": "aGk=", "mimeType": "image/png"}}]},
        ImageBlock(data="aGk=", media_type="image/png"),
    ),
    "a link": ({"content": [{"type": "resource_link", "uri": "file:///b", "name": "b"}]}, "file:///b b"),
    "a long text": ({"content": [text("x" * 5000)]}, None),
    "a large image": ({"content": [{**IMAGE, "data": "a" * 5000}]}, None),
    "large data": ({"structuredContent": {"a": "x" * 5000}}, None),
}


@pytest.mark.parametrize("name", RESULTS)
async def test_a_result_is_a_value_of_bounded_size(name: str) -> None:
    result, value = RESULTS[name]
    servers = McpServers({"s": Listing([{"name": "t"}], t=result).server}, max_result_chars=1000, max_image_chars=1000)
    async with servers:
        (record,) = (await run_calls(servers, ("s_t", {}))).tool_results
    assert record.error is None
    if value is None:
        assert len(record.content) <= 1000
        assert "5000 characters" in record.content or "5009 characters" in record.content
    else:
        assert record.value == value


async def test_a_result_that_does_not_fit_its_output_schema_is_an_error() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    listing = Listing([{"name": "t", "outputSchema": schema}], t={"structuredContent": {"a": "many"}})
    async with McpServers({"s": listing.server}) as servers:
        (record,) = (await run_calls(servers, ("s_t", {}))).tool_results
    assert record.error is not None
    assert "MCP server 's' sent an invalid result" in record.content


async def test_an_error_of_the_tool_is_told_to_the_model() -> None:
    failed = {"content": [text("the quota is used")], "isError": True, "structuredContent": {"left": 0}}
    async with McpServers({"s": Listing([{"name": "t"}], t=failed).server}) as servers:
        (record,) = (await run_calls(servers, ("s_t", {}))).tool_results
    assert record.content == "the quota is used"
    assert record.error is not None
    assert record.error.details == {"left": 0}


async def test_approved_digests_of_an_earlier_process_hold_until_a_definition_changes() -> None:
    first = {"name": "t", "description": "Reads."}
    async with McpServers({"s": Listing([first]).server}) as servers:
        digests = servers.digests
    listings = {"same": [first], "other": [{**first, "description": "Deletes."}], "more": [first, {"name": "u"}]}
    waiting: dict[str, list[str]] = {}
    for name, page in listings.items():
        async with McpServers({"s": Listing(page).server}, approved=digests) as servers:
            waiting[name] = servers.unapproved
    assert waiting == {"same": [], "other": ["s_t"], "more": ["s_u"]}


def above_one(arguments: dict[str, Any]) -> bool:
    return bool(arguments["n"] > 1)


def above_one_of_t(arguments: dict[str, Any], context: RunContext) -> bool:
    return context.tool_name == "s_t" and above_one(arguments)


RULES: list[tuple[Any, int]] = [(True, 2), (False, 0), (above_one, 1), (above_one_of_t, 1)]


@pytest.mark.parametrize(("rule", "waiting"), RULES)
async def test_the_callers_rule_for_approval_holds_for_every_tool(rule: Any, waiting: int) -> None:
    listing = Listing([{"name": "t", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}], t={})
    model = FakeModel().tool_calls(("s_t", {"n": 1}), ("s_t", {"n": 2})).text("Done.")
    async with McpServers({"s": listing.server}, requires_approval=rule) as servers:
        result = await Orchestrator(model, servers.tools()).run("Go.")
    assert len(result.approvals) == waiting


async def test_progress_reaches_the_stream() -> None:
    def work(context: RunContext) -> str:
        context.emit("begun")
        context.emit({"progress": 5, "total": 10})
        return "ok"

    model = FakeModel().tool_call("s_work").text("Done.")
    async with McpServers({"s": mcp_server([work])}) as servers:
        events = [event async for event in Orchestrator(model, servers.tools()).stream("Go.")]
    assert [event.value for event in events if isinstance(event, ToolProgress)] == [
        {"progress": 1, "message": "begun"},
        {"progress": 5, "total": 10, "message": ""},
    ]


BAD: dict[str, tuple[Callable[[], object], str]] = {
    "neither": (lambda: McpServers({"s": {}}), "MCP server 's': give either a `command` or a `url`"),
    "both": (lambda: McpServers({"s": {"command": "a", "url": "http://b"}}), "give either a `command` or a `url`"),
    "a field of the other kind": (
        lambda: McpServers({"s": {"command": "a", "headers": {"x": "y"}}}),
        "`headers` is for a server with a `url`",
    ),
    "a wrong scheme": (lambda: McpServers({"s": {"url": "ftp://b"}}), "must begin with http:// or https://"),
    "a header that cannot be sent": (lambda: McpServers({"s": {"url": "http://b", "headers": {"x": "y\n"}}}), "a line break"),
    "an unknown field": (lambda: McpServers({"s": {"comand": "a"}}), "did you mean 'command'"),
    "a name that is no prefix": (lambda: McpServers({"a b": {"command": "a"}}), "1 to 32 letters"),
    "trust in nobody": (lambda: McpServers({"files": {"command": "a"}}, trusted=["file"]), "did you mean 'files'"),
    "a text of names": (lambda: McpServers({"s": {"command": "a"}}, trusted="s"), "as in \\['s'\\]"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_configuration_is_an_error_at_once(name: str) -> None:
    make, message = BAD[name]
    with pytest.raises(ConfigError, match=message):
        make()


async def test_a_variable_that_is_to_be_inherited_must_exist() -> None:
    with pytest.raises(ConfigError, match="it inherits 'NOT_HERE', which this process's environment does not have"):
        async with McpServers({"s": {"command": "python", "inherit": ["NOT_HERE"]}}):
            pass


def test_no_repr_shows_a_secret() -> None:
    from llmcore.integrations.mcp import McpServer

    server = McpServer(url="http://a", headers={"authorization": "Bearer sk-12345678"}, env={})
    assert "sk-12345678" not in repr(server)
    assert "sk-12345678" not in repr(McpServers({"s": server}))


def test_an_old_release_of_mcp_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from llmcore.integrations.mcp import sdk

    def old(name: str) -> object:
        return SimpleNamespace()

    monkeypatch.setattr(sdk, "import_module", old)
    with pytest.raises(ConfigError, match=r"MCP needs mcp 2\.3 or later"):
        McpServers({})
