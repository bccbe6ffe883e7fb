"""Layer 4: decides what to try after a failed attempt.

The manager classifies each failure. Strategies then propose the next attempt: another deployment, a retry after a wait,
another output mode, another model, plain text, or a return to a rate-limited deployment. All attempts of a run share one
budget.
"""

from llmcore.fallback.context import FallbackContext, Models, Plan, best_deployment, cooldown_left, first_available_model
from llmcore.fallback.cooldown import Cooldown, SharedCooldowns
from llmcore.fallback.ledger import Ledger
from llmcore.fallback.manager import AttemptRunner, FallbackManager
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
    "AttemptRunner",
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
    "SharedCooldowns",
    "Strategy",
    "TextOnly",
    "best_deployment",
    "cooldown_left",
    "first_available_model",
    "remedies",
]
