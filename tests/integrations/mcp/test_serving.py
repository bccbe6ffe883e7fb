"""llmcore's tools as a server: over HTTP, over stdio by the command, and in the same process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from llmcore import (
    AudioBlock,
    ConfigError,
    FileBlock,
    ImageBlock,
    RunContext,
    Tool,
    ToolConfig,
    ToolDefinitionError,
    ToolError,
    ToolRegistry,
    tool,
)
from llmcore.integrations.mcp import McpServers, http_app, mcp_server
from tests.integrations.mcp.support import run_calls

pytestmark = pytest.mark.anyio


@tool(read_only=True)
def add(a: int, b: Annotated[int, Field(description="The second one.")] = 1) -> int:
    """Add two numbers."""
    return a + b


@tool(idempotent=True)
def picture() -> Any:
    """A picture."""
    image = ImageBlock(data="aGk=", media_type="image/png")
    plan = FileBlock.from_bytes(b"%PDF-1.4", name="the plan.pdf")
    return {"n": 1}, image, ImageBlock(url="https://example.com/a.png"), plan, AudioBlock.from_bytes(b"OggS")


@tool
def order(context: RunContext[str]) -> dict[str, str]:
    """Whose order it is."""
    return {"of": context.deps}


@tool
def refuse() -> None:
    """Refuse."""
    raise ToolError("the quota is used")


@tool
def stop() -> None:
    """Never end."""
    raise KeyError("no such order")


TOOLS: list[Tool] = [add, picture, order, refuse, stop]


@asynccontextmanager
async def client_of(tools: Any, **options: Any) -> AsyncGenerator[Any, None]:
    """A client of the SDK, connected to the tools in the same process."""
    mcp: Any = import_module("mcp")
    async with mcp.Client(mcp_server(tools, **options)) as client:
        yield client


@asynccontextmanager
async def served(app: Any) -> AsyncGenerator[str, None]:
    """The address of an app that uvicorn serves over loopback."""
    uvicorn: Any = import_module("uvicorn")
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await serving


async def test_the_definitions_are_those_that_a_model_sees() -> None:
    async with client_of(TOOLS, name="shop", version="2") as client:
        listed = {each.name: each for each in (await client.list_tools()).tools}
        assert (client.server_info.name, client.server_info.version) == ("shop", "2")
    assert list(listed) == [each.name for each in TOOLS]
    assert listed["add"].input_schema == add.definition.parameters
    assert listed["add"].description == "Add two numbers."
    hints = [(each.annotations.read_only_hint, each.annotations.idempotent_hint) for each in listed.values()]
    assert hints == [(True, True), (False, True), *[(False, False)] * 3]


async def test_arguments_are_repaired_and_results_keep_images_and_data() -> None:
    async with client_of(TOOLS, deps="ann") as client:
        added = await client.call_tool("add", {"a": "2"})
        pictured = await client.call_tool("picture")
        ordered = await client.call_tool("order")
    assert [block.text for block in added.content] == ["3"]
    assert [block.type for block in pictured.content] == ["text", "image", "text", "resource", "audio"]
    assert pictured.content[1].data == "aGk="
    assert pictured.content[2].text == "https://example.com/a.png"
    assert str(pictured.content[3].resource.uri) == "file:///the%20plan.pdf"
    assert (pictured.content[3].resource.mime_type, pictured.content[4].mime_type) == ("application/pdf", "audio/ogg")
    assert ordered.structured_content == {"of": "ann"}


FAILURES: dict[str, tuple[str, dict[str, Any], str]] = {
    "wrong arguments": ("add", {"a": "many"}, "expected"),
    "a tool that says no": ("refuse", {}, "the quota is used"),
    "a tool that fails": ("stop", {}, "KeyError: 'no such order'"),
}


@pytest.mark.parametrize("name", FAILURES)
async def test_a_failure_is_a_result_for_the_model(name: str) -> None:
    called, arguments, message = FAILURES[name]
    async with client_of(TOOLS) as client:
        result = await client.call_tool(called, arguments)
    assert result.is_error
    assert message in result.content[0].text


async def test_an_unknown_tool_is_an_error_of_the_protocol() -> None:
    mcp: Any = import_module("mcp")
    async with client_of(TOOLS) as client:
        with pytest.raises(mcp.MCPError, match="there is no tool 'subtract'"):
            await client.call_tool("subtract", {})


async def test_a_tool_that_is_too_slow_is_a_result() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    async with client_of([wait], tool_config=ToolConfig(timeout=0.05)) as client:
        result = await client.call_tool("wait")
    assert result.is_error
    assert "did not answer within 0.05 s" in result.content[0].text


async def test_a_long_result_is_cut_and_says_so() -> None:
    def write() -> dict[str, str]:
        return {"text": "x" * 5000}

    async with client_of([write], tool_config=ToolConfig(max_result_chars=300)) as client:
        result = await client.call_tool("write")
    assert len(result.content[0].text) == 300
    assert "the whole result has 5011 characters" in result.content[0].text
    assert result.structured_content is None


async def test_a_registry_is_read_at_each_request() -> None:
    registry = ToolRegistry([add])
    async with client_of(registry) as client:
        registry.register(refuse)
        assert [each.name for each in (await client.list_tools(cache_mode="bypass")).tools] == ["add", "refuse"]


def test_a_tool_that_cannot_be_served_is_an_error_at_once() -> None:
    with pytest.raises(ToolDefinitionError, match="tool 'elsewhere' has no function"):
        mcp_server([{"name": "elsewhere", "input_schema": {"type": "object", "properties": {}}}])
    with pytest.raises(ToolDefinitionError, match="tool 'add' requires approval, which an MCP server cannot ask for"):
        mcp_server([add.with_options(requires_approval=True)])


async def test_http_serves_only_who_has_the_token() -> None:
    async with served(http_app(TOOLS, token="tok-12345678")) as url:
        for headers in ({}, {"authorization": "Bearer wrong"}):
            with pytest.raises(ConfigError, match="MCP server 's' cannot be opened: the server answered with status 401"):
                async with McpServers({"s": {"url": url, "headers": headers}}):
                    pass
        config = {"url": url, "headers": {"authorization": "Bearer tok-12345678"}}
        async with McpServers({"s": config}, trusted=["s"]) as servers:
            result = await run_calls(servers, ("s_add", {"a": 1, "b": 2}), ("s_refuse", {}))
    assert [record.content for record in result.tool_results] == ["3", "the quota is used"]


async def test_headers_go_to_their_own_server_alone() -> None:
    seen: dict[str, set[bytes]] = {"a": set(), "b": set()}

    def watched(name: str) -> Any:
        app: Any = http_app([add])

        async def watch(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                seen[name].add(dict(scope["headers"]).get(b"x-token", b""))
            await app(scope, receive, send)

        return watch

    async with served(watched("a")) as first, served(watched("b")) as second:
        configs = {"a": {"url": first, "headers": {"x-token": "one"}}, "b": {"url": second, "headers": {"x-token": "two"}}}
        async with McpServers(configs) as servers:
            await run_calls(servers, ("a_add", {"a": 1}), ("b_add", {"a": 1}))
    assert seen == {"a": {b"one"}, "b": {b"two"}}


async def test_a_request_for_another_host_is_refused() -> None:
    httpx2: Any = import_module("httpx2")
    async with served(http_app(TOOLS)) as url, httpx2.AsyncClient() as client:
        response = await client.post(url, json={}, headers={"host": "evil.example"})
    assert response.status_code == 421


async def test_the_command_serves_tools_over_stdio_and_what_they_print_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "my_tools.py").write_text(
        'def shout(text: str) -> str:\n    "Shout."\n    print("noise")\n    return text.upper()\n'
    )
    config = {
        "command": sys.executable,
        "args": ["-m", "llmcore", "mcp", "my_tools:shout"],
        "cwd": str(tmp_path),
        "env": {"PYTHONPATH": str(Path(__file__).parents[3])},
    }
    async with McpServers({"s": config}) as servers:
        result = await run_calls(servers, ("s_shout", {"text": "hey"}))
    assert result.tool_results[0].value == "HEY"
