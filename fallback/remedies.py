"""What each kind of failure allows us to try. A table: the class says who is to blame, the row what may help.

| failure | what may help |
|---|---|
| a caller's error (key, configuration, limits) | nothing: stop at once |
| quota spent | another provider; waiting does not help |
| model unknown or not accessible | another model, if one is listed |
| rate limit | wait as told, in the same mode; else another model. It is no reason to change the mode |
| context overflow | a model with a larger window only |
| request too large | nothing: the caller must shorten it |
| a capability refused | learn it; the same mode without it, the next mode, another model, text only |
| overloaded, server error, timeout | the same again after a back-off, then another model |
| refused, cut short | another model |
| a bad answer | the next mode, another model, text only |
| ours | once more at most |
"""

from __future__ import annotations

from typing import Literal

from llmcore.types import (
    CallerError,
    CapabilityRefused,
    ContextOverflow,
    InternalError,
    LLMCoreError,
    ModelError,
    ModelNotFound,
    ProviderError,
    QuotaExceeded,
    RateLimited,
    Refused,
    RequestTooLarge,
    Truncated,
)

__all__ = ["Remedy", "remedies"]

Remedy = Literal["retry", "retry_once", "mode", "model", "larger_window", "other_provider", "text"]

_BY_CLASS: tuple[tuple[type[LLMCoreError], frozenset[Remedy]], ...] = (
    (QuotaExceeded, frozenset({"other_provider"})),
    (ModelNotFound, frozenset({"model"})),
    (CallerError, frozenset()),
    (RateLimited, frozenset({"retry", "model"})),
    (ContextOverflow, frozenset({"larger_window"})),
    (RequestTooLarge, frozenset()),
    (CapabilityRefused, frozenset({"mode", "model", "text"})),
    (ProviderError, frozenset({"retry", "model"})),
    (Refused, frozenset({"model"})),
    (Truncated, frozenset({"model"})),
    (ModelError, frozenset({"mode", "model", "text"})),
    (InternalError, frozenset({"retry_once"})),
)


def remedies(failure: LLMCoreError) -> frozenset[Remedy]:
    """What may help against `failure`; the first row whose class it is counts, and no row means nothing."""
    nothing: frozenset[Remedy] = frozenset()
    return next((found for kind, found in _BY_CLASS if isinstance(failure, kind)), nothing)
