"""The code that fixes LiteLLM from below, one module for each fault.

Each module has a table `PATCHES` of the functions that it replaces. Its docstring says which fault it is for, and on which
versions of LiteLLM we saw the fault. Its test fails when the locked LiteLLM no longer has the fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from llmcore.adapters.litellm.patches.patch import Patch

__all__ = ["MODULES", "all_patches", "apply_patches"]

MODULES = (
    *("client_cache", "diagnostics", "disable_callbacks", "executor_context", "exit_order", "gemini_usage", "http_transport"),
    *("logging_worker", "model_lookups", "native_streaming", "ollama_chunks", "unawaited_completion"),
)
"""By name: `http_transport` imports httpx, so nothing imports it before LiteLLM."""


def all_patches() -> Iterator[Patch]:
    for name in MODULES:
        yield from import_module(f"{__name__}.{name}").PATCHES


def apply_patches() -> None:
    """Apply all of them, once or more often. Raises `ConfigError` if the installed LiteLLM lacks a function that one replaces."""
    for patch in all_patches():
        patch.apply()
