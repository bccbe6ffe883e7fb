"""The errors of the library. The base class says who is at fault.

    LLMCoreError
    ├── CallerError               the call or the configuration is wrong: fix it; never retried
    │   ├── ToolDefinitionError
    │   ├── ConfigError
    │   ├── ModelNotFound
    │   ├── LimitExceeded
    │   ├── AuthenticationFailed
    │   └── QuotaExceeded
    ├── ModelError                the model answered badly
    │   ├── OutputParseError
    │   ├── Refused
    │   ├── MaxToolTurns
    │   └── Truncated
    ├── ProviderError             the provider's limit or fault
    │   ├── RateLimited
    │   ├── ContextOverflow
    │   ├── RequestTooLarge
    │   ├── Overloaded
    │   ├── RemoteServerError
    │   ├── CapabilityRefused
    │   ├── RequestRefused
    │   └── Timeout
    ├── InternalError             llmcore's fault: please report it
    ├── ToolError                 a tool failed
    ├── CallsPending              calls wait for the caller, so there is no answer yet; nobody's fault
    └── FallbackExhausted         every strategy failed; raised from the first failure, and an instance of each failure's class
    Control (not errors; raised by tools): TerminateLoop, RetryTool

Every error that ends a run has the result so far: `partial` (a `RunResult` or None) and `attempts`. An `Attempt` has the error
that ended it, so this module defines both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, Self, TypeVar

from pydantic import ConfigDict, Field, field_serializer, field_validator

from llmcore.support.code.quoted_words import MAX_MESSAGE, clipped_words
from llmcore.support.values.copies import Value
from llmcore.support.values.json_data import JsonData, JsonText, encodable, json_data
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.refusals import NO_FACTS, RefusalFacts
from llmcore.types.usage import AttemptReason, OutputMode, Usage

__all__ = [
    "Attempt",
    "AuthenticationFailed",
    "CallerError",
    "CallsPending",
    "CapabilityRefused",
    "ConfigError",
    "ContextOverflow",
    "FallbackExhausted",
    "InternalError",
    "LLMCoreError",
    "LimitExceeded",
    "MaxToolTurns",
    "ModelError",
    "ModelNotFound",
    "OutputParseError",
    "Overloaded",
    "ProviderError",
    "QuotaExceeded",
    "RateLimited",
    "Refused",
    "RemoteServerError",
    "RequestRefused",
    "RequestTooLarge",
    "RetryTool",
    "TerminateLoop",
    "Timeout",
    "ToolDefinitionError",
    "ToolError",
    "Truncated",
    "with_partial",
]

E = TypeVar("E", bound="LLMCoreError")


class LLMCoreError(Exception):
    """The base class. `partial` and `attempts` are set when the error ends a run.

    Every error can be copied and pickled with its fields, `partial` and `attempts`, unless a value that a tool returned
    (`partial.tool_results`) cannot. A pickle keeps a cause that is an llmcore error or a plain builtin exception; of any other
    cause it keeps the class name and the message.

    The message is valid UTF-8 of at most `MAX_MESSAGE` characters, and anything in it that looks like a key is masked.
    """

    partial: Any = None
    attempts: Sequence[Attempt] = ()
    facts: RefusalFacts = NO_FACTS
    """The contents of the server's error response, if a server sent one."""
    status: int | None = None
    """The HTTP status; None if there is none."""
    dropped: Sequence[str] = ()
    """The parts that the failed request omitted; see `Attempt.dropped`."""
    sent_as: str = ""
    """A digest of the failed request's URL and body; "" if no adapter recorded it."""

    def __init__(self, *args: Any, facts: RefusalFacts | None = None) -> None:
        super().__init__(*map(_safe_argument, args))
        if facts is not None:
            self.facts, self.status = facts, facts.status

    def with_request(self, dropped: Sequence[str], sent_as: str) -> None:
        """Set `dropped` and `sent_as` of the failed request."""
        if dropped:
            self.dropped = tuple(dropped)
        if sent_as:
            self.sent_as = sent_as

    def with_partial(self, partial: Any, attempts: Sequence[Attempt] = ()) -> LLMCoreError:
        """Set `partial` and `attempts`, and return self, for `raise error.with_partial(...)`."""
        self.partial, self.attempts = partial, attempts or self.attempts
        return self

    def set_message(self, *args: Any) -> None:
        self.args = args

    def as_data(self) -> dict[str, Any]:
        """The error as JSON data: `type` (the class name), `message`, and its fields. A field `type` becomes `kind`.

        Anything that looks like a key is masked.
        """
        fields = {
            _RENAMED.get(name, name): _masked(json_data(value)) for name, value in vars(self).items() if name not in _NO_DATA
        }
        facts = {"facts": _masked(json_data(self.facts.as_data()))} if self.facts is not NO_FACTS else {}
        return {"type": type(self).__name__, "message": encodable(str(self)), **fields, **facts}

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> LLMCoreError:
        """The error of the data that `as_data` returned; an `LLMCoreError` if this module has no such class."""
        renamed = {new: name for name, new in _RENAMED.items()}
        fields = {renamed.get(name, name): value for name, value in data.items() if name not in ("type", "message")}
        kind: type[LLMCoreError] = _CLASSES.get(str(data.get("type")), LLMCoreError)
        if "facts" in fields:
            fields["facts"] = RefusalFacts.from_data(fields["facts"])
        failure_data = fields.pop("failures", ())
        if kind is FallbackExhausted and is_list(failure_data):
            fields["failures"] = failures = [LLMCoreError.from_data(each) for each in failure_data if is_object(each)]
            kind = _exhausted_as(_kinds(failures))
        return _new_error(kind, (str(data.get("message", "")),), fields)

    def __reduce__(self) -> tuple[Any, ...]:
        cause = {"__cause__": _portable(self.__cause__)} if self.__cause__ is not None else {}
        state = {**vars(self), **cause}  # not as arguments, because the fields may reference the error itself
        return _new_error, (type(self), self.args), state

    def __copy__(self) -> Self:
        copied = _new_error(type(self), self.args, vars(self))
        copied.__cause__ = self.__cause__
        return copied.with_traceback(self.__traceback__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = _new_error(type(self), self.args)
        memo[id(self)] = copied
        vars(copied).update(deepcopy(vars(self), memo))
        copied.__cause__ = self.__cause__
        return copied


_NO_DATA = frozenset({"partial", "attempts", "facts", "failures", "message", "dropped", "sent_as", "__notes__"})
_RENAMED = {"type": "kind"}
_PLAIN = (str, bytes, int, float, bool, type(None))


def _safe_argument(arg: Any) -> Any:
    if not isinstance(arg, str):
        return arg
    from llmcore.support.values.credentials import (
        without_keys,  # its expressions are compiled with the first error, not by every import
    )

    return without_keys(encodable(clipped_words(arg, MAX_MESSAGE)))


def _masked(data: Any) -> Any:
    """The JSON data with anything that looks like a key masked."""
    from llmcore.support.values.credentials import without_keys

    if isinstance(data, str):
        return without_keys(data)
    if is_object(data):
        return {name: _masked(value) for name, value in data.items()}
    return [_masked(value) for value in data] if is_list(data) else data


def _new_error(kind: type[E], args: tuple[Any, ...], fields: Mapping[str, Any] = MappingProxyType({})) -> E:
    """A new error without a call of its `__init__`, which may need more arguments than `args`."""
    error = kind.__new__(kind, *map(_safe_argument, args))
    vars(error).update(fields)
    return error


def _portable(cause: BaseException) -> BaseException:
    """The cause as it can be pickled: exceptions of other libraries become a `RuntimeError` with class name and message."""
    plain = type(cause).__module__ == "builtins" and not vars(cause) and all(type(arg) in _PLAIN for arg in cause.args)
    short = plain and not any(isinstance(arg, str | bytes) and len(arg) > MAX_MESSAGE for arg in cause.args)
    if isinstance(cause, LLMCoreError) or short:
        return cause
    return RuntimeError(clipped_words(f"{type(cause).__name__}: {cause}", MAX_MESSAGE))


class CallerError(LLMCoreError):
    """The caller's mistake. The message names it and the fix."""


class ToolDefinitionError(CallerError):
    """A tool cannot be used as defined: its signature, its schema or its examples."""


class ConfigError(CallerError):
    """A registry file, a setting or an installation is wrong."""


Value.raises = ConfigError


class ModelNotFound(CallerError):
    """The alias or model does not exist, the key has no access to it, or no model supports what the request needs."""

    @property
    def unexplained(self) -> bool:
        """Whether the server only returned HTTP 404 for a request with tools or a response format. The server may not support
        these, so llmcore tried other output modes if there were any."""
        return self.facts.kind == "unexplained"


class LimitExceeded(CallerError):
    """The next request would exceed the run's `Budget` or a verified limit of the provider. It was not sent. `partial` has the
    result so far."""


class AuthenticationFailed(CallerError):
    """The key is missing, wrong or expired, or the server forbids this use of it (HTTP 403)."""

    @property
    def unclear(self) -> bool:
        """Whether the server did not name the key as the reason, so that another model may accept the same key."""
        return self.facts.kind in ("forbidden", "unexplained")

    @property
    def unexplained(self) -> bool:
        """Whether in addition the request had tools or a response format. The server may forbid these, so llmcore tried other
        output modes if there were any."""
        return self.facts.kind == "unexplained"


class QuotaExceeded(CallerError):
    """The account's quota is spent. Waiting does not help."""


class ModelError(LLMCoreError):
    """The model answered, and the answer cannot be used."""


class OutputParseError(ModelError):
    """The text could not be read as the output type. `problems`: the reasons, the best reading first. `text`: the text."""

    def __init__(self, message: str, problems: Sequence[Any] = (), text: str = "") -> None:
        super().__init__(message)
        self.problems = list(problems)
        self.text = text

    def with_problems(self, problems: Sequence[Any]) -> None:
        """Replace the problems, which `from_data` returns as plain data."""
        self.problems = list(problems)


class Refused(ModelError):
    """The model refused, or the provider's policy did. `status`: the HTTP status of the provider's refusal, else None."""


class MaxToolTurns(ModelError):
    """The tool loop did not end within `max_tool_turns`."""


class Truncated(ModelError):
    """The reply was cut and could not be completed."""


class ProviderError(LLMCoreError):
    """The provider's limit or fault. `status`: the HTTP status; None if there is none."""

    def __init__(self, message: str, *, status: int | None = None, facts: RefusalFacts | None = None) -> None:
        super().__init__(message, facts=facts)
        self.status = status if facts is None else facts.status


class RateLimited(ProviderError):
    """Too many requests. `retry_after`: seconds; None if the provider did not say."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = 429,
        retry_after: float | None = None,
        facts: RefusalFacts | None = None,
    ) -> None:
        super().__init__(message, status=status, facts=facts)
        self.retry_after = retry_after if facts is None else facts.retry_after


class ContextOverflow(ProviderError):
    """The request does not fit the model's context window."""


class RequestTooLarge(ProviderError):
    """The request's body is too large for the provider."""


class Overloaded(ProviderError):
    """The provider is overloaded (503, 529). `retry_after`: seconds; None if the provider did not say."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        facts: RefusalFacts | None = None,
    ) -> None:
        super().__init__(message, status=status, facts=facts)
        self.retry_after = retry_after if facts is None else facts.retry_after


class RemoteServerError(ProviderError):
    """The provider failed (5xx, no connection, not JSON)."""

    @property
    def lasting(self) -> bool:
        """Whether the same request would fail again."""
        return self.facts.kind == "lasting"


class CapabilityRefused(ProviderError):
    """The endpoint refuses a parameter or feature. Another output mode may succeed.

    `capability`: the refused one (native_tools, json_schema, ...). Names joined by `+` are refused only together.
    `others`: what the same response refuses in addition.
    """

    def __init__(
        self,
        message: str,
        *,
        capability: str,
        others: Sequence[str] = (),
        status: int | None = 400,
        facts: RefusalFacts | None = None,
    ) -> None:
        super().__init__(message, status=status, facts=facts)
        self.capability = capability
        self.others = tuple(others)

    @property
    def capabilities(self) -> tuple[str, ...]:
        """`capability` and `others`."""
        return (self.capability, *self.others)


class RequestRefused(ProviderError):
    """The server refused the request (400, 422, ...), and its words do not say which part of it.

    llmcore repeats the request without its optional parts, then in another output mode, then with another model. It does not send
    the same request again. If a later request succeeds, llmcore doubts the parts that only the refused one had.
    """

    @property
    def unsent(self) -> bool:
        """Whether llmcore did not send the request, because the server refused the same one before in this run."""
        return self.facts.kind == "unsent"


class Timeout(ProviderError):
    """The answer did not arrive in time."""


class InternalError(LLMCoreError):
    """A fault of llmcore or of a library that it uses."""


class ToolError(LLMCoreError):
    """A tool failed, or could not run. `type` says which. `details` is plain data.

    A tool may raise one: `raise ToolError("the quota is used", details={"left": 0})`. llmcore adds the tool's name and the call's
    id. The model sees the message only; `ToolRecord.error` has the details too.
    """

    def __init__(
        self,
        message: str,
        *,
        tool_name: str = "",
        tool_id: str = "",
        type: Literal["validation", "execution", "timeout", "not_found"] = "execution",
        details: Any = None,
    ) -> None:
        super().__init__(message)
        self.tool_name = tool_name
        self.tool_id = tool_id
        self.type = type
        self.details = details

    @property
    def message(self) -> str:
        return str(self)

    def for_call(self, name: str, call_id: str) -> ToolError:
        """A copy with the missing tool name and call id. A copy, because a tool may raise one error for several calls."""
        copied = copy(self)
        copied.tool_name, copied.tool_id = self.tool_name or name, self.tool_id or call_id
        return copied


class CallsPending(LLMCoreError):
    """The run has no answer yet, because calls wait for the caller's approval or for a result from the caller.

    `pending` has these calls. The run continues from `partial` with `answers={call.id: Approve(), ...}`.
    """

    @property
    def pending(self) -> list[Any]:
        """The waiting calls (`ToolCall`), in call order."""
        return [] if self.partial is None else list(self.partial.pending)

    def as_data(self) -> dict[str, Any]:
        return {**super().as_data(), "pending": [_masked(json_data(call)) for call in self.pending]}


class FallbackExhausted(LLMCoreError):
    """All strategies failed.

    `failures`: each failure, in order. `attempts`: each request. `details`: a description of all of them. `__cause__`: the first
    failure.

    The error is also an instance of the class of each failure, with the fields of the last one. So `except RateLimited` catches
    every such run with a rate limit, whatever else failed. If several `except` clauses match, Python takes the first.
    """

    details: str = ""
    """A description of every attempt and its failure. The message has only the last one."""
    failures: Sequence[LLMCoreError] = ()

    def __init__(self, message: str, attempts: Sequence[Attempt] = ()) -> None:
        super().__init__(message)
        self.attempts = list(attempts)

    @staticmethod
    def of(message: str, attempts: Sequence[Attempt], failures: Sequence[LLMCoreError], details: str = "") -> FallbackExhausted:
        """The error of these failures, an instance of the class of each."""
        fields = {name: value for each in failures for name, value in vars(each).items() if name not in _RUN_FIELDS}
        made = _new_error(_exhausted_as(_kinds(failures)), (message,), {**fields, "failures": list(failures), "details": details})
        made.attempts = list(attempts)
        return made

    def as_data(self) -> dict[str, Any]:
        failures = [failure.as_data() for failure in self.failures]
        return {**super().as_data(), "type": "FallbackExhausted", "failures": failures}

    def __reduce__(self) -> tuple[Any, ...]:
        _, (kind, args), fields = super().__reduce__()
        return _new_exhausted, (kind.__bases__[1:] if kind is not FallbackExhausted else (), args), fields


_RUN_FIELDS = frozenset({"partial", "attempts", "details", "failures", "dropped", "sent_as", "__notes__"})


def _kinds(failures: Sequence[LLMCoreError]) -> tuple[type[LLMCoreError], ...]:
    """The classes of the failures, that of the last failure first, without base classes of others."""
    inner = [each for failure in failures for each in (failure.failures if isinstance(failure, FallbackExhausted) else [failure])]
    kinds = dict.fromkeys(_joinable(type(each)) for each in reversed(inner))
    return tuple(kind for kind in kinds if not any(other is not kind and issubclass(other, kind) for other in kinds))


@lru_cache(maxsize=256)
def _exhausted_as(kinds: tuple[type[LLMCoreError], ...]) -> type[FallbackExhausted]:
    """A subclass of `FallbackExhausted` and of each of `kinds`."""
    others = tuple(kind for kind in kinds if not issubclass(FallbackExhausted, kind))
    names = {"__doc__": FallbackExhausted.__doc__, "__module__": __name__}
    return type("FallbackExhausted", (FallbackExhausted, *others), names) if others else FallbackExhausted


def _joinable(kind: type[LLMCoreError]) -> type[LLMCoreError]:
    """The class, or its first base without a builtin exception among its bases, because a class can have only one of those."""
    plain = (LLMCoreError, *LLMCoreError.__mro__[1:])
    return next(base for base in kind.__mro__ if all(issubclass(each, LLMCoreError) or each in plain for each in base.__mro__))


def _new_exhausted(kinds: tuple[type[LLMCoreError], ...], args: tuple[Any, ...]) -> FallbackExhausted:
    return _new_error(_exhausted_as(kinds), args)


class TerminateLoop(Exception):
    """Raised by a tool or hook to end the run now, without an error. `value` becomes the run's final content."""

    value: Any = None
    text: str | None = None
    """`value` as text, which was made within the tool's time limit; None if it was not."""

    def __init__(self, value: Any = None) -> None:
        super().__init__("the loop was asked to end")
        self.value = value

    def set_text(self, text: str) -> str:
        """Set the text of `value`, and return it."""
        self.text = text
        return text


class RetryTool(Exception):
    """Raised by a tool to return the message to the model, which may call again with other arguments."""


_CLASSES: dict[str, type[LLMCoreError]] = {
    name: kind for name, kind in globals().items() if isinstance(kind, type) and issubclass(kind, LLMCoreError)
}


class Attempt(Value):
    """One request to a model and its outcome. `n` counts the attempts of a run from 1.

    In JSON, `failure` is an object with `type`, `message` and the error's fields, which is read back as the error. `report` is
    read back as a `ValidationReport` within a `RunResult`, and as plain data by itself.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    n: int
    model: str
    mode: OutputMode = "native_tools"
    reason: AttemptReason = "first"
    deployment: JsonText = ""
    """The name of the model's deployment; empty if it has no named ones."""
    detail: JsonText = ""
    """The recorded problem behind `reason`. Empty only for the reasons `first` and `turn`."""
    failure: Any = None
    """The `LLMCoreError` that ended it, or None."""
    usage: Usage = Field(default_factory=Usage)
    duration: float = 0.0
    """Seconds until the attempt ended, including `waited`."""
    waited: float = 0.0
    """Seconds of `duration` that passed before the request was sent: a provider's `Retry-After`, or a back-off."""
    report: JsonData = None
    """The `ValidationReport` of its reply; None if no reply arrived."""
    response_id: JsonText = ""
    """The provider's id of the reply; empty if it gave none."""
    response_model: JsonText = ""
    """The model that answered, by the provider's name; empty if it gave none."""
    time_to_first_token: float | None = None
    """Seconds until the first token of the reply arrived; None if unknown."""
    dropped: list[JsonText] = Field(default_factory=list[JsonText])
    """The parts of the request that the endpoint does not accept and that were not sent: parameters, constraints of schemas."""

    @field_validator("failure", mode="before")
    @classmethod
    def _error_of_data(cls, value: Any) -> Any:
        return LLMCoreError.from_data(value) if is_object(value) else value

    @field_serializer("failure", when_used="json")
    def _data_of_error(self, failure: Any) -> Any:
        return None if failure is None else failure.as_data()

    def __eq__(self, other: object) -> bool:
        """Compares the fields; of a failure its data, because a failure that is read back is another object."""
        if not isinstance(other, Attempt):
            return NotImplemented
        fields, other_fields = ({**each.__dict__, "failure": message_of(each.failure)} for each in (self, other))
        return fields == other_fields

    @property
    def error(self) -> LLMCoreError | None:
        failure: LLMCoreError | None = self.failure
        return failure


def message_of(failure: object) -> object:
    return failure.as_data() if isinstance(failure, LLMCoreError) else failure


def with_partial(error: BaseException, partial: Any, attempts: Sequence[Attempt] = ()) -> None:
    """Set `partial` and `attempts` of any exception, also of cancellations and of exceptions from the caller's code."""
    if isinstance(error, LLMCoreError):
        error.with_partial(partial, attempts)
    else:
        error.__dict__.update(partial=partial, attempts=attempts)
