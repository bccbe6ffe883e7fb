"""`ServerTools`: the tools of one server. It keeps the connection, follows the server's list, and sends the calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from llmcore.integrations.mcp.config import McpServer
from llmcore.integrations.mcp.connection import McpConnection
from llmcore.integrations.mcp.definitions import annotation, definition_of_tool, digest_of_tool, prefixed_name
from llmcore.integrations.mcp.results import value_of_result
from llmcore.integrations.mcp.sdk import sdk
from llmcore.integrations.mcp.transports import SESSION_LOST, UNREACHABLE
from llmcore.tools import RunContext, Tool, ToolRegistry
from llmcore.tools.definition.options import Approval
from llmcore.tools.results.outcome import without_secrets
from llmcore.tools.results.rendering import error_text_of
from llmcore.types import ConfigError, ToolDefinitionError, ToolError
from llmcore.types.input.argument_errors import takes_positional
from llmcore.types.logs import logger

__all__ = ["ListedTool", "ServerLimits", "ServerTools"]

T = TypeVar("T")

_log = logger("tools")
_CONNECTION_CLOSED = -32000
_WAITS = (0.0, 0.2, 0.6, 1.5)
"""Seconds before each attempt to reach a server again. It may be starting."""
_DEFAULT_CONNECT_TIMEOUT = 30.0
_LOST_BEFORE = " was lost; the call was not carried out"
_LOST_DURING = " was lost during the call, which may or may not have been carried out"


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The most characters of one result: of its text or data, and of its images in base64."""

    text: int
    images: int


@dataclass(frozen=True, slots=True)
class ListedTool:
    """A tool as its server listed it last. `is_repeatable`: a trusted server says that repeating a call is harmless."""

    name: str
    digest: str
    is_repeatable: bool
    tool: Tool


