"""What an exception of LiteLLM means to us: a table, read from the top.

Every LiteLLM exception subclasses the openai ones and is trusted in this order: HTTP status, class, then the body and
message (`error_facts` gathers them). The first row whose conditions all hold names our error, and with it who is to blame and
what may be done about it. Linear in the message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.error_facts import Facts, facts_of
from llmcore.adapters.litellm.keys_words import called_unauthorized, says_unauthorized
from llmcore.adapters.litellm.overflows import does_not_fit
from llmcore.adapters.litellm.passing_words import called_a_fault, called_overloaded, called_too_often, says_too_often
from llmcore.adapters.litellm.patching import TRIED
from llmcore.adapters.litellm.refusals import (
    CANNOT_BE_MADE,
    MISSING_MODEL,
    NO_SUCH_ENDPOINT,
    NO_SUCH_PATH,
    refused_capabilities,
    refuses_as_it_is,
)
from llmcore.adapters.litellm.words import key_words, place_words, provider_words
from llmcore.adapters.providers import provider_of
from llmcore.adapters.secrets.scrubber import Scrubber
from llmcore.types import (
    AuthenticationFailed,
    CallerError,
    CapabilityRefused,
    ConfigError,
    ContextOverflow,
    InternalError,
    LLMCoreError,
    ModelNotFound,
    Overloaded,
    QuotaExceeded,
    RateLimited,
    Refused,
    RemoteServerError,
    RequestRefused,
    RequestTooLarge,
    Timeout,
)

__all__ = ["ROWS", "Row", "classify"]


@dataclass(frozen=True, slots=True)
class Row:
    """One meaning. All conditions that are given must hold; of each, any one of its values."""

    make: Callable[[Facts], LLMCoreError]
    status: frozenset[int] = frozenset()
    kinds: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    text: tuple[str, ...] = ()
    also: Callable[[Facts], bool] | None = None

    def holds(self, facts: Facts) -> bool:
        return (
            (not self.status or facts.status in self.status)
            and (not self.kinds or bool(self.kinds & facts.kinds))
            and (not self.codes or bool(self.codes & facts.codes))
            and (not self.text or any(part in facts.text for part in self.text))
            and (self.also is None or self.also(facts))
        )


def _row(
    make: Callable[[Facts], LLMCoreError],
    *,
    status: tuple[int, ...] = (),
    kinds: tuple[str, ...] = (),
    codes: tuple[str, ...] = (),
    text: tuple[str, ...] = (),
    also: Callable[[Facts], bool] | None = None,
) -> Row:
    return Row(make, frozenset(status), frozenset(kinds), frozenset(codes), text, also)


def _plain(kind: type[LLMCoreError], what: str) -> Callable[[Facts], LLMCoreError]:
    return lambda facts: kind(facts.placed(what))


def _with_status(kind: Callable[..., LLMCoreError], what: str) -> Callable[[Facts], LLMCoreError]:
    return lambda facts: kind(facts.placed(f"{what}{facts.http}"), status=facts.status)


def _quota_spent(facts: Facts) -> LLMCoreError:
    return QuotaExceeded(facts.placed(f"the account's quota is spent; {key_words(facts.call)}"))


_too_large = _with_status(RequestTooLarge, "the request is larger than the server takes")
_overflow = _with_status(ContextOverflow, "the request does not fit into the model's context window")
_content_refused = _plain(Refused, "the provider refuses what is asked")


def _rate_limited(facts: Facts) -> LLMCoreError:
    return RateLimited(facts.placed(f"too many requests{facts.http}"), status=facts.status, retry_after=_wait(facts))


def _overloaded(facts: Facts) -> LLMCoreError:
    return Overloaded(facts.placed(f"the server is overloaded{facts.http}"), status=facts.status, retry_after=_wait(facts))


def _wait(facts: Facts) -> float | None:
    """A wait of nothing, or until a time that is past, is none: a server says it that refused the request just now."""
    return facts.retry_after if facts.retry_after is not None and facts.retry_after > 0 else None


def _not_reached(facts: Facts) -> LLMCoreError:
    return RemoteServerError(facts.beneath("the connection failed"), status=None if facts.connection else facts.status)


def _led_away(facts: Facts) -> LLMCoreError:
    error = RemoteServerError(facts.beneath("the connection failed"), status=None if facts.connection else facts.status)
    error.lasting = True
    return error


def _timed_out(facts: Facts) -> LLMCoreError:
    if facts.call is None:
        return Timeout("no answer within the time given for a read", status=facts.status)
    return Timeout(f"{place_words(facts.call)}: no answer within {facts.call.timeout:g} s given for a read", status=facts.status)


def _capability_refused(facts: Facts) -> LLMCoreError:
    first, *others = facts.capabilities
    what = f"the server does not take {' and '.join(facts.capabilities)}{facts.http}"
    error = CapabilityRefused(facts.placed(what), capability=first, status=facts.status)
    if others:
        error.others = tuple(others)
    return error


def _no_image(facts: Facts) -> LLMCoreError:
    return CallerError("an image is not taken by its URL here: fetch it, and give `data` (base64) with its `media_type`")


def _installation(facts: Facts) -> LLMCoreError:
    return ConfigError(f"litellm is not usable as installed ({facts.message}); {TRIED}")


def _unknown_provider(facts: Facts) -> LLMCoreError:
    return ConfigError(provider_words(facts.call))


def _authentication(facts: Facts) -> LLMCoreError:
    return AuthenticationFailed(facts.placed(f"the server does not let us in{facts.http}; {key_words(facts.call)}"))


def _no_credentials(facts: Facts) -> LLMCoreError:
    wanted = provider_of(facts.call.endpoint).credentials if facts.call is not None else "credentials"
    return AuthenticationFailed(facts.beneath(f"nothing was sent, for want of {wanted}"))


def _sign_in_refused(facts: Facts) -> LLMCoreError:
    return AuthenticationFailed(facts.beneath(f"nothing was sent, for the sign-in was refused: renew {_wanted(facts)}"))


def _sign_in_unreached(facts: Facts) -> LLMCoreError:
    what = f"nothing was sent, for the server that takes {_wanted(facts)} could not be asked"
    return RemoteServerError(facts.beneath(what))


def _wanted(facts: Facts) -> str:
    known = provider_of(facts.call.endpoint).credentials if facts.call is not None else ""
    return known.partition(":")[0] or "credentials"


def _forbidden(facts: Facts) -> LLMCoreError:
    if not facts.holds_part:
        return _unclear(_authentication(facts))
    what = f"the server does not let us in, or not with what the request holds{facts.http}; {key_words(facts.call)}"
    return _unclear(_unexplained(AuthenticationFailed(facts.placed(what))))


def _unclear(error: LLMCoreError) -> LLMCoreError:
    if isinstance(error, AuthenticationFailed):
        error.unclear = True
    return error


def _not_found(facts: Facts) -> LLMCoreError:
    if not facts.holds_part or facts.call is None:
        return _no_model(facts)
    missing = f"no model {facts.call.endpoint.model!r}, no such URL, or nothing that takes what the request holds"
    return _unexplained(ModelNotFound(facts.placed(f"the server finds {missing}{facts.http}")))


def _unexplained(error: AuthenticationFailed | ModelNotFound) -> LLMCoreError:
    error.unexplained = True
    return error


def _no_path(facts: Facts) -> LLMCoreError:
    return ModelNotFound(facts.placed(f"the server has nothing at this URL{facts.http}: is the `base_url` right?"))


def _no_model(facts: Facts) -> LLMCoreError:
    model = facts.call.endpoint.model if facts.call is not None else ""
    return ModelNotFound(facts.placed(f"the server has no model {model!r}, or not for this key{facts.http}"))


def _ours(facts: Facts) -> LLMCoreError:
    return InternalError(f"the request was not accepted as llmcore made it: {facts.message}")


def _streams_alone(facts: Facts) -> LLMCoreError:
    return CallerError(facts.placed(f"the server takes streamed requests only{facts.http}: make this one by `stream()`"))


def _unmade(facts: Facts) -> LLMCoreError:
    place = place_words(facts.call)
    return RequestRefused(f"{place and f'{place}: '}LiteLLM makes no request of this, so none was sent: {facts.message}")


def _refused(facts: Facts) -> LLMCoreError:
    if facts.unsent:
        return _unmade(facts)
    what = f"the server refused the request{facts.http}"
    return RequestRefused(facts.placed(what) if facts.call is not None else f"{what}: {facts.message}", status=facts.status)


def _callers(facts: Facts) -> LLMCoreError:
    what = f"the server does not take {facts.callers} as the request has it{facts.http}: leave it out, or give another value"
    return CallerError(facts.placed(what))


def _fault(facts: Facts) -> LLMCoreError:
    return InternalError(f"a fault in litellm or llmcore: {facts.message or min(facts.kinds)}")


_CALLERS_PARAMETERS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "messages", "image", "model")
_LITELLMS_OWN = (
    "traceback (most recent call last)",
    "unable to convert",
    "invalid json",
    "failed to parse",
    "tool call arguments",
)

ROWS: tuple[Row, ...] = (
    _row(_no_image, kinds=("ImageFetchError",)),
    _row(_no_credentials, also=lambda facts: facts.unsigned),
    _row(_sign_in_refused, also=lambda facts: facts.sign_in == "refused"),
    _row(_sign_in_unreached, also=lambda facts: facts.sign_in == "unreached"),
    _row(_timed_out, also=lambda facts: facts.timeout),
    # before any status or class: LiteLLM looks for "403" and "429" in all of the text, a port or an address included
    _row(_not_reached, also=lambda facts: facts.connection),
    _row(_led_away, text=("which is another one, so nothing was sent there",)),  # transport
    _row(_installation, kinds=("ImportError", "ModuleNotFoundError")),
    _row(_installation, text=("no module named 'mcp'",)),
    _row(_unknown_provider, text=("llm provider not provided",)),
    _row(_quota_spent, codes=("insufficient_quota", "billing_hard_limit_reached")),
    _row(_no_model, status=(402,), also=lambda facts: facts.charges_for_model),
    _row(_quota_spent, status=(402,)),
    _row(
        _quota_spent,
        text=("insufficient_quota", "credit balance is too low", "insufficient credits", "insufficient balance"),
    ),
    _row(_too_large, status=(413,)),
    _row(_too_large, codes=("request_too_large", "payload_too_large")),
    _row(_too_large, text=("request_too_large", "request entity too large", "request too large")),
    _row(_rate_limited, also=lambda facts: called_too_often(facts.codes) and facts.status not in (401, 403, 404)),
    _row(_rate_limited, also=lambda facts: says_too_often(facts.text) and facts.status not in (401, 403, 404)),
    _row(_overflow, kinds=("ContextWindowExceededError",)),
    _row(_overflow, codes=("context_length_exceeded",)),
    _row(_overflow, status=(400, 422, 500), also=lambda facts: does_not_fit(facts.text, facts.codes)),
    _row(_no_model, status=(401,), also=lambda facts: facts.denies_model and not facts.speaks_of_part),
    _row(_authentication, status=(401,)),
    _row(_authentication, kinds=("AuthenticationError",)),
    _row(
        _authentication, text=("api_key_invalid", "api key not valid", "invalid api key", "incorrect api key", "security token")
    ),
    _row(
        _authentication,
        status=(400, 422),
        also=lambda facts: called_unauthorized(facts.codes) or says_unauthorized(facts.text),
    ),
    _row(_authentication, text=("api_key client option must be set", "missing credentials")),
    _row(_capability_refused, also=lambda facts: bool(facts.capabilities) and not (facts.may_pass or facts.passes)),
    _row(_content_refused, kinds=("ContentPolicyViolationError",)),
    _row(_content_refused, codes=("content_filter", "content_policy_violation", "content_filter_error")),
    _row(
        _content_refused,
        status=(400,),
        text=(
            *("content_policy_violation", "responsibleaipolicyviolation", "content_filter_policy", "violating our usage policy"),
            *("triggering azure openai's content management", "rejected as a result of our safety system"),
            *("rejected as a result of the safety system", "failed as a result of our safety system"),
            *("blocked by content filtering policy", "the model produced invalid content"),
        ),
    ),
    _row(_no_model, codes=("model_not_found", "model_decommissioned", "invalid_model")),
    _row(_refused, status=(403, 404), also=lambda facts: facts.speaks_of_part),
    _row(_refused, status=(404,), text=NO_SUCH_ENDPOINT),
    _row(_refused, status=(404,), text=NO_SUCH_PATH, also=lambda facts: facts.searches),  # the path may be that of the search
    _row(_no_path, status=(404,), text=NO_SUCH_PATH),
    _row(_no_model, status=(403, 404, 410), also=lambda facts: facts.names_model),
    _row(_no_model, status=(403,), also=lambda facts: facts.denies_model and not facts.searches),  # it may be the search
    _row(_authentication, status=(403,), also=lambda facts: facts.names_key),
    _row(_refused, status=(403, 404), also=lambda facts: facts.searches),
    _row(_forbidden, status=(403,)),
    _row(_not_found, status=(404,)),
    _row(_no_model, kinds=("NotFoundError",)),
    _row(_authentication, kinds=("PermissionDeniedError",)),
    _row(_no_model, status=(400,), text=MISSING_MODEL),
    _row(_authentication, status=(498,), also=lambda facts: facts.names_key),  # a token that is not valid
    _row(_rate_limited, status=(420, 429)),
    _row(_rate_limited, kinds=("RateLimitError",)),
    _row(_rate_limited, text=("rate limit", "rate_limit", "resource exhausted"), also=lambda facts: facts.sent_with is not None),
    _row(
        _refused,
        status=(500, 501, 502, 503),
        also=lambda facts: (facts.speaks_of_part or facts.names_parameter) and not facts.may_pass,
    ),
    _row(_overloaded, status=(498, 503, 529)),
    _row(_overloaded, also=lambda facts: called_overloaded(facts.codes)),
    _row(_overloaded, status=(500, 502), text=("overloaded",)),
    _row(_with_status(Timeout, "the server timed out"), status=(408, 504)),
    _row(_not_reached, text=("connection error", "cannot connect", "connection refused", "disconnected")),
    _row(
        _with_status(RemoteServerError, "the answer is no reply of a model"),
        text=("<html", "<!doctype", "expecting value: line", "converting to valid response"),
        also=lambda facts: not refuses_as_it_is(facts.status),
    ),
    _row(_unmade, kinds=("APIConnectionError",), text=("check the schema for excessive nesting",)),
    _row(_ours, kinds=("APIConnectionError",), text=_LITELLMS_OWN),
    _row(
        _with_status(RemoteServerError, "the server takes the request later"),
        also=lambda facts: facts.passes and not facts.speaks_of_part,
    ),
    _row(
        _with_status(RemoteServerError, "the server failed, by what it calls the error"),
        also=lambda facts: called_a_fault(facts.codes) and refuses_as_it_is(facts.status) and not facts.speaks_of_part,
    ),
    _row(
        _plain(CallerError, "the server does not take a parameter's value"),
        status=(400, 422),
        also=lambda facts: any(facts.param.startswith(name) for name in _CALLERS_PARAMETERS),
    ),
    _row(_streams_alone, status=(400, 422), also=lambda facts: facts.wants_stream),
    _row(_callers, status=(400, 422), also=lambda facts: bool(facts.callers)),
    _row(_refused, also=lambda facts: refuses_as_it_is(facts.status)),
    _row(_refused, status=(500,), text=CANNOT_BE_MADE),
    _row(_with_status(RemoteServerError, "the server failed"), also=lambda facts: facts.status is not None),
    _row(_with_status(RemoteServerError, "the server failed"), kinds=("APIError", "OpenAIError")),
    _row(_fault),
)
"""The first row that holds counts; the last one always does."""


def _tells(words: str, call: ModelCall | None) -> bool:
    """Would these words of an error (lower case) decide what it means?"""
    told = any(part in words for row in ROWS for part in row.text) or does_not_fit(words)
    told = told or says_too_often(words) or says_unauthorized(words)
    return told or bool(refused_capabilities(words, "", call))


def classify(error: BaseException, call: ModelCall | None = None, scrubber: Scrubber | None = None) -> LLMCoreError:
    """The `LLMCoreError` an exception means; one that is an `LLMCoreError` already is returned as it is."""
    if isinstance(error, LLMCoreError):
        return error
    facts = facts_of(error, call, scrubber, _tells)
    row = next(row for row in ROWS if row.holds(facts))
    made = row.make(facts)
    if isinstance(made, AuthenticationFailed | ModelNotFound | QuotaExceeded | Refused):
        made.status = facts.status
    return made
