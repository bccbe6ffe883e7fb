"""MCP: servers as providers of tools, and llmcore's tools as a server. Needs the extra `llmcore-engine[mcp]`.

    async with McpServers({"files": {"command": "my-server"}, "web": {"url": "https://.../mcp"}}) as servers:
        await orchestrator.run("...", tools=servers.tools())

    await serve_stdio([my_tool])

The package `mcp` is imported when servers are named or made, not with this module.
"""

from llmcore.integrations.mcp.config import McpServer
from llmcore.integrations.mcp.servers import McpServers
from llmcore.integrations.mcp.serving import http_app, mcp_server, serve_stdio

__all__ = ["McpServer", "McpServers", "http_app", "mcp_server", "serve_stdio"]