class ServerTools:
    """The tools of one server, by their offered names. `left_out`: what the server lists and llmcore cannot offer."""

    def __init__(
        self,
        name: str,
        target: object,
        registry: ToolRegistry,
        is_trusted: bool,
        requires_approval: Approval,
        limits: ServerLimits,
    ) -> None:
        self.name = name
        self.listed: dict[str, ListedTool] = {}
        self.left_out: dict[str, str] = {}
        self._target = target
        self._registry = registry
        self._is_trusted = is_trusted
        self._requires_approval = requires_approval
        self._limits = limits
        self._approved: dict[str, str] = {}
        self._connection: McpConnection | None = None
        self._connections: set[McpConnection] = set()
        """This one, and those that still wait for answers."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = True

    async def open(self, approved: Mapping[str, str] | None) -> None:
        """Connect and list the tools. Without `approved`, what is listed now is approved. Raises `ConfigError`."""
        self._loop, self._is_closed = asyncio.get_running_loop(), False
        self._connecting = asyncio.Lock()  # of this loop
        try:
            self._connection, listed = await self._connected()
            self._offer(listed, is_first=True)
        except ConfigError as error:
            raise ConfigError(f"MCP server {self.name!r}: {error}") from error.__cause__
        except Exception as error:
            raise ConfigError(f"MCP server {self.name!r} cannot be opened: {_reason(error)}") from error
        self._approved = dict(approved) if approved is not None else {name: tool.digest for name, tool in self.listed.items()}

    async def close(self) -> None:
        """Close the connection and take the tools back."""
        self._is_closed = True
        for name in self.listed:
            if name in self._registry:
                self._registry.unregister(name)
        self.listed = {}
        await asyncio.gather(*(connection.close() for connection in self._connections))
        self._connections.clear()

    def approve(self, name: str) -> None:
        self._approved[name] = self.listed[name].digest

    def unapproved_reason(self, name: str) -> str:
        """Why calls of a tool need approval now; "" if its definition is approved."""
        tool = self.listed.get(name)
        if tool is None or self._approved.get(name) == tool.digest:
            return ""
        what = "changed the definition of" if name in self._approved else "added"
        return f"MCP server {self.name!r} {what} {name!r}, which is not approved"

    # Listing

    async def _connected(self) -> tuple[McpConnection, list[Any]]:
        """A new connection, and the tools that the server lists."""
        seconds = self._target.connect_timeout if isinstance(self._target, McpServer) else _DEFAULT_CONNECT_TIMEOUT
        made = McpConnection(self._target, self._list_again)
        try:
            async with asyncio.timeout(seconds):
                await made.open()
                listed = await made.tools()
        except BaseException as error:
            await made.close()
            if isinstance(error, TimeoutError):
                raise ConfigError(f"it did not answer within {seconds:g} s") from error
            if getattr(error, "code", None) == _CONNECTION_CLOSED:
                raise ConfigError("it ended before it answered; its standard error may say why") from error
            raise
        self._connections = {made, *(each for each in self._connections if each.is_open)}
        return made, listed

    async def _list_again(self, connection: McpConnection) -> None:
        """Follow a change of the server's list. If it cannot be read, the tools stay as they are."""
        try:
            listed = await connection.tools()
        except Exception as error:
            _log.warning("the changed list of tools of an MCP server could not be read: %s", type(error).__name__)
            return
        if connection is self._connection and not self._is_closed:
            self._offer(listed)

    def _offer(self, listed: list[Any], *, is_first: bool = False) -> None:
        """Register the listed tools in place of the ones before.

        For two tools with one name, raises `ConfigError` the first time. Later the second one is left out.
        """
        wanted = self._target.tools if isinstance(self._target, McpServer) else None
        found: dict[str, ListedTool] = {}
        self.left_out = {}
        for each in listed:
            name = prefixed_name(self.name, each.name)
            if wanted is not None and each.name not in wanted:
                continue
            if name in found or (name in self._registry and name not in self.listed):
                problem = f"its tool {each.name!r} would be the second one with the name {name!r}; name the servers otherwise"
                if is_first:
                    raise ConfigError(problem)
                self._leave_out(each.name, problem)
                continue
            try:
                found[name] = self._listed_tool(each, name)
            except ToolDefinitionError as error:
                self._leave_out(each.name, str(error))
                continue
            if name not in self.listed or self.listed[name].digest != found[name].digest:
                self._registry.register(found[name].tool, replace=True)
                self.listed[name] = found[name]  # at once: another server may have a tool of this name
        for name in [name for name in self.listed if name not in found]:
            self._registry.unregister(name)
            del self.listed[name]

    def _leave_out(self, name: str, why: str) -> None:
        self.left_out[name] = why
        _log.warning("a tool of an MCP server is left out: see McpServers.left_out")

    def _listed_tool(self, listed: Any, name: str) -> ListedTool:
        definition = definition_of_tool(listed, name, is_trusted=self._is_trusted)
        is_idempotent = self._is_trusted and annotation(listed, "idempotent_hint")

        async def call(arguments: dict[str, Any], /, context: RunContext[Any]) -> Any:
            return await self._call(name, listed.name, arguments, context)

        tool = Tool.from_definition(
            definition, call, idempotent=is_idempotent, requires_approval=partial(self._needs_approval, name)
        )
        return ListedTool(listed.name, digest_of_tool(listed), is_idempotent or definition.read_only, tool)

    def _needs_approval(self, name: str, arguments: dict[str, Any], context: RunContext[Any]) -> Any:
        required = self._requires_approval
        if (reason := self.unapproved_reason(name)) or isinstance(required, bool):
            return reason or required
        ask: Callable[..., Any] = required
        return ask(arguments, context) if takes_positional(ask, 2) else ask(arguments)

    # Calls

    async def _call(self, name: str, own_name: str, arguments: dict[str, Any], context: RunContext[Any]) -> Any:
        result = await self._on_own_loop(lambda: self._result(name, own_name, arguments, context))
        return value_of_result(result, self._limits.text, self._limits.images)

    async def _on_own_loop(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Do the work on the loop that opened the server, from whichever loop the tool runs on."""
        if self._loop is None or self._is_closed:
            raise self._error(" is closed")
        if self._loop is asyncio.get_running_loop():
            return await work()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work(), self._loop))

    async def _result(self, name: str, own_name: str, arguments: dict[str, Any], context: RunContext[Any]) -> Any:
        """The server's result. Raises `ToolError` for an error of the protocol, and if the server was lost."""

        async def progress(done: float, total: float | None, message: str | None) -> None:
            told = {"progress": done, "total": total, "message": message}
            context.emit({key: value for key, value in told.items() if value is not None})

        is_repeated, waits = False, iter(_WAITS)
        while True:
            connection = await self._open_connection()
            try:
                return await connection.call(own_name, arguments, progress)
            except sdk().MCPError as error:
                if error.code == UNREACHABLE and (wait := next(waits, None)) is not None:
                    await asyncio.sleep(wait)
                    continue
                if error.code not in (SESSION_LOST, _CONNECTION_CLOSED):
                    what = " cannot be reached" if error.code == UNREACHABLE else " answered with an error"
                    raise self._error(f"{what}: {error}", code=error.code) from error
                if error.code == SESSION_LOST:
                    connection.retire()
                if is_repeated or not (error.code == SESSION_LOST or self._is_repeatable(name)):
                    raise self._error(_LOST_BEFORE if error.code == SESSION_LOST else _LOST_DURING, code=error.code) from error
                is_repeated = True
                await connection.has_ended_or_ends()
            except (RuntimeError, ValueError) as error:  # a result that is none, or does not fit the tool's output schema
                raise self._error(f" sent an invalid result: {error_text_of(error)}") from error

    def _is_repeatable(self, name: str) -> bool:
        tool = self.listed.get(name)
        return tool is not None and tool.is_repeatable

    async def _open_connection(self) -> McpConnection:
        """The connection, or a new one if it has ended. A new one lists the tools again. Raises `ToolError`."""
        async with self._connecting:
            if self._connection is not None and not self._connection.has_ended:
                return self._connection
            failure: Exception | None = None
            for wait in _WAITS:
                await asyncio.sleep(wait)
                try:
                    self._connection, listed = await self._connected()
                except Exception as error:
                    failure = error
                    continue
                self._offer(listed)
                return self._connection
            raise self._error(f" cannot be reached: {_reason(failure or OSError())}") from failure

    def _error(self, text: str, **details: object) -> ToolError:
        """An error for the model, which begins with the server's name."""
        return ToolError(without_secrets(f"MCP server {self.name!r}{text}"), details=details or None)


def _reason(error: Exception) -> str:
    """Why a server cannot be opened. The words of an error of the protocol or of llmcore say it without their class."""
    return without_secrets(str(error) if isinstance(error, ConfigError | sdk().MCPError) else error_text_of(error))
