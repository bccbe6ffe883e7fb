"""Classifies LiteLLM's exceptions with a table, read from the top.

Every LiteLLM exception subclasses those of openai. The HTTP status is trusted most, then the class, then the body and message
(`reading` reads them). The first row whose conditions all hold decides the error class, and with it which remedies apply.
Linear in the message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llmcore.adapters.base import ModelCall
from llmcore.adapters.litellm.errors.exceptions import Answered
from llmcore.adapters.litellm.errors.reading import ErrorReading, read, refuses_as_it_is
from llmcore.adapters.litellm.errors.words import key_words, place_words, provider_words
from llmcore.adapters.litellm.patches.patch import INSTALL_TESTED
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

__all__ = ["ROWS", "MeaningRow", "classify"]


@dataclass(frozen=True, slots=True)
class MeaningRow:
    """One row. All given conditions must hold; for each condition, one of its values suffices."""

    make: Callable[[ErrorReading], LLMCoreError]
    status: frozenset[int] = frozenset()
    kinds: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    means: frozenset[str] = frozenset()
    text: tuple[str, ...] = ()
    also: Callable[[ErrorReading], bool] | None = None

    def holds(self, reading: ErrorReading) -> bool:
        return (
            (not self.status or reading.status in self.status)
            and (not self.kinds or bool(self.kinds & reading.kinds))
            and (not self.codes or bool(self.codes & reading.codes))
            and (not self.means or bool(self.means & reading.means))
            and (not self.text or any(part in reading.text for part in self.text))
            and (self.also is None or self.also(reading))
        )


def _row(
    make: Callable[[ErrorReading], LLMCoreError],
    *,
    status: tuple[int, ...] = (),
    kinds: tuple[str, ...] = (),
    codes: tuple[str, ...] = (),
    means: tuple[str, ...] = (),
    text: tuple[str, ...] = (),
    also: Callable[[ErrorReading], bool] | None = None,
) -> MeaningRow:
    return MeaningRow(make, frozenset(status), frozenset(kinds), frozenset(codes), frozenset(means), text, also)


def _maker(kind: Callable[..., LLMCoreError], what: str) -> Callable[[ErrorReading], LLMCoreError]:
    return lambda reading: kind(reading.with_place(f"{what}{reading.http}"), facts=reading.facts_of_kind())


def _plain(kind: Callable[..., LLMCoreError], what: str) -> Callable[[ErrorReading], LLMCoreError]:
    return lambda reading: kind(reading.with_place(what), facts=reading.facts_of_kind())


_too_large = _maker(RequestTooLarge, "the request is larger than the server takes")
_overflow = _maker(ContextOverflow, "the request does not fit into the model's context window")
_content_refused = _plain(Refused, "the provider refuses what is asked")
_rate_limited = _maker(RateLimited, "too many requests")
_overloaded = _maker(Overloaded, "the server is overloaded")


def _quota_spent(reading: ErrorReading) -> LLMCoreError:
    return QuotaExceeded(
        reading.with_place(f"the account's quota is spent; {key_words(reading.call)}"), facts=reading.facts_of_kind()
    )


def _not_reached(reading: ErrorReading) -> LLMCoreError:
    status = None if reading.connection else reading.status
    return RemoteServerError(reading.client_message("the connection failed"), facts=reading.facts_of_kind(status=status))


def _redirected(reading: ErrorReading) -> LLMCoreError:
    status = None if reading.connection else reading.status
    return RemoteServerError(
        reading.client_message("the connection failed"), facts=reading.facts_of_kind("lasting", status=status)
    )


def _timed_out(reading: ErrorReading) -> LLMCoreError:
    if reading.call is None:
        return Timeout("no answer within the time given for a read", facts=reading.facts_of_kind())
    words = f"{place_words(reading.call)}: no answer within {reading.call.timeout:g} s given for a read"
    return Timeout(words, facts=reading.facts_of_kind())


def _capability_refused(reading: ErrorReading) -> LLMCoreError:
    first, *others = reading.refused
    names = " and ".join(name.replace("+", " together with ") for name in reading.refused)
    what = reading.with_place(f"the server does not take {names}{reading.http}")
    parts = {part for name in reading.refused for part in name.split("+")}
    return CapabilityRefused(what, capability=first, others=others, facts=reading.facts_of_kind(parts=parts))


def _no_image(reading: ErrorReading) -> LLMCoreError:
    return CallerError("an image is not taken by its URL here: fetch it, and give `data` (base64) with its `media_type`")


def _installation(reading: ErrorReading) -> LLMCoreError:
    return ConfigError(f"litellm is not usable as installed ({reading.message}); {INSTALL_TESTED}")


def _unknown_provider(reading: ErrorReading) -> LLMCoreError:
    return ConfigError(provider_words(reading.call))


def _authentication(reading: ErrorReading) -> LLMCoreError:
    what = f"the server does not let us in{reading.http}; {key_words(reading.call)}"
    return AuthenticationFailed(reading.with_place(what), facts=reading.facts_of_kind())


def _no_credentials(reading: ErrorReading) -> LLMCoreError:
    wanted = provider_of(reading.call.endpoint).credentials if reading.call is not None else "credentials"
    return AuthenticationFailed(reading.client_message(f"nothing was sent, for want of {wanted}"), facts=reading.facts_of_kind())


def _sign_in_refused(reading: ErrorReading) -> LLMCoreError:
    what = f"nothing was sent, for the sign-in was refused: renew {_credentials(reading)}"
    return AuthenticationFailed(reading.client_message(what), facts=reading.facts_of_kind())


def _sign_in_unreached(reading: ErrorReading) -> LLMCoreError:
    what = f"nothing was sent, for the server that takes {_credentials(reading)} could not be asked"
    return RemoteServerError(reading.client_message(what))


def _credentials(reading: ErrorReading) -> str:
    known = provider_of(reading.call.endpoint).credentials if reading.call is not None else ""
    return known.partition(":")[0] or "credentials"


def _forbidden(reading: ErrorReading) -> LLMCoreError:
    also = ", or not with what the request holds" if reading.holds_mode else ""
    what = f"the server does not let us in{also}{reading.http}; {key_words(reading.call)}"
    return AuthenticationFailed(reading.with_place(what), facts=reading.facts_of_kind("unexplained" if also else "forbidden"))


def _not_found(reading: ErrorReading) -> LLMCoreError:
    if not reading.holds_mode or reading.call is None:
        return _no_model(reading)
    missing = f"no model {reading.call.endpoint.model!r}, no such URL, or nothing that takes what the request holds"
    return ModelNotFound(
        reading.with_place(f"the server finds {missing}{reading.http}"), facts=reading.facts_of_kind("unexplained")
    )


def _no_path(reading: ErrorReading) -> LLMCoreError:
    what = f"the server has nothing at this URL{reading.http}: is the `base_url` right?"
    return ModelNotFound(reading.with_place(what), facts=reading.facts_of_kind())


def _no_model(reading: ErrorReading) -> LLMCoreError:
    model = reading.call.endpoint.model if reading.call is not None else ""
    what = f"the server has no model {model!r}, or not for this key{reading.http}"
    return ModelNotFound(reading.with_place(what), facts=reading.facts_of_kind())


def _invalid_request(reading: ErrorReading) -> LLMCoreError:
    return InternalError(f"the request was not accepted as llmcore made it: {reading.message}")


def _streams_alone(reading: ErrorReading) -> LLMCoreError:
    return CallerError(reading.with_place(f"the server takes streamed requests only{reading.http}: make this one by `stream()`"))


def _unmade(reading: ErrorReading) -> LLMCoreError:
    place = place_words(reading.call)
    words = f"{place and f'{place}: '}LiteLLM makes no request of this, so none was sent: {reading.message}"
    return RequestRefused(words, facts=reading.facts_of_kind("particular", status=None))


def _refused(reading: ErrorReading) -> LLMCoreError:
    if reading.unsent:
        return _unmade(reading)
    what = f"the server refused the request{reading.http}"
    words = reading.with_place(what) if reading.call is not None else f"{what}: {reading.message}"
    return RequestRefused(words, facts=reading.facts_of_kind(reading.facts.kind))


def _callers_field_refused(reading: ErrorReading) -> LLMCoreError:
    what = f"the server does not take {reading.callers_field} as the request has it{reading.http}: omit it or change its value"
    return CallerError(reading.with_place(what))


def _fault(reading: ErrorReading) -> LLMCoreError:
    return InternalError(f"a fault in litellm or llmcore: {reading.message or min(reading.kinds)}")


_CALLERS_PARAMETERS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "stop", "messages", "image", "model")
_LITELLMS_OWN = (
    "traceback (most recent call last)",
    "unable to convert",
    "invalid json",
    "failed to parse",
    "tool call arguments",
)

ROWS: tuple[MeaningRow, ...] = (
    _row(_no_image, kinds=("ImageFetchError",)),
    _row(_no_credentials, also=lambda reading: reading.unsigned),
    _row(_sign_in_refused, also=lambda reading: reading.sign_in == "refused"),
    _row(_sign_in_unreached, also=lambda reading: reading.sign_in == "unreached"),
    _row(_timed_out, also=lambda reading: reading.timeout),
    # before any status or class: LiteLLM searches "403" and "429" in all of the text, including ports and addresses
    _row(_not_reached, also=lambda reading: reading.connection),
    _row(_redirected, text=("which is another one, so nothing was sent there",)),  # transport
    _row(_installation, kinds=("ImportError", "ModuleNotFoundError")),
    _row(_installation, text=("no module named 'mcp'",)),
    _row(_unknown_provider, text=("llm provider not provided",)),
    _row(_quota_spent, codes=("insufficient_quota", "billing_hard_limit_reached")),
    _row(_no_model, status=(402,), means=("model_not_for_key",), also=lambda reading: "balance" not in reading.means),
    _row(_quota_spent, status=(402,)),
    _row(_quota_spent, means=("quota",)),
    _row(_too_large, status=(413,)),
    _row(_too_large, codes=("request_too_large", "payload_too_large")),
    _row(_too_large, means=("too_large",)),
    _row(_rate_limited, means=("too_often", "called_too_often"), also=lambda reading: reading.status not in (401, 403, 404)),
    _row(_overflow, kinds=("ContextWindowExceededError",)),
    _row(_overflow, codes=("context_length_exceeded",)),
    _row(_overflow, status=(400, 422, 500), means=("overflow", "called_overflow")),
    _row(_no_model, status=(401,), means=("model_not_for_key",), also=lambda reading: not reading.speaks_of_mode),
    _row(_authentication, status=(401,)),
    _row(_authentication, kinds=("AuthenticationError",)),
    _row(_authentication, means=("key_refused",)),
    _row(_authentication, status=(400, 422), means=("called_unauthorized",)),
    _row(_capability_refused, also=lambda reading: bool(reading.refused) and not (reading.may_pass or reading.passes)),
    _row(_content_refused, kinds=("ContentPolicyViolationError",)),
    _row(_content_refused, codes=("content_filter", "content_policy_violation", "content_filter_error")),
    _row(_content_refused, status=(400,), means=("content_refused",)),
    _row(_no_model, codes=("model_not_found", "model_decommissioned", "invalid_model")),
    _row(_refused, status=(403, 404), also=lambda reading: reading.speaks_of_mode),
    _row(_refused, status=(404,), means=("no_endpoint",)),
    _row(_refused, status=(404,), means=("no_path",), also=lambda reading: reading.searches),  # it may be the path of the search
    _row(_no_path, status=(404,), means=("no_path",)),
    _row(_no_model, status=(403, 404, 410), means=("no_model", "model_named")),
    _row(_no_model, status=(403,), means=("model_not_for_key",), also=lambda reading: not reading.searches),
    _row(_authentication, status=(403,), means=("key_named",)),
    _row(_refused, status=(403, 404), also=lambda reading: reading.searches),
    _row(_forbidden, status=(403,)),
    _row(_not_found, status=(404,)),
    _row(_no_model, kinds=("NotFoundError",)),
    _row(_authentication, kinds=("PermissionDeniedError",)),
    _row(_no_model, status=(400,), means=("no_model",)),
    _row(_authentication, status=(498,), means=("key_named",)),  # an invalid token
    _row(_rate_limited, status=(420, 429)),
    _row(_rate_limited, kinds=("RateLimitError",)),
    _row(_rate_limited, means=("rate_in_200",), also=lambda reading: reading.sent_with is not None),
    _row(
        _refused,
        status=(500, 501, 502, 503),
        also=lambda reading: (reading.speaks_of_mode or reading.names_setting) and not reading.may_pass,
    ),
    _row(_overloaded, status=(498, 503, 529)),
    _row(_overloaded, means=("called_overloaded",)),
    _row(_overloaded, status=(500, 502), text=("overloaded",)),
    _row(_maker(Timeout, "the server timed out"), status=(408, 504)),
    _row(_not_reached, text=("connection error", "cannot connect", "connection refused", "disconnected")),
    _row(
        _maker(RemoteServerError, "the answer is no reply of a model"),
        text=("<html", "<!doctype", "expecting value: line", "converting to valid response"),
        also=lambda reading: not refuses_as_it_is(reading.status),
    ),
    _row(_unmade, kinds=("APIConnectionError",), text=("check the schema for excessive nesting",)),
    _row(_invalid_request, kinds=("APIConnectionError",), text=_LITELLMS_OWN),
    _row(
        _maker(RemoteServerError, "the server takes the request later"),
        also=lambda reading: reading.passes and not reading.speaks_of_mode,
    ),
    _row(
        _maker(RemoteServerError, "the server failed, by what it calls the error"),
        means=("called_a_fault",),
        also=lambda reading: refuses_as_it_is(reading.status) and not reading.speaks_of_mode,
    ),
    _row(
        lambda reading: CallerError(reading.with_place("the server does not take a parameter's value")),
        status=(400, 422),
        also=lambda reading: any(reading.facts.param.startswith(name) for name in _CALLERS_PARAMETERS),
    ),
    _row(
        _streams_alone,
        status=(400, 422),
        means=("streams_alone",),
        also=lambda reading: reading.call is not None and not reading.call.streamed,
    ),
    _row(_callers_field_refused, status=(400, 422), also=lambda reading: bool(reading.callers_field)),
    _row(_refused, also=lambda reading: refuses_as_it_is(reading.status)),
    _row(_refused, status=(500,), means=("template", "grammar")),
    _row(_maker(RemoteServerError, "the server failed"), also=lambda reading: reading.status is not None),
    _row(_maker(RemoteServerError, "the server failed"), kinds=("APIError", "OpenAIError")),
    _row(_fault),
)
"""The first row that holds counts. The last one always holds."""


def classify(
    error: BaseException,
    call: ModelCall | None = None,
    scrubber: Scrubber | None = None,
    answered: Answered | None = None,
) -> LLMCoreError:
    """Return the `LLMCoreError` for an exception. An `LLMCoreError` is returned unchanged."""
    if isinstance(error, LLMCoreError):
        return error
    reading = read(error, call, scrubber, answered)
    return next(row for row in ROWS if row.holds(reading)).make(reading)
