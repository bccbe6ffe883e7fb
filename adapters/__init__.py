"""Layer 1: sends requests to providers and returns their replies.

LiteLLM is the engine. Only the package `litellm` imports it, on the first call. An adapter accepts a `Request` and returns a
whole `Reply`. It does not interpret the reply; the normalizer does.

Names are imported lazily.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmcore.lazy_names import lazy_dir, lazy_names

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

_LAZY = {
    "Adapter": "base",
    "Capabilities": "base",
    "CapabilityStore": "capabilities",
    "Endpoint": "base",
    "LiteLLMAdapter": "litellm.adapter",
    "ModelCall": "base",
    "Prices": "base",
    "Recorder": "recording.recorder",
    "RecordingProxy": "recording.proxy",
}

__all__ = [
    "Adapter",
    "Capabilities",
    "CapabilityStore",
    "Endpoint",
    "LiteLLMAdapter",
    "ModelCall",
    "Prices",
    "Recorder",
    "RecordingProxy",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _LAZY), lazy_dir(__name__, _LAZY)
