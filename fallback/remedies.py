"""What may help against each kind of failure. The failure's class selects the row.

| failure | what may help |
|---|---|
| the caller's error (configuration, limits) | nothing: the run ends at once |
| the key is refused | another deployment, which may have its own key; a model of another account |
| forbidden, and the server does not mention the key | another deployment, another model |
| quota spent | another deployment; a model of another account (another server or key); a wait does not help |
| model unknown or not accessible | another deployment; another model, if one is listed |
| rate limit, overloaded | another deployment; the wait that the server asks for; another model; never another mode |
| context overflow | a model with a larger or an unknown window |
| request too large for a server or an account | another deployment, another model |
| a capability refused | the same mode without it, the next mode, another deployment, another model, text only |
| images, files or audio refused | another deployment, another model: every mode sends them |
| a permanent 4xx whose reason is unknown | the same mode without its optional parts, then as for a refused capability |
| server error, timeout | another deployment; a retry after a back-off, then another model |
| a redirect to another server, which llmcore does not follow | another deployment, another model |
| a 500 twice in one mode | another model, the next mode: the mode's input may break the server |
| 403 or 404, and the server names neither key nor model | the next mode, then the last one |
| the model refuses, or its reply is cut short | another model |
| an invalid reply | the next mode, another model, text only; if all modes send the same request, one retry |
| an internal error | one retry |

Other deployments of the alias come first, without a wait, each once a turn.

If another model is left, a model may fail `TRIES` times a turn with a rate limit, overload, server error or timeout. A run
waits for it `PATIENCE` seconds at most. Then the other model is asked.

If no other model is left, a wait may last until the run's deadline (without a deadline: `Retry.max_wait`). So `ComeBack`
returns to a place that asked for a wait once the others have failed.
"""

from __future__ import annotations

from typing import Literal

from llmcore.support.values.media_kinds import MEDIA_PARTS
from llmcore.types import (
    AuthenticationFailed,
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
    RequestRefused,
    RequestTooLarge,
    Truncated,
)

__all__ = ["PATIENCE", "TRIES", "Remedy", "remedies"]

TRIES = 2
PATIENCE = 5.0

Remedy = Literal[
    "deployment",
    "deployment_last",
    "retry",
    "retry_once",
    "again",
    "mode",
    "mode_once",
    "model",
    "larger_window",
    "other_account",
    "text",
]

_BY_CLASS: tuple[tuple[type[LLMCoreError], frozenset[Remedy]], ...] = (
    (QuotaExceeded, frozenset({"deployment", "other_account"})),
    (ModelNotFound, frozenset({"deployment", "model"})),
    (AuthenticationFailed, frozenset({"deployment", "other_account"})),
    (CallerError, frozenset()),
    (RateLimited, frozenset({"deployment", "retry", "model"})),
    (ContextOverflow, frozenset({"larger_window"})),
    (RequestTooLarge, frozenset({"deployment", "model"})),
    (CapabilityRefused, frozenset({"mode", "deployment_last", "model", "text"})),
    (RequestRefused, frozenset({"mode", "deployment_last", "model", "text"})),
    (ProviderError, frozenset({"deployment", "retry", "model"})),
    (Refused, frozenset({"model"})),
    (Truncated, frozenset({"model"})),
    (ModelError, frozenset({"again", "mode", "model", "text"})),
    (InternalError, frozenset({"retry_once"})),
)


def remedies(failure: LLMCoreError) -> frozenset[Remedy]:
    """What may help against `failure`: the first row whose class matches. Without a row, nothing helps."""
    nothing: frozenset[Remedy] = frozenset()
    found = next((found for kind, found in _BY_CLASS if isinstance(failure, kind)), nothing)
    if isinstance(failure, CapabilityRefused) and not MEDIA_PARTS.isdisjoint(failure.capabilities):
        return frozenset({"deployment_last", "model"})
    again: frozenset[Remedy] = frozenset({"retry"})
    kind = failure.facts.kind
    if kind == "lasting":
        return found - again
    other: frozenset[Remedy] = frozenset({"model"}) if kind in ("forbidden", "unexplained") else nothing
    once: frozenset[Remedy] = frozenset({"mode_once"}) if kind == "unexplained" else nothing
    return found | other | once if isinstance(failure, AuthenticationFailed | ModelNotFound) else found
