"""Every error of the library. Blame is in the class.

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
    ├── InternalError             ours: please report it
    ├── ToolError                 a tool failed
    ├── CallsPending              calls wait for the caller, so there is no answer yet; nobody's fault
    └── FallbackExhausted         every strategy failed; raised from the first failure, and an instance of each failure's class
    Control (not errors; raised by tools): TerminateLoop, RetryTool

Every error that ends a run carries what was done so far: `partial` (a `RunResult` or None) and `attempts`. An `Attempt` in turn
carries the error that ended it, so both stand here.
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
    """The root. `partial` and `attempts` are filled when the error ends a run.

    Every error can be copied and sent to another process, with its fields, `partial` and `attempts`, unless a value that
    a tool returned to the run (`partial.tool_results`) cannot. Its cause goes along as it is when it is ours or a plain
    builtin exception; of any other the name and the text. Its message can be encoded, whatever a server or a hook put
    into it, is at most `MAX_MESSAGE` characters long and shows nothing that looks like a key.
    """

    partial: Any = None
    attempts: Sequence[Attempt] = ()
    facts: RefusalFacts = NO_FACTS
    """What the server's error says, if a server sent one."""
    status: int | None = None
    """The HTTP status, None if there was none."""
    dropped: Sequence[str] = ()
    """What was left out of the request that failed, as `Attempt.dropped` tells it."""
    sent_as: str = ""
    """A digest of where that request went and of its body, where an adapter saw it leave."""

    def __init__(self, *args: Any, facts: RefusalFacts | None = None) -> None:
        super().__init__(*map(_sayable, args))
        if facts is not None:
            self.facts, self.status = facts, facts.status

    def with_request(self, dropped: Sequence[str], sent_as: str) -> None:
        """Attach what became of the request that failed."""
        if dropped:
            self.dropped = tuple(dropped)
        if sent_as:
            self.sent_as = sent_as

    def with_partial(self, partial: Any, attempts: Sequence[Attempt] = ()) -> LLMCoreError:
        """Attach what was done so far and return self, for `raise error.with_partial(...)`."""
        self.partial, self.attempts = partial, attempts or self.attempts
        return self

    def with_words(self, *args: Any) -> None:
        """Say it in these words."""
        self.args = args

    def as_data(self) -> dict[str, Any]:
        """The error as JSON data: `type` (the class's name), `message`, and the fields it has of its own, one that is
        called `type` as `kind`. It shows nothing that looks like a key."""
        fields = {
            _RENAMED.get(name, name): _masked(json_data(value)) for name, value in vars(self).items() if name not in _NO_DATA
        }
        facts = {"facts": _masked(json_data(self.facts.as_data()))} if self.facts is not NO_FACTS else {}
        return {"type": type(self).__name__, "message": encodable(str(self)), **fields, **facts}

    @staticmethod
    def from_data(data: Mapping[str, Any]) -> LLMCoreError:
        """The error that `as_data` told of; an `LLMCoreError` where the class is not of this module."""
        renamed = {new: name for name, new in _RENAMED.items()}
        fields = {renamed.get(name, name): value for name, value in data.items() if name not in ("type", "message")}
        kind: type[LLMCoreError] = _CLASSES.get(str(data.get("type")), LLMCoreError)
        if "facts" in fields:
            fields["facts"] = RefusalFacts.from_data(fields["facts"])
        told = fields.pop("failures", ())
        if kind is FallbackExhausted and is_list(told):
            fields["failures"] = failures = [LLMCoreError.from_data(one) for one in told if is_object(one)]
            kind = _exhausted_as(_kinds(failures))
        return _made(kind, (str(data.get("message", "")),), fields)

    def __reduce__(self) -> tuple[Any, ...]:
        cause = {"__cause__": _portable(self.__cause__)} if self.__cause__ is not None else {}
        return _made, (type(self), self.args), {**vars(self), **cause}  # the fields apart: they may hold the error itself

    def __copy__(self) -> Self:
        copied = _made(type(self), self.args, vars(self))
        copied.__cause__ = self.__cause__
        return copied.with_traceback(self.__traceback__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = _made(type(self), self.args)
        memo[id(self)] = copied
        vars(copied).update(deepcopy(vars(self), memo))
        copied.__cause__ = self.__cause__
        return copied


_NO_DATA = frozenset({"partial", "attempts", "facts", "failures", "message", "dropped", "sent_as", "__notes__"})
_RENAMED = {"type": "kind"}
_PLAIN = (str, bytes, int, float, bool, type(None))


def _sayable(arg: Any) -> Any:
    if not isinstance(arg, str):
        return arg
    from llmcore.support.values.credentials import (
        without_keys,  # its expressions are compiled with the first error, not by every import
    )

    return without_keys(encodable(clipped_words(arg, MAX_MESSAGE)))


def _masked(data: Any) -> Any:
    """JSON data with what looks like a key hidden."""
    from llmcore.support.values.credentials import without_keys

    if isinstance(data, str):
        return without_keys(data)
    if is_object(data):
        return {name: _masked(value) for name, value in data.items()}
    return [_masked(value) for value in data] if is_list(data) else data


def _made(kind: type[E], args: tuple[Any, ...], fields: Mapping[str, Any] = MappingProxyType({})) -> E:
    """An error without a call of its `__init__`, which may ask for more than `args`."""
    error = kind.__new__(kind, *map(_sayable, args))
    vars(error).update(fields)
    return error


def _portable(cause: BaseException) -> BaseException:
    """The cause, or what another process can know of it: exceptions of other libraries seldom survive a pickle."""
    plain = type(cause).__module__ == "builtins" and not vars(cause) and all(type(arg) in _PLAIN for arg in cause.args)
    short = plain and not any(isinstance(arg, str | bytes) and len(arg) > MAX_MESSAGE for arg in cause.args)
    if isinstance(cause, LLMCoreError) or short:
        return cause
    return RuntimeError(clipped_words(f"{type(cause).__name__}: {cause}", MAX_MESSAGE))


class CallerError(LLMCoreError):
    """The caller's mistake: the message names the thing and the fix."""


class ToolDefinitionError(CallerError):
    """A tool cannot be used as defined: its signature, its schema or its examples."""


class ConfigError(CallerError):
    """A registry file, a setting or an installation is wrong."""


Value.raises = ConfigError


class ModelNotFound(CallerError):
    """No such alias or model, no access to it, or none that fits what the request needs."""

    @property
    def unexplained(self) -> bool:
        """The server only said that it does not find something (HTTP 404), and the request held tools or a response format. The
        server may have no place for these, so other output modes were asked, if there were any."""
        return self.facts.kind == "unexplained"


class LimitExceeded(CallerError):
    """A bound would be passed: a verified limit of the provider, before anything is sent, or the run's `Budget`, also in the
    middle of a run. The request that would pass it is not sent; `partial` has what was done before."""


class AuthenticationFailed(CallerError):
    """The key is missing, wrong or expired, or the server forbids what it is used for (HTTP 403)."""

    @property
    def unclear(self) -> bool:
        """The server did not say that the key is the reason, so another model may be asked with the same key."""
        return self.facts.kind in ("forbidden", "unexplained")

    @property
    def unexplained(self) -> bool:
        """In addition the request held tools or a response format. The server may forbid these, so other output modes were
        asked, if there were any."""
        return self.facts.kind == "unexplained"


class QuotaExceeded(CallerError):
    """The account's quota is spent; waiting does not help."""


class ModelError(LLMCoreError):
    """The model answered, and the answer cannot be used."""


class OutputParseError(ModelError):
    """Text could not be read as the output type. `problems` lists why, best first; `text` is what was read."""

    def __init__(self, message: str, problems: Sequence[Any] = (), text: str = "") -> None:
        super().__init__(message)
        self.problems = list(problems)
        self.text = text

    def with_problems(self, problems: Sequence[Any]) -> None:
        """Put these in the place of its problems, which were read back as data."""
        self.problems = list(problems)


class Refused(ModelError):
    """The model or the provider's policy refused. `status` is the HTTP status of a refusal by the provider, else None."""


class MaxToolTurns(ModelError):
    """The tool loop did not end within `max_tool_turns`."""


class Truncated(ModelError):
    """The reply was cut and could not be completed."""


class ProviderError(LLMCoreError):
    """The provider's limit or fault. `status` is the HTTP status, None when there was none."""

    def __init__(self, message: str, *, status: int | None = None, facts: RefusalFacts | None = None) -> None:
        super().__init__(message, facts=facts)
        self.status = status if facts is None else facts.status


class RateLimited(ProviderError):
    """Too many requests. `retry_after` is in seconds, None when the provider did not say."""

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
    """The provider is overloaded (503, 529). `retry_after` is in seconds, None when the provider did not say."""

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
        """The same request would fail again."""
        return self.facts.kind == "lasting"


class CapabilityRefused(ProviderError):
    """The endpoint refuses a parameter or feature (`capability`: native_tools, json_schema, ...): another output mode may do.
    Names that are joined by `+` are refused together only. `others`: what the same words refuse beside it."""

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
        """All that is refused."""
        return (self.capability, *self.others)


class RequestRefused(ProviderError):
    """The server refused the request (400, 422, ...), and its words do not say which part of it. The request is made once more
    without its optional parts, then in another output mode or of another model. The same request is not sent again. If a later
    request is answered, llmcore doubts the parts that only the refused one held."""

    @property
    def unsent(self) -> bool:
        """The request was not sent, because the same request was refused before in this run."""
        return self.facts.kind == "unsent"


class Timeout(ProviderError):
    """No answer in time."""


class InternalError(LLMCoreError):
    """A fault of llmcore or of a library beneath it."""


class ToolError(LLMCoreError):
    """A tool could not be run or failed. `type` says which; `details` is plain data.

    A tool may raise one: `raise ToolError("the quota is used", details={"left": 0})`. Its name and the call's id are filled in.
    The model is told the message; `ToolRecord.error` has the details, too.
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

    def of_call(self, name: str, call_id: str) -> ToolError:
        """A copy that names the tool and the call, where this one does not: a tool may raise one error for several calls."""
        copied = copy(self)
        copied.tool_name, copied.tool_id = self.tool_name or name, self.tool_id or call_id
        return copied


class CallsPending(LLMCoreError):
    """An answer was asked for, and the run waits for the caller: calls have to be approved, or to be carried out elsewhere.
    `pending` are these calls. The run goes on from `partial`, with `answers={call.id: Approve(), ...}`."""

    @property
    def pending(self) -> list[Any]:
        """The calls (`ToolCall`) that wait, in call order."""
        return [] if self.partial is None else list(self.partial.pending)

    def as_data(self) -> dict[str, Any]:
        return {**super().as_data(), "pending": [_masked(json_data(call)) for call in self.pending]}


class FallbackExhausted(LLMCoreError):
    """All strategies failed. `failures` holds each failure, in order; `attempts` tells of each request, `details` of all in
    words; `__cause__` is the first failure.

    It is an instance of the class of each failure as well, with the fields of the last one: `except RateLimited` catches every
    run that ended so after a rate limit, whatever else failed before or after. Where several `except` clauses fit, Python
    takes the one that stands first.
    """

    details: str = ""
    """Every attempt and its failure in words; the message has the last one's."""
    failures: Sequence[LLMCoreError] = ()

    def __init__(self, message: str, attempts: Sequence[Attempt] = ()) -> None:
        super().__init__(message)
        self.attempts = list(attempts)

    @staticmethod
    def of(message: str, attempts: Sequence[Attempt], failures: Sequence[LLMCoreError], details: str = "") -> FallbackExhausted:
        """The error of these failures, an instance of the class of each."""
        fields = {name: value for one in failures for name, value in vars(one).items() if name not in _OF_RUNS}
        made = _made(_exhausted_as(_kinds(failures)), (message,), {**fields, "failures": list(failures), "details": details})
        made.attempts = list(attempts)
        return made

    def as_data(self) -> dict[str, Any]:
        failures = [one.as_data() for one in self.failures]
        return {**super().as_data(), "type": "FallbackExhausted", "failures": failures}

    def __reduce__(self) -> tuple[Any, ...]:
        _, (kind, args), fields = super().__reduce__()
        return _exhausted, (kind.__bases__[1:] if kind is not FallbackExhausted else (), args), fields


_OF_RUNS = frozenset({"partial", "attempts", "details", "failures", "dropped", "sent_as", "__notes__"})


def _kinds(failures: Sequence[LLMCoreError]) -> tuple[type[LLMCoreError], ...]:
    """Their classes, the last failure's first; without those that another one is a case of."""
    inner = [one for failure in failures for one in (failure.failures if isinstance(failure, FallbackExhausted) else [failure])]
    kinds = dict.fromkeys(_joinable(type(one)) for one in reversed(inner))
    return tuple(kind for kind in kinds if not any(other is not kind and issubclass(other, kind) for other in kinds))


@lru_cache(maxsize=256)
def _exhausted_as(kinds: tuple[type[LLMCoreError], ...]) -> type[FallbackExhausted]:
    """`FallbackExhausted` that is each of these, too."""
    others = tuple(kind for kind in kinds if not issubclass(FallbackExhausted, kind))
    names = {"__doc__": FallbackExhausted.__doc__, "__module__": __name__}
    return type("FallbackExhausted", (FallbackExhausted, *others), names) if others else FallbackExhausted


def _joinable(kind: type[LLMCoreError]) -> type[LLMCoreError]:
    """The class, or the first of its bases that is no builtin exception as well: of those one class can have but one."""
    plain = (LLMCoreError, *LLMCoreError.__mro__[1:])
    return next(base for base in kind.__mro__ if all(issubclass(one, LLMCoreError) or one in plain for one in base.__mro__))


def _exhausted(kinds: tuple[type[LLMCoreError], ...], args: tuple[Any, ...]) -> FallbackExhausted:
    return _made(_exhausted_as(kinds), args)


class TerminateLoop(Exception):
    """Raised by a tool or hook: end the run now, cleanly, with what there is. `value` becomes the run's final content."""

    value: Any = None
    text: str | None = None
    """`value` as it was written where the tool ran; None where it was not."""

    def __init__(self, value: Any = None) -> None:
        super().__init__("the loop was asked to end")
        self.value = value

    def written_as(self, text: str) -> str:
        """Note how `value` was written, and give it back."""
        self.text = text
        return text


class RetryTool(Exception):
    """Raised by a tool: tell the model what was wrong with its arguments and let it call again."""


_CLASSES: dict[str, type[LLMCoreError]] = {
    name: kind for name, kind in globals().items() if isinstance(kind, type) and issubclass(kind, LLMCoreError)
}


class Attempt(Value):
    """One request to a model and what became of it. A run's attempts are one growing list; `n` counts from 1.

    In JSON, `failure` is an object with `type`, `message` and the error's fields, from which the error is made again. `report` is
    read back as a `ValidationReport` with the `RunResult` that it is part of, and as its data by itself.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    n: int
    model: str
    mode: OutputMode = "native_tools"
    reason: AttemptReason = "first"
    deployment: JsonText = ""
    """Which of the model's deployments was asked; empty where it has none of its own."""
    detail: JsonText = ""
    """Why this request was made, in words: the recorded problem behind `reason`. Empty only for the first and for turns."""
    failure: Any = None
    """The `LLMCoreError` that ended it, or None."""
    usage: Usage = Field(default_factory=Usage)
    duration: float = 0.0
    """Seconds from when the attempt was decided on until it ended, `waited` included."""
    waited: float = 0.0
    """Seconds of `duration` that passed before the request was sent: a provider's `Retry-After`, or a back-off."""
    report: JsonData = None
    """The `ValidationReport` of its reply, or None when none came."""
    response_id: JsonText = ""
    """The reply's id, where the provider gave one; so for `response_model`, the model that the provider says answered."""
    response_model: JsonText = ""
    time_to_first_token: float | None = None
    """Seconds until the first piece of the reply came; None where it is not known."""
    dropped: list[JsonText] = Field(default_factory=list[JsonText])
    """What of the request the endpoint does not take and was not sent: parameters, constraints of tools' schemas."""

    @field_validator("failure", mode="before")
    @classmethod
    def _error_of_data(cls, value: Any) -> Any:
        return LLMCoreError.from_data(value) if is_object(value) else value

    @field_serializer("failure", when_used="json")
    def _data_of_error(self, failure: Any) -> Any:
        return None if failure is None else failure.as_data()

    def __eq__(self, other: object) -> bool:
        """As any type's; of a failure counts what it says, for one that is read back is another object."""
        if not isinstance(other, Attempt):
            return NotImplemented
        mine, its = ({**each.__dict__, "failure": message_of(each.failure)} for each in (self, other))
        return mine == its

    @property
    def error(self) -> LLMCoreError | None:
        failure: LLMCoreError | None = self.failure
        return failure


def message_of(failure: object) -> object:
    return failure.as_data() if isinstance(failure, LLMCoreError) else failure


def with_partial(error: BaseException, partial: Any, attempts: Sequence[Attempt] = ()) -> None:
    """Attach what was done so far. Cancellations and errors of callers are of no class of ours: here alone they get the two
    attributes."""
    if isinstance(error, LLMCoreError):
        error.with_partial(partial, attempts)
    else:
        error.__dict__.update(partial=partial, attempts=attempts)
