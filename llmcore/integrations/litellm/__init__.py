"""LiteLLM with calls in text as native calls: names to import, a patch in one line, and a callback for its proxy.

    from llmcore.integrations.litellm import acompletion, completion   # LiteLLM's functions, with native calls

    llmcore.integrations.litellm.wrap()                                # in place: whoever calls LiteLLM gets native calls

    litellm_settings: {callbacks: llmcore.integrations.litellm.proxy_handler}   # config.yaml of the proxy

LiteLLM is imported when one of these names is first used. docs/litellm_dropin.md shows all three.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_names

if TYPE_CHECKING:
    from llmcore.integrations.litellm.functions import acompletion as acompletion
    from llmcore.integrations.litellm.functions import completion as completion
    from llmcore.integrations.litellm.functions import unwrap as unwrap
    from llmcore.integrations.litellm.functions import wrap as wrap
    from llmcore.integrations.litellm.proxy import ProxyHandler as ProxyHandler
    from llmcore.integrations.litellm.proxy import proxy_handler as proxy_handler

if not TYPE_CHECKING:
    _NAMES_BY_MODULE = {
        "functions": "acompletion completion unwrap wrap",
        "proxy": "ProxyHandler proxy_handler",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES_BY_MODULE)
