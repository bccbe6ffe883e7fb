"""An MCP server as a program: `python program.py stdio FOLDER`, or `http FOLDER PORT`. It is written with `mcp` alone.

Each process writes its id to `FOLDER/pids`. What a tool does is a line in `FOLDER/done`.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROLE, FOLDER = sys.argv[1], Path(sys.argv[2])


def note(file: str, line: str) -> None:
    with (FOLDER / file).open("a", encoding="utf-8") as log:
        log.write(f"{line}\n")


def main() -> None:
    mcp: Any = import_module("mcp.server.mcpserver")
    types: Any = import_module("mcp_types")
    server = mcp.MCPServer("program")

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    def other_add(a: int) -> str:
        return str(a)

    def environment() -> list[str]:
        """The names of the environment variables."""
        return sorted(os.environ)

    def crash(times: int) -> str:
        """End the process in the middle of the call, the first times."""
        note("done", "crash")
        if len((FOLDER / "done").read_text("utf-8").splitlines()) <= times:
            os._exit(1)
        return "survived"

    async def grow(ctx: Any) -> str:
        """List one tool more, and another definition of `add`."""
        server.remove_tool("add")
        server.add_tool(other_add, name="add", description="Now with one number.")
        server.add_tool(lambda: "new", name="extra", description="A new tool.")
        await ctx.session.send_tool_list_changed()
        await ctx.notify_tools_changed()
        return "grown"

    grow.__annotations__["ctx"] = mcp.Context  # by which the server finds the parameter

    for tool in (add, environment):
        server.add_tool(tool, annotations=types.ToolAnnotations(read_only_hint=True))
    server.add_tool(crash)
    server.add_tool(crash, name="crash_again", annotations=types.ToolAnnotations(idempotent_hint=True))
    server.add_tool(grow)
    note("pids", str(os.getpid()))
    if ROLE == "stdio":
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[3]))


if __name__ == "__main__":
    main()
