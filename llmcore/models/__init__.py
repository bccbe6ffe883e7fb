"""The model registry: which models there are, where they are, and which one answers a request."""

from llmcore.models.config import ModelConfig
from llmcore.models.deployment import Deployment
from llmcore.models.registry import ModelRegistry
from llmcore.models.selection import Needs, needs_of

__all__ = ["Deployment", "ModelConfig", "ModelRegistry", "Needs", "needs_of"]
