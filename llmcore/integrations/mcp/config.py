"""`McpServer`: how a server is reached. A command is run, or a URL is asked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

from pydantic import ConfigDict, Field

from llmcore.adapters.secrets.known_secrets import remember
from llmcore.adapters.secrets.request_secrets import header_secrets
from llmcore.adapters.secrets.scrubber import is_secret_name
from llmcore.support.code.suggestions import describe_value
from llmcore.support.values.bounds import PositiveAmount
from llmcore.support.values.copies import Value
from llmcore.types import ConfigError
from llmcore.types.input.headers import check_headers

__all__ = ["McpServer", "check_server_name", "read_server"]

Kind = Literal["stdio", "http", "streamable-http", "streamable_http"]
_OF_COMMANDS = ("args", "env", "inherit", "cwd")
_OF_URLS = ("headers", "auth")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


class McpServer(Value):
    """How one server is reached. Give `command` or `url`.

    `command`, `args`, `cwd`: the program to run, which speaks MCP over its standard input and output.
    `env`: environment variables of the program. It also inherits those that any program needs (`PATH`, `HOME`, `LOGNAME`,
    `SHELL`, `TERM` and `USER`, or Windows' own), and no other.
    `inherit`: the names of further variables that it inherits from this process.
    `url`: the address of a server that speaks streamable HTTP.
    `headers`: sent with each request to this server, and to no other.
    `auth`: an `httpx2.Auth`, such as the `OAuthClientProvider` of the package `mcp`.
    `tools`: the server's names of the tools to offer; None offers all.
    `protocol`: "auto" asks the server for the newest protocol; "legacy" begins with the handshake of those before 2026-07-28.
    `connect_timeout`: seconds to start or reach the server and to list its tools.
    `type`: optional and ignored, as in the configuration files of other clients.

    Raises `ConfigError` for an unknown field or a wrong value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    instead: ClassVar[Mapping[str, str]] = {
        "transport": "`command` runs a program, `url` asks a server over HTTP",
        "timeout": "it is `connect_timeout`; the seconds of each call are the run's `tool_timeout`",
        "allowed_tools": "it is `tools`",
    }

    type: Kind | None = None
    command: str | None = None
    args: list[str] = Field(default_factory=list[str])
    env: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    inherit: list[str] = Field(default_factory=list[str])
    cwd: str | Path | None = None
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    auth: Any = Field(default=None, repr=False)
    tools: AbstractSet[str] | None = None
    protocol: Literal["auto", "legacy"] = "auto"
    connect_timeout: PositiveAmount = 30.0

    def environment(self) -> dict[str, str]:
        """The variables to add to those that any program needs. Raises `ConfigError` for one that this process does not have."""
        missing = [name for name in self.inherit if name not in os.environ]
        if missing:
            raise ConfigError(f"it inherits {missing[0]!r}, which this process's environment does not have")
        return {**{name: os.environ[name] for name in self.inherit}, **self.env}


def check_server_name(name: object) -> str:
    """The name, if the names of tools can begin with it. Raises `ConfigError`."""
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise ConfigError(
            f"the name of an MCP server begins the names of its tools: give 1 to 32 letters, digits, _ or -, "
            f"not {describe_value(name)}"
        )
    return name


def read_server(name: str, given: object) -> object:
    """The checked configuration of a server. Anything but a mapping or an `McpServer` is returned unchanged.

    Its secrets become secrets of the process, which no log, error or recording shows. Raises `ConfigError`.
    """
    if not isinstance(given, Mapping | McpServer):
        return given
    try:
        server = given if isinstance(given, McpServer) else McpServer(**cast("Mapping[str, Any]", given))
        _check(server)
    except ConfigError as error:
        raise ConfigError(f"MCP server {name!r}: {error}") from None
    remember(header_secrets(server.headers))
    remember(value for variable, value in server.env.items() if is_secret_name(variable))
    return server


def _check(server: McpServer) -> None:
    if (server.command is None) == (server.url is None):
        raise ConfigError("give either a `command` or a `url`")
    unused = _OF_URLS if server.url is None else _OF_COMMANDS
    if misplaced := [field for field in unused if getattr(server, field)]:
        raise ConfigError(f"`{misplaced[0]}` is for a server with a `{'url' if server.url is None else 'command'}`")
    if server.url is not None and not server.url.startswith(("http://", "https://")):
        raise ConfigError("its `url` must begin with http:// or https://")
    check_headers("its `headers`", server.headers)
