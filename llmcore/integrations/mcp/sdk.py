"""Imports the package `mcp` on demand. Its types are `Any` here, because a type checker may not have the extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from llmcore.types import ConfigError

__all__ = ["sdk"]


def sdk(module: str = "mcp") -> Any:
    """A module of the package `mcp` or of its dependencies.

    Raises `ConfigError` if it is not installed, or is older than 2.3.
    """
    try:
        package = import_module("mcp")
        found = import_module(module)
    except ImportError as error:
        raise ConfigError("MCP needs the package mcp: pip install 'llmcore-engine[mcp]'") from error
    if not hasattr(package, "Client"):
        raise ConfigError("MCP needs mcp 2.3 or later, and an older one is installed: pip install -U 'llmcore-engine[mcp]'")
    return found
