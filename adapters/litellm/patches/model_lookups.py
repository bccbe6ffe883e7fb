"""Fault: LiteLLM asks servers what a model is, when it prices a reply or writes a prompt.

It asks Ollama and Lemonade (where the call went, or at their usual place) and Hugging Face. It does so on the event loop, which
stands still until they answer. In calls of ours LiteLLM asks nobody, and its tables count. Seen on LiteLLM 1.105.3 and 1.110.2.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from llmcore.adapters.litellm.patches.patch import Patch
from llmcore.adapters.wire.traffic_watch import current_watch

__all__ = ["PATCHES"]

_TEMPLATES = "litellm.litellm_core_utils.prompt_templates.huggingface_template_handler"
_NO_TEMPLATE = {"status": "failure"}


def _without_lookup(unknown: Any, ask: Callable[..., Any]) -> Callable[..., Any]:
    """`ask`, which gives `unknown` (its answer for a model that it does not know) in calls of ours."""

    @wraps(ask)
    def looked_up(*args: Any, **kwargs: Any) -> Any:
        return ask(*args, **kwargs) if current_watch() is None else unknown

    @wraps(ask)
    async def looked_up_async(*args: Any, **kwargs: Any) -> Any:
        return await ask(*args, **kwargs) if current_watch() is None else unknown

    return looked_up_async if inspect.iscoroutinefunction(ask) else looked_up


PATCHES = tuple(
    Patch(module, owner, name, partial(_without_lookup, unknown))
    for module, owner, name, unknown in (
        ("litellm.llms.ollama.common_utils", "OllamaModelInfo", "get_model_info", None),
        ("litellm.llms.lemonade.chat.transformation", "LemonadeChatConfig", "get_model_info", None),
        ("litellm.utils", "", "_get_max_position_embeddings", None),
        (_TEMPLATES, "", "_get_tokenizer_config", _NO_TEMPLATE),
        (_TEMPLATES, "", "_get_chat_template_file", _NO_TEMPLATE),
        (_TEMPLATES, "", "_aget_tokenizer_config", _NO_TEMPLATE),
        (_TEMPLATES, "", "_aget_chat_template_file", _NO_TEMPLATE),
    )
)
