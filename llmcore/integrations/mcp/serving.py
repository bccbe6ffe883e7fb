"""llmcore's tools as an MCP server, over standard input and output or over HTTP.

A call is checked and repaired like a model's call, then runs with the time limit and retries of its `ToolConfig`. Progress that
the tool reports reaches a client that asked for it. A tool that requires approval is refused: the client's user cannot be asked.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, Literal
from urllib.parse import quote

from llmcore.adapters.secrets.known_secrets import remember
from llmcore.api import validate
from llmcore.integrations.mcp.sdk import sdk
from llmcore.support.values.json_data import read_object
from llmcore.support.values.media_kinds import IMAGE
from llmcore.support.values.narrowing import is_object
from llmcore.tools import RunContext, Tool, ToolConfig, checked_tool
from llmcore.tools.context import TryState
from llmcore.tools.execution.call import run_call
from llmcore.tools.results.outcome import Outcome
from llmcore.types import ConfigError, Envelope, FileBlock, ResultBlock, TextBlock, ToolCall, ToolDefinitionError
from llmcore.types.tools import tools_given, tools_in

__all__ = ["http_app", "mcp_server", "serve_stdio"]

Strictness = Literal["off", "safe", "lenient"]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]

_INVALID_PARAMS = -32602


def mcp_server(
    tools: Iterable[object],
    *,
    name: str = "llmcore",
    version: str = "",
    instructions: str | None = None,
    deps: Any = None,
    tool_config: ToolConfig | None = None,
    strictness: Strictness = "safe",
) -> Any:
    """The tools as a `mcp.server.lowlevel.Server`.

    `tools`: as of an orchestrator. Of a `ToolRegistry`, each request sees the tools that are registered by then.
    `name`, `version`, `instructions`: what the server says about itself.
    `deps`: as in a run, for tools that take a `RunContext`. `tool_config`: its `timeout`, `retry`, `errors` and
    `max_result_chars` count. `strictness`: as of `validate`.

    Raises `ToolDefinitionError` for a tool without a function, or with `requires_approval`, and `ConfigError` if the package
    `mcp` is not installed.
    """
    given = tuple(tools_given(tools))
    _servable(given)
    serving = _Serving(given, deps, tool_config or ToolConfig(), strictness)
    server = sdk("mcp.server.lowlevel").Server
    return server(
        name, version=version, instructions=instructions, on_list_tools=serving.list_tools, on_call_tool=serving.call_tool
    )


async def serve_stdio(tools: Iterable[object], **options: Any) -> None:
    """Serve the tools over standard input and output until the client closes them. The options are those of `mcp_server`.

    What the tools print goes to standard error meanwhile.
    """
    server = mcp_server(tools, **options)
    async with sdk("mcp.server.stdio").stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def http_app(
    tools: Iterable[object], *, host: str = "127.0.0.1", path: str = "/mcp", token: str | None = None, **options: Any
) -> AsgiApp:
    """An ASGI app that serves the tools over streamable HTTP. The other options are those of `mcp_server`.

    `host`: the address that it will be bound to. For a loopback address, requests for another host are refused. So no web page
    can reach it (DNS rebinding).
    `token`: if given, a request without `Authorization: Bearer TOKEN` is answered with 401.
    """
    app: AsgiApp = mcp_server(tools, **options).streamable_http_app(streamable_http_path=path, host=host)
    if token is None:
        return app
    if not token:
        raise ConfigError("the token of an MCP server must not be empty")
    remember([token])
    return _with_token(app, token)


def _with_token(app: AsgiApp, token: str) -> AsgiApp:
    """The app, behind a check of the token. The comparison takes the same time for every wrong token."""
    wanted = f"Bearer {token}".encode()

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        sent = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "lifespan" or hmac.compare_digest(sent, wanted):
            await app(scope, receive, send)
            return
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"error": "a valid bearer token is required"}'})

    return guarded


def _servable(given: Iterable[object]) -> dict[str, Tool]:
    """The tools by name. Raises `ToolDefinitionError` for one that cannot be served."""
    tools = {tool.name: tool for tool in map(checked_tool, tools_in(given))}
    for tool in tools.values():
        if tool.function is None:
            raise ToolDefinitionError(f"tool {tool.name!r} has no function, so no server can run it")
        if tool.options.requires_approval:
            raise ToolDefinitionError(
                f"tool {tool.name!r} requires approval, which an MCP server cannot ask for; if the client asks its user, "
                "serve tool.with_options(requires_approval=False)"
            )
    return tools


class _Serving:
    """The handlers of one server."""

    def __init__(self, given: tuple[object, ...], deps: Any, config: ToolConfig, strictness: Strictness) -> None:
        self._given = given
        self._deps = deps
        self._config = config
        self._strictness: Strictness = strictness
        self._types = sdk("mcp_types")

    async def list_tools(self, context: Any, params: Any) -> Any:
        return self._types.ListToolsResult(tools=[self._listed(tool) for tool in _servable(self._given).values()])

    def _listed(self, tool: Tool) -> Any:
        definition, options = tool.definition, tool.options
        hints = self._types.ToolAnnotations(
            read_only_hint=definition.read_only, idempotent_hint=options.idempotent or definition.read_only
        )
        return self._types.Tool(
            name=tool.name, description=definition.description, input_schema=definition.parameters, annotations=hints
        )

    async def call_tool(self, context: Any, params: Any) -> Any:
        tools = _servable(self._given)
        given: dict[str, Any] = params.arguments or {}
        call = ToolCall(id=f"call_{context.request_id}", name=params.name, arguments=given, raw_arguments=json.dumps(given))
        report = validate(Envelope(toolCalls=[call]), [*tools.values()], strictness=self._strictness)
        tool = tools.get(report.calls[0].name)
        if tool is None:
            raise sdk().MCPError(code=_INVALID_PARAMS, message=f"there is no tool {params.name!r}")
        if not report.ok:
            return self._result([TextBlock(text="\n".join(str(problem) for problem in report.problems))], is_error=True)
        progress = _Progress(context.session)
        run = RunContext(self._deps, tool_call_id=call.id, tool_name=tool.name).emitting_to(progress)
        async with progress:
            outcome = await run_call(report.calls[0], tool, run, self._config)
        return self._result_of(outcome)

    def _result_of(self, outcome: Outcome) -> Any:
        if outcome.suspended:
            waits = "calls within this tool wait for an approval, which an MCP server cannot ask for"
            return self._result([TextBlock(text=waits)], is_error=True)
        structured = read_object(outcome.text) if is_object(outcome.value) and outcome.error is None else None
        return self._result(outcome.content, is_error=outcome.error is not None, structured=structured)

    def _result(self, blocks: Iterable[ResultBlock], *, is_error: bool, structured: Any = None) -> Any:
        content = [self._block(block) for block in blocks]
        return self._types.CallToolResult(content=content, is_error=is_error, structured_content=structured)

    def _block(self, block: ResultBlock) -> Any:
        """A block of MCP, which has no media by URL: such a block is the text of its URL."""
        types = self._types
        if isinstance(block, TextBlock):
            return types.TextContent(text=block.text)
        data, media_type = block.base64, block.known_type
        if data is None:
            return types.TextContent(text=block.url)
        if isinstance(block, FileBlock):
            uri = f"file:///{quote(block.name or 'document')}"
            return types.EmbeddedResource(resource=types.BlobResourceContents(uri=uri, blob=data, mime_type=media_type))
        content = types.ImageContent if block.kind is IMAGE else types.AudioContent
        return content(data=data, mime_type=media_type)


class _Progress:
    """A sink for what one call emits. A task sends it to the client, in order, and ends after the last value was sent."""

    turn = 1
    wants_nested_events = False

    def __init__(self, session: Any) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._values: asyncio.Queue[Any] = asyncio.Queue()
        self._sending: asyncio.Task[None] | None = None

    def put(self, of: TryState, event: Any) -> None:
        self._loop.call_soon_threadsafe(self._values.put_nowait, event)

    async def __aenter__(self) -> None:
        self._sending = asyncio.create_task(self._send())

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        assert self._sending is not None
        if kind is not None:
            self._sending.cancel()
            return
        self._loop.call_soon(self._values.put_nowait, None)  # behind what threads have put
        await self._sending

    async def _send(self) -> None:
        count = 0
        while (event := await self._values.get()) is not None:
            count += 1
            done, total, message = _progress_in(event.value, count)
            await self._session.report_progress(done, total, message)


def _progress_in(value: Any, count: int) -> tuple[float, float | None, str]:
    """A value as progress of MCP: its number, the total if known, and a text.

    A dict with a number `progress` is read so. Anything else is counted, and its text is the message.
    """
    fields: Mapping[str, Any] = value if is_object(value) else {}
    done, total, message = fields.get("progress"), fields.get("total"), fields.get("message")
    if not isinstance(done, int | float):
        return count, None, value if isinstance(value, str) else json.dumps(value, default=str)
    return done, total if isinstance(total, int | float) else None, message if isinstance(message, str) else ""
