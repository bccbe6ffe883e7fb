"""What layer 1 offers to the layers above: one protocol, and the words it speaks.

An adapter makes exactly one request per `complete` or `stream`; it never retries, never loops and never runs a tool. It
raises only errors of `llmcore.types` (see `failures`).
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import Annotated, Any, Protocol, runtime_checkable

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SecretStr,
    SkipValidation,
)

from llmcore.adapters.secrets.known_secrets import remember
from llmcore.adapters.secrets.request_secrets import header_secrets
from llmcore.adapters.secrets.urls import checked_url, shown_url
from llmcore.support.values.bounds import Amount
from llmcore.support.values.copies import Value
from llmcore.types import AttemptReason, CallWriter, JsonSchema, OutputMode, Reply, Request, ToolDefinition
from llmcore.types.input.headers import Headers, check_header_value
from llmcore.types.requests import TextCalls

__all__ = [
    "IMPORTING",
    "NOTHING_SENT",
    "OWN_ADAPTER",
    "PART_OF_MAX_TOKENS",
    "Adapter",
    "ApiKey",
    "BaseUrl",
    "Capabilities",
    "Endpoint",
    "ModelCall",
    "Prices",
    "SecretHeaders",
    "urls_of_environment",
]

NOTHING_SENT = "nothing was sent"
IMPORTING = f"{NOTHING_SENT}, LiteLLM was being imported: await llmcore.warm_up() before the first run"
"""The message of the `CancelledError` with which an adapter ends that was cancelled before its request went out."""
PART_OF_MAX_TOKENS = "part of max_tokens"
"""What is dropped where a request asks for more tokens than the model writes, or than its window has room for."""


def _usable_key(key: SecretStr) -> SecretStr:
    """Raises `ConfigError` for a key that no header can hold."""
    check_header_value("api_key", key.get_secret_value())
    remember([key.get_secret_value()])
    return key


def _remembered(headers: dict[str, str]) -> dict[str, str]:
    remember(header_secrets(headers))
    return headers


ApiKey = Annotated[SecretStr, AfterValidator(_usable_key)]
"""A key. `ConfigError` for one that cannot be sent: a line break from a file, a character that is no ASCII."""
BaseUrl = Annotated[str, AfterValidator(checked_url), PlainSerializer(shown_url)]
"""A server's URL, with http:// or https://. One with a user name, a password or a key is refused; parameters of its query are
not shown."""
SecretHeaders = Annotated[Headers, AfterValidator(_remembered)]
"""Headers as those of a request; from now on no log shows what they hold."""


OWN_ADAPTER = frozenset({"custom", "fake", "replay"})
"""Providers whose requests an adapter of the caller's makes; any model goes with them."""


def urls_of_environment(provider: str) -> Iterator[str]:
    """What `OPENAI_BASE_URL`, `GROQ_API_BASE` and their like say, in the order in which LiteLLM asks them."""
    prefix = provider.upper()
    for name in ("BASE_URL", "API_BASE"):
        if url := os.environ.get(f"{prefix}_{name}"):
            yield url


class Prices(Value):
    """US dollars per million tokens; None = unknown, never free. Raises `ConfigError` for an unknown field
    and for anything but a finite number of at least 0."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Amount | None = None
    output: Amount | None = None
    cache_read: Amount | None = None
    cache_write: Amount | None = None


class Endpoint(Value):
    """One model at one place: what an adapter needs to reach it. Shown and dumped without secrets."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    provider: str
    """A name of the provider table (`adapters.providers.PROVIDERS`), LiteLLM's for a provider that has no row, or `custom`."""
    model: str
    alias: str = ""
    api_key: ApiKey | None = Field(default=None, repr=False)
    base_url: BaseUrl | None = Field(default=None, repr=False)
    context_window: int | None = None
    max_output_tokens: int | None = None
    prices: Prices | None = None
    extra_headers: SecretHeaders = Field(default_factory=dict[str, str], repr=False)

    @property
    def key(self) -> str:
        """What learnt capabilities are filed under: base URL (without its query) and model, for they belong to the endpoint,
        not to the model."""
        place = self.place
        if "?" in place:
            place = place.partition("?")[0]
        return f"{place.rstrip('/')}|{self.model}"

    @property
    def place(self) -> str:
        """Where it is, as it may be shown: the base URL, else the one that the environment names, which LiteLLM takes then, else
        the provider's name."""
        if self.base_url:
            return shown_url(self.base_url)
        for url in () if self.provider in OWN_ADAPTER else urls_of_environment(self.provider):
            return shown_url(url)
        return self.provider

    @property
    def shown_url(self) -> str:
        """The base URL as it may be shown; empty when there is none."""
        return shown_url(self.base_url) if self.base_url else ""

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        yield from super().__repr_args__()
        yield "base_url", self.shown_url or None


