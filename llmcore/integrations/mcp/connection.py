"""`McpConnection`: one opened client of a server, from start to end. A client never starts anew: a new connection is made.

A task of its own enters the client and leaves it, because anyio's scopes must be left by the task that entered them. Calls may
come from any task of the same loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from llmcore.integrations.mcp.config import McpServer
from llmcore.integrations.mcp.sdk import sdk
from llmcore.integrations.mcp.transports import transport_to
from llmcore.types import ConfigError
from llmcore.types.logs import logger

__all__ = ["McpConnection"]

_log = logger("tools")
_MAX_PAGES = 100
_MAX_TOOLS = 1000
"""How many pages and tools of one server are read."""
_MOMENT = 0.1
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
"""Seconds before a subscription that was lost is opened again; they double each time."""


class McpConnection:
    """One opened client. `client` is the SDK's. `has_ended`: new calls need a new connection.

    `on_change(connection)` is awaited when the server says that its list of tools has changed.
    """

    def __init__(self, target: object, on_change: Callable[[McpConnection], Awaitable[object]]) -> None:
        self.client: Any = None
        self.has_ended = False
        self._target = target
        self._on_change = on_change
        self._has_changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._in_flight = 0
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start or reach the server. Raises what prevents it; nothing stays open then."""
        self._task = asyncio.create_task(self._hold())
        try:
            await asyncio.shield(self._opened)
        except BaseException:
            self._task.cancel()
            await asyncio.wait((self._task,))
            raise

    @property
    def is_open(self) -> bool:
        """Whether its client has not been left yet."""
        return self._task is not None and not self._task.done()

    async def close(self) -> None:
        """Leave the client, which ends a server that was started."""
        self.end()
        if self._task is not None:
            await asyncio.wait((self._task,))

    def end(self) -> None:
        """Note that the connection has ended. Its task leaves the client."""
        self.has_ended = True
        self._closing.set()

    def retire(self) -> None:
        """Take no new calls. The client is left when the calls in flight have their answers."""
        self.has_ended = True
        if not self._in_flight:
            self.end()

    async def call(self, name: str, arguments: dict[str, Any], on_progress: Callable[..., Awaitable[None]]) -> Any:
        """The result of a tool. Raises the SDK's errors."""
        self._in_flight += 1
        try:
            return await self.client.call_tool(name, arguments, progress_callback=on_progress)
        finally:
            self._in_flight -= 1
            if self.has_ended:
                self.retire()

    async def has_ended_or_ends(self) -> bool:
        """Whether it has ended, or does so in a moment: after a call was lost, its task may still be leaving the client."""
        if self._task is not None and not self.has_ended:
            await asyncio.wait((self._task,), timeout=_MOMENT)
        return self.has_ended

    async def tools(self) -> list[Any]:
        """All pages of the server's list. Raises `ConfigError` for a list without an end."""
        found: list[Any] = []
        cursor = None
        for _ in range(_MAX_PAGES):
            page = await self.client.list_tools(cursor=cursor, cache_mode="refresh")
            found.extend(page.tools)
            cursor = page.next_cursor
            if cursor is None and len(found) <= _MAX_TOOLS:
                return found
            if len(found) > _MAX_TOOLS:
                break
        raise ConfigError(f"its list of tools has more than {_MAX_TOOLS} tools or {_MAX_PAGES} pages")

    async def _hold(self) -> None:
        """Enter the client, stay until the connection ends, and leave it."""
        try:
            async with self._made_client() as self.client:
                self._opened.set_result(None)
                followers = [asyncio.create_task(each) for each in (self._subscribe(), self._follow_changes())]
                try:
                    await self._closing.wait()
                finally:
                    for follower in followers:
                        follower.cancel()
                    await asyncio.wait(followers)
        except BaseException as error:
            if not self._opened.done():
                self._opened.set_exception(_first_of(error))
                self._opened.exception()  # who waits gets it; nobody does if `open` was cancelled
            else:
                _log.debug("the connection to an MCP server has ended: %s", type(_first_of(error)).__name__)
        finally:
            self.end()

    def _made_client(self) -> Any:
        given, client = self._target, sdk().Client
        if not isinstance(given, McpServer):
            return client(given, message_handler=self._hear)
        return client(transport_to(given, self.end), mode=given.protocol, message_handler=self._hear)

    async def _hear(self, message: Any) -> None:
        """Notifications of the protocols before 2026-07-28, which need no subscription."""
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._has_changed.set()

    async def _subscribe(self) -> None:
        """Subscribe to changes by the newest protocol, and again if the subscription is lost. The list is read again then."""
        capability = self.client.server_capabilities.tools
        unavailable = sdk("mcp.client.subscriptions").ListenNotSupportedError
        wait, is_first = _FIRST_WAIT, True
        while capability is not None and capability.list_changed:
            try:
                async with self.client.listen(tools_list_changed=True) as subscription:
                    if not is_first:
                        self._has_changed.set()
                    wait, is_first = _FIRST_WAIT, False
                    async for _ in subscription:
                        self._has_changed.set()
            except unavailable:
                return
            except Exception as error:  # of the SDK or of the connection
                _log.debug("a subscription to an MCP server was lost: %s", type(error).__name__)
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    async def _follow_changes(self) -> None:
        """Not in `_hear`: the client reads no answer until that returns."""
        while True:
            await self._has_changed.wait()
            self._has_changed.clear()
            with suppress(Exception):  # the callback has logged it
                await self._on_change(self)


def _first_of(error: BaseException) -> BaseException:
    """The first error within the groups of anyio's tasks."""
    members: Any = getattr(error, "exceptions", ())
    return _first_of(members[0]) if members else error
