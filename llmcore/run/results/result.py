"""The result of a run, whole or partial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, NoReturn, Self, cast

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import from_json, to_json
from typing_extensions import TypeVar  # with a default, so that a bare RunResult is one of any value

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.run.results.open_calls import NOT_BEGUN, OpenCall
from llmcore.run.results.openai_history import checked_saved, not_saved_error, openai_messages
from llmcore.support.code.suggestions import describe_value, dollars
from llmcore.support.values.copies import Value, updated
from llmcore.support.values.json_data import JsonData, JsonObject, JsonText, json_data
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.support.values.typed_data import with_lists
from llmcore.types import (
    Attempt,
    AttemptFailed,
    AttemptStarted,
    CallerError,
    CallsPending,
    Envelope,
    FallbackExhausted,
    Finished,
    Message,
    NestedEvent,
    NormalizerEvent,
    OutputParseError,
    PartialOutput,
    Repair,
    ToolCall,
    ToolError,
    ToolProgress,
    ToolStarted,
    Usage,
    Waiting,
)
from llmcore.types import ToolResult as ToolEvent

__all__ = ["RepairRecord", "RunEvent", "RunResult", "ToolFailure", "ToolRecord"]

T = TypeVar("T", default=Any)
_MAX_SHOWN = 60
"""How many characters of the content a result's `repr` shows."""
_MAX_SCANNED = 4096
"""How many characters are scanned for keys: enough that none that begins in the shown part is cut."""
_MAX_TOOLS_SHOWN = 4
_FOREIGN_NAMES = {
    **dict.fromkeys(("text", "response", "final_output"), "content"),
    **dict.fromkeys(("data", "parsed", "result"), "value"),
    **dict.fromkeys(("all_messages", "history", "to_input_list"), "messages"),
    "tool_calls": "tool_results` (`ran` tells which ran), `pending`, or `envelope.tool_calls",
    "reasoning": "envelope.reasoning",
    "finish_reason": "envelope.finish_reason",
}
"""The names that other libraries give to a result's attributes, and the attribute here."""


class ToolFailure(Value):
    """Why a tool failed: the type, message and details (JSON data) of the `ToolError`.

    `exception`: the class of what the tool raised (`KeyError`). It is "" if the tool raised nothing: it timed out, was
    refused, or its arguments did not fit.
    """

    model_config = ConfigDict(frozen=True)

    type: JsonText
    message: JsonText
    exception: JsonText = ""
    details: JsonData = None

    @classmethod
    def of(cls, error: ToolError, exception: str) -> ToolFailure:
        """The failure of an error, with details that hold no key that the process knows of."""
        details = None if error.details is None else process_scrubber().value(json_data(error.details))
        return cls(type=error.type, message=error.message, exception=exception, details=details)


class ToolRecord(Value):
    """One call that the model made, whether it ran or not.

    - `id`: the call's id in the history. If its reply was corrected, replaced or not used, the call never entered the history;
      its id then ends in `_not_run`.
    - `arguments`: those that it ran with, or would have.
    - `value`: what the tool returned. In JSON, a value that is no JSON data stands as its text.
    - `content`: the text that the model saw.
    - `error`: why it failed or did not run. Its `type` is `validation` or `not_found` if the call itself was wrong, else
      `execution`.
    - `duration`: seconds over all tries.
    - `retries`: tries after the first.
    - `turn`: the tool turn of the run, from 1.
    - `ran`: whether the tool was started, so that it may have had effects, even if it failed or was stopped. False for a call
      that a correction replaced, that the model withdrew, or whose arguments did not fit. Also False for a call that a hook or
      the caller refused, that was not allowed, over the budget or a guess, or that the end of the run prevented.
    - `summary`: the call in words, if the tool has them (`tool(summary=...)`).
    - `answer`: the caller's answer when the run resumed (`Approve`, `Deny`, `Answer`).
    - `ended`: whether it ended the run.
    """

    model_config = ConfigDict(frozen=True)

    id: JsonText
    name: JsonText
    arguments: JsonObject | None = None
    value: JsonData = None
    content: JsonText = ""
    error: ToolFailure | None = None
    duration: float = 0.0
    retries: int = 0
    turn: int = 1
    ran: bool = False
    summary: JsonText = ""
    answer: Literal["approve", "deny", "answer"] | None = None
    ended: bool = False

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """The fields. A value that Python cannot show (a number of too many digits) stands as its text."""
        return [(name, value if _has_repr(value) else json_data(value)) for name, value in super().__repr_args__()]


