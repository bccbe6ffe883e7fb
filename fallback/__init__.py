"""Layer 4: what to try when an attempt failed: another deployment, the same later, another output mode, another model, text only,
back to a place that had asked for time.

Failures are classified first; one budget is passed down and one list of attempts grows.
"""

from llmcore.fallback.context import FallbackContext, Models, Plan, best_place, first_well, resting
from llmcore.fallback.cooldown import Cooldown
from llmcore.fallback.ledger import Ledger
from llmcore.fallback.manager import Attempting, FallbackManager
from llmcore.fallback.remedies import Remedy, remedies
from llmcore.fallback.strategies import (
    DEFAULT_STRATEGIES,
    ComeBack,
    EscalateModel,
    OtherDeployment,
    OtherMode,
    Retry,
    Strategy,
    TextOnly,
)

__all__ = [
    "DEFAULT_STRATEGIES",
    "Attempting",
    "ComeBack",
    "Cooldown",
    "EscalateModel",
    "FallbackContext",
    "FallbackManager",
    "Ledger",
    "Models",
    "OtherDeployment",
    "OtherMode",
    "Plan",
    "Remedy",
    "Retry",
    "Strategy",
    "TextOnly",
    "best_place",
    "first_well",
    "remedies",
    "resting",
]
