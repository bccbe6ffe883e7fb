"""Layer 1: sends requests to providers and returns their replies.

LiteLLM is the engine. Only the package `litellm` imports it, on the first call. An adapter accepts a `Request` and returns a
whole `Reply`. It does not interpret the reply; the normalizer does.

Names are imported lazily.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_names

if TYPE_CHECKING:
    from llmcore.adapters.base import Adapter as Adapter
    from llmcore.adapters.base import Capabilities as Capabilities
    from llmcore.adapters.base import Endpoint as Endpoint
    from llmcore.adapters.base import ModelCall as ModelCall
    from llmcore.adapters.base import Prices as Prices
    from llmcore.adapters.capabilities import CapabilityStore as CapabilityStore
    from llmcore.adapters.litellm.adapter import LiteLLMAdapter as LiteLLMAdapter
    from llmcore.adapters.recording.proxy import RecordingProxy as RecordingProxy
    from llmcore.adapters.recording.recorder import Recorder as Recorder

if not TYPE_CHECKING:
    _NAMES_BY_MODULE = {
        "base": "Adapter Capabilities Endpoint ModelCall Prices",
        "capabilities": "CapabilityStore",
        "litellm.adapter": "LiteLLMAdapter",
        "recording.proxy": "RecordingProxy",
        "recording.recorder": "Recorder",
    }
    __all__, __getattr__, __dir__ = lazy_names(__name__, _NAMES_BY_MODULE)
