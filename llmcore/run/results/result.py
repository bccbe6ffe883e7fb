"""What a run gives back, whole or partial."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
from pydantic_core import from_json
from typing_extensions import TypeVar  # with a default, so that a bare RunResult is one of any value

from llmcore.adapters.secrets.known_secrets import process_scrubber
from llmcore.run.results.attempts_read import as_they_were
from llmcore.run.results.open_calls import NOT_BEGUN, OpenCall
from llmcore.run.results.openai_history import check_saved, not_saved, openai_messages
from llmcore.support.code.suggestions import describe_value, dollars
from llmcore.support.values.copies import Value
from llmcore.support.values.json_data import JsonData, JsonObject, JsonText, json_data
from llmcore.support.values.narrowing import is_object
from llmcore.support.values.typed_data import with_lists
from llmcore.types import (
    Attempt,
    AttemptFailed,
    AttemptStarted,
    CallerError,
    CallsPending,
    Envelope,
    Finished,
    Message,
    NestedEvent,
    NormalizerEvent,
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
_SHOWN = 60
"""Characters of the content in a result's `repr`."""
_LOOKED_THROUGH = 4096
"""Characters of it that are looked through for keys: so many that none that begins in what is shown is cut."""
_SHOWN_TOOLS = 4
_ELSEWHERE = {
    **dict.fromkeys(("text", "response", "final_output"), "content"),
    **dict.fromkeys(("data", "parsed", "result"), "value"),
    **dict.fromkeys(("all_messages", "history", "to_input_list"), "messages"),
    "tool_calls": "tool_results` (`ran` tells which ran), `pending`, or `envelope.tool_calls",
    "reasoning": "envelope.reasoning",
    "finish_reason": "envelope.finish_reason",
}
"""What other libraries' results call what this one has."""


class ToolFailure(Value):
    """Why a tool failed: the `ToolError`'s type, message and details (JSON data). `exception`: the class of what the tool raised
    (`KeyError`), "" where it raised nothing: it did not end in time, was refused, or its arguments did not fit."""

    model_config = ConfigDict(frozen=True)

    type: JsonText
    message: JsonText
    exception: JsonText = ""
    details: JsonData = None

    @classmethod
    def of(cls, error: ToolError, exception: str) -> ToolFailure:
        """What an error says, its details without the keys that the process knows of."""
        details = None if error.details is None else process_scrubber().value(json_data(error.details))
        return cls(type=error.type, message=error.message, exception=exception, details=details)


