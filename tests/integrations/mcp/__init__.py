"""Tests of MCP. They need the package `mcp`, and are skipped without it."""
