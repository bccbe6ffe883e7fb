"""Layer 4: what to try when an attempt failed: the same later, another output mode, another model, text only.

Failures are classified first; one budget is passed down and one list of attempts grows.
"""

from llmcore.fallback.context import FallbackContext, Models, Plan
from llmcore.fallback.ledger import Ledger
from llmcore.fallback.manager import Attempting, FallbackManager
from llmcore.fallback.remedies import Remedy, remedies
from llmcore.fallback.strategies import DEFAULT_STRATEGIES, EscalateModel, OtherMode, Retry, Strategy, TextOnly

__all__ = [
    "DEFAULT_STRATEGIES",
    "Attempting",
    "EscalateModel",
    "FallbackContext",
    "FallbackManager",
    "Ledger",
    "Models",
    "OtherMode",
    "Plan",
    "Remedy",
    "Retry",
    "Strategy",
    "TextOnly",
    "remedies",
]