class ToolRecord(Value):
    """One call that the model made, whether it ran or not.

    `id` is the call's in the history. A call that never came into the history, because its reply was corrected, replaced or not
    used, has an `id` of its own that ends in `_not_run`. `arguments` are those it ran with, or would have run with, `value`
    what the tool returned, `content` the text the model was shown, `summary` the call in words where the tool has some
    (`tool(summary=...)`). `ran`: the tool was begun, so it may have done something, also where it failed or was stopped; False
    for a call that a correction replaced, that the model took back, whose arguments did not fit, that a hook or the caller
    refused, that was not allowed, over the budget or only a guess, or that the run's end left no time for. Then `error` says
    why: its `type` is `validation` or `not_found` where the call itself was wrong, else `execution`. `answer`: what the caller
    said of it when the run went on (`Approve`, `Deny`, `Answer`). `ended`: it ended the run. `duration` is in seconds over all
    tries, `retries` counts those after the first, `turn` counts the tool turns of the run from 1.
    In JSON a `value` that is no JSON data stands as its text.
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
        """Its fields; a value that Python cannot show (a number of too many digits) as its text."""
        return [(name, value if _is_shown(value) else json_data(value)) for name, value in super().__repr_args__()]


class RepairRecord(Value):
    """One repair of a reply that was accepted: of a call (`call_id` is its id in the history), of the typed output, or
    of the reply itself. `attempt` is the number of the request whose reply it was (`Attempt.n`). A repair of the `history` that
    the run was given has the attempt 0."""

    model_config = ConfigDict(frozen=True)

    attempt: int
    of: Literal["call", "output", "reply", "history"]
    call_id: JsonText | None = None
    repair: Repair


def _value_or_none_yet(value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
    """The typed value; of a run that has none, such as one that waits, whatever stands in its place."""
    try:
        return handler(value)
    except ValidationError:
        if info.data.get("has_output"):
            raise
        return value


class RunResult(Value, Generic[T]):
    """A run's end, or as far as it came (`error.partial`).

    `value` is what was asked for: the typed value (`output`), or the text where no type was asked for. `id` names the run,
    `started_at` and `duration` (seconds) are its times.
    `envelope` is the last reply; its `truncated` says that it was cut, also where words that a limit ended (`finish_reason`
    `length`) are the answer. `messages` is the whole history, ready for the next request; `usage` of all requests; `attempts`
    one entry a request. `degraded`: every strategy failed and the best text stands in for an answer, or none where the model
    said nothing after tools ran. `pending`: calls that wait for the caller; of those `approvals` wait to be approved, and the
    others (`calls_elsewhere`) are of tools without a function. `open_calls` tells more of them. The run goes on by `run(result,
    answers={call.id: Approve(), ...})`. `ended` is False in what was saved while the run went on (`checkpoint=`). `output` is
    the typed value when one was asked for, and None where the run ended without one (`has_output` tells a None that is the
    value from that); where none was asked for, it is the value with which a tool or hook ended the run. `tool_results` are the
    calls that the model made, in the order in which they were settled, each with whether it `ran` and, if not, why; calls that
    wait are `pending`. `repairs` is what was repaired of the replies that were accepted and of the history that was given.
    `given_messages`: so many of `messages` were given to the run. `not_entered`: interjections that came too late for its last
    request. They are in no message of the history, and wait in their box for the next run that is given it.
    `saved_as` is its key in a `run_store`. `digest` is over its open calls: a result whose calls were changed is refused.
    `runs` are the runs made within this one (`parent=`): their usage is part of this one's, their attempts are their own; each
    has as `parent_call` the id of the call whose tool made it.

    `model_dump_json()` works at any end of a run and `model_validate_json` reads it back: `output` and values of tools as plain
    data, all other fields as they were (an envelope's `source` and `segments`, which are none, apart). What JSON has no form for
    stands as text: infinity as "Infinity", a number of more than 4300 digits as its digits. `version` counts up when the JSON's
    keys change their meaning; a key or a version that is not known is a `CallerError`. A result, also one read back, goes
    on as `message_history` of the next run.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    version: Literal[1] = 1
    id: JsonText = ""
    started_at: datetime | None = None
    duration: float = 0.0
    envelope: Envelope = Field(default_factory=Envelope)
    messages: list[Message] = Field(default_factory=list[Message])
    usage: Usage = Field(default_factory=Usage)
    attempts: Annotated[list[Attempt], AfterValidator(as_they_were)] = Field(default_factory=list[Attempt])
    degraded: bool = False
    pending: list[ToolCall] = Field(default_factory=list[ToolCall])
    has_output: bool = False
    output: Annotated[T, WrapValidator(_value_or_none_yet), PlainSerializer(json_data, return_type=Any, when_used="json")] = (
        Field(default=cast("T", None))
    )
    output_asked: bool = False
    """Was a typed value asked for?"""
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
        """A result of data as `model_dump(mode="json")` gives it. Raises `CallerError` for what is none."""
        if is_object(obj):
            check_saved(obj, cls.model_fields, 1)
        return cls._read(cast("Callable[..., Self]", super().model_validate), obj, options)

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """A result that `model_dump_json` wrote. Raises `CallerError` for what is none, or is of another version."""
        try:
            data: object = from_json(json_data)
        except TypeError:
            raise CallerError(f"this is no saved RunResult: it is {describe_value(json_data)}, not its JSON") from None
        except ValueError as error:
            raise CallerError(f"this is no saved RunResult: it is no JSON ({error}); save one by model_dump_json()") from None
        if is_object(data):
            check_saved(data, cls.model_fields, 1)
        return cls._read(cast("Callable[..., Self]", super().model_validate_json), json_data, options)

    @classmethod
    def _read(cls, read: Callable[..., Self], given: object, options: Mapping[str, Any]) -> Self:
        try:
            made = read(given, **options)
            if cls.__pydantic_generic_metadata__["args"]:  # a type of the caller's
                vars(made)["output"] = with_lists(made.output, ("output",))
            return made
        except ValidationError as error:
            raise not_saved(error, cls.model_fields) from None

    def __iter__(self) -> NoReturn:
        raise CallerError("a RunResult is no list: what the model gave is `result.value`, the history `result.messages`")

    def messages_as_openai(self) -> list[dict[str, Any]]:
        """The whole history as OpenAI's chat API takes it. Reasoning, which it does not take, is left out; a call that has no
        result gets one that says so: that it waits, was not run, or was started and what became of it is not known."""
        told = {call.id: call.told for call in self.open_calls}
        return openai_messages(self.messages, lambda call_id: told.get(call_id, None if self.ended else NOT_BEGUN))

    @property
    def value(self) -> T:
        """The typed value. Where no type was asked for, the text, or what a tool, a hook or a validator made the answer.

        Where a typed value was asked for and there is none (`has_output` tells), raises `CallsPending` if calls wait, else
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
        """The models of requests whose cost is not known, although that of other requests is: for them `usage.cost` is None. They
        are named as `Attempt.model` has them; empty where every cost is known, or none. Requests of the runs within this one
        count, too. Give the models `prices` in the registry."""
        attempts = [*self._all_attempts()]
        unknown = dict.fromkeys(one.model for one in attempts if one.usage.cost is None and one.usage.total_tokens)
        return [*unknown] if any(one.usage.cost is not None for one in attempts) else []

    def _all_attempts(self) -> Iterable[Attempt]:
        yield from self.attempts
        for run in self.runs:
            yield from run._all_attempts()

    @property
    def approvals(self) -> list[OpenCall]:
        """The pending calls that wait to be approved: their ids, arguments, `summary` in words and the `reason`."""
        return [call for call in self.open_calls if call.stage == "approval"]

    @property
    def calls_elsewhere(self) -> list[OpenCall]:
        """The pending calls of tools without a function, which the caller carries out."""
        return [call for call in self.open_calls if call.stage == "elsewhere"]

    @property
    def content(self) -> str:
        """The text for the user."""
        return self.envelope.content

    @property
    def new_messages(self) -> list[Message]:
        """What this run added to the history it was given."""
        return self.messages[self.given_messages :]

    @property
    def time_to_first_token(self) -> float | None:
        """Seconds from the first request that was answered to the first piece of its reply; None where it is not
        known."""
        return next((one.time_to_first_token for one in self.attempts if one.time_to_first_token is not None), None)

    def __repr__(self) -> str:
        """One line: how the content begins, without keys, and how much there is of the rest."""
        parts = [
            repr(_cut(process_scrubber().text(self.content[:_LOOKED_THROUGH]), _SHOWN)),
            _counted(len(self.messages), "message"),
            _counted(len(self.attempts), "attempt"),
        ]
        if self.tool_results:
            names = list(dict.fromkeys(_cut(record.name, 20) for record in self.tool_results))
            more = ", ..." if len(names) > _SHOWN_TOOLS else ""
            parts.append(f"{_counted(len(self.tool_results), 'tool call')} ({', '.join(names[:_SHOWN_TOOLS])}{more})")
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
            """What the value has is not the result's."""
            try:
                return super().__getattr__(name)
            except AttributeError as error:
                if (other := _ELSEWHERE.get(name)) is not None:
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
"""What `stream` gives: an `Event`, with the value's type where one was asked for."""


def _is_shown(value: object) -> bool:
    try:
        repr(value)
    except Exception:  # its own code
        return False
    return True


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
