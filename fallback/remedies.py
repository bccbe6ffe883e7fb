"""What each kind of failure allows us to try. A table: the class says who is to blame, the row what may help.

| failure | what may help |
|---|---|
| a caller's error (configuration, limits) | nothing: stop at once |
| a key that is not taken | another deployment, which may have a key of its own; a model of another account |
| forbidden, and the server does not speak of the key | another deployment, another model |
| quota spent | another deployment; a model of another account (its own server, or another key); waiting does not help |
| model unknown or not accessible | another deployment; another model, if one is listed |
| rate limit, overloaded | another deployment; wait as told; another model. It is no reason to change the mode |
| context overflow | a model with a larger window only, or one that nobody knows |
| request too large for a server, or for an account | another deployment, another model: its limit is its own |
| a capability refused | learn it; the same mode without it, the next mode, then another deployment, another model, text only |
| images refused | another deployment, another model: each mode sends them |
| a refusal that is not understood (a 4xx that cannot pass) | the same mode without its optional parts, then the same as above |
| server error, timeout | another deployment; the same again after a back-off, then another model |
| led to another server, which is not followed | another deployment, another model |
| a 500 twice in one mode | another model, the next mode: what the mode sends may be what breaks the server |
| forbidden, not found, and the server does not say that the key or the model is the reason | the next mode, then the last one |
| refused, cut short | another model |
| a bad answer | the next mode, another model, text only; where no mode makes another request, the same once more |
| ours | once more at most |

Another deployment of the same alias is asked at once, each once a turn. Where another model is left, a model may fail
`TRIES` times in a turn by what a retry may help against (a rate limit, an overload, a server error, a timeout), and is
waited for `PATIENCE` seconds at most: then the other one is asked. Where none is left, a wait may take all the time the
run's deadline leaves (without a deadline: `Retry.max_wait`); so a place that had asked for time is gone back to when the
others have failed (`ComeBack`).
"""

from __future__ import annotations

from typing import Literal

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


_IN_EVERY_MODE = "images"
"""What each output mode sends."""


def remedies(failure: LLMCoreError) -> frozenset[Remedy]:
    """What may help against `failure`; the first row whose class it is counts, and no row means nothing."""
    nothing: frozenset[Remedy] = frozenset()
    found = next((found for kind, found in _BY_CLASS if isinstance(failure, kind)), nothing)
    if isinstance(failure, CapabilityRefused) and _IN_EVERY_MODE in failure.capabilities:
        return frozenset({"deployment_last", "model"})
    again: frozenset[Remedy] = frozenset({"retry"})
    kind = failure.facts.kind
    if kind == "lasting":
        return found - again
    other: frozenset[Remedy] = frozenset({"model"}) if kind in ("forbidden", "unexplained") else nothing
    once: frozenset[Remedy] = frozenset({"mode_once"}) if kind == "unexplained" else nothing
    return found | other | once if isinstance(failure, AuthenticationFailed | ModelNotFound) else found