class RepairRecord(Value):
    """One repair of an accepted reply: of a call (`call_id` is its id in the history), of the typed output, or of the reply
    itself.

    `attempt` is the number of the request of that reply (`Attempt.n`). It is 0 for repairs of the given `history`.
    """

    model_config = ConfigDict(frozen=True)

    attempt: int
    of: Literal["call", "output", "reply", "history"]
    call_id: JsonText | None = None
    repair: Repair


def _validated_output(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """The typed value. If the run has none, for example because calls wait, the field may hold anything."""
    try:
        return handler(value)
    except ValidationError:
        if info.data.get("has_output"):
            raise
        return value


def typed_attempts(attempts: list[Attempt]) -> list[Attempt]:
    """The attempts of a saved run with their reports as `ValidationReport`s, and the problems of failures as `Problem`s. `types`,
    which defines attempts and errors, does not know these classes.

    Data that is no such report or problem, in a file written by hand, stays data.
    """
    return [_with_report(attempt) for attempt in attempts]


def _with_report(attempt: Attempt) -> Attempt:
    for error in _output_errors(attempt.failure):
        from llmcore.validator import Problem  # loads jsonschema, so only if needed

        error.with_problems([_validated_or_as_is(Problem.model_validate, problem) for problem in error.problems])
    if not is_object(attempt.report):
        return attempt
    from llmcore.validator import ValidationReport

    return updated(attempt, {"report": _validated_or_as_is(ValidationReport.model_validate, attempt.report)})


def _output_errors(failure: object) -> Iterator[OutputParseError]:
    """The `OutputParseError`s in a failure."""
    if isinstance(failure, OutputParseError) and is_list(getattr(failure, "problems", None)):
        yield failure
    for inner in failure.failures if isinstance(failure, FallbackExhausted) else ():
        yield from _output_errors(inner)


def _validated_or_as_is(read: Callable[[Any], Any], given: Any) -> Any:
    try:
        return read(given) if is_object(given) else given
    except ValidationError:
        return given


class RunResult(Value, Generic[T]):
    """The result of a run, whole or partial (`error.partial`).

    - `value`: what was asked for: the typed value (`output`), or the text if no type was asked for.
    - `id`, `started_at`, `duration`: the run's id, its start, and its length in seconds.
    - `envelope`: the last reply. If it was cut, `truncated` is True, even if text that a limit ended (`finish_reason` `length`)
      is the answer.
    - `messages`: the whole history, ready for the next request.
    - `given_messages`: how many of them were given to the run.
    - `usage`: that of all requests. `attempts`: one entry for each request.
    - `degraded`: every strategy failed, and the best text stands in for an answer. If the model said nothing after tools ran,
      there is no text.
    - `pending`: calls that wait for the caller. `approvals` are those that wait for approval, `calls_elsewhere` those of tools
      without a function. `open_calls` describes them. Resume the run by `run(result, answers={call.id: Approve(), ...})`.
    - `ended`: False in what was saved while the run went on (`checkpoint=`).
    - `output`: the typed value, if one was asked for. It is None if the run ended without one; `has_output` tells whether a
      None is the value. If no type was asked for, it is the value with which a tool or hook ended the run.
    - `tool_results`: the model's calls, in the order of their outcomes, with whether each `ran` and, if not, why. Calls that
      wait are in `pending` instead.
    - `repairs`: the repairs of accepted replies and of the given history.
    - `not_entered`: interjections that came too late for the last request. No message of the history holds them. They wait in
      their box for the next run with that box.
    - `saved_as`: the key in a `run_store`. `digest`: covers the open calls, so that a result with changed calls is refused.
    - `runs`: the child runs (`parent=`). Their usage is part of this run's; their attempts are their own. `parent_call` is the
      id of the call whose tool made the run.

    `model_dump_json()` works at any end of a run, and `model_validate_json` reads it back. `output` and the values of tools
    come back as plain data, all other fields as they were. An envelope's `source` and `segments` are no fields and are lost.
    Values that JSON cannot express stand as text: infinity as "Infinity", a number of more than 4300 digits as its digits.

    `version` grows when the JSON's keys change their meaning. Older versions are upgraded when they are read. An unknown key or a
    newer version raises `CallerError`. A result, even one that was read back, can be the `message_history` of the next run.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    version: Literal[1] = 1
    id: JsonText = ""
    started_at: datetime | None = None
    duration: float = 0.0
    envelope: Envelope = Field(default_factory=Envelope)
    messages: list[Message] = Field(default_factory=list[Message])
    usage: Usage = Field(default_factory=Usage)
    attempts: Annotated[list[Attempt], AfterValidator(typed_attempts)] = Field(default_factory=list[Attempt])
    degraded: bool = False
    pending: list[ToolCall] = Field(default_factory=list[ToolCall])
    has_output: bool = False
    output: Annotated[T, WrapValidator(_validated_output), PlainSerializer(json_data, return_type=Any, when_used="json")] = Field(
        default=cast("T", None)
    )
    output_asked: bool = False
    """Whether a typed value was asked for."""
    tool_results: list[ToolRecord] = Field(default_factory=list[ToolRecord])
    repairs: list[RepairRecord] = Field(default_factory=list[RepairRecord])
    given_messages: int = 0
    not_entered: list[Message] = Field(default_factory=list[Message])
    parent_call: JsonText = ""
    runs: list[RunResult] = Field(default_factory=list["RunResult"])
    open_calls: list[OpenCall] = Field(default_factory=list[OpenCall])
    ended: bool = True
    saved_as: JsonText = ""
    digest: JsonText = ""

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """A result from data such as `model_dump(mode="json")` returns. Raises `CallerError` for anything else."""
        if is_object(obj):
            obj = checked_saved(obj, cls.model_fields)
        return cls._read(cast("Callable[..., Self]", super().model_validate), obj, options)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """A result that `model_dump_json` of this llmcore or an older one wrote. Raises `CallerError` for anything else, and for
        a newer version."""
        try:
            data: object = from_json(json_data)
        except TypeError:
            raise CallerError(f"this is no saved RunResult: it is {describe_value(json_data)}, not its JSON") from None
        except ValueError as error:
            raise CallerError(f"this is no saved RunResult: it is no JSON ({error}); save one by model_dump_json()") from None
        if is_object(data):
            current = checked_saved(data, cls.model_fields)
            json_data = json_data if current is data else to_json(current)
        return cls._read(cast("Callable[..., Self]", super().model_validate_json), json_data, options)

    @classmethod
    def _read(cls, read: Callable[..., Self], given: object, options: Mapping[str, Any]) -> Self:
        try:
            made = read(given, **options)
            if cls.__pydantic_generic_metadata__["args"]:  # the caller's type
                vars(made)["output"] = with_lists(made.output, ("output",))
            return made
        except ValidationError as error:
            raise not_saved_error(error, cls.model_fields) from None

    def __iter__(self) -> NoReturn:
        raise CallerError("a RunResult is no list: the answer is `result.value`, the history `result.messages`")

    def messages_as_openai(self) -> list[dict[str, Any]]:
        """The whole history in the form of OpenAI's chat API, without reasoning, which that API does not take.

        A call without a result gets one that says why: it waits, it was not run, or it was started and its outcome is unknown.
        """
        texts = {call.id: call.result_text for call in self.open_calls}
        return openai_messages(self.messages, lambda call_id: texts.get(call_id, None if self.ended else NOT_BEGUN))

    @property
    def value(self) -> T:
        """The typed value. If no type was asked for: the text, or what a tool, a hook or a validator made the answer.

        If a typed value was asked for and there is none (see `has_output`), raises `CallsPending` if calls wait, else
        `CallerError`.
        """
        if self.has_output:
            return self.output
        if not self.output_asked:
            return cast("T", self.content if self.output is None else self.output)
        calls = ", ".join(call.name for call in self.pending)
        why = f"calls are pending: {calls}" if calls else "a tool, a hook or an error ended the run before it"
        kind = CallsPending if calls else CallerError
        error = kind(f"the run has no value: {why}; `has_output` tells, `content` is the text")
        raise error.with_partial(self, self.attempts)

    @property
    def unpriced(self) -> list[str]:
        """The models, as `Attempt.model` names them, of requests without a known cost, if other requests have one. `usage.cost`
        is then None.

        The list is empty if every cost is known, or none. Requests of child runs count, too. To fix it, give these models
        `prices` in the registry.
        """
        attempts = [*self._all_attempts()]
        unknown = dict.fromkeys(one.model for one in attempts if one.usage.cost is None and one.usage.total_tokens)
        return [*unknown] if any(one.usage.cost is not None for one in attempts) else []

    def _all_attempts(self) -> Iterable[Attempt]:
        yield from self.attempts
        for run in self.runs:
            yield from run._all_attempts()

    @property
    def approvals(self) -> list[OpenCall]:
        """The pending calls that wait for approval: their ids, arguments, `summary` and `reason`."""
        return [call for call in self.open_calls if call.stage == "approval"]

    @property
    def calls_elsewhere(self) -> list[OpenCall]:
        """The pending calls of tools without a function. The caller carries them out."""
        return [call for call in self.open_calls if call.stage == "elsewhere"]

    @property
    def content(self) -> str:
        """The text of the answer."""
        return self.envelope.content

    @property
    def new_messages(self) -> list[Message]:
        """The messages that this run added to the given history."""
        return self.messages[self.given_messages :]

    @property
    def time_to_first_token(self) -> float | None:
        """Seconds from the first answered request to the first part of its reply; None if unknown."""
        return next((one.time_to_first_token for one in self.attempts if one.time_to_first_token is not None), None)

    def __repr__(self) -> str:
        """One line: the beginning of the content, without keys, and the numbers of the rest."""
        parts = [
            repr(_cut(process_scrubber().text(self.content[:_MAX_SCANNED]), _MAX_SHOWN)),
            _counted(len(self.messages), "message"),
            _counted(len(self.attempts), "attempt"),
        ]
        if self.tool_results:
            names = list(dict.fromkeys(_cut(record.name, 20) for record in self.tool_results))
            more = ", ..." if len(names) > _MAX_TOOLS_SHOWN else ""
            parts.append(f"{_counted(len(self.tool_results), 'tool call')} ({', '.join(names[:_MAX_TOOLS_SHOWN])}{more})")
        unpriced = ", cost unknown" if self.unpriced else ""
        cost = unpriced if self.usage.cost is None else f" {dollars(self.usage.cost)}"
        parts.append(f"{self.usage.input_tokens}+{self.usage.output_tokens} tokens{cost}")
        flags = {
            "output": self.has_output,
            "pending": bool(self.pending),
            "not ended": not self.ended,
            "degraded": self.degraded,
            "truncated": self.envelope.truncated,
        }
        parts += [name for name, is_set in flags.items() if is_set]
        return _cut(f"RunResult({', '.join(parts)})", 195)

    __str__ = __repr__

    if not TYPE_CHECKING:  # for a checker any attribute would exist then

        def __getattr__(self, name: str) -> Any:
            """Name the right attribute in the error."""
            try:
                return super().__getattr__(name)
            except AttributeError as error:
                if (other := _FOREIGN_NAMES.get(name)) is not None:
                    raise AttributeError(f"{error}; it is `result.{other}`") from None
                if name.startswith("_") or not self.__dict__.get("has_output"):
                    raise
                raise AttributeError(f"{error}; the typed value is `result.value`") from None


RunEvent = (
    NormalizerEvent
    | Waiting
    | AttemptStarted
    | AttemptFailed
    | ToolStarted
    | ToolProgress
    | NestedEvent
    | ToolEvent
    | PartialOutput[T]
    | Finished[RunResult[T]]
)
"""What `stream` yields: an `Event`, with the type of the value."""


def _has_repr(value: object) -> bool:
    try:
        repr(value)
    except Exception:  # the value's own code
        return False
    return True


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
