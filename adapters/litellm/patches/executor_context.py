"""Fault: LiteLLM's threads lose the context of the call that gives them work.

What runs there is then no part of a call of ours: the other patches do not see it. Seen on LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

from contextvars import copy_context
from functools import wraps
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch

__all__ = ["PATCHES"]


def _in_context(submit: Any) -> Any:
    @wraps(submit)
    def submitted(function: Any, /, *args: Any, **kwargs: Any) -> Any:
        return submit(copy_context().run, function, *args, **kwargs)

    return submitted


PATCHES = (Patch("litellm.litellm_core_utils.thread_pool_executor", "executor", "submit", _in_context),)
