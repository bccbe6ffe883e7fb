"""`Request` and `Reply`: what a caller asks of a model, and the provider's unprocessed answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import BeforeValidator, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict, Unpack

from llmcore.support.code.function_types import OfContext
from llmcore.support.code.quoted_words import clipped_words
from llmcore.support.code.suggestions import describe_value, nearest
from llmcore.support.values.bounds import Amount, PositiveAmount, PositiveCount, Switch
from llmcore.support.values.copies import Value
from llmcore.support.values.narrowing import is_list, is_object
from llmcore.types.errors import ConfigError, ToolDefinitionError
from llmcore.types.input.headers import Headers
from llmcore.types.input.message_input import given_messages
from llmcore.types.messages import Message, TextBlock
from llmcore.types.tools import tools_given
from llmcore.types.usage import Usage

__all__ = ["TEXT_CALLS", "CallWriter", "Reply", "Request", "TextCalls", "ToolChoice"]

TextCalls = Literal["standard", "alone", "off"]
"""Which calls in text count as calls.

`standard`: those that the model means by the rules of docs/trust.md. `alone`: only if the reply has nothing but calls, reasoning
and markup; any other one is a guess. `off`: none. Calls in a form that llmcore's prompt has taught the model always count.
"""
TEXT_CALLS = ("standard", "alone", "off")

_CHOICES = ("auto", "none", "required")


def _choice(given: Any) -> Any:
    """The tool choice of any API in llmcore's form. Raises `ConfigError` for anything else."""
    if given == "any":
        return "required"
    if isinstance(given, str):
        if given in _CHOICES:
            return given
        near = nearest(given, _CHOICES)
        meant = f"did you mean {near!r}?" if near else f'to force that tool give {{"name": {given!r}}}'
        raise ConfigError(f"tool_choice {clipped_words(given, 60)!r} is none of 'auto', 'none' and 'required'; {meant}")
    if not is_object(given):
        raise ConfigError(f"tool_choice must be {_CHOICE_FORMS}, not {describe_value(given)}")
    inner = given.get("function", given)
    name = inner.get("name") if is_object(inner) else None
    if isinstance(name, str) and name:
        return {"name": name}
    if given.get("type") in ("any", *_CHOICES):
        return _choice(given["type"])
    raise ConfigError(f"tool_choice must be {_CHOICE_FORMS}; the dict that was given names no tool")


_CHOICE_FORMS = "'auto', 'none', 'required' or {'name': tool}"
ToolChoice = Annotated[Literal["auto", "none", "required", "any"] | dict[str, Any], BeforeValidator(_choice)]
"""`"auto"`, `"none"`, `"required"`, or `{"name": tool}` for one tool. `"any"` and the dicts of OpenAI and Anthropic are converted
to one of these four."""


def _thinking(given: Any) -> Any:
    if isinstance(given, int) and (isinstance(given, bool) or given >= 1):
        return given
    raise PydanticCustomError("thinking", "must be True, False or the number of tokens that the model may think, 1 or more")


class OptionsOfAnyModel(TypedDict, total=False):
    """The fields of a `Request` except its messages, output type and model, as options of a run."""

    system: str | list[TextBlock] | None
    tools: Iterable[object] | OfContext
    tool_choice: ToolChoice
    parallel_tool_calls: bool | None
    allow_web_search: bool
    max_tokens: int | None
    temperature: float | None
    top_p: float | None
    stop: list[str] | str
    thinking: bool | int
    deadline: float | None
    extra_body: Mapping[str, Any]
    extra_headers: Mapping[str, str]


class RequestOptions(OptionsOfAnyModel, total=False):
    """The fields of a `Request` except its messages and output type, as options of a run."""

    model: str | None


class Request(Value):
    """One request, independent of the provider.

    `messages`: a str for one user message, or a list of `Message`s and dicts, also those of OpenAI's chat API.
    `tools`: anything that `ToolSet` accepts.
    `thinking`: False, True, or the number of tokens that the model may think.
    `deadline`: seconds from the call.
    `extra_body`, `extra_headers`: sent to the provider unchanged. `model_dump_json` hides the values of the headers.

    Raises `CallerError` for what is no message, and `ConfigError` for a wrong value or a header that cannot be sent.
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True, hide_input_in_errors=True)  # headers may hold keys

    messages: list[Message]
    system: str | list[TextBlock] | None = None
    model: str | None = None
    tools: tuple[Any, ...] = ()
    tool_choice: ToolChoice = "auto"
    parallel_tool_calls: Switch | None = None
    allow_web_search: Switch = False
    max_tokens: PositiveCount | None = None
    temperature: Amount | None = None
    top_p: Annotated[Amount, Field(le=1)] | None = None
    stop: list[str] = Field(default_factory=list[str])
    thinking: Annotated[bool | int, BeforeValidator(_thinking)] = False
    output_type: Any = None
    deadline: PositiveAmount | None = None
    extra_body: dict[str, Any] = Field(default_factory=dict[str, Any], repr=False)
    extra_headers: Headers = Field(default_factory=dict[str, str], repr=False)

    if TYPE_CHECKING:  # messages may be given in forms that the field does not have

        def __init__(
            self,
            *,
            messages: str | Message | Sequence[Message | Mapping[str, Any]],
            output_type: Any = None,
            **options: Unpack[RequestOptions],
        ) -> None: ...

    @field_validator("messages", mode="before")
    @classmethod
    def _as_given(cls, value: Any) -> Any:
        return given_messages(value)

    @field_validator("stop", mode="before")
    @classmethod
    def _one_is_a_list(cls, value: Any) -> Any:
        """Accept a single text, as OpenAI's API does. An empty one would end every reply at once, or be refused."""
        given = [value] if isinstance(value, str) else value
        if is_list(given) and "" in given:
            raise ValueError("a text that ends a reply must not be empty; leave it out")
        return given

    @field_validator("tools", mode="before")
    @classmethod
    def _any_iterable(cls, value: Any) -> Any:
        try:
            return tuple(tools_given(value))
        except ToolDefinitionError as error:
            raise ValueError(str(error)) from None


class Reply(Value):
    """The provider's whole, unchanged reply with its metadata, as an adapter returns it.

    `raw`: a response body (dict) or plain text. `wire`: the API that it comes from (`openai-chat`, `anthropic`, ...); None
    recognises it by its shape. `time_to_first_token` and `duration` are in seconds.
    """

    model_config = ConfigDict(frozen=True)

    raw: Any
    wire: str | None = None
    provider: str = ""
    model: str = ""
    id: str = ""
    usage: Usage = Field(default_factory=Usage)
    time_to_first_token: float | None = None
    duration: float = 0.0
    reasoning_open: bool = False
    """The prompt opened the reasoning, so the text starts within the reasoning."""
    forced_tool: str | None = None
    """The tool that the request forced. A bare object of arguments is a call of it."""
    dropped: tuple[str, ...] = ()
    """Descriptions of the parts of the request that the endpoint does not accept and that were not sent."""


class CallWriter(Protocol):
    """Writes calls in the form of one dialect.

    The orchestrator reads it from the normaliser's registry and passes it to `adapters.request.prompting`, so that the adapters
    import no dialect.
    """

    @property
    def dialect(self) -> str: ...

    def __call__(self, name: str, arguments: dict[str, Any]) -> str: ...
