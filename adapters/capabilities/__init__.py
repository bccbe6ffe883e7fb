"""What endpoints can do: configured by the user, learned at run time, or known in advance (docs/capabilities.md).

`store` combines these sources. `known` holds what is known in advance, and `facts` what can be learned. `file_facts` and
`redis_facts` share facts with other processes.
"""

from __future__ import annotations

from llmcore.adapters.capabilities.beliefs import Beliefs, ToolLimit
from llmcore.adapters.capabilities.facts import DAY, LEARNABLE, PARAMETERS, TRIAL, Fact, SharedFacts, is_learnable
from llmcore.adapters.capabilities.file_facts import FileFacts
from llmcore.adapters.capabilities.known import known_capabilities
from llmcore.adapters.capabilities.redis_facts import RedisFacts
from llmcore.adapters.capabilities.store import CapabilityStore, shared_facts

__all__ = [
    "DAY",
    "LEARNABLE",
    "PARAMETERS",
    "TRIAL",
    "Beliefs",
    "CapabilityStore",
    "Fact",
    "FileFacts",
    "RedisFacts",
    "SharedFacts",
    "ToolLimit",
    "is_learnable",
    "known_capabilities",
    "shared_facts",
]
