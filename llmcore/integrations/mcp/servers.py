"""`McpServers`: the tools of MCP servers, in a registry that follows the servers' lists.

- A tool of server `files` is offered as `files_read`. Two tools with one name are an error.
- What a server says about its tools is untrusted. Its hints (`read_only_hint`, `idempotent_hint`) count only if you name the
  server in `trusted`.
- A tool whose definition was not approved, or has changed since, waits for approval at each call.
- A call is sent again, once, only if it was not carried out, or if a trusted server says that repeating it is harmless.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Self

from llmcore.background import refuse_to_block, shared_loop
from llmcore.integrations.mcp.config import check_server_name, read_server
from llmcore.integrations.mcp.sdk import sdk
from llmcore.integrations.mcp.server_tools import ServerLimits, ServerTools
from llmcore.support.code.suggestions import hint
from llmcore.tools import ToolRegistry
from llmcore.tools.definition.options import Approval
from llmcore.types import CallerError, ConfigError

__all__ = ["McpServers"]


class McpServers:
    """Opens MCP servers and offers their tools: `async with McpServers({...}) as servers`, or `with` in sync code.

    `servers`: by name, the fields of an `McpServer` as a mapping, an `McpServer`, or a server object of the package `mcp`.
    `trusted`: the names of the servers whose hints count.
    `approved`: the digests of approved definitions, as `digests` of an earlier process. A tool that is not in it, or has another
    digest, waits for approval. None approves what the servers list when they are opened.
    `requires_approval`: of every tool: True, or a function of the arguments, or of the arguments and the `RunContext`.
    `max_result_chars`: the most characters of a result's text or data. `max_image_chars`: of its images, in base64. What is left
    out is stated in the result.

    Opening raises `ConfigError` for a server that cannot be reached, and for two tools with one name.
    """

    def __init__(
        self,
        servers: Mapping[str, object],
        *,
        trusted: Collection[str] = (),
        approved: Mapping[str, str] | None = None,
        requires_approval: Approval = False,
        max_result_chars: int = 100_000,
        max_image_chars: int = 8_000_000,
    ) -> None:
        sdk()  # raises now, not when a server is opened
        if isinstance(trusted, str):
            raise ConfigError(f"trusted must be a collection of names, as in [{trusted!r}], not a text")
        for name in trusted:
            if name not in servers:
                raise ConfigError(f"trusted: there is no server {name!r}; {hint(name, sorted(servers))}")
        self._registry = ToolRegistry()
        self._approved = dict(approved) if approved is not None else None
        limits = ServerLimits(max_result_chars, max_image_chars)
        self._servers = {
            check_server_name(name): ServerTools(
                name, read_server(name, given), self._registry, name in trusted, requires_approval, limits
            )
            for name, given in servers.items()
        }
        self._is_open = False

    def tools(self) -> ToolRegistry:
        """The tools of all servers, for `tools=` of an orchestrator or a run. Each turn offers those that are listed by then."""
        return self._registry

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each tool's current definition, by the tool's name. Save them for `approved`."""
        return {name: tool.digest for server in self._servers.values() for name, tool in server.listed.items()}

    @property
    def unapproved(self) -> list[str]:
        """The tools whose current definition is not approved. `tools().get(name).definition` shows what the model sees."""
        return [name for server in self._servers.values() for name in server.listed if server.unapproved_reason(name)]

    @property
    def left_out(self) -> dict[str, str]:
        """The tools that are listed and not offered, as `server: tool`, with the reason."""
        return {f"{server.name}: {tool}": why for server in self._servers.values() for tool, why in server.left_out.items()}

    def approve(self, *names: str) -> None:
        """Approve the current definitions of these tools. Raises `CallerError` for a name that no server lists."""
        for name in names:
            server = next((each for each in self._servers.values() if name in each.listed), None)
            if server is None:
                raise CallerError(f"no server lists a tool {name!r}; {hint(name, sorted(self.digests))}")
            server.approve(name)

    async def __aenter__(self) -> Self:
        if self._is_open:
            raise CallerError("these MCP servers are open already; make another McpServers")
        self._is_open = True
        try:
            opened = await asyncio.gather(
                *(server.open(self._approved) for server in self._servers.values()), return_exceptions=True
            )
            if failures := [error for error in opened if isinstance(error, BaseException)]:
                raise failures[0]
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_open = False
        await asyncio.gather(*(server.close() for server in self._servers.values()))

    def __enter__(self) -> Self:
        refuse_to_block("`with McpServers(...)`", "async with McpServers(...)")
        return shared_loop().run(self.__aenter__())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        shared_loop().run(self.__aexit__(kind, error, traceback))

    def __repr__(self) -> str:
        return f"McpServers({sorted(self._servers)})"
