"""`llmcore mcp`: serves tools over MCP, by standard input and output or by HTTP."""

from __future__ import annotations

import os
from typing import Annotated

import typer

__all__ = ["mcp_command"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def mcp_command(
    given: Annotated[str, typer.Argument(help="module:object: a tool, tools, a registry or an agent.", metavar="MODULE:OBJECT")],
    http: Annotated[
        str | None, typer.Option(help="Serve HTTP at this address, path /mcp, instead of stdin and stdout.", metavar="HOST:PORT")
    ] = None,
    token_variable: Annotated[
        str | None, typer.Option(help="The environment variable with the token that HTTP clients must send.", metavar="NAME")
    ] = None,
    name: Annotated[str, typer.Option(help="The server's name.")] = "llmcore",
) -> None:
    """Serve tools over MCP.

    Exit code 0; 2: the tools cannot be read or served, or the address is wrong.
    """
    import asyncio
    import signal

    from llmcore.cli.helpers.tool_files import tool_objects
    from llmcore.integrations.mcp import http_app, serve_stdio
    from llmcore.types import ConfigError

    if http is None:
        if token_variable is not None:
            raise ConfigError("--token-variable is for HTTP: give --http too")
        asyncio.run(serve_stdio(tool_objects(given), name=name))
        return
    host, port = _address(http)
    token = _token(token_variable)
    if token is None and host not in _LOOPBACK:
        raise ConfigError(f"{host} can be reached by others: give --token-variable with the token that clients must send")
    app = http_app(tool_objects(given), host=host, token=token, name=name)
    from llmcore.integrations.mcp.sdk import sdk

    # After the shutdown, uvicorn raises the signal again. Without a handler, SIGTERM would end the process with 143.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sdk("uvicorn").run(app, host=host, port=port, log_level="warning")


def _address(http: str) -> tuple[str, int]:
    from llmcore.types import ConfigError

    host, _, port = http.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"--http takes HOST:PORT, as in 127.0.0.1:8000, not {http!r}")
    return host.strip("[]"), int(port)


def _token(variable: str | None) -> str | None:
    from llmcore.types import ConfigError

    if variable is None:
        return None
    token = os.environ.get(variable)
    if not token:
        raise ConfigError(f"--token-variable: the environment has no variable {variable!r}, or it is empty")
    return token
