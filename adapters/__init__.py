"""Layer 1: what to ask of a provider, and what came back.

LiteLLM is the engine; the room `litellm` is the only one that imports it, on the first call and never before. An adapter takes a
`Request` and returns a whole `Reply`; it reads nothing into the reply, that is the normaliser's task.

Names are loaded when first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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
    "Adapter": "llmcore.adapters.base",
    "Capabilities": "llmcore.adapters.base",
    "CapabilityStore": "llmcore.adapters.capabilities",
    "Endpoint": "llmcore.adapters.base",
    "LiteLLMAdapter": "llmcore.adapters.litellm.adapter",
    "ModelCall": "llmcore.adapters.base",
    "Prices": "llmcore.adapters.base",
    "Recorder": "llmcore.adapters.recording.recorder",
    "RecordingProxy": "llmcore.adapters.recording.proxy",
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


if not TYPE_CHECKING:  # a checker takes each name for one of a module that has it

    def __getattr__(name: str) -> object:
        if name in _LAZY:
            value: object = getattr(import_module(_LAZY[name]), name)
            globals()[name] = value  # asked once
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
