"""Fault: LiteLLM believes that OpenAI's Responses endpoint has no streams for a model that LiteLLM's table does not know.

It then asks for the whole reply, and cuts that into chunks. In calls of ours, only what the table denies is no stream. Seen on
LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch
from llmcore.adapters.wire.traffic_watch import current_watch

__all__ = ["PATCHES"]

_UTILS = "litellm.utils"


def _unless_denied(ask: Any) -> Any:
    utils: Any = import_module(_UTILS)

    @wraps(ask)
    def supports_native_streaming(model: str, custom_llm_provider: str | None) -> bool:
        answer: bool = ask(model, custom_llm_provider)
        if answer or current_watch() is None:
            return answer
        try:
            utils._get_model_info_helper(model=model, custom_llm_provider=custom_llm_provider)
        except Exception:  # how LiteLLM says that it does not know the model
            return True
        return False

    return supports_native_streaming


PATCHES = (Patch(_UTILS, "", "supports_native_streaming", _unless_denied),)