class Capabilities(Value):
    """What an endpoint can do. None = unknown (treated optimistically), True/False = known."""

    model_config = ConfigDict(frozen=True)

    native_tools: bool | None = None
    json_schema: bool | None = None
    json_object: bool | None = None
    schema_with_tools: bool | None = None
    parallel_tools: bool | None = None
    tool_results: bool | None = None
    """Results of native calls are taken back, as the wire has them; where not, `native_tools` is not asked for."""
    tool_choice_required: bool | None = None
    tool_choice_named: bool | None = None
    streaming: bool | None = None
    streaming_with_tools: bool | None = None
    """Native tools are taken in a streamed request, too."""
    reasoning: bool | None = None
    images: bool | None = None
    web_search: bool | None = None
    """The provider searches the web itself when `Request.allow_web_search` is set."""
    emits_text_calls: bool | None = None
    """Known to write calls as text although native tools were offered: it is asked in the
    `text` mode before `native_tools`, unless the registry gives an order of its own."""
    context_window: int | None = None
    max_output_tokens: int | None = None
    max_tools: int | None = None
    text_dialect: str = "hermes"
    """The registry name of the text dialect this model's family writes best."""
    unsupported_parameters: frozenset[str] = frozenset()
    """Request parameters (`temperature`, `stop`, ...) the endpoint is known to refuse; the adapter leaves them out."""

    def updated(self, other: Capabilities) -> Capabilities:
        """These, with what `other` knows laid over them."""
        if not other.model_fields_set:
            return self
        return self.model_copy(update=other.model_dump(exclude_none=True, exclude_unset=True))


class ModelCall(Value):
    """One request, resolved: which endpoint, in which output mode, with what the prompt must teach."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    endpoint: Endpoint
    request: Request
    mode: OutputMode = "native_tools"
    tools: tuple[ToolDefinition, ...] = ()
    output_schema: JsonSchema | None = None
    """The JSON Schema of the typed final output, None for plain text.

    How the model is asked for it is the adapter's choice (`output_tool.output_plan`): by `response_format`, or by a
    tool called `final_result` (in every mode where tools are offered as well): a call of that name holds the final
    output.
    """
    capabilities: SkipValidation[Capabilities | None] = None
    """What the endpoint can do, as whoever made the call knows it, the registry's word included; None = the adapter's own
    knowledge."""
    writer: SkipValidation[CallWriter | None] = None
    """Writes example calls and history calls as text in the prompted modes; None in native mode."""
    streamed: bool = False
    """It is made by `stream`, not by `complete`."""
    strict_json_instructions: bool = False
    reasoning_open: bool = False
    """The user says that the model's chat template opens the reasoning, so that replies start inside it."""
    neutralise_tokens: bool = False
    """Special tokens in the request's words are broken before it reaches the adapter, and restored in the reply."""
    text_calls: TextCalls = "standard"
    """Which calls in the text of the reply count."""
    own_dialects: frozenset[str] | None = None
    """The dialects of a model that answers with native calls. A call in another one is a guess unless it is the whole message.
    None = nothing is known of the endpoint."""
    enforce_limits: bool = False
    """Refuse tools over the unverified limits as well, which otherwise only warn."""
    timeout: float = 60.0
    """Seconds for each read, so between two pieces of a stream; deadlines over the whole call are the caller's."""
    first_token_timeout: float | None = None
    """Seconds until a stream's first piece that says something; None = each read has `timeout`, also the first."""
    call_id: str = ""
    reason: AttemptReason | None = None
    """Why this request is made, for recordings; None = not told."""
    detail: str = ""
    """The same in words: the recorded problem behind `reason`. Empty where there is none, or it is not told."""
    refused: SkipValidation[Mapping[str, str]] = Field(default_factory=dict[str, str], repr=False, exclude=True)
    """What was refused before in the same run, by `LLMCoreError.sent_as`, and in which words: none of it is sent again."""


@runtime_checkable
class Adapter(Protocol):
    """Layer 1's one protocol.

    An adapter may have a method `request_key(call) -> str` as well, the same for two calls that would make the same request: what
    a server has refused is then never sent again in the same run, whichever mode it would be sent in.

    It may have a coroutine method `warm_up(call)`, which is awaited before each request. It does what has to be done once in a
    process, and its time counts in no deadline. It raises as `complete` does.

    A test double that runs the test's own code says so by an attribute `lets_exceptions_through = True`: what it raises
    that is no `LLMCoreError` ends the run as it is. Any other adapter's is an `InternalError`.

    Each wait for an adapter is a task of its own, which is left behind if it goes on when the deadline has passed or the run is
    cancelled. One that is known to end when it is cancelled spares that by an attribute `heeds_cancellation = True`.
    """

    @property
    def provider_id(self) -> str: ...

    def capabilities(self, endpoint: Endpoint) -> Capabilities:
        """What is known of the endpoint without asking it: our table, then LiteLLM's."""
        ...

    async def complete(self, call: ModelCall) -> Reply:
        """Make the request once. Raises an `LLMCoreError`; a reply's raw body is what the provider sent."""
        ...

    def stream(self, call: ModelCall) -> AsyncIterator[dict[str, Any] | str]:
        """Make the request once, streamed: the provider's stream events (dicts) or text chunks, as they come.

        The last thing yielded may be a `{"llmcore": {...}}` dict with what only the end tells: `usage` (a `Usage` as a dict)
        and `ended` (True: the reply came to its own end). Events that hold no finish reason and no end mark of their wire
        (`message_stop`, `"done": true`, ...) count as a stream that was cut, and nothing of it is used, unless `ended` is said;
        say it only when the server did, as by `data: [DONE]`. Text chunks are trusted to be whole. Raises an `LLMCoreError`, a
        `RemoteServerError` when the stream ended before its end. Closing the iterator closes the connection.
        """
        ...
