"""Fault: LiteLLM makes a request's coroutine in a thread and awaits it on the event loop. A cancellation in between leaves it.

Python then warns of a coroutine that was never awaited. This patch gives each such coroutine to the call's `Watch`, which closes
it. Seen on LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch
from llmcore.adapters.wire.traffic_watch import current_watch

__all__ = ["PATCHES"]


def _given_to_watch(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def completion(*args: Any, **kwargs: Any) -> Any:
        made, watch = function(*args, **kwargs), current_watch()
        if watch is not None and inspect.iscoroutine(made):
            watch.note_coroutine(made)
        return made

    return completion


PATCHES = (Patch("litellm.main", "", "completion", _given_to_watch),)
