"""Gemini's replies without `usageMetadata`, which some proxies leave out.

LiteLLM 1.105.3 and 1.110.2 raise at a whole one (`_calculate_usage`) with all of the reply in the message, in which they and we
then look for what it means: eight seconds a megabyte in which the event loop stands. Streams without it are read.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patching import replace
from llmcore.adapters.wire.watching import current_watch
from llmcore.types.narrowing import is_object

__all__ = ["read_without_usage"]

_USAGE = "usageMetadata"


def read_without_usage(config: Any) -> None:
    """In calls of ours `config`, LiteLLM's reader of Gemini's replies, takes usage that is not told for usage of nothing."""

    def lenient(calculate: Any) -> Any:
        @wraps(calculate)
        def calculate_usage(completion_response: Any, *args: Any, **kwargs: Any) -> Any:
            if current_watch() is not None and is_object(completion_response) and _USAGE not in completion_response:
                completion_response = {**completion_response, _USAGE: {}}
            return calculate(completion_response, *args, **kwargs)

        return staticmethod(calculate_usage)

    replace(config, "_calculate_usage", lenient)
