"""The model registry: the models you may use, where they are served, and which one answers a request."""

from llmcore.models.config import ModelConfig
from llmcore.models.deployment import Deployment
from llmcore.models.registry import ModelRegistry
from llmcore.models.selection import Needs, check_media_needs, needs_of

__all__ = ["Deployment", "ModelConfig", "ModelRegistry", "Needs", "check_media_needs", "needs_of"]
