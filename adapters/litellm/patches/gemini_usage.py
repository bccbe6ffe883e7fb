"""Fault: LiteLLM raises at a whole reply of Gemini's without `usageMetadata`, which some proxies leave out.

The error holds all of the reply. LiteLLM and llmcore then search that text for what it means: eight seconds a megabyte, in which
the event loop stands still. LiteLLM reads streams without usage. Seen on LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch
from llmcore.adapters.wire.traffic_watch import current_watch
from llmcore.support.values.narrowing import is_object

__all__ = ["PATCHES"]

_USAGE = "usageMetadata"


def _with_optional_usage(calculate: Any) -> Any:
    """In calls of ours, usage that is missing is usage of nothing."""

    @wraps(calculate)
    def calculate_usage(completion_response: Any, *args: Any, **kwargs: Any) -> Any:
        if current_watch() is not None and is_object(completion_response) and _USAGE not in completion_response:
            completion_response = {**completion_response, _USAGE: {}}
        return calculate(completion_response, *args, **kwargs)

    return staticmethod(calculate_usage)


PATCHES = (
    Patch(
        "litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini",
        "VertexGeminiConfig",
        "_calculate_usage",
        _with_optional_usage,
    ),
)
